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

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from observatory.analyze.series_keys import (
    FEWEST_FOR_INTERVAL,
    Origin,
    SelectionError,
    SeriesKey,
    origins_of,
    place_order,
    places_of,
)
from observatory.benchmarks.catalogue import no_such
from observatory.store.reading.read import Results

_Numbers = npt.NDArray[np.integer]


COLUMNS = (*Origin._fields, *SeriesKey._fields, "value", "n", "ci_low", "ci_high", "date")
_CHUNK = 2**14
_NAMED = 40
"""Words named where another one was asked for."""


def frame(results: Results) -> pd.DataFrame:
    """The tidy frame of everything that was read; without rows if that is nothing."""
    origins = origins_of(results.files)
    places, keys = places_of(results)
    of_part = zip(keys, results.parts, strict=True)
    each = [np.repeat(own, part.lengths) for own, part in of_part]
    place = np.concatenate([np.empty(0, np.int32), *each])
    dates = np.array([file.date.replace(tzinfo=None) for file in results.files], "datetime64[ms]")
    # Rows that tie on all documented keys are ordered by their file.
    of_origin = _ranks([(one.subject, one.python, one.machine, number)
                        for number, one in enumerate(origins)])  # fmt: skip
    of_place = _ranks([place_order(one) for one in places])
    order = np.lexsort((of_origin[results.file], of_place[place], dates[results.file]))
    file, place, values = results.file[order], place[order], results.values
    n = values.n[order]
    noisy = np.array([one.kind == "noisy" for one in places], np.bool_)[place]
    reliable = noisy & (n >= FEWEST_FOR_INTERVAL)
    made = {
        **_words(Origin._fields, origins, file),
        **_words(SeriesKey._fields, places, place),
        "value": values.value[order],
        "n": pd.array(np.maximum(n, 1).astype(np.int64), dtype="Int64"),
        "ci_low": np.where(reliable, values.ci_low[order], np.nan),
        "ci_high": np.where(reliable, values.ci_high[order], np.nan),
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
    filters = {"subject": subjects, "backend": backends, "scenario": scenarios, "launch": launches,
               "metric": metrics}  # fmt: skip
    kept = pd.Series(True, index=frame.index)
    for column, words in filters.items():
        present = list(dict.fromkeys(frame[column]))
        for word in words:
            if word not in present:
                raise SelectionError(f"in these results {no_such(column, word, present, _NAMED)}")
        if words:
            kept &= frame[column].isin(list(words)).astype(bool)
    if not kept.any() and len(frame):
        given = (f"{key} {' or '.join(words)}" for key, words in filters.items() if words)
        raise SelectionError(f"no result has {' and '.join(given)} at once; drop a filter")
    return frame[kept].reset_index(drop=True)


def _ranks(keys: Sequence[Any]) -> _Numbers:
    """The rank of each key among all; equal keys have the same."""
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([ranks[key] for key in keys], np.int32)


def _words(
    names: Sequence[str], rows: Sequence[tuple[str, ...]], numbers: _Numbers
) -> dict[str, pd.api.extensions.ExtensionArray]:
    """Columns of texts by name: item i is from row ``numbers[i]``."""
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
    dictionary = pa.array(words, type_)
    return pa.chunked_array([dictionary.take(pa.array(part)) for part in parts], type_)
