"""Arrays in a file without a name: as they were added, let go and read again, and nothing left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from observatory.store.base.nameless import Nameless

KINDS = {"a": ("<i4", 5), "b": ("<f8", 3), "nothing": ("<f8", 0), "c": ("|b1", 3)}


def test_arrays_come_back_as_they_were_added(tmp_path: Path) -> None:
    made = Nameless(tmp_path / "new", KINDS)
    made.add(a=np.array([1, 2]), c=np.array([True]))
    made.add(a=np.array([3]), b=np.array([1.5, np.nan, -0.0]), c=np.array([False, True]))
    found = made.filed()
    for _ in range(2):
        assert found.arrays["a"].tolist() == [1, 2, 3]
        assert found.arrays["b"].tobytes() == np.array([1.5, np.nan, -0.0]).tobytes()
        assert found.arrays["c"].tolist() == [True, False, True]
        assert found.arrays["nothing"].tolist() == []
        found.let_go()
    assert not found.arrays["a"].flags.writeable
    assert found.arrays["a"].dtype == np.int32


def test_no_name_is_left_while_it_is_written_nor_after(tmp_path: Path) -> None:
    made = Nameless(tmp_path, KINDS)
    made.add(a=np.arange(5))
    assert list(tmp_path.iterdir()) == []
    found = made.filed()
    assert list(tmp_path.iterdir()) == []
    assert found.arrays["a"].tolist() == [0, 1, 2, 3, 4]


def test_where_none_can_be_made_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"):
        Nameless(tmp_path / "file", KINDS)
