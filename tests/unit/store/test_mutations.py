"""Mutated result files: none is a crash, and nothing in one is left out without being named.

500 of them; ``OBSERVATORY_MUTATIONS=10000`` makes it as many. They derive from generated files of
both formats, from the committed results and, where it is there, from the data of other projects.
"""

from __future__ import annotations

import io
import json
import math
import os
import tarfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from observatory.analyze.frame import frame
from observatory.store.asv.columns import SeriesList
from observatory.store.asv.listing import listing
from observatory.store.asv.result import parse
from observatory.store.reading.read import read_results
from tests.factories_asv import COLUMNS, foreign, listed, old, row, values

pytestmark = pytest.mark.long

EXAMPLES = int(os.environ.get("OBSERVATORY_MUTATIONS", "500"))
ROOT = Path(__file__).parents[3]
DATA = ROOT.parent / "shared" / "data"
ARCHIVES = ("numba-benchmark.tar.xz", "django-asv.tar.xz")
MOST_SEEDS = 12
STATS = {"ci_99": [0.9, 1.1], "q_25": 0.95, "q_75": 1.05, "number": 3, "repeat": 7}
TOKENS = [b"NaN", b"-Infinity", b"1e999", b"9" * 400, b'"\\ud800"', b"null", b"{}", b"[]", b'"',
          b"\\", b"\xff", b"\0", b",", b"true", b"-0", b'"x"', b'\\"', b"[[1.0]]"]  # fmt: skip


def trimmed(content: bytes) -> dict[str, Any]:
    """A real file with the benchmarks that say most, and few."""
    loaded: dict[str, Any] = json.loads(content)
    longest = sorted(loaded["results"].items(), key=lambda item: -len(json.dumps(item[1])))
    return loaded | {"results": dict([*longest[:3], *longest[-2:]])}


def real() -> Iterator[dict[str, Any]]:
    for file in listing(ROOT / "results").results[:2]:
        yield trimmed(file.path.read_bytes())
    for name in ARCHIVES if DATA.is_dir() else ():
        with tarfile.open(fileobj=io.BytesIO((DATA / name).read_bytes())) as archive:
            for number, member in enumerate(archive):
                if number % 97 == 50 and member.isfile() and "-" in Path(member.name).name:
                    stream = archive.extractfile(member)
                    assert stream is not None
                    yield trimmed(stream.read())
                if number > 97 * MOST_SEEDS // 2:
                    break


@cache
def seeds() -> list[dict[str, Any]]:
    two = [["'a'", "'b'"], ["1", "2"]]
    some = [1.0, None, math.nan, 4.0]
    return [
        foreign({
            "plain": [[1.5]],
            "timed": row(result=[1.1], params=[], stats_ci_99_a=[0.9], stats_ci_99_b=[1.2],
                         stats_repeat=[8], stats_number=[2], version="x"),
            "many": row(result=some, params=two, samples=[[1.0, 1.1, 1.2], None, None, [4.0]]),
            "failed": row(params=two),
        }),
        old({
            "bare": 1.5, "failed": None, "skipped": math.nan,
            "timed": {"result": [1.0], "stats": [STATS]},
            "scalar": {"result": 1.0, "stats": STATS, "samples": [1.0, 1.2, 1.1]},
            "many": {"result": some, "params": two, "stats": [STATS, None, None, STATS]},
        }),
        *real(),
    ]  # fmt: skip


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from([10**400, -1, 2**63, "'a'", "result", COLUMNS, 1e308]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)  # fmt: skip
Draw = Callable[[st.SearchStrategy[Any]], Any]


def nodes(tree: Any) -> list[tuple[Any, Any]]:
    """Every place in a tree, as the container and the key in it."""
    found: list[tuple[Any, Any]] = []
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        found.append((tree, key))
        found += nodes(tree[key])
    return found


def changed_tree(draw: Draw, tree: dict[str, Any]) -> None:
    places = nodes(tree)
    if not places:
        return
    container, key = places[draw(st.integers(0, len(places) - 1))]
    kind = draw(st.sampled_from(["replace", "remove", "repeat", "move"]))
    if kind == "replace":
        container[key] = deepcopy(draw(anything))  # it may be changed in its turn
    elif kind == "remove":
        del container[key]
    elif kind == "repeat" and isinstance(container, list):
        container.insert(key, container[key])
    elif kind == "repeat":
        container[draw(st.text(max_size=8))] = container[key]
    else:
        other, place = places[draw(st.integers(0, len(places) - 1))]
        container[key] = json.loads(json.dumps(other[place]))


def changed_bytes(draw: Draw, content: bytes) -> bytes:
    at = draw(st.integers(0, len(content)))
    end = min(len(content), at + draw(st.sampled_from([0, 0, 1, 2, 10, 1000])))
    inserted = draw(st.sampled_from(TOKENS) | st.binary(max_size=3))
    return content[:at] + inserted + content[end:]


@st.composite
def mutated(draw: Draw) -> bytes:
    """The content of a result file after a few changes of its tree, its bytes or both."""
    tree = json.loads(json.dumps(seeds()[draw(st.integers(0, len(seeds()) - 1))]))
    for _ in range(draw(st.integers(0, 4))):
        changed_tree(draw, tree)
    content = json.dumps(tree, ensure_ascii=draw(st.booleans())).encode("utf-8", "replace")
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2, 5]))):
        content = changed_bytes(draw, content)
    return content


def number(item: Any) -> float | None:
    """What a value is worth; None if it says that there is none. Raises TypeError for no value."""
    if item is None:
        return None
    if not isinstance(item, int | float):
        raise TypeError
    try:
        return float(item) if math.isfinite(item) else None
    except OverflowError:
        return None


def expected(version: int, columns: Any, entry: Any) -> list[float]:
    """The values of a benchmark in order; TypeError if something in it has to be named."""
    if version == 2:
        if not isinstance(entry, list):
            raise TypeError
        result = dict(zip(columns, entry, strict=False)).get("result")
    elif isinstance(entry, dict):
        result = entry["result"]
    else:
        result = entry
    if result is None:
        return []
    items = result if isinstance(result, list) else [result]
    if version == 2 and not isinstance(result, list):
        raise TypeError
    return [value for item in items if (value := number(item)) is not None]


def check(content: bytes) -> None:
    series = SeriesList()
    found = parse(content, series)
    if found.head is None:
        assert len(found.problems) == 1
        assert len(found.columns) == 0
        return
    loaded = json.loads(content, parse_constant=lambda _: None)
    read: dict[str, list[float]] = {name: [] for name in loaded["results"]}
    for value in listed(found.columns, series.all):
        read[value.name].append(value.value)
    columns = loaded.get("result_columns")
    for name, entry in loaded["results"].items():
        named = [said for said in found.problems if said.startswith(f"benchmark {name[:200]!r} ")]
        try:
            wanted = expected(loaded["version"], columns, entry)
        except (KeyError, TypeError):
            assert named, (name, entry)
            continue
        assert named or read[name] == wanted, (name, entry)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("mutations")
    (where / "results" / "ci").mkdir(parents=True)
    return where


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                           HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(mutated())
def test_nothing_in_a_mutated_file_crashes_or_is_left_out_unnamed(
    directory: Path, content: bytes
) -> None:
    check(content)
    results = directory / "results"
    (results / "ci" / "c0ffee00-x.json").write_bytes(content)
    first = read_results(results, directory / "cache")
    assert len(first.files) == 1 or len(first.problems) == 1
    assert len(frame(first)) == len(first.values)
    again = read_results(results, directory / "cache")
    assert (values(again), again.files, again.problems) == (
        values(first), first.files, first.problems,
    )  # fmt: skip


def test_the_seeds_are_of_both_formats_and_whole() -> None:
    assert {seed["version"] for seed in seeds()} == {1, 2}
    for seed in seeds():
        content = json.dumps(seed).encode()
        check(content)
        assert parse(content, SeriesList()).problems == ()
