"""Files of the largest size that is read, and larger ones, as the whole command meets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from observatory.errors import Exit
from observatory.store.asv.imported import LARGEST_IMPORT
from observatory.store.base.strict_json import LARGEST_JSON
from observatory.store.journal.reader import LARGEST_JOURNAL
from tests import factories
from tests.bounded import BUDGET, Ended, bounded
from tests.factories_asv import foreign
from tests.factories_pytest_benchmark import cases, file

pytestmark = pytest.mark.long
GOOD = json.dumps(file(*cases("tests/a.py::test_it", {"a": 1}))).encode()
WIDE = "\U0001f600".encode()
"""One such character, and each of its text takes four bytes in memory."""


def with_text(content: bytes, size: int) -> bytes:
    """An object that has a long text beside what it had."""
    begin = content.rstrip()[:-1] + b',"x":"' + WIDE
    return begin + b"x" * (size - len(begin) - 2) + b'"}'


def imported(content: bytes, place: Path) -> Ended:
    (place / "saved.json").write_bytes(content)
    return bounded("import", "saved.json", cwd=place)


def test_an_import_grows_by_no_more_than_the_budget(tmp_path: Path) -> None:
    began = imported(GOOD, tmp_path)
    assert began.code == Exit.OK, began.err
    whole = imported(with_text(GOOD, LARGEST_IMPORT), tmp_path)
    assert whole.code == Exit.OK, whole.err
    assert whole.megabytes - began.megabytes < BUDGET


@pytest.mark.parametrize("size", [LARGEST_IMPORT + 1, 400 * 2**20])
def test_a_larger_import_is_refused_unread_with_its_limit_and_what_to_do(
    size: int, tmp_path: Path
) -> None:
    refused = imported(with_text(GOOD, size), tmp_path)
    assert refused.code == Exit.UNREADABLE
    assert refused.megabytes < BUDGET
    assert refused.err.strip().endswith(
        "saved.json is larger than 16,777,216 bytes; save it with --benchmark-save, which leaves "
        "the single rounds out"
    )


def test_an_import_of_too_many_rounds_says_how_many_are_read_and_what_to_do(tmp_path: Path) -> None:
    (one,) = cases("tests/a.py::test_it", {"a": 1})
    one["stats"]["data"] = [1e-5] * 400_001
    refused = imported(json.dumps(file(one)).encode(), tmp_path)
    assert refused.code == Exit.UNREADABLE
    assert "at most 400,000 are read; save it with --benchmark-save" in refused.err


RESULT = json.dumps(foreign({"it": [[1.5]]})).encode()
NAMES = ("ci/c0ffee00-x.json", "benchmarks.json", "alerts.json")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [
    lambda name: with_text(RESULT if name == NAMES[0] else b"{}", LARGEST_JSON),
    lambda _: b'{"x":"' + b"x" * 60 * 2**20 + b'"}',
], ids=["read", "too large"])  # fmt: skip
def test_a_result_file_costs_no_more_than_the_budget(
    make: Callable[[str], bytes], name: str, tmp_path: Path
) -> None:
    factories.journal(tmp_path / "results", [factories.sample()])
    began = bounded("show", cwd=tmp_path)
    path = tmp_path / "results" / name
    path.parent.mkdir(exist_ok=True)
    content = make(name).replace(b"{,", b"{")
    path.write_bytes(content)
    ended = bounded("show", cwd=tmp_path)
    assert ended.megabytes - began.megabytes < BUDGET
    if len(content) > LARGEST_JSON:
        (said,) = (line for line in ended.err.splitlines() if name in line)
        assert "is larger than 16,777,216 bytes" in said
        assert "remove it" in said or "without --record-samples" in said


@pytest.mark.parametrize("size", [LARGEST_JOURNAL, 4 * LARGEST_JOURNAL])
def test_a_journal_of_endless_samples_costs_no_more_than_the_budget(
    size: int, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    factories.journal(results, [factories.sample()])
    began = bounded("show", cwd=tmp_path)
    (path,) = results.glob("samples/*/*.jsonl")
    header, line = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + line * (size // len(line)))
    ended = bounded("show", cwd=tmp_path)
    assert ended.megabytes - began.megabytes < BUDGET
    assert "only its newest samples are read; move it away to begin a new one" in ended.err
