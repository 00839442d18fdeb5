from __future__ import annotations

from pathlib import Path

import pytest

from observatory.store.base.problems import RecordError
from observatory.store.records import layout
from observatory.store.records.kinds import KINDS
from tests.factories import subject

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    "name", ["..", "", "a/b", ".hidden", "a\0", "samples", "ledgers", "explored", "x" * 201]
)
def test_a_machine_whose_name_is_no_directory_is_refused(name: str) -> None:
    with pytest.raises(RecordError, match="machine"):
        layout.journal_path(Path("results"), name, subject())


def test_every_kind_of_record_has_a_directory_that_the_docs_name() -> None:
    assert sorted(one.directory for one in KINDS) == sorted(layout.RECORDS)
    described = (layout.__doc__ or "", (ROOT / "docs" / "results.md").read_text())
    for directory in layout.RESERVED:
        assert all(f"results/{directory}/" in one for one in described), directory


def test_an_extra_that_is_no_pin_still_makes_a_file_name_of_its_own() -> None:
    one, other = (
        layout.stem(subject(extras=(f"numba @ file:///tmp/{name}.whl",))) for name in ("a", "b")
    )
    assert one != other
    assert "numba-" in one
    assert "/" not in one + other


def test_the_journal_of_an_asv_file_is_the_subjects_journal() -> None:
    results = Path("results")
    asv = layout.asv_path(results, "bench", subject())
    assert layout.journal_beside(results, asv) == layout.journal_path(results, "bench", subject())
