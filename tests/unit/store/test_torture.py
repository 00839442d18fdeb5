"""Records of caches under faults on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.store.asv.listing import listing
from observatory.store.base.problems import RecordError
from observatory.store.records.torture import Torture, load_all, path_of, save
from tests.factories_torture import fault, torture


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    record = torture(faults=[fault("full", "WRONG", "safe"), fault("linked", None)])
    save(tmp_path, record)
    assert list(load_all(tmp_path)) == [record]
    assert path_of(tmp_path, record).name == "bench-3.3.8-py3.13.json"


def test_each_machine_has_its_own_file(tmp_path: Path) -> None:
    assert path_of(tmp_path, torture()) != path_of(tmp_path, torture(machine="other"))
    with pytest.raises(RecordError, match="cannot be named"):
        path_of(tmp_path, torture(machine="torture"))
    with pytest.raises(RecordError, match="which subject"):
        save(tmp_path, torture(tried=None))


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": "observatory/torture/2"}'])
def test_a_broken_file_is_named_and_the_others_are_read(tmp_path: Path, content: str) -> None:
    save(tmp_path, torture("3.3.7"))
    broken = path_of(tmp_path, torture("3.3.8"))
    broken.write_text(content)
    record, error = load_all(tmp_path)
    assert isinstance(record, Torture)
    assert isinstance(error, RecordError)
    assert str(broken) in str(error)


def test_a_control_that_is_not_wrong_is_blind_and_is_no_finding() -> None:
    record = torture(
        faults=[
            fault("exchanged", "WRONG", group="control"), fault("full", "raises", "safe"),
            fault("exchanged", "safe", cache="c", group="control"), fault("linked"),
        ]
    )  # fmt: skip
    assert [one.cache for one in record.blind] == ["c"]
    assert [one.name for one in record.of("raises", "WRONG")] == ["full"]


def test_records_of_faults_are_no_results_of_a_machine(tmp_path: Path) -> None:
    save(tmp_path, torture())
    assert listing(tmp_path).results == []
    assert listing(tmp_path).problems == []
