"""Records of every kind in `KINDS`: hostile ones that are valid, and whatever reads or shows them.

A record is made from the schema of its kind: hostile texts where texts may be, and numbers and
times at the ends of their ranges. So a new kind is tried without another line here.
"""

from __future__ import annotations

import inspect
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, nullcontext, redirect_stdout, suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from observatory import text as texts
from observatory.analyze.frame import frame
from observatory.benchmarks.catalogue import BACKENDS, LAUNCHES, METRICS, MODELS, SCENARIOS
from observatory.cli import commands, main
from observatory.store.base.problems import RecordError
from observatory.store.base.record import RecordFiles
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.read import read_results
from observatory.store.records.kinds import KINDS
from tests import factories
from tests.command import observatory
from tests.hostile.contained import contained
from tests.hostile.mutations import VALUES
from tests.hostile.pages import check_pages
from tests.hostile.surface import Surface, committed

_MOST = 10**18
_TIMES = ("1970-01-01T00:00:00Z", "9899-12-31T23:59:59Z", "2026-11-20T12:00:00Z",
          "2026-11-20T12:00:00+14:00", "2026-11-20T12:00:00.123456-12:00")  # fmt: skip
_PLAIN = ("here", "3.3.7", "3.3.6", "0.68.0", "pytensor", "numba", "radon cold NUMBA fork",
          *MODELS, *SCENARIOS, *BACKENDS, *LAUNCHES, *METRICS)  # fmt: skip
_HOSTILE = tuple(one for one in VALUES if isinstance(one, str) and one != "\ud800")
_ASCII = st.characters(codec="ascii")
_TRIES = 12
_SHOWN = (
    ("dashboard", "--out", "html"), ("alerts",), ("digest",), ("doctor",), ("sentinel", "--show"),
    ("bisect", "--open"), ("torture", "no such"),
)  # fmt: skip
"""Commands that read single records and show them."""


@cache
def _matching(pattern: str) -> tuple[str, ...]:
    """Texts that match a pattern."""
    found: list[str] = []
    exact = pattern.replace("$", r"\Z")  # a last line end fits $, too

    @settings(max_examples=20, database=None, derandomize=True, deadline=None,
              suppress_health_check=[*HealthCheck])  # fmt: skip
    @given(st.from_regex(exact, alphabet=_ASCII) | st.from_regex(exact))
    def collect(text: str) -> None:
        found.append(text)

    collect()
    return tuple(dict.fromkeys(found))


class Maker:
    """Makes values that fit a schema of JSON. ``hostile``: the part of the texts that are."""

    def __init__(self, schema: dict[str, Any], dice: Random, hostile: float) -> None:
        self._schema, self._dice, self._hostile = schema, dice, hostile

    def made(self, schema: dict[str, Any] | None = None) -> Any:
        """Return a value of the schema, or of a part of it."""
        part = self._schema if schema is None else schema
        if "$ref" in part:
            return self.made(self._schema["$defs"][part["$ref"].rpartition("/")[2]])
        for choice in ("anyOf", "oneOf"):
            if choice in part:
                return self.made(self._dice.choice(part[choice]))
        if "const" in part:
            return part["const"]
        if "enum" in part:
            return self._dice.choice(part["enum"])
        kind = part.get("type")
        if kind == "object":
            return self._object(part)
        if kind == "array":
            return self._array(part)
        if kind == "string":
            return self._text(part)
        if kind in ("integer", "number"):
            return self._number(part, kind)
        return self._dice.random() < 0.5 if kind == "boolean" else None

    def _object(self, part: dict[str, Any]) -> dict[str, Any]:
        needed = part.get("required", ())
        found = {
            name: self.made(own) for name, own in part.get("properties", {}).items()
            if name in needed or self._dice.random() < 0.98
        }  # fmt: skip
        if isinstance(more := part.get("additionalProperties"), dict):
            for _ in range(self._dice.choice((0, 1, 3))):
                found[self._text(part.get("propertyNames", {}))] = self.made(more)
        return found

    def _array(self, part: dict[str, Any]) -> list[Any]:
        first = [self.made(one) for one in part.get("prefixItems", ())]
        least, most = part.get("minItems", 0), part.get("maxItems", 100)
        number = max(least, min(most, self._dice.choice((0, 1, 1, 2, 5)))) - len(first)
        return first + [self.made(part["items"]) for _ in range(number) if "items" in part]

    def _text(self, part: dict[str, Any]) -> str:
        if part.get("format") == "date-time":
            return self._dice.choice(_TIMES)
        if "pattern" in part:
            return self._dice.choice(_matching(part["pattern"]))
        is_hostile = self._dice.random() < self._hostile
        text = self._dice.choice(_HOSTILE if is_hostile else _PLAIN)
        return text.ljust(part.get("minLength", 0), "x")[: part.get("maxLength", 5000)]

    def _number(self, part: dict[str, Any], kind: str) -> float:
        whole = kind == "integer"
        step = 1 if whole else 5e-324
        least = part.get("minimum", part.get("exclusiveMinimum", -_MOST if whole else -1e308))
        most = part.get("maximum", part.get("exclusiveMaximum", _MOST if whole else 1e308))
        least += step * ("exclusiveMinimum" in part)
        ends = [least, most, 0, 1, 2, least + 1, 10**6]
        ends += [] if whole else [5e-324, 0.1, 1e-9, 1.0 + 2**-52, 1e300]
        return self._dice.choice([one for one in ends if least <= one <= most])


def _shows(kind: type) -> Iterator[Callable[[Any], object]]:
    """The functions that make texts of a record of a kind, or of a list of them, and of no more."""
    wanted = re.compile(rf"(\w+\[)?(\w+\.)?{kind.__name__}\]?")
    for package in (texts, commands):
        for found in iter_modules(package.__path__, f"{package.__name__}."):
            for name, one in inspect.getmembers(import_module(found.name), inspect.isfunction):
                given = inspect.signature(one).parameters.values()
                needed = [each for each in given if each.default is each.empty]
                own = one.__module__ == found.name
                if own and len(needed) == 1 and wanted.fullmatch(str(needed[0].annotation)):
                    several = "[" in str(needed[0].annotation)
                    if not name.startswith("_") or package is commands:
                        yield partial(_shown, one, several)


def _shown(function: Callable[[Any], object], several: bool, record: Any) -> object:
    """What a function makes of a record; ``several``: it wants a list of them."""
    return function([record] if several else record)


shows = cache(lambda kind: tuple(_shows(kind)))
"""The functions that make texts of records of a kind."""


def _reader(files: RecordFiles[Any]) -> Callable[[bytes, Path], object]:
    def read(content: bytes, work: Path) -> None:
        results = work / "results"
        path = results / files.directory / "a.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        found = read_results(results)
        frame(found)
        [str(problem) for problem in (*found.problems, *problems_beside(results))]
        for record in files.load_all(results):
            if not isinstance(record, RecordError):
                _show(record, content, work)

    return read


def _show(record: Any, content: bytes, work: Path) -> None:
    """Make every text of a record, and run one of the commands that show records."""
    factories.journal(work / "results", [factories.sample()])
    printed = io.StringIO()
    # As for a terminal, which is not guarded: what is printed is clean where it is made.
    with chdir(work), contained(work), mock.patch.object(main, "guarded", nullcontext):
        with redirect_stdout(printed):
            for one in shows(type(record)):
                told = one(record)
                if isinstance(told, Iterable):
                    list(told)
        done = observatory(*_SHOWN[sum(content) % len(_SHOWN)])
    said = printed.getvalue() + done.stdout + done.stderr
    assert not {one for one in said if not one.isprintable() and one not in "\n\t"}, said
    check_pages(work / "html")


def _surface(files: RecordFiles[Any]) -> Surface:
    @cache
    def schema() -> dict[str, Any]:
        found: dict[str, Any] = files.kind.model_json_schema(by_alias=True)
        return found

    def made(dice: Random) -> bytes:
        hostile = dice.choice((0.0, 0.1, 0.5))
        for _ in range(_TRIES):
            content = json.dumps(Maker(schema(), dice, hostile).made()).encode()
            with suppress(RecordError, InvalidError):
                files.name(read_json(files.kind, content))
                break
            hostile *= 0.7  # names that have to be those of files are among the texts
        return content

    def seeds() -> list[bytes]:
        return committed(f"{files.directory}/*.json")() or [made(Random(0)), made(Random(1))]

    return Surface(seeds, _reader(files), made)


SURFACES = {files.directory: _surface(files) for files in KINDS}
