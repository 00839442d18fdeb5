from __future__ import annotations

from pathlib import Path

import pytest

from observatory.store.base.problems import RecordError
from observatory.store.records import layout
from tests.factories import subject


@pytest.mark.parametrize(
    "name", ["..", "", "a/b", ".hidden", "a\0", "samples", "ledgers", "explored", "x" * 201]
)
def test_a_machine_whose_name_is_no_directory_is_refused(name: str) -> None:
    with pytest.raises(RecordError, match="machine"):
        layout.journal_path(Path("results"), name, subject())


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
