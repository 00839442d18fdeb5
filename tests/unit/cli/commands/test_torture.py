"""`observatory torture` with stand-ins for the environments and the primitive."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from observatory.app import torture as trying
from observatory.cli.commands import torture as options
from observatory.cli.main import main
from observatory.errors import Exit
from observatory.run.environments import EnvironmentMakingError
from observatory.run.torture import TortureError
from observatory.store.records.subject import Subject
from observatory.store.records.torture import Fault, Torture, load_all
from tests.factories import subject
from tests.factories_torture import fault, torture

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
Run = Callable[..., tuple[int, str, str]]


class _Subjects:
    def parse_all(self, texts: Any, extras: Any, python: str | None) -> list[Subject]:
        return [
            subject(text, date=FIRST + timedelta(days=int(text.split(".")[1]))) for text in texts
        ]


def journal(tmp_path: Path, label: str) -> Path:
    """The directory of a journal, which the primitive would make."""
    directory = tmp_path / "journals" / label
    directory.mkdir(parents=True, exist_ok=True)
    return directory


@pytest.fixture
def tried() -> list[tuple[str, Path | None]]:
    """The labels of the subjects whose faults were tried, and the journals."""
    return []


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    tried: list[tuple[str, Path | None]],
) -> Run:  # fmt: skip
    """Runs the command; ``fates``: by label the faults of a record, or an error.

    ``lefts``: by label how many faults there was no time for.
    """

    def command(
        *arguments: str, fates: dict[str, Any] | None = None, lefts: dict[str, int] | None = None
    ) -> tuple[int, str, str]:
        def place(one: Subject, *_: Any) -> str:
            fate = (fates or {}).get(one.label)
            if isinstance(fate, EnvironmentMakingError):
                raise fate
            return one.label

        def under(label: str, one: Subject, machine: str, *options: Any) -> Torture:
            fate: list[Fault] | Exception | None = (fates or {}).get(label)
            if isinstance(fate, Exception):
                raise fate
            tried.append((label, options[4]))
            if fate is None and options[2] is None:
                fate = [fault("index_empty"), fault("full"), fault("full", cache="c")]
            left = (lefts or {}).get(label, 0)
            return torture(label, fate, one.date, machine, steps=options[1] or 64, left=left)

        monkeypatch.setattr(options, "local_subjects", lambda state: _Subjects())
        monkeypatch.setattr(trying, "environment_of", place)
        monkeypatch.setattr(trying, "torture", under)
        monkeypatch.setattr(trying, "others_of", lambda *_: {})
        monkeypatch.setattr(trying, "journal_of", lambda label, *_: journal(tmp_path, label))
        monkeypatch.setattr(trying, "measuring_lock", lambda say: nullcontext())
        words = ["--results", str(tmp_path), "--machine", "bench"]
        monkeypatch.setattr(sys, "argv", ["observatory", "torture", *arguments, *words])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return int(left.value.code or 0), said.out, said.err

    return command


def test_each_subject_is_a_column_and_a_file(run: Run, tmp_path: Path) -> None:
    code, out, err = run("3.0.0", "3.1.0")
    assert code == Exit.OK
    assert "3.0.0" in out
    assert "index_empty" in out
    assert "3 faults in 9 steps: 3 safe" in err
    assert len(list(load_all(tmp_path))) == 2


def test_what_a_user_sees_is_quoted_and_is_no_failure_of_the_command(run: Run) -> None:
    code, out, _ = run("3.0.0", fates={"3.0.0": [fault("index_empty", "raises")]})
    assert code == Exit.OK
    assert "raises every time" in out
    assert "EOFError: index_empty" in " ".join(out.split())


def test_worse_than_the_release_before_is_an_exit_status(run: Run) -> None:
    worse = {"3.1.0": [fault("full", "raises")]}
    assert run("3.0.0", fates={"3.0.0": [fault("full")]})[0] == Exit.OK
    code, out, _ = run("3.1.0", fates=worse)
    assert code == Exit.WORSE
    assert "worse than 3.0.0: full of numba's cache: raises every time (before: safe)" in out
    assert run("3.2.0", fates={"3.2.0": [fault("full", "raises")]})[0] == Exit.OK


@pytest.mark.parametrize(
    ("faults", "code"),
    [
        ([fault("full", "WRONG")], Exit.WRONG_RESULTS),
        ([fault("full", "raises", "WRONG")], Exit.WRONG_RESULTS),
        ([fault("flipped", "WRONG", certain=False)], Exit.OK),
        ([fault("exchanged", "WRONG", group="control")], Exit.OK),
        ([fault("exchanged", "safe", group="control")], Exit.UNDECIDED),
    ],
)
def test_wrong_numbers_are_an_exit_status(run: Run, faults: list[Fault], code: Exit) -> None:
    assert run("3.0.0", fates={"3.0.0": faults})[0] == code


def test_a_subject_that_fails_does_not_stop_the_others(run: Run, tmp_path: Path) -> None:
    fates = {"3.0.0": TortureError("it fell over"), "3.1.0": EnvironmentMakingError("no wheel")}
    code, _, err = run("3.0.0", "3.1.0", "3.2.0", fates=fates)
    assert code == Exit.UNDECIDED
    assert "it fell over" in err
    assert "no wheel" in err
    assert len(list(load_all(tmp_path))) == 1


def test_one_cache_is_tried_and_the_other_stays_as_it_was(run: Run, tmp_path: Path) -> None:
    both = [fault("full", cache="c"), fault("full", "raises")]
    run("3.0.0", fates={"3.0.0": both})
    run("3.0.0", "--cache", "numba", fates={"3.0.0": [fault("full", "safe")]})
    (record,) = load_all(tmp_path)
    assert isinstance(record, Torture)
    assert [(one.cache, one.verdict) for one in record.faults] == [("numba", "safe"), ("c", "safe")]
    run("3.0.0", "--cache", "numba", "--steps", "2", fates={"3.0.0": [fault("full", "safe")]})
    (finer,) = load_all(tmp_path)
    assert isinstance(finer, Torture)
    assert [one.cache for one in finer.faults] == ["numba"]
    assert run("3.0.0", "--cache", "jax")[0] == Exit.USAGE


def test_a_subject_is_tried_once_if_only_new_ones_are_asked_for(
    run: Run, tmp_path: Path, tried: list[tuple[str, Path | None]]
) -> None:
    run("3.0.0")
    code, out, err = run("3.0.0", "3.1.0", "--new")
    assert (code, [label for label, _ in tried]) == (Exit.OK, ["3.0.0", "3.1.0"])
    assert "3.0.0: its faults are recorded already" in err
    run("3.0.0", "--new", "--steps", "2")
    assert len(tried) == 3
    code, out, _ = run("3.0.0", "--new", "--steps", "2")
    assert (code, out, len(tried)) == (Exit.OK, "", 3)


def test_a_record_of_one_cache_is_none_of_the_other(
    run: Run, tried: list[tuple[str, Path | None]]
) -> None:
    run("3.0.0", "--cache", "numba")
    run("3.0.0", "--new", "--cache", "numba")
    assert len(tried) == 1
    run("3.0.0", "--new", "--cache", "c", fates={"3.0.0": [fault("full", cache="c")]})
    assert len(tried) == 2
    run("3.0.0", "--new")
    assert len(tried) == 2
    run("3.1.0", "--cache", "numba")
    run("3.1.0", "--new")
    assert [label for label, _ in tried[2:]] == ["3.1.0", "3.1.0"]


def test_further_results_say_what_is_recorded(
    run: Run, tmp_path: Path, tried: list[tuple[str, Path | None]]
) -> None:
    run("3.0.0")
    (tmp_path / "torture").rename(tmp_path / "elsewhere")
    (tmp_path / "stored").mkdir()
    (tmp_path / "elsewhere").rename(tmp_path / "stored" / "torture")
    run("3.0.0", "--new", "--stored", str(tmp_path / "stored"))
    assert len(tried) == 1
    run("3.0.0", "--new")
    assert len(tried) == 2


def test_what_there_was_no_time_for_is_left_to_the_next_run(
    run: Run, tmp_path: Path, tried: list[tuple[str, Path | None]]
) -> None:
    """Half a record is no record: nothing is compared or saved, and the journal is kept."""
    run("3.0.0")
    worse = {"3.1.0": [fault("full", "raises")]}
    code, _, err = run("3.1.0", "--budget", "5m", fates=worse, lefts={"3.1.0": 7})
    assert code == Exit.OK
    said = " ".join(err.split())
    assert "the budget ended after 1 fault; run the same command again to try the 7" in said
    assert len(list(load_all(tmp_path))) == 1
    assert journal(tmp_path, "3.1.0") == tried[-1][1]
    assert (tmp_path / "journals" / "3.1.0").is_dir()
    assert not (tmp_path / "journals" / "3.0.0").exists()
    code, _, _ = run("3.1.0", fates=worse)
    assert (code, len(list(load_all(tmp_path)))) == (Exit.WORSE, 2)


def test_some_faults_only_are_not_recorded(
    run: Run, tmp_path: Path, tried: list[tuple[str, Path | None]]
) -> None:
    code, out, _ = run("3.0.0", "--fault", "index_empty", "--json")
    assert code == Exit.OK
    assert json.loads(out)[0]["schema"] == "observatory/torture/1"
    assert list(load_all(tmp_path)) == []
    assert tried == [("3.0.0", None)]


def test_where_nothing_could_be_tried_nothing_is_recorded(run: Run, tmp_path: Path) -> None:
    skipped = fault("full").model_copy(update={"verdict": None, "after": None, "skipped": "no gcc"})
    status, _, err = run("3.0.0", fates={"3.0.0": [skipped]})
    assert status == Exit.UNDECIDED
    assert "nothing could be tried: no gcc" in err
    assert list(load_all(tmp_path / "results")) == []
