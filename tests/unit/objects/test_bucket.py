from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from observatory.errors import Exit
from observatory.objects.bucket import Bucket, GoneError, StoreError, UnreachableError


@pytest.fixture(params=["file", "memory"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Bucket:
    return Bucket(f"{request.param}://{tmp_path}/store")


def test_an_object_is_created_once_and_never_changed(bucket: Bucket) -> None:
    assert bucket.create("a/one", b"first")
    assert not bucket.create("a/one", b"second")
    assert bucket.read("a/one") == b"first"


def test_of_those_who_create_one_name_at_once_one_succeeds(tmp_path: Path) -> None:
    bucket = Bucket(f"file://{tmp_path}/store")
    done: list[bool] = []
    threads = [
        threading.Thread(target=lambda n=number: done.append(bucket.create("one", b"%d" % n)))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [False] * 7 + [True]


def test_a_range_leaves_its_end_out(bucket: Bucket) -> None:
    bucket.create("one", b"0123456789")
    assert bucket.read("one", 2, 5) == b"234"
    assert bucket.read("one", 8, 100) == b"89"


def test_what_is_not_there_is_said_and_may_be_removed(bucket: Bucket) -> None:
    with pytest.raises(GoneError, match="has no object one"):
        bucket.read("one")
    bucket.remove("one")
    assert bucket.found("versions") == []


def test_a_listing_has_sizes_and_times_and_only_what_is_below(bucket: Bucket) -> None:
    for name in ("a/1", "a/b/2", "ab/3"):
        bucket.create(name, name.encode())
    found = bucket.found("a")
    assert [(one.name, one.size) for one in found] == [("a/1", 3), ("a/b/2", 5)]
    assert all(one.changed is not None and one.changed.tzinfo for one in found)
    bucket.remove("a/1")
    assert [one.name for one in bucket.found("a")] == ["a/b/2"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("results", "is no address; write PROTOCOL://BUCKET/PREFIX"),
        ("s3://", "is no address"),
        ("nope://bucket", "the protocol nope is unknown"),
        ("sftp://host/path", "cannot create a file only where there is none"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(address: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as caught:
        Bucket(address)
    assert caught.value.exit_code is Exit.USAGE


def test_a_server_that_writes_over_what_is_there_is_refused(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.check()
    bucket.check()

    def create(self: Bucket, name: str, content: bytes) -> bool:
        return True

    monkeypatch.setattr(Bucket, "create", create)
    with pytest.raises(StoreError, match="ignores If-None-Match"):
        bucket.check()


def test_a_place_of_something_else_is_refused(bucket: Bucket) -> None:
    bucket.create("format.json", b'{"format": "observatory results", "version": 2}\n')
    with pytest.raises(StoreError, match="of another version of the observatory"):
        bucket.check()


@pytest.mark.parametrize("code", ["PreconditionFailed", "412", "ConditionalRequestConflict"])
def test_every_answer_that_says_taken_is_known(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = Bucket(f"memory://{tmp_path}/store")
    answered(bucket, monkeypatch, code)
    assert not bucket.create("one", b"")


def test_another_answer_is_an_error_with_what_the_server_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = Bucket(f"memory://{tmp_path}/store")
    answered(bucket, monkeypatch, "SlowDown")
    with pytest.raises(UnreachableError, match=r"written to \(one\): .* it said SlowDown"):
        bucket.create("one", b"")


class Answer(Exception):
    """An error as botocore has it."""

    def __init__(self, code: str) -> None:
        super().__init__(f"it said {code}")
        self.response = {"Error": {"Code": code}}


def answered(bucket: Bucket, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    def pipe_file(*_: Any, **__: Any) -> None:
        try:
            raise Answer(code)
        except Answer as error:
            raise OSError(22, str(error)) from error

    monkeypatch.setattr(bucket._files, "pipe_file", pipe_file)
