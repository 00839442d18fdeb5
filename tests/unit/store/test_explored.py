"""Records of explored pairs: written, read, refused and merged like any other record."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from observatory.store.base.problems import RecordError
from observatory.store.merging.directories import unite
from observatory.store.records import explored
from observatory.store.records.explored import FILES, Exploration

RESULTS = Path(__file__).parents[3] / "results"
COMMITTED = sorted((RESULTS / "explored").glob("*.json"))


def test_committed_records_are_read_and_are_where_they_belong() -> None:
    found = [one for one in explored.load_all(RESULTS) if isinstance(one, Exploration)]
    assert [FILES.path_of(RESULTS, one) for one in found] == COMMITTED
    assert all(one.pair.first.outputs for record in found for one in record.found)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = FILES.load(COMMITTED[0])
    assert record is not None
    path = explored.save(tmp_path, record)
    assert FILES.load(path) == record
    assert json.loads(path.read_text())["found"] == json.loads(COMMITTED[0].read_text())["found"]


@pytest.mark.parametrize(
    "pair", [{"outputs": ["x"] * 1_000}, {"sources": [{"dtype": 5}] * 1_000}, {"more": []}]
)
def test_of_a_broken_pair_the_first_mistake_is_named(tmp_path: Path, pair: dict[str, Any]) -> None:
    content = json.loads(COMMITTED[0].read_text())
    content["found"][0]["pair"]["first"] |= pair
    path = tmp_path / "explored" / "a.json"
    path.parent.mkdir()
    path.write_text(json.dumps(content))
    (error,) = explored.load_all(tmp_path)
    assert isinstance(error, RecordError)
    assert "is no record of explored pairs" in str(error)
    assert "DescribedPair.first" in str(error)
    assert len(str(error)) < 600


def test_records_of_a_night_come_into_the_results(tmp_path: Path) -> None:
    shutil.copytree(RESULTS / "explored", tmp_path / "part" / "explored")
    done = unite(tmp_path / "into", [tmp_path / "part"])
    assert (done.files, done.problems) == (len(COMMITTED), [])
    assert list(explored.load_all(tmp_path / "into")) == list(explored.load_all(RESULTS))
    assert unite(tmp_path / "into", [tmp_path / "part"]).files == 0
