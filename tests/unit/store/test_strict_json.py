"""Records from strangers: what does not fit is refused before it takes memory."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from observatory.store import records
from observatory.store.base.record import Record
from observatory.store.base.strict_json import (
    MOST_KEYS,
    MOST_VALUES,
    InvalidError,
    _has_wide_object,
    check_bounds,
    read_json,
)
from observatory.store.records.comparison import Comparison
from tests import factories_comparison as factory

TOOL = Path(__file__).parents[3] / "observatory"


class Inner(Record):
    number: int
    text: str


class Outer(Record):
    inner: list[Inner]
    named: dict[str, list[int]] = Field({})


def refused(content: str) -> str:
    with pytest.raises(InvalidError) as raised:
        read_json(Outer, content)
    return str(raised.value)


def test_a_record_is_read_as_it_was_written() -> None:
    one = factory.slower()
    assert read_json(Comparison, one.model_dump_json(by_alias=True)) == one
    assert (
        read_json(Outer, '{"inner":[{"number":1,"text":"\\ud83d\\ude00"}]}').inner[0].text == "😀"
    )


def test_a_list_is_refused_at_its_first_mistake() -> None:
    said = refused(json.dumps({"inner": [{}] * 1000, "named": {"a": ["x"] * 1000}}))
    assert said == (
        "it does not fit the schema (inner.0.number: Field required; inner.0.text: Field required; "
        "named.a.0: Input should be a valid integer, unable to parse string as an integer)"
    )


@pytest.mark.parametrize("content", ["", "{", "[1,]", '{"inner":[]}x', "\x00", '"\\ud800"'])
def test_what_is_not_json_is_said_to_be_none(content: str) -> None:
    assert refused(content).startswith("it is not JSON: ")


def test_as_many_values_as_are_allowed_are_read_and_one_more_is_not() -> None:
    check_bounds(b"[" + b"0," * (MOST_VALUES - 1) + b"0]")
    with pytest.raises(InvalidError, match=r"about 400,001 values; at most 400,000"):
        check_bounds(b"[" + b"0," * MOST_VALUES + b"0]")


@pytest.mark.parametrize("text", ['","', "{", '"[[[[', "\\"])
def test_texts_do_not_count_as_keys(text: str) -> None:
    keys = {f"{number}": text for number in range(MOST_KEYS)}
    check_bounds(json.dumps(keys).encode())
    with pytest.raises(InvalidError, match="more than 10,000 keys"):
        check_bounds(json.dumps([{}, [keys | {"one": "more"}]]).encode())


def test_a_text_without_an_end_has_no_keys() -> None:
    """Each quote of it tried as a beginning would take hours."""
    content = b':"' + b'\\"' * 4_000_000 + b":" * (MOST_KEYS + 1)
    assert not _has_wide_object(content)
    assert refused(content.decode()).startswith("it is not JSON: ")


def test_lists_within_lists_are_left_to_the_parser_which_refuses_so_many() -> None:
    """Each level would take a pass over all others."""
    deep = 190_000
    content = b"[" * deep + b"]" * deep
    assert not _has_wide_object(content)
    assert refused(content.decode()).startswith("it is not JSON: ")


@settings(max_examples=20)
@given(
    st.recursive(
        st.none() | st.text(alphabet='\\",:[]{}a'),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(alphabet='\\",:[]{}a'), inner, max_size=3)
        ),
    ),
    st.booleans(),
)
def test_an_object_with_too_many_keys_is_found_wherever_it_is(beside: object, wide: bool) -> None:
    keys = dict.fromkeys(map(str, range(MOST_KEYS + wide)), beside) | {"0": {"a": [beside]}}
    content = json.dumps([beside, {"a": [[keys], beside]}]).encode()
    expected = pytest.raises(InvalidError) if wide else nullcontext()
    with expected:
        check_bounds(content, most=10**9)


def test_a_key_cannot_begin_a_line() -> None:
    assert refused('{"inner":[],"\\n::error::x\\u202e":0}') == (
        r"it does not fit the schema (\n::error::x\u202e: Extra inputs are not permitted)"
    )


def test_every_list_of_every_record_ends_at_its_first_mistake() -> None:
    """Also those of models within models, which pydantic builds each once."""
    for module in pkgutil.iter_modules(records.__path__, f"{records.__name__}."):
        importlib.import_module(module.name)
    schemas = [one.__pydantic_core_schema__ for one in _records(Record)]
    lists = [part for schema in schemas for part in _lists(schema)]
    assert len(schemas) > 40
    assert lists
    assert all(part["fail_fast"] for part in lists)


_READ_BY_OTHERS = {
    # Bounded before it is parsed
    "store/base/decode.py", "store/merging/asv.py", "store/asv/config.py",
    "store/journal/compacting.py",
    # What this tool wrote, beside what it keeps
    "app/built.py", "app/kept_levels.py", "app/pairs.py", "app/unwritten.py",
    "store/reading/parts.py", "store/reading/cache.py", "store/reading/kept.py",
    "store/asv/discovered.py",
    # What a program prints that the tool or its user has started
    "numba_bound/propose.py", "run/external.py", "run/tool_version.py",
}  # fmt: skip


def test_whatever_arrives_as_json_is_read_by_the_one_bounded_reader() -> None:
    """`validate_json` bounds neither its memory nor its report of mistakes, and `loads` neither.

    A file that is not in the list reads records by `read_json`, and everything else by `decoded`.
    """
    records, others = set(), set()
    for path in TOOL.rglob("*.py"):
        here = str(path.relative_to(TOOL))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                name, of = node.attr, node.value
                if name in ("loads", "load") and isinstance(of, ast.Name):
                    others |= {here} if of.id in ("json", "orjson") else set()
            elif isinstance(node, ast.ImportFrom):
                imported = [alias.name for alias in node.names]
                if node.module in ("json", "orjson") and {"loads", "load"} & {*imported}:
                    others.add(here)
                pydantic = (node.module or "").startswith("pydantic")
                name = "from_json" if pydantic and "from_json" in imported else ""
            else:
                name = ""
            if name in ("validate_json", "model_validate_json", "from_json"):
                records.add(here)
    assert records == {"store/base/strict_json.py"}
    assert others == _READ_BY_OTHERS


def test_what_a_killed_command_leaves_in_a_temporary_directory_is_swept() -> None:
    """`tempfile` alone leaves it for ever; `scratch` knows whose process has ended."""
    made = {
        str(path.relative_to(TOOL)) for path in TOOL.rglob("*.py")
        if "TemporaryDirectory(" in path.read_text(encoding="utf-8")
        and "benchmarks" not in path.relative_to(TOOL).parts
    }  # fmt: skip
    assert made == set()


def _records(kind: type[Record]) -> list[type[Record]]:
    below = [one for child in kind.__subclasses__() for one in _records(child)]
    return [kind, *below]


def _lists(schema: object) -> list[dict[str, object]]:
    if isinstance(schema, dict):
        own = [schema] if schema.get("type") == "list" else []
        return own + [one for part in schema.values() for one in _lists(part)]
    if isinstance(schema, list | tuple):
        return [one for part in schema for one in _lists(part)]
    return []
