"""Read what pytest-benchmark saved (`--benchmark-json`), in the terms of asv. Pure.

A test is a benchmark: ``tests/test_io.py::TestRead::test_json[1-a]`` is the benchmark
``tests.test_io.TestRead.test_json`` with the parameters of that test. What cannot stand in such a
name is replaced by `_`, followed by a hash of what stood there, so that two tests never meet.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any

from pydantic import ValidationError

from observatory.store.asv.columns import interval
from observatory.store.asv.pytest_file import Benchmark, File, Stats
from observatory.store.base.decode import NotJsonError, TooMuchError, decoded
from observatory.store.base.problems import RecordError, reason_of

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COMMIT = re.compile(r"[0-9a-f]{8,64}")
_LONGEST_REPR = 100
WITHOUT_ROUNDS = "save it with --benchmark-save, which leaves the single rounds out"
"""What to do about a file that is larger, or holds more values, than are read."""
_FEWEST_FOR_QUARTILES = 10
"""Rounds from which on the quartiles say how uncertain the median is."""


@dataclass(frozen=True)
class Statistics:
    """asv's statistics of one value, in seconds; None where the file does not tell them."""

    ci_99_a: float | None
    ci_99_b: float | None
    q_25: float | None
    q_75: float | None
    number: int
    repeat: int


@dataclass(frozen=True)
class Imported:
    """One benchmark in asv's terms: lists of one length, an item a combination of parameters."""

    name: str
    type: str
    unit: str
    param_names: tuple[str, ...]
    params: tuple[tuple[str, ...], ...]
    values: tuple[float | None, ...]
    statistics: tuple[Statistics | None, ...]


@dataclass(frozen=True)
class Saved:
    """A file of pytest-benchmark. Times are in UTC."""

    commit: str | None  # None: it was not measured in a repository
    commit_name: str  # what stands in place of the hash, as the file has it
    committed_at: datetime | None
    dirty: bool  # whether there were changes that are in no commit
    measured_at: datetime
    python: str
    node: str | None
    machine: dict[str, str]  # the other fields of asv's machine.json, as far as they are known
    benchmarks: tuple[Imported, ...]
    left_out: frozenset[str]  # keys of `extra_info` that were not asked for
    problems: tuple[str, ...]


def parse(content: bytes, extra: Iterable[str] = ()) -> Saved:
    """Read a file. ``extra`` are keys of `extra_info` whose numbers become benchmarks too.

    Raises RecordError, with the reason, for anything that is not pytest-benchmark's.
    """
    try:
        file = File.model_validate(decoded(content))
    except TooMuchError as error:
        raise RecordError(f"{error}; {WITHOUT_ROUNDS}") from error
    except NotJsonError as error:
        raise RecordError(f"it is not a file of pytest-benchmark: {error}") from error
    except ValidationError as error:
        raise RecordError(f"it is not a file of pytest-benchmark: {reason_of(error)}") from error
    info, commit = file.machine_info, file.commit_info
    hash_ = (commit.id or "").lower()
    prefix = "" if info.python_implementation == "CPython" else info.python_implementation.lower()
    cpu, count = info.cpu.get("brand_raw") or info.cpu.get("brand"), info.cpu.get("count")
    collected = _Collected(tuple(extra))
    for number, raw in enumerate(file.benchmarks):
        collected.add(number, raw)
    return Saved(
        commit=hash_ if _COMMIT.fullmatch(hash_) else None,
        commit_name=(commit.id or "").strip(),
        committed_at=commit.time,
        dirty=bool(commit.dirty),
        measured_at=file.measured_at,
        python=re.sub(r"\W", "_", prefix) + info.python_version,
        node=info.node,
        machine={
            "os": f"{info.system} {info.release}".strip(),
            "arch": info.machine,
            "cpu": cpu[:500] if isinstance(cpu, str) else "",
            "num_cpu": str(count)[:20] if isinstance(count, int) else "",
            "ram": "",
        },
        benchmarks=tuple(collected.benchmarks()),
        left_out=frozenset(collected.left_out),
        problems=tuple(collected.problems),
    )


def legal_name(node: str) -> str:
    """The name of a benchmark for a test's id without its parameters.

    >>> legal_name("tests/test_io.py::TestRead::test_json")
    'tests.test_io.TestRead.test_json'
    >>> legal_name("bench-marks/a.py::test_it")
    'bench_marks_e4d40c.a.test_it'
    """
    path, *rest = node.split("::")
    parts = [*path.replace("\\", "/").removesuffix(".py").split("/"), *rest]
    return ".".join(_identifier(part) for part in parts if part)


@dataclass
class _Entry:
    """One test with one combination of parameters."""

    id: str
    params: dict[str, str] | None
    value: float
    statistics: Statistics | None


class _Collected:
    """The tests of a file, those that differ in their parameters only under one name."""

    def __init__(self, extra: tuple[str, ...]) -> None:
        self.problems: list[str] = []
        self.left_out: set[str] = set()
        self._extra = extra
        self._nodes: dict[str, str] = {}
        self._entries: dict[str, dict[str, _Entry]] = defaultdict(dict)

    def add(self, number: int, raw: Any) -> None:
        """Add one of the file's benchmarks; one that is broken is a problem."""
        try:
            found = Benchmark.model_validate(raw)
        except ValidationError as error:
            named = raw.get("fullname") if isinstance(raw, dict) else None
            name = named if isinstance(named, str) else f"number {number + 1}"
            self._skip(name, reason_of(error))
            return
        node, _, bracketed = found.fullname.partition("[")
        name = legal_name(node)
        identity = found.param if found.param is not None else bracketed.removesuffix("]")
        if self._nodes.setdefault(name, node) != node:
            self._skip(found.fullname, f"its name would be that of {self._nodes[name]!r} too")
        elif identity in self._entries[name]:
            self._skip(found.fullname, "it is there twice")
        else:
            params = _reprs(found.params) if bracketed else None
            entry = _Entry(identity, params, found.stats.median, _statistics(found.stats))
            self._entries[name][identity] = entry
            for key, value in found.extra_info.items():
                self._add_extra(found.fullname, name, entry, key, value)

    def _add_extra(self, fullname: str, name: str, entry: _Entry, key: str, value: Any) -> None:
        tracked = f"{name}.track_{_identifier(key)}"
        if key not in self._extra:
            self.left_out.add(key[:100])
        elif type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
            self._skip(fullname, f"its extra_info {key!r} is not a number", what="extra_info of ")
        elif self._nodes.setdefault(tracked, "") != "":
            self._skip(fullname, f"{tracked} is a test too", what="extra_info of ")
        else:
            self._entries[tracked][entry.id] = _Entry(entry.id, entry.params, float(value), None)

    def _skip(self, fullname: str, reason: str, what: str = "") -> None:
        self.problems.append(f"{what}benchmark {fullname[:200]!r} is skipped: {reason}")

    def benchmarks(self) -> Iterable[Imported]:
        """All that was added, sorted by name."""
        for name, by_id in sorted(self._entries.items()):
            entries = list(by_id.values())
            names, params, places = _product(entries)
            values: list[float | None] = [None] * math.prod(len(words) for words in params)
            statistics: list[Statistics | None] = [None] * len(values)
            for place, entry in zip(places, entries, strict=True):
                values[place], statistics[place] = entry.value, entry.statistics
            what = ("track", "") if entries[0].statistics is None else ("time", "seconds")
            yield Imported(name, *what, names, params, tuple(values), tuple(statistics))


def _product(
    entries: list[_Entry],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], list[int]]:
    """Names and values of the parameters, and the place of each entry in their product.

    asv knows only full products. Where the tests are far from one, or have no plain parameters,
    there is one parameter, `id`, whose values are pytest's names of the combinations.
    """
    if len(entries) == 1 and not entries[0].id:
        return (), (), [0]
    rows = [entry.params or {} for entry in entries]
    names = tuple(rows[0])
    if names and all(tuple(row) == names for row in rows):
        params = tuple(tuple(dict.fromkeys(row[name] for row in rows)) for name in names)
        combinations = math.prod(len(words) for words in params)
        distinct = {tuple(row.values()) for row in rows}
        if combinations <= 4 * len(entries) and len(distinct) == len(entries):
            order = {words: place for place, words in enumerate(product(*params))}
            return names, params, [order[tuple(row.values())] for row in rows]
    ids = tuple(repr(entry.id) for entry in entries)
    return ("id",), (ids,), list(range(len(ids)))


def _reprs(params: dict[str, Any] | None) -> dict[str, str] | None:
    """Parameters as asv stores them, sorted by name; None if one has no short and lasting text.

    pytest-benchmark writes what is not JSON as its `repr`, which may hold an address: each run
    would begin another series.
    """
    if not params:
        return None
    try:
        words = {name: repr(params[name]) for name in sorted(params)}
    except RecursionError:
        return None
    plain = (
        len(word) <= _LONGEST_REPR and "UNSERIALIZABLE[" not in word for word in words.values()
    )
    return words if all(plain) else None


def _statistics(stats: Stats) -> Statistics:
    low, high = interval(stats.data) if stats.data else _by_quartiles(stats)
    return Statistics(
        ci_99_a=None if math.isnan(low) else low,
        ci_99_b=None if math.isnan(high) else high,
        q_25=stats.q1,
        q_75=stats.q3,
        number=stats.iterations,
        repeat=stats.rounds,
    )


def _by_quartiles(stats: Stats) -> tuple[float, float]:
    """About the 99 % interval of the median, where the rounds were not saved.

    The standard error of a median is 0.93 quartile ranges by the root of the number of rounds, if
    they are normal (McGill, Tukey & Larsen 1978).
    """
    if stats.q1 is None or stats.q3 is None or stats.rounds < _FEWEST_FOR_QUARTILES:
        return math.nan, math.nan
    half = 2.58 * 0.93 * max(0.0, stats.q3 - stats.q1) / math.sqrt(stats.rounds)
    return stats.median - half, stats.median + half


def _identifier(part: str) -> str:
    if _IDENTIFIER.fullmatch(part):
        return part
    digest = hashlib.sha256(part.encode()).hexdigest()[:6]
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', part)}_{digest}"
