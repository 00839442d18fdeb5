"""Files that would come out the same are not made, and stay the files that they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.dashboard.kept import Kept, Later, hashed
from observatory.dashboard.publish import publish


def never() -> bytes:
    raise AssertionError("it was made again")


def test_where_a_part_ends_matters() -> None:
    assert len({hashed("ab", "c"), hashed("a", "bc"), hashed("abc"), hashed("ab", "c", "")}) == 4
    assert hashed("a") == hashed(b"a")


def test_a_file_of_the_same_key_is_not_made(tmp_path: Path) -> None:
    first = Kept()
    publish([("data/a.js", Later("1", lambda: b"one"))], tmp_path / "html", first)
    assert first.files_now == {"data/a.js": "1"}
    inode = (tmp_path / "html" / "data" / "a.js").stat().st_ino
    again = Kept(files=first.files_now)
    publish([("data/a.js", Later("1", never))], tmp_path / "html", again)
    assert again.files_now == {"data/a.js": "1"}
    assert (tmp_path / "html" / "data" / "a.js").stat().st_ino == inode
    publish([("data/a.js", Later("2", lambda: b"two"))], tmp_path / "html", again)
    assert (tmp_path / "html" / "data" / "a.js").read_bytes() == b"two"


@pytest.mark.parametrize("lost", ["the key", "the file"])
def test_a_file_is_made_where_anything_is_lost(lost: str, tmp_path: Path) -> None:
    publish([("a.js", Later("1", lambda: b"old"))], tmp_path / "html")
    if lost == "the file":
        (tmp_path / "html" / "a.js").unlink()
    kept = Kept() if lost == "the key" else Kept(files={"a.js": "1"})
    publish([("a.js", Later("1", lambda: b"new"))], tmp_path / "html", kept)
    assert (tmp_path / "html" / "a.js").read_bytes() == b"new"


def test_a_view_is_made_once_and_forgotten_when_nobody_asks() -> None:
    first = Kept()
    assert [first.view(key, lambda: (1,), tuple) for key in ("a", "a", "b")] == [(1,)] * 3
    again = Kept(views={"a": "[1]", "b": "[1]"})
    assert again.view("a", lambda: pytest.fail("it was made again"), tuple) == (1,)
    assert again.views_now == {"a": (1,)}
