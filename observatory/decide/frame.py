"""The tidy frame: one row for each cell and metric of each subject on each machine. Pure.

Columns, in this order: `subject, pytensor, numba, python, machine, model, scenario, backend,
launch, metric, unit, kind, value, n, ci_low, ci_high, date`. Sorted by date, then by model,
scenario, backend, launch and metric in the order of the vocabulary.

Only what has a value is a row. `ci_low` and `ci_high` are asv's 99 % interval for the median; they
are given from 5 samples on. Below that asv's interval rests on a Laplace distribution alone
rather than on the values, and it says next to nothing: NaN.

Results of other projects have no cells: `scenario` is the benchmark with its parameters, `metric`
asv's type of it (`time`, `peakmem`, `track`), and model, backend, launch and versions are empty.
`subject` is the commit; where one machine measured it in several environments with one Python, the
environment's name is added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from benchmarks.vocabulary import BACKENDS, LAUNCHES, METRICS, MODELS, SCENARIOS
from observatory.record.asv_names import parse_name, parse_params
from observatory.record.read import Described, ResultFile, Results

FEWEST_FOR_INTERVAL = 5
_WORDS_SHOWN = 40
_Numbers = npt.NDArray[np.integer]


class _Origin(NamedTuple):
    """What all rows of one file have in common, by column."""

    subject: str
    pytensor: str
    numba: str
    python: str
    machine: str


class Place(NamedTuple):
    """What all rows of one series and parameters have in common, by column."""

    model: str
    scenario: str
    backend: str
    launch: str
    metric: str
    unit: str
    kind: str


COLUMNS = (*_Origin._fields, *Place._fields, "value", "n", "ci_low", "ci_high", "date")
_KNOWN: dict[str, Iterable[str]] = {
    "model": MODELS,
    "scenario": SCENARIOS,
    "backend": BACKENDS,
    "launch": LAUNCHES,
    "metric": METRICS,
}
_ORDERS = {
    column: {word: rank for rank, word in enumerate(words)} for column, words in _KNOWN.items()
}
_LAST = 10**6
_CHUNK = 2**14


class SelectionError(ValueError):
    """A filter matches nothing; the message lists what exists."""


def frame(results: Results) -> pd.DataFrame:
    """The tidy frame of everything that was read; empty, with its columns, if that is nothing."""
    origins = _origins(results.files)
    places, place = places_of(results)
    dates = np.array([file.date.replace(tzinfo=None) for file in results.files], "datetime64[ms]")
    # What ties on all the documented keys is ordered by where it comes from.
    of_origin = _ranks([(one.subject, one.python, one.machine, number)
                        for number, one in enumerate(origins)])  # fmt: skip
    of_place = _ranks([_place_key(one) for one in places])
    order = np.lexsort((of_origin[results.file], of_place[place], dates[results.file]))
    file, place, values = results.file[order], place[order], results.values
    n = values.n[order]
    noisy = np.array([one.kind == "noisy" for one in places], np.bool_)[place]
    told = noisy & (n >= FEWEST_FOR_INTERVAL)
    made = {
        **_words(_Origin._fields, origins, file),
        **_words(Place._fields, places, place),
        "value": values.value[order],
        "n": pd.array(np.maximum(n, 1).astype(np.int64), dtype="Int64"),
        "ci_low": np.where(told, values.ci_low[order], np.nan),
        "ci_high": np.where(told, values.ci_high[order], np.nan),
        "date": pd.DatetimeIndex(dates[file]).tz_localize("UTC"),
    }
    return pd.DataFrame(made, columns=list(COLUMNS), copy=False)


def select(
    frame: pd.DataFrame,
    *,
    subjects: Sequence[str] = (),
    backends: Sequence[str] = (),
    scenarios: Sequence[str] = (),
    launches: Sequence[str] = (),
    metrics: Sequence[str] = (),
) -> pd.DataFrame:
    """The rows that match one word of every filter given; an empty filter lets everything pass.

    Raises SelectionError for a word that no row has, and where the filters together leave nothing.
    """
    filters = {
        "subject": subjects,
        "backend": backends,
        "scenario": scenarios,
        "launch": launches,
        "metric": metrics,
    }
    kept = pd.Series(True, index=frame.index)
    for column, words in filters.items():
        present = list(dict.fromkeys(frame[column]))
        for word in words:
            if word not in present:
                raise SelectionError(f"no result has the {column} {word!r}; {_listed(present)}")
        if words:
            kept &= frame[column].isin(list(words)).astype(bool)
    if not kept.any() and len(frame):
        given = " and ".join(
            f"{key} {' or '.join(words)}" for key, words in filters.items() if words
        )
        raise SelectionError(f"no result has {given} at once; drop one of the filters")
    return frame[kept].reset_index(drop=True)


def _listed(present: list[str]) -> str:
    if not present:
        return "there are no results at all"
    shown = ", ".join(word or "(empty)" for word in present[:_WORDS_SHOWN])
    rest = len(present) - _WORDS_SHOWN
    return f"there are {shown}" + (f" and {rest} more" if rest > 0 else "")


def subjects_of(files: Sequence[ResultFile]) -> list[str]:
    """For each file how its subject is called."""
    return [origin.subject for origin in _origins(files)]


def _origins(files: Sequence[ResultFile]) -> list[_Origin]:
    environments: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for file in files:
        environments[file.machine, file.commit, file.python].add(file.env_name)
    found = []
    for file in files:
        if file.header is not None:
            subject, versions = file.header.subject, file.header.versions
            origin = _Origin(subject.label, versions.pytensor, versions.numba or "",
                             subject.python, file.machine)  # fmt: skip
        else:
            several = len(environments[file.machine, file.commit, file.python]) > 1
            label = f"{file.commit[:8]} {file.env_name}" if several else file.commit[:8]
            origin = _Origin(label, "", "", file.python, file.machine)
        found.append(origin)
    return found


def places_of(results: Results) -> tuple[list[Place], npt.NDArray[np.integer]]:
    """Every series with parameters that has a value, and for each value which of them it is."""
    lengths = np.zeros(len(results.series), np.int64)
    for number in np.flatnonzero(np.bincount(results.values.series)):
        lengths[number] = len(results.series[number])
    starts = np.cumsum(lengths) - lengths
    numbers = starts[results.values.series] + results.values.position
    used = np.zeros(int(lengths.sum()), np.bool_)
    used[numbers] = True
    present = np.flatnonzero(used)
    owners = np.searchsorted(starts, present, side="right") - 1
    found = []
    for owner, position in zip(owners.tolist(), (present - starts[owners]).tolist(), strict=True):
        series = results.series[owner]
        params = series.combination(position)
        found.append(_place(series.name, params, results.benchmarks.get(series.name)))
    return found, (np.cumsum(used, dtype=np.int32) - 1)[numbers]


def _place(name: str, params: tuple[str, ...], described: Described | None) -> Place:
    ours = parse_name(name)
    cell = parse_params(ours[0], params) if ours else None
    if ours is not None and cell is not None:
        metric = ours[1]
        return Place(cell.model, cell.scenario, cell.backend, cell.launch,
                      metric.name, metric.unit, metric.kind)  # fmt: skip
    scenario = f"{name}({', '.join(params)})" if params else name
    metric_name, unit = (described.type, described.unit) if described else ("value", "")
    return Place("", scenario, "", "", metric_name, unit, "noisy")


def _place_key(place: Place) -> tuple[tuple[int, str], ...]:
    """Sorts places as the vocabulary is; words that it lacks come after, by alphabet."""
    words = {column: getattr(place, column) for column in _ORDERS}
    return tuple((_ORDERS[column].get(word, _LAST), word) for column, word in words.items())


def _ranks(keys: Sequence[Any]) -> _Numbers:
    """The place of each key in the order of all; equal keys have the same."""
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([ranks[key] for key in keys], np.int32)


def _words(
    names: Sequence[str], rows: Sequence[tuple[str, ...]], numbers: _Numbers
) -> dict[str, pd.api.extensions.ExtensionArray]:
    """Columns of texts: for each name the texts of the rows that the numbers say."""
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    dtype = pd.StringDtype()
    return {
        name: dtype.__from_arrow__(_texts(words, numbers))  # type: ignore[attr-defined]
        for name, words in zip(names, columns, strict=True)
    }


def _texts(words: Sequence[str], numbers: _Numbers) -> pa.ChunkedArray:
    """For each number its word, in chunks: Arrow takes twice the memory of what it makes at once.

    Where all words are one, as in half of the columns, the chunks are one and the same.
    """
    type_ = pa.large_string()
    parts = [numbers[start : start + _CHUNK] for start in range(0, len(numbers), _CHUNK)]
    if parts and len(set(words)) == 1:
        whole = pa.array([words[0]] * len(parts[0]), type_)
        return pa.chunked_array([whole[: len(part)] for part in parts], type_)
    known = pa.array(words, type_)
    return pa.chunked_array([known.take(pa.array(part)) for part in parts], type_)
