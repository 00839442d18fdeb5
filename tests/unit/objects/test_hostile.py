"""What a store says that somebody hostile may write to, or whose server answers nonsense."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from observatory.objects import packs
from observatory.objects.bucket import Bucket, StoreError, UnreachableError
from observatory.objects.collection import Collection
from observatory.objects.index import Entry, combined, object_name
from observatory.objects.sweeping import sweep
from observatory.objects.unpacking import unpack

LINE = b"0123456789abcdef"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of more than 100 bytes is a large one."""
    monkeypatch.setattr(packs, "FULL", 100)
    monkeypatch.setattr(packs, "_PIECE", 30)


def stored(store: Collection, kept: bytes, content: bytes, **changes: Any) -> Entry:
    """A file in a pack behind ten other bytes."""
    pack = b"x" * 10 + kept + b"y" * 10
    store.bucket.create(object_name(sha(pack)), pack)
    fields = {"path": "a", "sha": sha(content), "size": len(content), "pack": sha(pack)}
    return Entry(**{**fields, "start": 10, "length": len(kept), **changes})


@pytest.mark.parametrize("kept", [LINE * 20, zlib.compress(LINE * 20)], ids=["as it is", "less"])
def test_of_a_large_file_only_a_piece_is_in_memory(
    store: Collection, tmp_path: Path, kept: bytes
) -> None:
    entry = stored(store, kept, LINE * 20)
    ((_, pieces),) = packs.taken(store.bucket, [entry])
    assert max(map(len, pieces)) <= 30
    unpack(store.bucket, [entry], tmp_path / "copy")
    assert (tmp_path / "copy" / "a").read_bytes() == LINE * 20


@pytest.mark.parametrize(
    ("kept", "changes", "said"),
    [
        (LINE * 20, {"sha": "0" * 64}, "another hash"),
        (LINE * 20, {"size": 305}, "larger than it says"),
        (LINE * 20, {"size": 10**9, "length": 10**9}, "cut off"),
        (zlib.compress(bytes(10**6)), {"size": 505}, "larger than it says"),
        (zlib.compress(LINE * 20)[:-9], {}, "cut off|another hash"),
        (b"no zlib" * 9, {}, "cannot be uncompressed"),
    ],
)
def test_a_large_file_that_is_not_as_it_is_listed_is_named(
    store: Collection, tmp_path: Path, kept: bytes, changes: dict[str, Any], said: str
) -> None:
    entry = stored(store, kept, LINE * 20, **changes)
    with pytest.raises(StoreError, match=said):
        unpack(store.bucket, [entry], tmp_path / "copy")


def test_no_file_is_passed_over_beside_one_that_says_it_is_larger_in_the_pack(
    store: Collection, tmp_path: Path
) -> None:
    """It is read in pieces, and the others of its pack are read as well."""
    content = LINE * 3
    large = stored(store, content, content, length=101)
    other = Entry("b", sha(content[20:40]), 20, large.pack, 30, 20)
    with pytest.raises(StoreError, match="a cannot be read"):
        unpack(store.bucket, [large, other], tmp_path / "copy")
    assert not (tmp_path / "copy" / "a").exists()
    assert [one.path for one, _ in packs.taken(store.bucket, [large, other])] == ["a", "b"]


@pytest.mark.parametrize("paths", [("a", "a/b"), ("a", "a/b/c")])
def test_no_path_is_a_file_and_a_directory(paths: Iterable[str]) -> None:
    listed = {path: Entry(path, "0" * 64, 1, "0" * 64, 0, 1) for path in paths}
    with pytest.raises(StoreError, match="a is a file and a directory"):
        combined([listed])
    assert combined([listed, dict.fromkeys(["a"])]).keys() == {*paths} - {"a"}


@pytest.mark.parametrize("about", [{"size": "x"}, {"size": [1]}, {"size": 1, "mtime": 1e300}])
def test_a_list_of_nonsense_is_named(
    store: Collection, monkeypatch: pytest.MonkeyPatch, about: dict[str, Any]
) -> None:
    root = store.bucket._path("versions")
    monkeypatch.setattr(
        type(store.bucket._files), "find", lambda *_, **__: {f"{root}/0000000001.json": about}
    )
    with pytest.raises(UnreachableError, match="could not be listed"):
        store.numbers()


def test_nothing_is_removed_where_no_version_is_listed(tmp_path: Path) -> None:
    store = Collection(f"file://{tmp_path}/store")
    assert packs.put(Bucket(store.address), b"x")
    swept = sweep(store, datetime.now(UTC) + timedelta(days=9))
    assert (swept.versions, swept.objects) == (0, 0)
    assert len(store.bucket.found("objects")) == 1
