"""Artifacts as strangers make them: a comparison comes out, or a sentence."""

from __future__ import annotations

import io
import stat
import struct
import warnings
import zipfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.github import artifact
from observatory.github.artifact import (
    COMPARISON,
    LARGEST_COMPARISON,
    LARGEST_ZIP,
    NUMBER,
    RefusedError,
    read,
)
from observatory.store.records.comparison import Comparison
from tests import factories_comparison as factory

GOOD = factory.slower().model_dump_json(by_alias=True).encode()
HOSTILE_NAMES = (
    "../comparison.json", "/comparison.json", "a/../comparison.json", "..\\comparison.json",
    "C:\\comparison.json", "comparison.json/", "COMPARISON.JSON",
    "./comparison.json", "comparison.json ", "\u202enosj.nosirapmoc", "comment.md",
    "a" * 60_000, "##[add-mask]x", "\n::error::x",
)  # fmt: skip


def packed(
    *files: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(stream, "w", method) as archive:
            for name, content in files:
                archive.writestr(name, content)
    return stream.getvalue()


def refusal(content: bytes) -> str:
    with pytest.raises(RefusedError) as refused:
        read(content)
    said = str(refused.value)
    assert said.isprintable()
    assert len(said) < 700
    return said


def test_a_comparison_and_its_claim_are_read() -> None:
    found = read(packed((COMPARISON, GOOD), (NUMBER, b"12\n")))
    assert found.comparison == factory.slower()
    assert found.claim == 12


def test_a_comparison_alone_claims_nothing() -> None:
    assert read(packed((COMPARISON, GOOD))).claim is None
    assert read(GOOD) == artifact.Artifact(factory.slower(), None)


@pytest.mark.parametrize("scene", factory.SCENES)
def test_every_kind_of_verdict_comes_through(scene: str) -> None:
    made = factory.SCENES[scene]()
    content = made.model_dump_json(by_alias=True).encode()
    assert read(packed((COMPARISON, content))).comparison == made


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_name_that_is_not_expected_is_refused_wherever_it_leads(name: str) -> None:
    assert "are allowed" in refusal(packed((COMPARISON, GOOD), (name, b"x")))


def test_a_name_that_only_begins_like_an_expected_one_is_refused() -> None:
    honest = packed((COMPARISON, GOOD), ("pull-request.txtXX.md", b"12"))
    assert "are allowed" in refusal(
        honest.replace(b"pull-request.txtXX.md", b"pull-request.txt\0X.md")
    )


def test_a_name_that_is_there_twice_is_refused() -> None:
    twice = packed((COMPARISON, GOOD), (NUMBER, b"12"), (NUMBER, b"13"))
    assert refusal(twice) == f"the artifact contains {NUMBER} twice"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_is_refused(kind: int) -> None:
    entry = zipfile.ZipInfo(COMPARISON)
    entry.external_attr = (kind | 0o777) << 16
    assert "is a link, not a file" in refusal(packed((entry, b"/etc/passwd")))


def test_a_bomb_is_refused() -> None:
    bomb = packed((COMPARISON, b" " * (LARGEST_COMPARISON + 1)))
    assert len(bomb) < 100_000
    assert "larger than 16,777,216 bytes" in refusal(bomb)


def test_a_bomb_that_says_it_is_small_is_not_unpacked() -> None:
    bomb = packed((COMPARISON, b" " * (LARGEST_COMPARISON * 4)))
    true, small = (struct.pack("<I", size) for size in (LARGEST_COMPARISON * 4, 100))
    assert bomb.count(true) == 2
    refusal(bomb.replace(true, small))


def test_a_number_that_is_a_book_is_refused() -> None:
    assert "larger than 32 bytes" in refusal(packed((COMPARISON, GOOD), (NUMBER, b"1" * 33)))


@pytest.mark.parametrize(
    "claim",
    [
        b"",
        b"0",
        b"-1",
        b"012",
        b"12 13",
        b"1e3",
        b"twelve",
        b"12\x00",
        "\uff11\uff12".encode(),
        b"\n12",
    ],
)
def test_a_claim_is_a_number_and_nothing_else(claim: bytes) -> None:
    assert "is not the number" in refusal(packed((COMPARISON, GOOD), (NUMBER, claim)))


def test_an_archive_without_a_comparison_is_refused() -> None:
    assert refusal(packed((NUMBER, b"12"))) == "the artifact contains no comparison.json"
    assert refusal(packed()) == "the artifact contains no comparison.json"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unusual_packing_is_refused(method: int) -> None:
    assert "packed in an unusual way" in refusal(packed((COMPARISON, GOOD), method=method))


def test_an_encrypted_entry_is_refused() -> None:
    content = bytearray(packed((COMPARISON, GOOD)))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert "packed in an unusual way" in refusal(bytes(content))


def test_content_that_does_not_fit_its_checksum_is_refused() -> None:
    stored = packed((COMPARISON, GOOD), method=zipfile.ZIP_STORED)
    assert "CRC-32" in refusal(stored.replace(b'"seed":7', b'"seed":8'))


def test_an_archive_of_any_size_is_refused_before_it_is_read() -> None:
    assert "larger than 8,388,608 bytes" in refusal(b"PK" + bytes(LARGEST_ZIP))


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[]", b"{}", b"{" * 100_000, b"[" * 100_000, b'{"schema": 1}', b"\xff\xfe",
     b"PK",
     GOOD.replace(b"comparison/1", b"comparison/2"), GOOD.replace(b'"seed":7', b'"seed":-7'),
     GOOD.replace(b'"seed":7', b'"seed":NaN'), GOOD.replace(b'"seed":7', b'"seed":7,"body":"x"'),
     GOOD.replace(b'"seed":7', b'"seed":' + b"9" * 50_000), GOOD[:-1]],
)  # fmt: skip
def test_what_is_no_comparison_is_refused_in_a_sentence(content: bytes) -> None:
    refusal(content)


def test_a_comparison_may_hold_anything_in_its_texts_but_never_more_than_fits() -> None:
    hostile = GOOD.replace(b'"reproduce":"', b'"reproduce":"<script>@ada' + b"x" * 4000)
    assert "String should have at most 4000 characters" in refusal(packed((COMPARISON, hostile)))


@given(st.binary(max_size=300))
def test_no_bytes_do_more_than_be_refused(content: bytes) -> None:
    for start in (b"", b"PK\x03\x04", b"PK\x05\x06"):
        refusal(start + content)


@settings(max_examples=150)
@given(st.data())
def test_no_change_of_an_archive_does_more_than_be_refused(data: st.DataObject) -> None:
    """A changed archive is refused, or says what it said: nothing else ever comes out."""
    content = bytearray(packed((COMPARISON, GOOD), (NUMBER, b"12")))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    for made in (bytes(content), bytes(content[:cut])):
        try:
            found = read(made)
        except RefusedError as refused:
            assert str(refused).isprintable()  # noqa: PT017
        else:
            assert found.comparison == factory.slower()
            assert found.claim in (12, None)


NAMES = st.sampled_from((*HOSTILE_NAMES, COMPARISON, COMPARISON, NUMBER, NUMBER)).filter(
    lambda name: len(name) < 1000
)


CONTENTS = st.sampled_from((GOOD, b"12", b"", b"{}", b"7" * 40))


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(NAMES, CONTENTS, st.integers(0, 2**32 - 1)),
        max_size=4,
    )
)  # fmt: skip
def test_whatever_is_packed_only_the_two_names_come_out(
    files: list[tuple[str, bytes, int]],
) -> None:
    entries = []
    for name, content, attributes in files:
        entry = zipfile.ZipInfo(name or "x")
        entry.external_attr = attributes
        entries.append((entry, content))
    try:
        found = read(packed(*entries))
    except RefusedError:
        return
    names = [name for name, _, _ in files]
    assert sorted(names) in ([COMPARISON], [COMPARISON, NUMBER])
    assert isinstance(found.comparison, Comparison)


def test_the_archives_of_these_tests_are_what_they_say() -> None:
    """The bomb is one: it is small, and unpacks to more than is allowed."""
    bomb = packed((COMPARISON, b" " * (LARGEST_COMPARISON + 1)))
    with zipfile.ZipFile(io.BytesIO(bomb)) as archive:
        assert len(archive.read(COMPARISON)) > LARGEST_COMPARISON
    assert zlib.crc32(b"") == 0


def declared(size: int) -> bytes:
    """An archive whose directory and whose entry declare another size than the content has."""
    content = packed((COMPARISON, GOOD), method=zipfile.ZIP_DEFLATED)
    true = struct.pack("<L", len(GOOD))
    assert content.count(true) == 2
    return content.replace(true, struct.pack("<L", size))


@pytest.mark.parametrize("size", [2**32 - 2, LARGEST_COMPARISON + 1])
def test_an_entry_that_declares_more_than_is_allowed_is_refused(size: int) -> None:
    assert "is declared to be larger than 16,777,216 bytes" in refusal(declared(size))


@pytest.mark.parametrize("size", [len(GOOD) + 1, LARGEST_COMPARISON, len(GOOD) - 1, 0])
def test_an_entry_that_is_not_as_large_as_declared_is_refused(size: int) -> None:
    refusal(declared(size))
