"""The judges over stand-ins: what an exit status comes to; no process outlives its time."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from packaging.version import Version

from observatory.numba_bound import judges
from observatory.numba_bound.judges import ROOT, Bench, Finding, Judged, Verdict, run
from observatory.store.records import contracts as record
from observatory.text.comment import LIMIT, MARKER
from tests.factories_contracts import contract, contracts

OLD, NEW = Version("0.66.0"), Version("0.68.1")
TOOL = ("observatory",)
Statuses = dict[str, int | None]


class Told:
    """A runner with a status for each command, or for each command and (first) numba."""

    def __init__(self, statuses: Statuses, comment: str = "") -> None:
        self.statuses, self.comment = statuses, comment
        self.commands: list[list[str]] = []

    def __call__(self, command: Sequence[str], limit: float) -> int | None:
        assert limit == 60.0
        self.commands.append(list(command))
        name, numba = command[1], command[2].partition("numba==")[2]
        if name == "compare" and self.comment:
            Path(command[command.index("--markdown") + 1]).write_text(self.comment)
        return self.statuses.get(f"{name} {numba}", self.statuses.get(name, 0))


def judged(statuses: Statuses, old: Version | None = OLD, comment: str = "") -> Judged:
    return Bench("3.3.7", TOOL, Told(statuses, comment), 60.0).judge(NEW, old)


def found(statuses: Statuses, command: str) -> Verdict:
    (verdict,) = [v for v in judged(statuses).verdicts if v.command == command]
    return verdict


def test_the_three_are_asked_as_a_person_would() -> None:
    told = Told({})
    Bench("3.3.7", TOOL, told, 60.0).judge(NEW, OLD)
    results = str(ROOT / ".observatory" / "numba-bound")
    contracts, canary, compare = told.commands
    assert contracts == ["observatory", "contracts", "3.3.7 numba==0.68.1", "--results", results]
    assert canary == ["observatory", "canary", "3.3.7 numba==0.68.1", "--results", results]
    assert compare[:4] == ["observatory", "compare", "3.3.7 numba==0.66.0", "3.3.7 numba==0.68.1"]
    assert compare[4] == "--markdown"


@pytest.mark.parametrize(
    ("command", "status", "finding", "said"),
    [
        ("contracts", 0, Finding.GOOD, "everything that PyTensor relies on"),
        ("contracts", 11, Finding.BAD, "breaks something"),
        ("contracts", 8, Finding.OPEN, "could not judge everything"),
        ("contracts", 5, Finding.OPEN, "ended with status 5, which is not a verdict"),
        ("canary", 0, Finding.GOOD, "right numbers"),
        ("canary", 5, Finding.BAD, "wrong numbers"),
        ("canary", 3, Finding.BAD, "crashed"),
        ("canary", 10, Finding.BAD, "share a symbol"),
        ("canary", 8, Finding.OPEN, "could not judge"),
        ("compare", 0, Finding.GOOD, "nothing is worse"),
        ("compare", 5, Finding.BAD, "wrong numbers"),
        ("compare", 7, Finding.BAD, "something is worse"),
        ("compare", 8, Finding.OPEN, "nothing is bad, but it could not judge"),
        ("compare", 4, Finding.OPEN, "no environment with this numba"),
        ("compare", 2, Finding.OPEN, "ended with status 2"),
        ("compare", 1, Finding.OPEN, "ended with status 1"),
        ("compare", -9, Finding.OPEN, "died of signal 9"),
        ("compare", None, Finding.OPEN, "was ended after 1 minutes"),
    ],
)
def test_an_exit_status_becomes_a_sentence(
    command: str, status: int | None, finding: Finding, said: str
) -> None:
    verdict = found({f"{command} {OLD if command == 'compare' else NEW}": status}, command)
    assert verdict.finding is finding
    assert said in verdict.sentence


def test_the_worst_of_the_verdicts_counts() -> None:
    assert judged({}).finding is Finding.GOOD
    assert judged({"compare": 8}).finding is Finding.OPEN
    assert judged({"compare": 8, "contracts 0.68.1": 11}).finding is Finding.BAD


def test_what_is_as_bad_with_the_old_numba_is_not_the_fault_of_the_new_one() -> None:
    verdict = found({"canary": 5}, "canary")
    assert verdict.finding is Finding.OPEN
    assert verdict.sentence.endswith("as with numba 0.66.0")
    assert found({"canary 0.68.1": 5, "canary 0.66.0": 3}, "canary").finding is Finding.BAD


def test_a_numba_that_breaks_more_than_the_old_one_is_to_blame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judges, "_RESULTS", tmp_path)
    for numba, broken in (("0.66.0", "uid_fork"), ("0.68.1", "uid_spawn")):
        record.save(tmp_path, contracts(numba, found=[contract(broken, "broken")]))
    verdict = found({"contracts": 11}, "contracts")
    assert verdict.finding is Finding.BAD
    assert "with numba 0.66.0 only in part: " in verdict.sentence
    record.save(tmp_path, contracts("0.68.1", found=[contract("uid_fork", "broken")]))
    assert found({"contracts": 11}, "contracts").finding is Finding.OPEN


@pytest.mark.parametrize("old", [None, NEW])
def test_without_another_numba_nothing_is_compared(old: Version | None) -> None:
    told = Told({"canary": 5})
    result = Bench("3.3.7", TOOL, told, 60.0).judge(NEW, old)
    assert [command[1] for command in told.commands] == ["contracts", "canary"]
    assert (result.old, result.finding) == (None, Finding.BAD)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (f"{MARKER}\n### Nothing is worse\n", "### Nothing is worse"),
        ("### not a comment of ours", ""),
        ("", ""),
    ],
)
def test_the_comment_is_taken_without_its_marker(written: str, kept: str) -> None:
    assert judged({}, comment=written).comment == kept


def test_a_comment_that_was_never_written_is_none_and_a_huge_one_is_cut() -> None:
    assert judged({}).comment == ""
    assert len(judged({}, comment=MARKER + "x" * 10 * LIMIT).comment) < 5 * LIMIT


def test_a_command_runs_in_the_checkout_and_prints_where_it_can_be_followed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    script = "import os, sys; print(os.getcwd()); sys.exit(7)"
    assert run([sys.executable, "-c", script], 60.0) == 7
    out, err = capfd.readouterr()
    assert (out, err.strip()) == ("", str(ROOT))


def test_a_command_that_is_not_there_could_not_be_run(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["/nowhere/observatory"], 60.0) == 4
    assert "/nowhere/observatory cannot be started" in capfd.readouterr().err


_FAMILY = """
import pathlib, signal, subprocess, sys, time
if {deaf}:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
pathlib.Path({path!r} + ".part").write_text(str(child.pid))
pathlib.Path({path!r} + ".part").rename({path!r})
time.sleep(60)
"""


class TooLong(Exception):
    """Raised by the alarm."""


@pytest.fixture
def alarm() -> Iterator[Callable[[float], None]]:
    """Raises TooLong after some seconds: where a process is not ended, a test is."""

    def interrupt(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("deaf", [False, True])
def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(
    deaf: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alarm: Callable[[float], None]
) -> None:
    monkeypatch.setattr(judges, "_GRACE", 0.2)
    alarm(20.0)
    script = _FAMILY.format(deaf=deaf, path=str(tmp_path / "pid"))
    assert run([sys.executable, "-c", script], 1.5) is None
    gone(int((tmp_path / "pid").read_text()))


def test_an_interruption_ends_the_command_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alarm: Callable[[float], None]
) -> None:
    monkeypatch.setattr(judges, "_GRACE", 0.2)
    script = _FAMILY.format(deaf=False, path=str(tmp_path / "pid"))
    alarm(20.0)
    begun = threading.Thread(
        target=lambda: (wait((tmp_path / "pid").exists, 10.0), os.kill(os.getpid(), signal.SIGALRM))
    )
    begun.start()
    with pytest.raises(TooLong):
        run([sys.executable, "-c", script], 60.0)
    begun.join()
    gone(int((tmp_path / "pid").read_text()))


def gone(pid: int, patience: float = 300.0) -> None:
    """Fail if a process goes on."""
    wait(lambda: not _alive(pid), patience)


def wait(until: Callable[[], bool], patience: float) -> None:
    ends = time.monotonic() + patience
    while not until():
        assert time.monotonic() < ends
        time.sleep(0.01)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
