"""Reading a results directory without asv: ours, or that of any project with asv result files.

Everything here may come from strangers: sizes are bounded, shapes are checked, and what is broken
is named and skipped. The journals' samples are not read, only their headers, which tell the
subject of a result file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from observatory.record import layout
from observatory.record.journal import JournalContents, JournalHeader, read_header, read_journal
from observatory.record.problems import Problem, RecordError, reason_of

LARGEST_FILE = 64 * 2**20
"""Bytes of one JSON file; a larger one is named and skipped."""
LARGEST_PRODUCT = 1_000_000
"""Combinations of one benchmark's parameters."""

_NOT_RESULTS = {"machine.json", "benchmarks.json"}
_FIRST_YEAR_PAST = 253_402_300_800_000  # 10000-01-01 in ms: datetime ends there


class _AsvFile(BaseModel):
    """The parts of asv's result schema v2 that are used; the rest is ignored, as asv's own grow."""

    model_config = ConfigDict(extra="ignore")

    commit_hash: str = Field(min_length=1, max_length=100)
    env_name: str | None = None
    date: Annotated[int, Field(ge=0, lt=_FIRST_YEAR_PAST)]
    params: dict[str, str | int | float | None]
    python: str | None = None
    result_columns: list[str] = Field(max_length=100)
    results: dict[str, Any]


@dataclass(frozen=True)
class Series:
    """One benchmark of a result file: arrays of one length, an item a combination of parameters.

    ``params`` are the lists as asv stores them (reprs); items follow their product in order.
    """

    name: str
    params: tuple[tuple[str, ...], ...]
    values: tuple[float | None, ...]
    n: tuple[int | None, ...]
    ci_low: tuple[float | None, ...]
    ci_high: tuple[float | None, ...]


@dataclass(frozen=True)
class ResultFile:
    """One asv result file, and the header of the journal that it was made from, if there is one."""

    path: Path
    machine: str
    commit: str
    env_name: str
    date: datetime
    python: str
    params: Mapping[str, str]
    series: tuple[Series, ...]
    header: JournalHeader | None


@dataclass(frozen=True)
class Described:
    """What ``benchmarks.json`` says of one benchmark."""

    unit: str
    type: str


@dataclass(frozen=True)
class Results:
    """A results directory: files sorted by path, benchmarks by name, and what is broken."""

    files: tuple[ResultFile, ...]
    benchmarks: Mapping[str, Described]
    problems: tuple[Problem, ...]


def read_results(directory: Path) -> Results:
    """Read every result file. Raises RecordError only where there is no such directory."""
    if not directory.is_dir():
        raise RecordError(
            f"there is no results directory {directory}; give --results, or make one: make observe"
        )
    problems: list[Problem] = []
    files = []
    for path in _result_paths(directory):
        try:
            files.append(_result_file(directory, path, problems))
        except _BrokenError as error:
            problems.append(Problem(path, str(error)))
    return Results(tuple(files), _benchmarks(directory, problems), tuple(problems))


def read_journals(directory: Path) -> list[JournalContents]:
    """Every journal of a results directory with all its samples, sorted by path."""
    return [read_journal(path) for path in layout.journals(directory)]


class _BrokenError(Exception):
    """A file that is skipped, with the reason as a sentence."""


def _result_paths(directory: Path) -> list[Path]:
    ours = (layout.SAMPLES, layout.LEDGERS)
    return sorted(
        path
        for path in directory.rglob("*.json")
        if path.name not in _NOT_RESULTS
        and path.relative_to(directory).parts[0] not in ours
        and path.parent != directory
    )


def _loaded(path: Path) -> Any:
    """Parsed JSON; NaN and Infinity, which asv writes, are read by the standard library."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise _BrokenError(f"it is larger than {LARGEST_FILE} bytes and was not read")
        content = path.read_bytes()
    except OSError as error:
        raise _BrokenError(f"it cannot be read: {error.strerror}") from error
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise _BrokenError(f"it is not JSON: {str(error)[:200]}") from error


def _result_file(directory: Path, path: Path, problems: list[Problem]) -> ResultFile:
    loaded = _loaded(path)
    version = loaded.get("version") if isinstance(loaded, dict) else None
    if version != 2:
        raise _BrokenError(
            f"it is not an asv result file of format 2 but of {version!r:.40}; "
            "run `asv update` if it is an older one"
        )
    try:
        file = _AsvFile.model_validate(loaded)
    except ValidationError as error:
        raise _BrokenError(reason_of(error)) from error
    series = []
    for name, row in file.results.items():
        try:
            series.append(_series(name, file.result_columns, row))
        except _BrokenError as error:
            problems.append(Problem(path, f"benchmark {name[:200]!r} is skipped: {error}"))
    params = {key: str(value) for key, value in file.params.items() if value is not None}
    return ResultFile(
        path=path,
        machine=params.get("machine", path.parent.name),
        commit=file.commit_hash,
        env_name=file.env_name or "",
        date=datetime.fromtimestamp(file.date / 1000, UTC),
        python=file.python or params.get("python", ""),
        params=params,
        series=tuple(series),
        header=_header(directory, path, file.commit_hash, problems),
    )


def _header(
    directory: Path, path: Path, commit: str, problems: list[Problem]
) -> JournalHeader | None:
    journal = layout.journal_beside(directory, path)
    if not journal.is_file():
        return None
    header, broken = read_header(journal)
    problems.extend(broken)
    if header is None:
        problems.append(Problem(journal, f"it has no whole header to say what {path.name} is of"))
    elif header.subject.commit != commit:
        problems.append(Problem(journal, f"it is of another commit than {path.name}: not used"))
        return None
    return header


def _series(name: str, columns: list[str], row: object) -> Series:
    """One benchmark's row, checked. Raises _BrokenError."""
    if not isinstance(row, list) or len(row) > len(columns):
        raise _BrokenError("its row is not a list that fits result_columns")
    cells = dict(zip(columns, row, strict=False))
    params = _params(cells.get("params"))
    length = math.prod(len(entry) for entry in params)
    if length > LARGEST_PRODUCT:
        raise _BrokenError(
            f"its parameters have {length} combinations; at most {LARGEST_PRODUCT} are read"
        )
    samples = _column(cells, "samples", length)
    repeats = _column(cells, "stats_repeat", length)
    return Series(
        name=name,
        params=params,
        values=tuple(_number(item) for item in _column(cells, "result", length)),
        n=tuple(_count(item, many) for item, many in zip(samples, repeats, strict=True)),
        ci_low=tuple(_number(item) for item in _column(cells, "stats_ci_99_a", length)),
        ci_high=tuple(_number(item) for item in _column(cells, "stats_ci_99_b", length)),
    )


def _params(raw: object) -> tuple[tuple[str, ...], ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list) or not all(isinstance(entry, list) for entry in raw):
        raise _BrokenError("its `params` is not a list of lists")
    return tuple(tuple(str(item) for item in entry) for entry in raw)


def _column(cells: Mapping[str, Any], name: str, length: int) -> Sequence[Any]:
    raw = cells.get(name)
    if raw is None:
        return [None] * length
    if not isinstance(raw, list) or len(raw) != length:
        raise _BrokenError(
            f"its `{name}` does not have the {length} values that its parameters make"
        )
    return raw


def _number(item: object) -> float | None:
    """A finite number; None for anything else (NaN is asv's word for not applicable)."""
    if isinstance(item, bool) or not isinstance(item, int | float):
        return None
    try:
        value = float(item)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def _count(samples: object, repeat: object) -> int | None:
    if isinstance(samples, list):
        return len(samples)
    return repeat if isinstance(repeat, int) and 0 < repeat < 2**31 else None


def _benchmarks(directory: Path, problems: list[Problem]) -> dict[str, Described]:
    path = directory / "benchmarks.json"
    if not path.is_file():
        return {}
    try:
        loaded = _loaded(path)
    except _BrokenError as error:
        problems.append(Problem(path, str(error)))
        return {}
    if not isinstance(loaded, dict):
        problems.append(Problem(path, "it is not a JSON object of benchmarks"))
        return {}
    return {
        name: Described(str(entry.get("unit", ""))[:100], str(entry.get("type", ""))[:100])
        for name, entry in loaded.items()
        if isinstance(entry, dict)
    }
