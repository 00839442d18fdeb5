"""The tidy frame: one row for each cell and metric of each subject on each machine. Pure.

Columns, in this order: `subject, pytensor, numba, python, machine, model, scenario, backend,
launch, metric, unit, kind, value, n, ci_low, ci_high, date`. Sorted by date, then by model,
scenario, backend, launch and metric in the order of the vocabulary.

Only what has a value is a row. `ci_low` and `ci_high` are asv's 99 % interval for the median; they
are given from 5 samples on. Below that asv's interval rests on a Laplace distribution alone
rather than on the values, and it says next to nothing: NaN.

Results of other projects have no cells: `scenario` is the benchmark with its parameters, `metric`
asv's type of it (`time`, `peakmem`, `track`), and model, backend, launch and versions are empty.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import pandas as pd

from benchmarks.vocabulary import BACKENDS, LAUNCHES, METRICS, MODELS, SCENARIOS
from observatory.record.asv_names import parse_name, parse_params
from observatory.record.read import Described, ResultFile, Results, Series

FEWEST_FOR_INTERVAL = 5
_WORDS_SHOWN = 40


class Row(NamedTuple):
    """One value of the frame, and the columns in order."""

    subject: str
    pytensor: str
    numba: str
    python: str
    machine: str
    model: str
    scenario: str
    backend: str
    launch: str
    metric: str
    unit: str
    kind: str
    value: float
    n: int
    ci_low: float
    ci_high: float
    date: datetime


COLUMNS = Row._fields
_TYPES = dict.fromkeys(COLUMNS[:12], "string") | {
    "value": "float64",
    "n": "Int64",
    "ci_low": "float64",
    "ci_high": "float64",
    "date": "datetime64[ms, UTC]",
}
_ORDERS: dict[str, Iterable[str]] = {
    "model": MODELS,
    "scenario": SCENARIOS,
    "backend": BACKENDS,
    "launch": LAUNCHES,
    "metric": METRICS,
}


class SelectionError(ValueError):
    """A filter matches nothing; the message lists what exists."""


def frame(results: Results) -> pd.DataFrame:
    """The tidy frame of everything that was read; empty, with its columns, if that is nothing."""
    rows = itertools.chain.from_iterable(_rows(file, results) for file in results.files)
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    made = {
        name: pd.Series(values, dtype=_TYPES[name])
        for name, values in zip(COLUMNS, columns, strict=True)
    }
    return _sorted(pd.DataFrame(made, columns=list(COLUMNS)))


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


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    # Words that the vocabulary lacks come after those it has, by alphabet; what ties on all the
    # documented keys is ordered by where it comes from, so that equal input gives equal output.
    keys = {"date": frame["date"]}
    for column, known in _ORDERS.items():
        present = set(frame[column])
        order = [word for word in known if word in present]
        order += sorted(present.difference(order))
        keys[column] = frame[column].map({word: rank for rank, word in enumerate(order)})
    keys |= {name: frame[name] for name in ("subject", "python", "machine")}
    ranked = pd.DataFrame(keys).sort_values(list(keys), kind="stable")
    return frame.loc[ranked.index].reset_index(drop=True)


def _rows(file: ResultFile, results: Results) -> Iterable[Row]:
    for series in file.series:
        yield from _series_rows(file, series, results.benchmarks.get(series.name))


def _series_rows(file: ResultFile, series: Series, described: Described | None) -> Iterable[Row]:
    header = file.header
    ours = parse_name(series.name)
    for index, params in enumerate(itertools.product(*series.params)):
        value = series.values[index]
        if value is None:
            continue
        cell = parse_params(ours[0], params) if ours else None
        low, high = _interval(series, index)
        yield Row(
            subject=header.subject.label if header else file.commit[:8],
            pytensor=header.versions.pytensor if header else "",
            numba=(header.versions.numba or "") if header else "",
            python=header.subject.python if header else file.python,
            machine=file.machine,
            model=cell.model if cell else "",
            scenario=cell.scenario if cell else _foreign_name(series.name, params),
            backend=cell.backend if cell else "",
            launch=cell.launch if cell else "",
            metric=ours[1].name if ours and cell else (described.type if described else "value"),
            unit=ours[1].unit if ours and cell else (described.unit if described else ""),
            kind=ours[1].kind if ours and cell else "noisy",
            value=value,
            n=series.n[index] or 1,
            ci_low=low,
            ci_high=high,
            date=file.date,
        )


def _interval(series: Series, index: int) -> tuple[float, float]:
    low, high, n = series.ci_low[index], series.ci_high[index], series.n[index]
    if low is None or high is None or (n or 1) < FEWEST_FOR_INTERVAL:
        return math.nan, math.nan
    return low, high


def _foreign_name(name: str, params: tuple[str, ...]) -> str:
    return f"{name}({', '.join(params)})" if params else name
