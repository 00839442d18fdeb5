from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from observatory.cli.commands import nightly as command
from observatory.cli.main import app
from observatory.errors import Exit, ObservatoryError
from observatory.run import counter, nightly
from observatory.run.presets import Narrowed
from observatory.store.journal import night as record
from observatory.store.journal.night import Night
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from observatory.store.records.subject import Subject
from tests.factories_git import git
from tests.fake_observatory import TASKS

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[4]
FAKE = str(ROOT / "tests" / "fake_observatory.py")
KILLS = int(os.environ.get("KILLS", "5"))
_CALL = """
import sys
from observatory.run import counter, nightly
nightly.PROGRAM = (sys.executable, {fake!r})
counter.find = lambda: counter.Counter({source!r}, {problem!r})
from observatory.cli.main import main
sys.argv[0] = "observatory"
main()
"""


class Stage:
    """A directory in which nights are acted."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path
        self.log = tmp_path / "log"
        self.said = tmp_path / "said"
        self.results = tmp_path / "results"
        self.source, self.problem = "", "nothing counts instructions here"

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        code = _CALL.format(fake=FAKE, source=self.source, problem=self.problem)
        with self.said.open("wb") as said:  # no pipe: a step that outlives its night would hold it
            return subprocess.Popen(
                [sys.executable, "-c", code, "nightly", *arguments],
                cwd=self.home, stdout=said, stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": str(ROOT), "OBSERVATORY_FAKE_LOG": str(self.log),
                     "NO_COLOR": "1", "COLUMNS": "160", **environment},
            )  # fmt: skip

    def night(self, *arguments: str, **environment: str) -> tuple[int, str]:
        process = self.start(*arguments, **environment)
        status = process.wait(timeout=300)
        return status, self.said.read_text()

    def begun(self) -> list[str]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.removeprefix("begins ") for line in lines if line.startswith("begins")]

    def nights(self) -> list[Night]:
        return [record.load(path) for path in sorted(self.home.glob(".observatory/nightly/*.json"))]

    def taken(self) -> Counter[tuple[str, str, str]]:
        """How often each cell and pass is recorded, run by run."""
        entries = [e for path in layout.journals(self.results) for e in read_journal(path).entries]
        return Counter((e.run, str(e.sample.cell), e.sample.measure) for e in entries)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "remote", "add", "origin", "https://example.org/x.git")
    return Stage(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--publish", "a b"], "'a b' cannot be the name of a branch"),
        (["--publish", "results", "--publish-in", "none"], "none"),
        (["--publish", "results", "--remote", "upstream"], "has no remote 'upstream'"),
        (["--publish", "s3://"], "s3://"),
        (["--machine", "a b"], "a b"),
    ],
)
def test_where_nothing_can_go_is_said_before_the_night(
    stage: Stage, arguments: list[str], said: str
) -> None:
    status, told = stage.night("3.3.7", *arguments)
    assert status == Exit.USAGE
    assert said in told
    assert stage.begun() == []


def test_a_night_does_everything_and_tells_it(stage: Stage) -> None:
    status, said = stage.night(
        "3.3.7", "--feed", "--publish", "results", "--url", "https://example.org/x/",
        "--summary", "summary.md",
    )  # fmt: skip
    assert status == Exit.OK, said
    commands = [
        "sentinel",
        "run",
        "canary",
        "contracts",
        "tomorrow",
        "torture",
        "alerts",
        "bisect",
        "dashboard",
        "alerts",
        "publish",
    ]
    assert stage.begun() == commands
    for name in (
        "measure 3.3.7",
        "canary",
        "contracts",
        "tomorrow",
        "torture 3.3.7",
        "alerts",
        "search",
        "site",
        "feed",
        "publish",
    ):
        assert re.search(rf"^ *{re.escape(name)} +done ", said, re.MULTILINE), said
    summary = (stage.home / "summary.md").read_text()
    assert "| `measure` 3.3.7" in summary or "measure" in summary
    assert "![Compile times of the newest subject](https://example.org/x/pictures/newest.svg)" in (
        summary
    )
    assert (stage.home / "html" / "pictures" / "newest.svg").read_text().startswith("<svg")
    assert "pictures/newest.svg" in (stage.home / "html" / ".observatory-site").read_text()
    assert all(night.over for night in stage.nights())
    assert max(stage.taken().values()) == 1
    assert stage.taken().total() == TASKS


def test_a_night_counts_work_where_the_machine_can_and_says_where_it_cannot(stage: Stage) -> None:
    status, said = stage.night("3.3.7", "--only", "measure", "--only", "work")
    assert status == Exit.OK, said
    assert stage.begun() == ["run"]
    assert said.count("nothing counts instructions here") == 1
    assert re.search(r"^ *work +skipped: because nothing counts", said, re.MULTILINE), said
    stage.source, stage.problem = "callgrind", ""
    status, said = stage.night("3.3.7", "--only", "work", "--work-budget", "5m")
    assert status == Exit.OK, said
    assert "work 3.3.7: observatory run --subject 3.3.7 --preset work --budget 5m" in said
    status, said = stage.night("3.3.7", "--only", "work", "--launch", "fork")
    assert "skipped: because the preset work has none of the chosen cells" in said
    status, said = stage.night("3.3.7", "--no-work", "--only", "measure", "--only", "work")
    assert "work" not in [step.name for step in stage.nights()[-1].steps]


def test_of_a_cluster_its_workers_say_whether_they_count_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counter, "find", lambda: counter.Counter("", "there is no valgrind"))
    assert command._no_work(Narrowed(), None) == "there is no valgrind"
    assert command._no_work(Narrowed(), "host:8786") == ""


def test_without_an_address_the_picture_is_beside_the_summary(stage: Stage) -> None:
    stage.night(
        "3.3.7",
        "--summary",
        "summary.md",
        "--no-canary",
        "--no-contracts",
        "--no-tomorrow",
        "--no-torture",
        "--no-search",
        "--no-sentinel",
    )
    assert stage.begun() == ["run", "alerts", "dashboard"]
    assert "](summary.svg)" in (stage.home / "summary.md").read_text()
    assert (stage.home / "summary.svg").exists()


def test_what_fails_hides_nothing_and_the_worst_is_the_status(stage: Stage) -> None:
    status, said = stage.night(
        "3.3.7", "--publish", "results",
        OBSERVATORY_FAKE_CANARY="5", OBSERVATORY_FAKE_ALERTS="1", OBSERVATORY_FAKE_PUBLISH="15",
    )  # fmt: skip
    assert status == Exit.WRONG_RESULTS
    commands = ["sentinel", "run", "canary", "contracts", "tomorrow", "torture", "alerts",
                "dashboard", "publish"]  # fmt: skip
    assert stage.begun() == commands
    assert f"5: {Exit.WRONG_RESULTS.meaning}" in said
    assert f"15: {Exit.UNPUBLISHED.meaning}" in said


def test_the_next_night_measures_anew(stage: Stage) -> None:
    stage.night("3.3.7", "--only", "measure")
    status, _ = stage.night("3.3.7", "--only", "measure")
    assert status == Exit.OK
    assert stage.begun() == ["run", "run"]
    assert len(stage.nights()) == 2
    assert len({run for run, _, _ in stage.taken()}) == 2


def test_another_night_is_not_gone_on_with(stage: Stage) -> None:
    process = stage.start("3.3.7", OBSERVATORY_FAKE_PAUSE="0.1")
    _until(lambda: stage.results.exists())
    _kill(process)
    stage.night("3.3.6", "--only", "measure")
    first, second = stage.nights()
    assert not first.over
    assert second.over


def test_a_night_can_be_begun_anew(stage: Stage) -> None:
    process = stage.start("3.3.7", "--only", "measure", OBSERVATORY_FAKE_PAUSE="0.1")
    _until(lambda: stage.results.exists())
    _kill(process)
    status, said = stage.night("3.3.7", "--only", "measure", "--fresh")
    assert status == Exit.OK
    assert "going on" not in said
    assert stage.begun() == ["run", "run"]


def test_an_interrupted_night_says_so_and_goes_on(stage: Stage) -> None:
    process = stage.start("3.3.7", "--only", "measure", OBSERVATORY_FAKE_PAUSE="0.1")
    _until(lambda: len(stage.taken()) > 2)
    process.terminate()
    assert process.wait(timeout=300) == Exit.INTERRUPTED
    status, said = stage.night("3.3.7", "--only", "measure")
    assert status == Exit.OK
    assert "continuing the night of" in said
    assert stage.begun() == ["run", "run resumed"]
    assert stage.taken().total() == TASKS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--preset", "huge"], "there is no preset 'huge'"),
        (["--backend", "TPU"], "there is no backend 'TPU'"),
        (["--scenario", "siblings"], "no cell of the preset night matches"),
        (
            ["--only", "dinner"],
            "there is no step 'dinner' (did you mean 'deliver'?); choose from sentinel, measure",
        ),
        (["--repo", "."], "--repo and --commits go together"),
        (["--url", "ftp://x"], "is not an https address"),
        (["--deliver", "nobody"], "is not a repository; write OWNER/NAME"),
        (["--deliver", "a/b"], "needs a token in the environment variable GITHUB_TOKEN"),
        (["--repo", ".", "--commits", "no..where"], "there is no branch, tag or commit 'no'"),
        (["--work-budget", "soon"], "'soon' is not a time; write 90s, 10m or 1.5h"),
        (["--census-budget", "soon"], "'soon' is not a time; write 90s, 10m or 1.5h"),
        (["--measure-budget", "soon"], "'soon' is not a time; write 90s, 10m or 1.5h"),
        (["--explore-budget", "soon"], "'soon' is not a time; write 90s, 10m or 1.5h"),
    ],
)
def test_a_mistake_is_said_before_the_night_begins(
    stage: Stage, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(stage.home)
    monkeypatch.setenv("GITHUB_TOKEN", "")
    monkeypatch.setattr(nightly, "PROGRAM", (sys.executable, FAKE))
    monkeypatch.setenv("OBSERVATORY_FAKE_LOG", str(stage.log))
    done = CliRunner().invoke(app, ["nightly", *arguments])
    if isinstance(done.exception, ObservatoryError):
        assert done.exception.exit_code == Exit.USAGE
        told = str(done.exception)
    else:
        assert done.exit_code == Exit.USAGE
        told = re.sub("[│╭╮╰╯─]", " ", done.output)  # the box around a mistake in options
    assert said in " ".join(told.split())
    assert stage.begun() == []


def test_killed_at_any_instant_nothing_is_lost_and_nothing_doubled(stage: Stage) -> None:
    """KILLS of them over several nights: of the nightly alone, and of its step with it."""
    chosen = random.Random(20261121)
    arguments = ("3.3.7", "--no-work", "--publish", "results")
    kills = 0
    for attempt in range(3 * KILLS):
        if kills == KILLS:
            break
        before, steps = stage.taken(), len(stage.begun())
        process = stage.start(*arguments, OBSERVATORY_FAKE_PAUSE="0.03")
        if chosen.random() < 0.8:  # else before anything has begun
            _until(partial(_moved, stage, steps, process))
        try:
            process.wait(chosen.uniform(0, 1.5))
        except subprocess.TimeoutExpired:
            _kill(process, with_step=attempt % 2 == 0)
            kills += 1
        assert before <= stage.taken(), "something that was recorded is lost"
    assert kills == KILLS
    status, said = stage.night(*arguments)
    assert status == Exit.OK, said
    nights = stage.nights()
    assert all(night.over for night in nights)
    assert all(step.status == 0 for night in nights for step in night.steps)
    taken = stage.taken()
    assert set(taken.values()) == {1}, "something is doubled"
    runs = {run for run, _, _ in taken}
    assert taken.total() == len(runs) * TASKS, "a run was not gone on with"
    assert len(runs) == len(nights)
    for path in layout.journals(stage.results):
        assert read_journal(path).problems == []
        json.loads(layout.asv_path(stage.results, "bench", _subject(path)).read_bytes())


def _subject(path: Path) -> Subject:
    header = read_journal(path).header
    assert header is not None
    return header.subject


def _moved(stage: Stage, steps: int, process: subprocess.Popen[bytes]) -> bool:
    return len(stage.begun()) > steps or process.poll() is not None


def _until(seen: Callable[[], bool]) -> None:
    limit = time.monotonic() + 600
    while not seen():
        assert time.monotonic() < limit
        time.sleep(0.01)


def _kill(process: subprocess.Popen[bytes], with_step: bool = True) -> None:
    steps = psutil.Process(process.pid).children(recursive=True) if with_step else []
    for one in [process, *steps]:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    process.wait()
    psutil.wait_procs(steps, timeout=120)
