"""kill -9 of each long command at random: it goes on, and nothing is lost, torn or left behind.

The commands are real, what they measure is a stand-in (`tests/zygote.py`). A publisher measures
nothing, and is killed at calls of git. KILLS says how often each is killed: 5 times here, 20 times
by `make rehearse`. `tests/rehearsal/test_nights.py` kills
nights.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from observatory.store.journal.night import load as load_night
from observatory.store.journal.reader import read_journal
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.read import read_results
from observatory.store.records import calibration, layout, searches
from observatory.store.records.calibration import Calibration
from tests import factories
from tests.by_value import values
from tests.fleet_cluster import SLEEP, TAKEN, left_running

pytestmark = pytest.mark.integration
KILLS = int(os.environ.get("KILLS", "5"))
ZYGOTE = Path(__file__).parents[1] / "zygote.py"
CELL = ["--cell", "radon warm_disk NUMBA spawn"]
COMMANDS = {
    "run": ["run", "--subject", "3.3.4", "--preset", "quick", "--backend", "NUMBA", "--resume"],
    "compare": [
        "compare",
        "3.3.4",
        "3.3.6",
        "--backend",
        "NUMBA",
        "--pass",
        "counting",
        "--samples",
    ],
    "canary": ["canary", "3.3.6", "--launch", "spawn"],
    "settings": ["canary", "3.3.4", "--settings"],
    "work": [
        "run",
        "--subject",
        "3.3.4",
        "--preset",
        "work",
        "--backend",
        "NUMBA",
        "--resume",
    ],
    "upgrade": ["upgrade", "3.3.4", "3.3.6"],
    "bisect": ["bisect", "3.3.3", "3.3.7", *CELL],
    "cross": ["cross", "3.3.4", "3.3.6", *CELL, "--conditions"],
    "calibrate": [
        "calibrate",
        "--subject",
        "3.3.4",
        "--samples",
        "14",
        "--scenario",
        "warm_disk",
        "--backend",
        "NUMBA",
        "--launch",
        "spawn",
    ],
    "growth": [
        "run",
        "--subject",
        "3.3.4",
        "--preset",
        "growth",
        "--backend",
        "NUMBA",
        "--resume",
    ],
    "path": [
        "run",
        "--subject",
        "3.3.4",
        "--preset",
        "path",
        "--with",
        "pymc==6.3.2",
        "--model",
        "mixture",
        "--backend",
        "NUMBA",
        "--resume",
    ],
    "observe": ["observe", "--resume"],
    "contracts": ["contracts", "3.3.4", "--numba", "0.64.0", "--numba", "0.65.1"],
    "torture": ["torture", "3.3.4", "3.3.6", "--new"],
    "sentinel": ["sentinel", "--subject", "3.3.4"],
    "census": ["census", "3.3.4", "--graph", "differ.*"],
    "explore": ["explore", "3.3.4", "--seed", "1", "--pairs", "48", "--keep", "kept"],
    "tomorrow": ["tomorrow", "3.3.4"],
}
LACKING = {
    "publish": {"--results", "--state", "--machine"},
    "contracts": {"--machine"},
    "census": {"--results", "--machine"},
    "explore": {"--machine"},
}
"""Options that a command does not have."""
BATCH = 3
"""Samples after which `explore` has begun its second batch."""
STATUS = {"compare": 7, "tomorrow": 7}
"""What a command ends with that has measured everything; others: 0."""


@dataclass
class Commands:
    """Commands in one directory, and the process that begins them."""

    place: Path
    zygote: subprocess.Popen[str]
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.taken.mkdir(parents=True)

    @property
    def taken(self) -> Path:
        """Where each process that takes a sample leaves a file."""
        return self.place / "taken"

    @property
    def ended(self) -> int:
        """How many samples have been taken."""
        return sum(path.suffix == ".ended" for path in self.taken.iterdir())

    @property
    def log(self) -> str:
        """What the commands said."""
        return (self.place / "log").read_text()

    def begin(self, words: list[str]) -> int:
        """Start a command; its process id."""
        places = {"--results": "results", "--state": "state", "--machine": "bench"}
        lacking = LACKING.get(words[0], set())
        where = [word for one in places.items() if one[0] not in lacking for word in one]
        own = [str(self.place / "samples")] if words[-1] == "--samples" else []
        variables = {TAKEN: str(self.taken), SLEEP: "0.02", "OBSERVATORY_LOCK": str(self.place),
                     "TMPDIR": str(self.place), "NO_COLOR": "1", **self.variables}  # fmt: skip
        order = {"words": [*words, *own, *where], "place": str(self.place), "variables": variables}
        self._order(json.dumps(order))
        return int(self._answer())

    def status(self) -> int:
        """The exit status of the command, when it has ended; -9 if it was killed."""
        self._order("")
        return int(self._answer())

    def _order(self, line: str) -> None:
        assert self.zygote.stdin is not None
        self.zygote.stdin.write(f"{line}\n")
        self.zygote.stdin.flush()

    def _answer(self) -> str:
        assert self.zygote.stdout is not None
        return self.zygote.stdout.readline()


@pytest.fixture(scope="module")
def zygote() -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, str(ZYGOTE)], text=True, **pipes) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def killed(commands: Commands, words: list[str], after: int, dice: random.Random) -> bool:
    """Kill a command once it has taken so many more samples; whether it had not ended before."""
    begun = commands.ended
    process = commands.begin(words)
    until = time.monotonic() + 240
    while commands.ended < begun + after and _runs(process):
        assert time.monotonic() < until, commands.log
        time.sleep(0.005)
    time.sleep(dice.uniform(0, 0.1))
    end = dice.choice((os.kill, os.killpg))  # the command alone, or with its process group
    end(process, signal.SIGKILL)  # a zombie, until its status is asked for
    return commands.status() == -signal.SIGKILL


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def nothing_runs(commands: Commands) -> None:
    """The measured processes of a killed command end with it, and git's, also those of a remote."""
    until = time.monotonic() + 120
    while any(one.startswith("git") or "git-receive-pack" in one or "fake_sampling" in one
              for one in left_running(commands.taken)):  # fmt: skip
        assert time.monotonic() < until, left_running(commands.taken)
        time.sleep(0.05)


def readable(results: Path) -> None:
    """Nothing is torn."""
    if results.is_dir():
        assert not read_results(results).problems
        assert not problems_beside(results)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_goes_on_and_leaves_nothing_behind(
    name: str, zygote: subprocess.Popen[str], tmp_path: Path
) -> None:
    whole, other = (Commands(tmp_path / one, zygote) for one in ("whole", "killed"))
    words, dice = COMMANDS[name], random.Random(f"{name} {os.environ.get('SEED', '')}")
    whole.begin(words)
    assert whole.status() == STATUS.get(name, 0), whole.log
    kills = latest = 0
    for _ in range(KILLS):
        after = dice.randrange(whole.ended)
        kills += killed(other, words, after, dice)
        latest = max(latest, after)
        nothing_runs(other)
        for place in ("results", "samples"):
            readable(other.place / place)
    assert kills
    other.begin(words)
    assert other.status() == STATUS.get(name, 0), other.log
    for place in ("results", "samples"):
        readable(other.place / place)
        if (whole.place / place / "samples").is_dir():
            pd.testing.assert_frame_equal(
                values(whole.place / place), values(other.place / place), check_dtype=False
            )
    left = [one.name for one in (other.place / "state" / "caches").glob("tmp-*")]
    assert left == []
    assert {one.name for one in other.place.iterdir()} == {
        one.name for one in whole.place.iterdir()
    }
    if latest >= BATCH and name == "explore":  # a killed run has recorded its first batch
        assert len(explored(other.place)) > 1
    if kept := KEPT.get(name):
        assert kept(other.place) == kept(whole.place)


GIT = """#!/bin/sh
: >"$FLEET_TEST_TAKEN/$$.ended"
exec {git} "$@"
"""


@pytest.mark.parametrize("options", [[], ["--push"]], ids=["to a clone", "to its remote"])
def test_a_publisher_that_is_killed_leaves_the_branch_whole(
    options: list[str], zygote: subprocess.Popen[str], tmp_path: Path
) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(GIT.format(git=shutil.which("git")))
    program.chmod(0o755)
    variables = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    whole, other = (Commands(tmp_path / one, zygote, variables) for one in ("whole", "killed"))
    for one in (whole, other):
        git(one.place, "init", "--quiet", "--bare", "remote.git")
        git(one.place, "clone", "--quiet", "remote.git", "repo")
    parts = [str(part(tmp_path / f"part-{number}", number)) for number in range(KILLS)]
    dice = random.Random(f"publish {options} {os.environ.get('SEED', '')}")
    held = "remote.git" if options else "repo"

    def words(some: list[str]) -> list[str]:
        return ["publish", *some, "--repo", "repo", "--strict", *options]

    whole.begin(words(parts))
    assert whole.status() == 0, whole.log
    kills = before = 0
    for number in range(KILLS):
        kills += killed(other, words(parts[: number + 1]), dice.randrange(whole.ended), dice)
        nothing_runs(other)
        for lock in other.place.rglob("*.lock"):  # git's own; `publish` says to remove it
            lock.unlink()
        for one in ("repo", "remote.git"):
            git(other.place / one, "fsck", "--no-dangling")
        there = branch(other, held)
        readable(there)
        now = len(layout.journals(there))
        assert now in (before, number + 1)  # what was there, or everything
        assert {name for one in parts[:now] for name in files(Path(one))} <= set(files(there))
        assert set(taken(there).values()) <= {SAMPLES}
        before = now
    assert kills
    other.begin(words(parts))
    assert other.status() == 0, other.log
    there = branch(other, held)
    readable(there)
    assert taken(there) == taken(branch(whole, held))
    assert len(taken(there)) == KILLS
    assert set(files(there)) == set(files(branch(whole, held)))


SAMPLES = 3
"""How many samples each part holds."""


def part(where: Path, number: int) -> Path:
    """Results of one subject."""
    samples = [factories.sample(measure="counting", hash_seed=seed,
                                ledger=factories.ledger(f"f{seed}", f"g{number}"))
               for seed in range(SAMPLES)]  # fmt: skip
    factories.journal(where, samples, under=factories.header(f"3.3.{number}"))
    return where


def git(where: Path, *words: str) -> None:
    """Run git, which is not the one that counts its calls."""
    subprocess.run(["git", "-C", str(where), *words], check=True, capture_output=True)


def branch(commands: Commands, repository: str) -> Path:
    """A directory with the files of the branch; none if there is no branch."""
    into = commands.place / "there"
    shutil.rmtree(into, ignore_errors=True)
    repo = commands.place / repository
    if subprocess.run(["git", "-C", str(repo), "rev-parse", "--quiet", "--verify", "results"],
                      check=False, capture_output=True).returncode == 0:  # fmt: skip
        git(commands.place, "clone", "--quiet", "--branch", "results", str(repo), str(into))
    return into


def files(where: Path) -> Iterator[str]:
    """The names of all files, without those of git."""
    for path in where.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            yield str(path.relative_to(where))


def taken(results: Path, scenario: str = "") -> Counter[str]:
    """How often each sample is recorded, by subject."""
    read = map(read_journal, layout.journals(results))
    return Counter(
        f"{path.name} {one.sample.cell} {one.sample.measure} {one.sample.cell.scenario}"
        for path, journal in zip(layout.journals(results), read, strict=True)
        for one in journal.entries
        if scenario in one.sample.cell.scenario
    )


def pages(place: Path) -> tuple[Counter[str], set[str]]:
    """The samples, the names of the pages, and what a kill left beside them."""
    site = place / "html"
    built = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    beside = {path.name for path in place.iterdir() if path.name.startswith((".", "html"))}
    return samples_of(place), built | beside


def samples_of(place: Path) -> Counter[str]:
    """How often each sample is recorded."""
    return taken(place / "results")


def floors(place: Path) -> list[dict[str, Any]]:
    """The noise floors that are recorded, without when and on what they were measured."""
    every = calibration.load_all(place / "results")
    found = [one for one in every if isinstance(one, Calibration)]
    return [floor.model_dump() for one in found for floor in one.floors]


def culprits(place: Path) -> tuple[list[str], set[int]]:
    """How certain the culprits are, and how often a sample was taken."""
    (found,) = searches.readable(place / "results")
    times = taken(place / "results", "warm_disk").values()
    return [one.certainty for one in found.culprits], set(times)


def rows(place: Path) -> list[Any]:
    """The rows of settings that are recorded, and the caches that are left of them."""
    (found,) = place.glob("results/settings/*.json")
    left = place.glob("state/caches/*")
    return [*json.loads(found.read_text())["rows"], sorted(one.name for one in left)]


def records(kind: str) -> Callable[[Path], object]:
    """The records of a kind, and the journals that are left of what made them."""

    def kept(place: Path) -> object:
        found = {one.name: one.read_text() for one in place.glob(f"results/{kind}/*.json")}
        return found, list(place.glob(f"state/{kind}/*"))

    return kept


def explored(place: Path) -> list[tuple[int, dict[str, int]]]:
    """What each run has tried, the oldest first: batches, and pairs by kind."""
    found = [json.loads(one.read_text()) for one in sorted(place.glob("results/explored/*.json"))]
    return [(one["batches"], one["tried"]) for one in found]


def steps(place: Path) -> list[tuple[str, int | None, bool]]:
    """The steps of the newest night, with how they ended.

    Only the first night measures today: one that is killed at its very end is followed by another.
    """
    *_, newest = sorted(place.glob("state/tomorrow/*.json"))
    return [
        (one.name, one.status, one.skipped is None)
        for one in load_night(newest).steps
        if one.name != "measure today"
    ]


KEPT: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys(("run", "work", "growth", "path"), samples_of),
    "settings": rows,
    "observe": pages,
    "calibrate": floors,
    "bisect": culprits,
    "contracts": records("contracts"),
    "torture": records("torture"),
    "explore": lambda place: explored(place)[-1],
    "tomorrow": steps,
}
"""What of a command's results must be as if nobody had killed it."""
