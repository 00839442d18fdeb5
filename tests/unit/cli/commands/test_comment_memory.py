"""`observatory comment` reads strangers' files in the job with rights: within 200 MB, always."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from observatory.errors import Exit
from observatory.github.artifact import LARGEST_COMPARISON
from tests import factories_comparison as factory
from tests.bounded import BUDGET, bounded

pytestmark = pytest.mark.long

GOOD = factory.slower().model_dump_json(by_alias=True).encode()
MOST = LARGEST_COMPARISON - 1024


def filled(begin: bytes, item: bytes, end: bytes) -> bytes:
    """As many items as fit into a comparison."""
    return begin + item * ((MOST - len(begin)) // len(item)) + end


def keys() -> bytes:
    """Keys that are not allowed, all of them different."""
    names = b"".join(b'"%x":0,' % number for number in range(1_700_000))
    return b"{" + names[: MOST - 10].rpartition(b",")[0] + b"}"


def verdicts(each: str) -> bytes:
    """The good comparison, with as many verdicts as it may have."""
    content = json.loads(GOOD)
    content["verdicts"] = ["here"]
    text = json.dumps(content).encode()
    return text.replace(b'"here"', b",".join([each.encode()] * 20_000))


CASES: dict[str, Callable[[], bytes]] = {
    "keys": keys,
    "keys behind what is good": lambda: (
        GOOD.rstrip()[:-1] + b"," + keys()[1 : MOST - 90_000 - len(GOOD)] + b'":0}'
    ),
    "long keys": lambda: filled(b"{", b'"' + b"k" * 2000 + b'":0,', b'"":0}'),
    "empty objects": lambda: filled(b'{"verdicts":[', b"{},", b"{}]}"),
    "empty lists": lambda: filled(b'{"verdicts":[', b"[],", b"[]]}"),
    "empty verdicts": lambda: verdicts("{}"),
    "verdicts of unknown keys": lambda: verdicts(
        "{" + ",".join(f'"{number}":0' for number in range(100)) + "}"
    )[:MOST],
    "verdicts of values of another kind": lambda: verdicts(
        json.dumps({"base": {"values": ["x"] * 100}})
    )[:MOST],
    "nesting": lambda: b'{"verdicts":' + b"[" * (MOST - 20),
    "nesting in rows": lambda: filled(b'{"verdicts":[', b"[[[[[[[[[[[]]]]]]]]]]],", b"[]]}"),
    "numbers": lambda: filled(b'{"verdicts":[', b"0,", b"0]}"),
    "one long number": lambda: b'{"seed":' + b"9" * (MOST - 20) + b"}",
    "one long text": lambda: b'{"reproduce":"' + b"x" * (MOST - 20) + b'"}',
    "one long escaped text": lambda: filled(b'{"reproduce":"', b"\\u4e2d", b'"}'),
    "no JSON": lambda: b"\xff" * MOST,
}


@pytest.mark.parametrize("case", CASES)
def test_a_comparison_of_any_content_is_refused_within_the_budget(
    case: str, tmp_path: Path
) -> None:
    file = tmp_path / "comparison.json"
    file.write_bytes(CASES[case]())
    assert file.stat().st_size <= LARGEST_COMPARISON
    ended = bounded("comment", file, "--summary", tmp_path / "summary.md", cwd=tmp_path)
    assert ended.code == Exit.ARTIFACT, ended.err[-2000:]
    assert ended.megabytes < BUDGET
    assert len(ended.err) < 1500
    assert "Traceback" not in ended.err
    assert not (tmp_path / "summary.md").exists()
