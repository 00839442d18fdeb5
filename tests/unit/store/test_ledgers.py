from __future__ import annotations

import gzip
import hashlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.store.journal.contents import ContentError
from observatory.store.journal.ledgers import LedgerStore, tally_of
from observatory.store.records.sample import LedgerEntry
from tests.factories import ledger

entries = st.builds(
    LedgerEntry,
    name=st.text(max_size=10),
    kind=st.sampled_from(["numba", "c_module"]),
    key=st.text(max_size=10),
    outcome=st.sampled_from(["hit", "miss", "uncacheable", "internal"]),
    bytes=st.none() | st.integers(0, 2**50),
    seconds=st.floats(0, 1e4).map(lambda value: round(value, 4)),
    step=st.none() | st.text(max_size=5),
)


def _put(store: LedgerStore, sha: str, content: bytes) -> None:
    store.path(sha).parent.mkdir(parents=True)
    store.path(sha).write_bytes(content)


def test_ledgers_that_differ_in_order_and_seconds_alone_are_one_file(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path)
    first = store.store(ledger("Add", "Mul", seconds=1.0))
    second = store.store(ledger("Mul", "Add", seconds=2.0))
    assert first.sha == second.sha
    assert second.seconds == [2.0, 2.0]
    assert [path.name for path in tmp_path.rglob("*.gz")] == [f"{first.sha}.json.gz"]


def test_addresses_that_older_samples_left_in_names_are_read_as_one(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path)
    first, second = (
        store.store(ledger(f"Scaled{{known=<object at 0x7f{n}>}}", "Mul")) for n in ("573b", "e664")
    )
    assert first.sha != second.sha
    for stored in (first, second):
        named = {one.name for one in store.load(stored.sha)}
        assert named == {"Scaled{known=<object at 0x…>}", "Mul"}


def test_another_outcome_is_another_ledger(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path)
    assert store.store(ledger("Add")).sha != store.store(ledger("Add", outcome="miss")).sha


def test_the_name_is_the_hash_of_the_content_and_the_bytes_are_the_same_anywhere(
    tmp_path: Path,
) -> None:
    one, two = LedgerStore(tmp_path / "one"), LedgerStore(tmp_path / "two")
    sha = one.store(ledger("Add")).sha
    two.store(ledger("Add"))
    packed = one.path(sha).read_bytes()
    assert hashlib.sha256(gzip.decompress(packed)).hexdigest() == sha
    assert packed == two.path(sha).read_bytes()
    assert packed[4:8] == b"\0\0\0\0"  # no time of writing


def test_what_is_stored_is_never_written_again(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path)
    sha = store.store(ledger("Add")).sha
    before = store.path(sha).stat()
    store.store(ledger("Add"))
    after = store.path(sha).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@settings(max_examples=60)
@given(st.lists(entries, max_size=8))
def test_any_ledger_comes_back_as_a_multiset(taken: list[LedgerEntry]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        store = LedgerStore(Path(directory))
        stored = store.store(taken)
        back = store.load_timed(stored.sha, stored.seconds)
        assert sorted(map(repr, back)) == sorted(map(repr, taken))
        shelved = store.shelve(stored.sha, stored.seconds)
        assert shelved.tally == tally_of(shelved) == tally_of(back) == tally_of(list(back))
        assert tally_of(back) is tally_of(back)  # it is not counted again for each comparison
        assert (len(shelved), list(shelved), shelved[:2]) == (len(back), back, back[:2])


def test_of_a_shelved_ledger_the_tally_alone_is_in_memory(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path)
    stored = [store.store(ledger("Add", name)) for name in "abcdef"]
    shelved = [store.shelve(one.sha, one.seconds) for one in stored]
    for one in stored:
        store.path(one.sha).unlink()
    assert [len(one) for one in shelved] == [2] * 6
    assert all(one.tally[None, "Add", "hit"] == 1 for one in shelved)
    with pytest.raises(ContentError, match="there is no ledger"):
        shelved[0][0]


def test_a_changed_content_is_found_by_its_hash(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path)
    sha = store.store(ledger("Add")).sha
    content = gzip.decompress(store.path(sha).read_bytes()).replace(b"hit", b"miss")
    store.path(sha).write_bytes(gzip.compress(content))
    with pytest.raises(ContentError, match="does not hold what its name says"):
        store.load(sha)


def test_a_ledger_that_grows_beyond_the_bound_is_not_decompressed_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LedgerStore(tmp_path)
    monkeypatch.setattr(LedgerStore, "largest", 1000)
    bomb = b"[" + b" " * 100_000 + b"]"
    sha = hashlib.sha256(bomb).hexdigest()
    _put(store, sha, gzip.compress(bomb))
    with pytest.raises(ContentError, match="more than 1000 bytes"):
        store.load(sha)
    with pytest.raises(ContentError, match="at most 1000 are stored"):
        store.store(ledger(*map(str, range(100))))


@pytest.mark.parametrize(
    "content", [b"", b"plain", gzip.compress(b"[]", mtime=0)[:-4], b"\x1f\x8b\x08"]
)
def test_a_file_that_is_no_gzip_is_an_error_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    store = LedgerStore(tmp_path)
    _put(store, "a" * 64, content)
    with pytest.raises(ContentError, match=r"decompressed|has another hash"):
        store.load("a" * 64)


def test_content_that_is_no_ledger_is_an_error_in_a_sentence(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path)
    content = b'[{"name": 3}]'
    sha = hashlib.sha256(content).hexdigest()
    _put(store, sha, gzip.compress(content))
    with pytest.raises(ContentError, match="is not a ledger"):
        store.load(sha)


@pytest.mark.parametrize("sha", ["", "../../etc/passwd", "A" * 64, "a" * 63])
def test_a_name_that_is_no_hash_never_becomes_a_path(tmp_path: Path, sha: str) -> None:
    with pytest.raises(ContentError, match="not a SHA-256"):
        LedgerStore(tmp_path).load(sha)


def test_a_missing_ledger_and_foreign_seconds_are_errors(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path)
    with pytest.raises(ContentError, match="there is no ledger"):
        store.load("0" * 64)
    for read in (store.load_timed, store.shelve):
        with pytest.raises(ContentError, match="do not belong together"):
            read(store.store(ledger("Add")).sha, [1.0, 2.0])
