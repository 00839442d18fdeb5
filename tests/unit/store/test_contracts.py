"""Records of contracts on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.store.asv.listing import listing
from observatory.store.base.problems import RecordError
from observatory.store.records.contracts import Contracts, load_all, path_of, save
from tests.factories_contracts import contract, contracts


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    record = contracts(found=[contract("uid_fork", "broken", detail="two siblings, one number")])
    save(tmp_path, record)
    assert list(load_all(tmp_path)) == [record]


def test_a_numba_has_one_file_whether_it_is_asked_for_or_the_subjects_own(tmp_path: Path) -> None:
    own = contracts("0.68.0")
    asked = contracts("0.68.0", extras=("numba==0.68.0",))
    assert path_of(tmp_path, own) == path_of(tmp_path, asked)
    assert path_of(tmp_path, own).name == "3.3.7-py3.13-numba0.68.0.json"


def test_what_else_was_added_tells_files_apart(tmp_path: Path) -> None:
    faulty = contracts("0.68.0", extras=("numba==0.68.0", "observatory-fault==1.0+whl.4bb7e54f"))
    assert path_of(tmp_path, faulty) != path_of(tmp_path, contracts("0.68.0"))
    assert contracts("0.67.0") != contracts("0.68.0")


def test_a_name_that_would_leave_the_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be part of a file name"):
        path_of(tmp_path, contracts("../../0.68.0"))


def test_a_record_of_no_subject_cannot_be_filed(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="which subject"):
        save(tmp_path, contracts(checked=None))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is no record of contracts"),
        ('{"schema": "observatory/contracts/2"}', "is no record of contracts"),
        ("[]", "is no record of contracts"),
        (
            contracts(checked=None).model_dump_json(by_alias=True),
            "does not say which subject it is of",
        ),
    ],
)
def test_a_broken_file_is_named_and_the_others_are_read(
    tmp_path: Path, content: str, reason: str
) -> None:
    save(tmp_path, contracts("0.67.0"))
    broken = path_of(tmp_path, contracts("0.66.0"))
    broken.write_text(content)
    error, record = load_all(tmp_path)
    assert isinstance(error, RecordError)
    assert isinstance(record, Contracts)
    assert str(broken) in str(error)
    assert reason in str(error)


def test_records_of_contracts_are_no_results_of_a_machine(tmp_path: Path) -> None:
    save(tmp_path, contracts())
    assert listing(tmp_path).results == []
    assert listing(tmp_path).problems == []
