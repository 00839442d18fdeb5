"""The measurements: generated the same everywhere, or read from a user's file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from observatory.benchmarks.models.parts.radon_data import (
    COUNTIES,
    HOUSES,
    RadonDataError,
    from_csv,
    generated,
)


def test_the_generated_data_are_the_same_on_every_machine() -> None:
    data = generated()
    digest = hashlib.sha256()
    digest.update(data.county.astype("<i8").tobytes())
    digest.update(data.floor.astype("<f8").tobytes())
    # The last bits of exp and log may differ between C libraries.
    digest.update(np.round(data.log_radon, 9).astype("<f8").tobytes())
    assert digest.hexdigest()[:16] == "a4b95a819be7f4c3"


def test_every_county_has_a_house() -> None:
    data = generated()
    assert data.county.size == HOUSES
    assert data.n_counties == COUNTIES
    assert set(data.county) == set(range(COUNTIES))


def test_a_file_gives_counties_by_name_and_log_radon(tmp_path: Path) -> None:
    path = tmp_path / "radon.csv"
    path.write_text("county,floor,log_radon\nZ,1,0.5\nA ,0,1.5\nZ,0,-1\n")
    data = from_csv(path)
    assert data.county.tolist() == [1, 0, 1]
    assert data.floor.tolist() == [1.0, 0.0, 0.0]
    assert data.log_radon.tolist() == [0.5, 1.5, -1.0]


def test_a_file_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "radon.csv"
    path.write_text("county,floor,log_radon\nA,1,0.5\n", encoding="utf-8-sig")
    assert from_csv(path).n_counties == 1


def test_activity_is_taken_where_there_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "radon.csv"
    path.write_text("county,floor,activity\nA,0,0\nB,1,0.9\n")
    np.testing.assert_allclose(from_csv(path).log_radon, [np.log(0.1), 0.0], atol=1e-15)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no rows"),
        ("county,log_radon\nA,1\n", "has no column floor"),
        ("county,floor,log_radon\nA,0,high\n", "not a number"),
        ("log_radon,floor,county\n1,0,A\n1,0\n", "a row that ends before its county"),
        ("county,floor,log_radon\nA,0,nan\n", "that no house can have"),
        ("county,floor,activity\nA,0,-3\n", "that no house can have"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_a_sentence(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "radon.csv"
    path.write_text(text)
    with pytest.raises(RadonDataError, match=said):
        from_csv(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RadonDataError, match=r"absent\.csv"):
        from_csv(tmp_path / "absent.csv")
