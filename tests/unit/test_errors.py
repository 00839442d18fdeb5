"""Each error carries the status with which a command ends, and a status has one meaning."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import observatory
from observatory.errors import Exit, ObservatoryError, severest

STATUSES = {
    "AddressError": Exit.USAGE,
    "BranchError": Exit.USAGE,
    "GoneError": Exit.UNREADABLE,
    "StoreError": Exit.UNREADABLE,
    "UnreachableError": Exit.UNPUBLISHED,
    "ContentError": Exit.UNREADABLE,
    "CpusTakenError": Exit.UNFIT,
    "EnvironmentMakingError": Exit.ENVIRONMENT,
    "ExternalDetectorError": Exit.USAGE,
    "FleetError": Exit.UNFIT,
    "GitError": Exit.USAGE,
    "GitHubError": Exit.GITHUB,
    "HistoryError": Exit.ENVIRONMENT,
    "ImplementationsError": Exit.UNDECIDED,
    "JournalError": Exit.USAGE,
    "KeysError": Exit.SAMPLE_FAILED,
    "MissingError": Exit.GITHUB,
    "MissingLibraryError": Exit.USAGE,
    "NoCacheError": Exit.USAGE,
    "NoEntriesError": Exit.USAGE,
    "ReaderError": Exit.ENVIRONMENT,
    "NoInterpreterError": Exit.ENVIRONMENT,
    "NotMovedError": Exit.UNPUBLISHED,
    "NotOurDirectoryError": Exit.USAGE,
    "RecordError": Exit.UNREADABLE,
    "RecordUsageError": Exit.USAGE,
    "RefusedError": Exit.ARTIFACT,
    "ReleasesError": Exit.USAGE,
    "RunningError": Exit.USAGE,
    "SelectionError": Exit.USAGE,
    "SentinelError": Exit.SAMPLE_FAILED,
    "SubjectError": Exit.USAGE,
    "SuiteError": Exit.UNDECIDED,
    "TortureError": Exit.UNDECIDED,
    "UnsureError": Exit.GITHUB,
    "UvError": Exit.ENVIRONMENT,
}

ACK = ("ack", "0", "--why", "w", "--until", "1d")


def classes(of: type[ObservatoryError]) -> Iterator[type[ObservatoryError]]:
    for one in of.__subclasses__():
        yield one
        yield from classes(one)


def test_every_error_has_the_status_that_is_expected_of_it() -> None:
    for module in pkgutil.walk_packages(observatory.__path__, "observatory."):
        if not module.name.endswith("__main__") and ".benchmarks." not in module.name:
            importlib.import_module(module.name)
    ours = {one.__name__: one for one in classes(ObservatoryError)
            if one.__module__.startswith("observatory")}  # fmt: skip
    assert {name: one.exit_code for name, one in ours.items()} == {
        name: status for name, status in STATUSES.items() if name in ours
    }
    assert len(ours) > 15


def observatory_(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "observatory", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "content", "command"),
    [
        ("alerts.json", "{", ("alerts",)),
        ("alerts.json", json.dumps({"schema": "of nobody"}), ACK),
        ("triage.toml", "[[", ACK),
        ("comparison.json", "{", ("plot", "compare", "comparison.json", "--out", "a.png")),
    ],
)  # fmt: skip
def test_a_broken_file_that_is_needed_is_unreadable_and_not_misunderstood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, command: tuple[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(observatory.__file__).parents[1]))
    where = tmp_path / "results"
    where.mkdir()
    (where / "alerts.json").write_text(
        Path(observatory.__file__).parents[1].joinpath("results/alerts.json").read_text()
    )
    target = where / name if command[0] != "plot" else tmp_path / name
    target.write_text(content)
    if name == "triage.toml":
        found = json.loads((where / "alerts.json").read_text())["alerts"]
        command = ("ack", found[0]["id"], *command[2:])  # type: ignore[assignment]
    done = observatory_(*command)
    assert done.returncode == Exit.UNREADABLE, done.stderr
    assert name in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_not_there_was_not_understood(tmp_path: Path) -> None:
    for command in (("show",), ("alerts",), ("export",)):
        done = observatory_(*command, "--results", tmp_path / "nowhere")
        assert done.returncode == Exit.USAGE


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [([], 0), ([0, 0], 0), ([8, 3], 3), ([3, 5, 8], 5), ([99, 3], 99), ([99, 5], 5), ([-9, 8], -9),
     ([Exit.SAMPLE_FAILED, Exit.ENVIRONMENT], Exit.ENVIRONMENT)],
)  # fmt: skip
def test_the_severest_status_speaks_for_all(statuses: list[int], worst: int) -> None:
    assert severest(statuses) == worst


def test_every_status_is_ranked() -> None:
    for one in set(Exit) - {Exit.OK, Exit.WRONG_RESULTS}:
        assert severest([one, 99]) == 99  # a status that is not known comes before all others
