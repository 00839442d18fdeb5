"""Real nights along a clone of PyTensor: built, measured, judged, told, published, killed.

    make rehearse CLONE=../pytensor

What `tests/unit/cli/commands/test_nightly.py` acts with a stand-in happens here: commits are built
from source, a fault of the kit is committed between two nights and taken back later, GitHub is the
one on loopback, the branch is one of a bare repository. Half an hour, so no part of `make test`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from observatory.store.journal import night
from observatory.store.journal.night import Night
from observatory.store.journal.reader import read_journal
from observatory.store.records import alerts as alerts_record
from observatory.store.records import layout
from observatory.store.records.alerts import Alerts
from scripts.faults.kit import source_of
from tests.fake_github import REPO, TOKEN, FakeGitHub

FAULT = "key_salted"
CLONE = os.environ.get("CLONE", "")
PYTHON = os.environ.get("OF_SUBJECTS", "3.13")
KILLS = int(os.environ.get("KILLS", "20"))
LINK = "https://example.org/caches/"
CELLS = ("--backend", "NUMBA", "--scenario", "cold", "--scenario", "warm_disk", "--launch", "fork")
_PUT_IN = """

import sys
from pytensor.link.numba.on_purpose import put_into
put_into(sys.modules[__name__])
"""


def git(directory: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A Tester", "-c", "user.email=tester@example.org"]
    return subprocess.check_output(["git", *who, "-C", str(directory), *arguments], text=True)


class Rehearsal:
    """A clone that grows, a page repository with its remote, and a GitHub."""

    def __init__(self, home: Path, github: FakeGitHub) -> None:
        self.home = home
        self.github = github
        self.clone = home / "pytensor"
        subprocess.check_call(["git", "clone", "-q", "--local", CLONE, str(self.clone)])
        git(self.clone, "checkout", "-q", "-B", "rehearsal")
        self.base = git(self.clone, "rev-parse", "HEAD").strip()
        self.origin = home / "origin.git"
        subprocess.check_call(["git", "init", "-q", "--bare", str(self.origin)])
        self.project = home / "project"
        subprocess.check_call(["git", "clone", "-q", str(self.origin), str(self.project)])

    def commit(self, message: str, **added: str) -> str:
        """Add text to the end of modules of the clone, named with dots, and commit that."""
        for name, text in added.items():
            with (self.clone / Path(*name.split("."))).with_suffix(".py").open("a") as stream:
                stream.write(text)
        git(self.clone, "add", "-A")
        git(self.clone, "commit", "-q", "-m", message)
        return git(self.clone, "rev-parse", "HEAD").strip()

    def command(self, *subject: str) -> list[str]:
        """A night of these subjects; of none: of the commits of the clone."""
        commits = ["--repo", str(self.clone), "--commits", f"{self.base}..rehearsal"]
        return [
            sys.executable, "-m", "observatory", "nightly", *(subject or commits), *CELLS,
            "--preset", "quick",
            "--python", PYTHON, "--machine", "rehearsal", "--no-canary", "--no-contracts",
            "--no-tomorrow", "--no-torture", "--no-work", "--feed", "--url", LINK,
            "--deliver", REPO, "--publish", "results", "--publish-in", str(self.project),
        ]  # fmt: skip

    def environment(self) -> dict[str, str]:
        root = str(Path(__file__).parents[2])
        return {
            **os.environ, "PYTHONPATH": root, "GITHUB_TOKEN": TOKEN, "COLUMNS": "160",
            "GITHUB_API_URL": self.github.url, "NO_COLOR": "1",
        }  # fmt: skip

    def night(self, *subject: str) -> str:
        done = subprocess.run(
            self.command(*subject), cwd=self.home, env=self.environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        print(done.stdout)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def alerts(self) -> Alerts:
        return alerts_record.load(self.home / "results")

    def published(self) -> Alerts:
        text = git(self.origin, "show", "results:alerts.json")
        return Alerts.model_validate_json(text)

    def nights(self) -> list[Night]:
        kept = sorted((self.home / ".observatory" / "nightly").glob("*.json"))
        return [night.load(path) for path in kept]

    def issues(self) -> list[tuple[str, str]]:
        return [(one["title"], one["state"]) for one in self.github.issues]


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    if not CLONE:
        pytest.skip("needs a clone of PyTensor: make rehearse CLONE=DIR")
    with FakeGitHub() as github:
        yield Rehearsal(tmp_path, github)


def test_a_fault_between_two_nights(rehearsal: Rehearsal) -> None:
    remark = "\n# A remark that changes nothing.\n"
    rehearsal.commit("A remark", **{"pytensor.printing": remark})
    rehearsal.commit("Another remark", **{"pytensor.printing": remark})
    rehearsal.night()
    assert rehearsal.alerts().alerts == []
    assert rehearsal.issues() == []

    fault = source_of(FAULT)
    faulty = rehearsal.commit(
        "Keys that differ between processes",
        **{"pytensor.link.numba.on_purpose": fault, "pytensor.link.numba.cache": _PUT_IN},
    )
    rehearsal.night()
    (alert,) = rehearsal.alerts().alerts
    print(alert.state, alert.kind, alert.sentence)
    assert (alert.state, alert.first_bad.commit) == ("new", faulty)
    assert alert.kind == "keys differ between processes"
    ((title, state),) = rehearsal.issues()
    print(title)
    assert state == "open"
    assert alert.id in (rehearsal.home / "html" / "index.html").read_text()
    assert alert.id in (rehearsal.home / "html" / "alerts.atom").read_text()
    assert [one.id for one in rehearsal.published().alerts] == [alert.id]

    rehearsal.commit("A third remark", **{"pytensor.printing": remark})
    rehearsal.night()
    assert [one.id for one in rehearsal.alerts().alerts] == [alert.id]
    assert rehearsal.issues() == [(title, "open")]

    git(rehearsal.clone, "revert", "--no-edit", faulty)
    rehearsal.night()
    assert [(one.id, one.state) for one in rehearsal.alerts().alerts] == [(alert.id, "resolved")]
    assert rehearsal.issues() == [(title, "closed")]
    assert [one.state for one in rehearsal.published().alerts] == ["resolved"]


def test_killed_at_any_instant_nothing_is_lost_and_nothing_doubled(rehearsal: Rehearsal) -> None:
    """Kills over several nights: of the nightly alone, or of everything, as if the power went."""
    rehearsal.night("3.3.7")  # makes the environment
    began = time.monotonic()
    rehearsal.night("3.3.7")
    lasts = time.monotonic() - began
    (journal,) = layout.journals(rehearsal.home / "results")
    whole = _taken(journal).total() // 2
    dice = random.Random(20261122)
    kills = 0
    for attempt in range(3 * KILLS):
        if kills == KILLS:
            break
        before = _taken(journal)
        process = subprocess.Popen(
            rehearsal.command("3.3.7"), cwd=rehearsal.home, env=rehearsal.environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        instant = dice.uniform(0.3, 0.6 * lasts)
        try:
            assert process.wait(instant) == 0
            print(f"ended by itself within {instant:.1f} s")
        except subprocess.TimeoutExpired:
            _kill(process, with_step=attempt % 2 == 0)
            kills += 1
            step = rehearsal.nights()[-1]
            at = [one.name for one in step.steps if one.tries and one.status is None]
            taken = _taken(journal).total() - before.total()
            print(f"kill {kills} after {instant:.1f} s in {at}, {taken} samples taken")
        assert before <= _taken(journal), "something that was recorded is lost"
    assert kills == KILLS
    rehearsal.night("3.3.7")
    taken = _taken(journal)
    assert set(taken.values()) == {1}, "something is doubled"
    nights = rehearsal.nights()
    assert all(one.over and all(step.status == 0 for step in one.steps) for one in nights)
    assert len(nights) == len({run for run, _, _ in taken})
    assert taken.total() == whole * len(nights), "a run was not gone on with"
    assert read_journal(journal).problems == []
    print(f"{KILLS} kills over {len(nights)} nights of {lasts:.0f} s; {taken.total()} samples")
    # Compacting drops what later runs have outdated, but nothing of the last 30 days.
    published = git(rehearsal.origin, "show", f"results:samples/rehearsal/{journal.name}")
    assert published.count('"sample":') == taken.total()
    assert rehearsal.alerts().alerts == []
    left = [one.info for one in psutil.process_iter(["cmdline", "cwd"])]
    assert [one for one in left if str(rehearsal.home) in str(one)] == []


def _taken(journal: Path) -> Counter[tuple[str, str, str]]:
    """How often each cell and pass is recorded, run by run."""
    entries = read_journal(journal).entries
    return Counter((e.run, str(e.sample.cell), e.sample.measure) for e in entries)


def _kill(process: subprocess.Popen[bytes], with_step: bool) -> None:
    steps = psutil.Process(process.pid).children(recursive=True) if with_step else []
    family = [psutil.Process(process.pid), *steps]
    for one in family:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    process.wait()
    psutil.wait_procs(family, timeout=20)
