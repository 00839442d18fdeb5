"""What alerts were made of: one number for the same results, however they were read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observatory.app.fingerprints import fingerprint
from observatory.app.histories import runs_of
from observatory.store.asv.files import project
from observatory.store.reading.read import Results, read_results
from observatory.store.records.triage import Triage
from tests.factories import RUN, header, journal, sample
from tests.factories_asv import foreign, put


def written(results: Path, env_name: str, benchmark: str, value: float) -> None:
    rows = {benchmark: [[value]]}
    put(results, foreign(rows, env_name=env_name, commit_hash="0" * 40), f"{env_name}.json")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three files, each of another benchmark."""
    where = tmp_path / "results"
    for env_name, benchmark in (("x", "c"), ("y", "a"), ("z", "b")):
        written(where, env_name, benchmark, 1.0)
    return where


def made_of(read: Results) -> str:
    return fingerprint(read, Triage())


def test_what_a_cache_held_before_does_not_matter(results: Path, tmp_path: Path) -> None:
    """Where the last file is new, its series come before those that are kept."""
    last, cache = results / "ci" / "z.json", tmp_path / "cache"
    content = last.read_bytes()
    last.unlink()
    read_results(results, cache)
    last.write_bytes(content)
    again, afresh = read_results(results, cache), read_results(results)
    assert [one.name for one in again.series] == ["b", "c", "a"]
    assert [one.name for one in afresh.series] == ["c", "a", "b"]
    assert made_of(again) == made_of(afresh)


def _other_value(results: Path) -> None:
    written(results, "x", "c", 7.0)


def _other_name(results: Path) -> None:
    written(results, "x", "d", 1.0)


def _other_date(results: Path) -> None:
    later = foreign({"c": [[1.0]]}, env_name="x", commit_hash="0" * 40, date=1_800_000_000_000)
    put(results, later, "x.json")


def _without(results: Path) -> None:
    (results / "ci" / "y.json").unlink()


@pytest.mark.parametrize("change", [_other_value, _other_name, _other_date, _without])
def test_what_differs_is_seen(results: Path, change: Callable[[Path], None]) -> None:
    before = made_of(read_results(results))
    change(results)
    assert made_of(read_results(results)) != before


@pytest.mark.parametrize(("run", "subjects"), [(RUN, [3]), ("20261125T000000Z-bisect", [])])
def test_a_machine_that_only_searched_has_no_run_that_could_be_late(
    tmp_path: Path, run: str, subjects: list[int]
) -> None:
    for number in range(3):
        under = header(f"3.3.{number}", commit=f"{number}" * 40)
        project(tmp_path, journal(tmp_path, [sample()], run, under).read())
    assert [one.subjects for one in runs_of(read_results(tmp_path))] == subjects
