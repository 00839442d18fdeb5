"""Read one asv result file, as any asv has ever written it, into columns. Pure.

Format 2 is a table with a row for each benchmark; ``result_columns`` names the columns. Format 1,
of asv up to 0.4, has for each benchmark a bare value, or an object whose fields have several
spellings (asv's own `Results.update_to_2` knows them). In both, a value that is not there (failed,
not applicable, not selected) is null or NaN, or the whole list is null.

Content may be hostile. A benchmark that cannot be read is left out and named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from observatory.store.asv.columns import Columns, SeriesList, SeriesReader, UnreadableError
from observatory.store.asv.listing import SMALLER
from observatory.store.base.decode import NotJsonError, TooMuchError, decoded
from observatory.store.base.moments import LATEST

MOST_PROBLEMS = 1000
"""Benchmarks of one file that are named one by one; further ones are counted."""

_LATEST = LATEST.timestamp() * 1000
_LONGEST_WORD = 1000
_LONGEST_COMMIT = 100


class Head(NamedTuple):
    """What a file says of all its values. ``date`` is the commit's, in ms since 1970."""

    machine: str
    commit: str
    env_name: str
    date: int
    python: str
    params: dict[str, str]


@dataclass(frozen=True)
class Parsed:
    """What a file holds; ``problems`` are sentences. Without a head nothing could be read."""

    head: Head | None
    columns: Columns
    problems: tuple[str, ...]


class AsvRow(NamedTuple):
    """One benchmark by the names of format 2, not yet checked: anything that JSON can hold."""

    result: Any
    params: Any = None
    samples: Any = None
    stats_repeat: Any = None
    stats_ci_99_a: Any = None
    stats_ci_99_b: Any = None


def parse(content: bytes, series: SeriesList) -> Parsed:
    """Read a result file. Series that are new are added to ``series``. Raises nothing."""
    try:
        loaded = _loaded(content)
        head, results = _head(loaded), loaded.get("results")
        if not isinstance(results, dict):
            raise UnreadableError("its `results` is not an object of benchmarks")
        row_of: Callable[[Any], Sequence[Any]] = (
            _row_of_object if loaded["version"] == 1 else _row_of_list(loaded)
        )
    except UnreadableError as error:
        return Parsed(None, Columns(), (str(error),))
    reader = SeriesReader(series)
    skipped: list[tuple[str, UnreadableError]] = []
    for name, raw in results.items():
        if raw is None and row_of is _row_of_object:
            continue  # it failed: what most of an old file may consist of
        try:
            reader.add(name, row_of(raw))
        except UnreadableError as error:
            skipped.append((name, error))
    columns = reader.columns()
    problems = [f"benchmark {name[:200]!r} is skipped: {why}" for name, why in skipped]
    problems += [f"benchmark {name[:200]!r} {why}" for name, why in reader.not_numbers]
    if len(problems) > MOST_PROBLEMS:
        problems[MOST_PROBLEMS:] = [f"{len(problems) - MOST_PROBLEMS} more benchmarks are skipped"]
    return Parsed(head, columns, tuple(problems))


def _loaded(content: bytes) -> dict[str, Any]:
    try:
        loaded = decoded(content)
    except TooMuchError as error:
        raise UnreadableError(f"{error}; {SMALLER}") from error
    except NotJsonError as error:
        raise UnreadableError(str(error)) from error
    version = loaded.get("version") if isinstance(loaded, dict) else None
    if isinstance(loaded, dict) and type(version) is int and version in (1, 2):
        return loaded
    found = repr(version)[:40] if isinstance(version, str | int | float | None) else "another kind"
    raise UnreadableError(f"it is not an asv result file of format 1 or 2 but of {found}")


def _head(loaded: dict[str, Any]) -> Head:
    commit, params, date = loaded.get("commit_hash"), loaded.get("params"), loaded.get("date")
    if not isinstance(commit, str) or not 0 < len(commit) <= _LONGEST_COMMIT:
        raise UnreadableError("its `commit_hash` is not the name of a commit")
    if not isinstance(params, dict):
        raise UnreadableError("its `params` is not an object of texts")
    if not isinstance(date, int | float) or not 0 <= date < _LATEST:
        raise UnreadableError("its `date` is not a time in milliseconds from 1970 to 9899")
    words = {key: _word(f"params.{key:.60}", value) for key, value in params.items()}
    return Head(
        machine=words.get("machine", ""),
        commit=commit,
        env_name=_word("env_name", loaded.get("env_name")),
        date=int(date),
        python=_word("python", loaded.get("python")) or words.get("python", ""),
        params={key: word for key, word in words.items() if params[key] is not None},
    )


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str | int | float | None) or len(word := str(value)) > _LONGEST_WORD:
        raise UnreadableError(f"its `{name}` is not a text of at most {_LONGEST_WORD} characters")
    return "" if value is None else word


def _row_of_list(loaded: dict[str, Any]) -> Callable[[Any], Sequence[Any]]:
    """Format 2: a list by ``result_columns``, cut off after its last value that is not null."""
    columns = loaded.get("result_columns")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise UnreadableError("its `result_columns` is not a list of names")
    if len(set(columns)) < len(columns):
        raise UnreadableError("its `result_columns` name a column twice")
    if "result" not in columns:
        raise UnreadableError("its `result_columns` have no `result`, so that nothing is a value")
    where = {name: index for index, name in enumerate(columns)}
    width = len(columns)
    pick = itemgetter(*(where.get(name, width) for name in AsvRow._fields))
    padding = [None] * (width + 1)

    def row_of(raw: Any) -> tuple[Any, ...]:
        if not isinstance(raw, list) or len(raw) > width:
            raise UnreadableError("its row is not a list that fits result_columns")
        row: tuple[Any, ...] = pick(raw + padding[len(raw) :])
        return row

    return row_of


def _row_of_object(raw: Any) -> AsvRow:
    """Format 1: an object, or the bare value of a benchmark that has nothing else."""
    if not isinstance(raw, dict):
        return AsvRow(_as_list(raw))
    if "result" not in raw:
        raise UnreadableError("it has no `result`")
    result, samples, stats = _as_list(raw["result"]), raw.get("samples"), raw.get("stats")
    if isinstance(samples, list) and samples and not any(s is None or isinstance(s, list)
                                                         for s in samples):  # fmt: skip
        samples = [samples]  # of a benchmark without parameters
    if stats is None:
        return AsvRow(result, raw.get("params"), samples)
    stats = stats if isinstance(stats, list) else [stats]
    if not all(one is None or isinstance(one, dict) for one in stats):
        raise UnreadableError("its `stats` is not a list of objects")
    repeats = [one and one.get("repeat", one.get("n")) for one in stats]
    pairs = [one.get("ci_99") if one else None for one in stats]
    lows, highs = (
        [pair[end] if isinstance(pair, list) and len(pair) == 2 else None for pair in pairs]
        for end in (0, 1)
    )
    return AsvRow(result, raw.get("params"), samples, repeats, lows, highs)


def _as_list(result: Any) -> list[Any] | None:
    return result if result is None or isinstance(result, list) else [result]
