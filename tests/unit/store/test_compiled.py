"""What was compiled, as the cache keeps it for the pages."""

from __future__ import annotations

from pathlib import Path

from observatory.store.base.problems import Problem
from observatory.store.reading.compiled import KEPT_FUNCTIONS, Functions
from observatory.store.reading.kept import UNKEPT
from observatory.store.reading.read import read_results
from observatory.store.records.sample import LedgerEntry
from tests.factories import RUN, WARM, header, journal, sample


def entry(
    name: str, outcome: str = "hit", seconds: float = 0.5, size: int | None = 100
) -> LedgerEntry:
    return LedgerEntry(
        name=name, kind="numba", key="k", outcome=outcome, bytes=size, seconds=seconds
    )


def results(tmp_path: Path, *ledgers: list[LedgerEntry] | None, **changes: object) -> Path:
    samples = [sample(WARM, "counting", ledger=one, **changes) for one in ledgers]
    journal(tmp_path, samples, RUN, header())
    return tmp_path


def functions(directory: Path) -> Functions:
    ((journal, found),) = read_results(directory).journals.items()
    assert found.functions != UNKEPT
    return KEPT_FUNCTIONS.of_journal(journal, found.functions, [])


def test_functions_of_one_name_and_outcome_are_added_up(tmp_path: Path) -> None:
    ledger = [entry("Add", seconds=1), entry("Add", seconds=2), entry("Add", "miss", 0.25, None)]
    ((cell, found),) = functions(results(tmp_path, ledger)).items()
    assert cell == str(WARM)
    assert list(found) == [("Add", "hit", 2, 3.0, 200), ("Add", "miss", 1, 0.25, 0)]


def test_the_first_good_sample_of_a_cell_speaks(tmp_path: Path) -> None:
    (found,) = functions(results(tmp_path, None, [entry("A")], [entry("B")])).values()
    assert [one.name for one in found] == ["A"]


def test_a_ledger_that_is_gone_is_named_and_looked_for_again(tmp_path: Path) -> None:
    directory, cache = results(tmp_path / "results", [entry("A")]), tmp_path / "cache"
    (path,) = (directory / "ledgers").rglob("*.json.gz")
    content = path.read_bytes()
    path.unlink()
    problems: list[Problem] = []
    ((journal, found),) = read_results(directory, cache).journals.items()
    assert KEPT_FUNCTIONS.of_journal(journal, found.functions, problems) == {}
    assert [problem.path for problem in problems] == [path]
    path.write_bytes(content)
    ((journal, found),) = read_results(directory, cache).journals.items()
    assert list(KEPT_FUNCTIONS.of_journal(journal, found.functions, problems)) == [str(WARM)]
    assert len(problems) == 1
