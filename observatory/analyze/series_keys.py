"""What every value is of: its subject, and its place in the matrix or its benchmark. Pure.

Results of other projects have no cells: their ``scenario`` is the benchmark with its parameters,
and their ``metric`` asv's type of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.catalogue import BACKENDS, LAUNCHES, METRICS, MODELS, SCENARIOS, Cell
from observatory.errors import SelectionError as SelectionError
from observatory.store.asv.names import parse_name, parse_params
from observatory.store.reading.read import Described, ResultFile, Results

FEWEST_FOR_INTERVAL = 5
"""Samples from which on asv's interval rests on them."""
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
_UNITS = (("time_", "seconds"), ("timeraw_", "seconds"), ("mem_", "bytes"), ("peakmem_", "bytes"))
"""By the prefix of the name of a benchmark: asv's convention."""


class Origin(NamedTuple):
    """What all rows of one file have in common, by column."""

    subject: str
    pytensor: str
    numba: str
    python: str
    machine: str


class SeriesKey(NamedTuple):
    """What all rows of one series and parameters have in common, by column."""

    model: str
    scenario: str
    backend: str
    launch: str
    metric: str
    unit: str
    kind: str

    @property
    def cell(self) -> Cell:
        """The cell that the series belongs to."""
        return Cell(self.model, self.scenario, self.backend, self.launch)


def subjects_of(files: Sequence[ResultFile]) -> list[str]:
    """For each file how its subject is called."""
    return [origin.subject for origin in origins_of(files)]


def origins_of(files: Sequence[ResultFile]) -> list[Origin]:
    """For each file what all its values have in common."""
    environments: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for file in files:
        environments[file.machine, file.commit, file.python].add(file.env_name)
    found = []
    for file in files:
        if file.header is not None:
            subject, versions = file.header.subject, file.header.versions
            origin = Origin(subject.label, versions.pytensor, versions.numba or "",
                             subject.python, file.machine)  # fmt: skip
        else:
            several = len(environments[file.machine, file.commit, file.python]) > 1
            label = f"{file.commit[:8]} {file.env_name}" if several else file.commit[:8]
            origin = Origin(label, "", "", file.python, file.machine)
        found.append(origin)
    return found


def places_of(results: Results) -> tuple[list[SeriesKey], npt.NDArray[np.integer]]:
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
    # A benchmark whose parameters grew, or that is in several directories, has one place.
    known: dict[SeriesKey, int] = {}
    unified = np.array([known.setdefault(place, len(known)) for place in found], np.int32)
    return list(known), unified[(np.cumsum(used, dtype=np.int32) - 1)[numbers]]


def _place(name: str, params: tuple[str, ...], described: Described | None) -> SeriesKey:
    ours = parse_name(name)
    cell = parse_params(ours[0], params) if ours else None
    if ours is not None and cell is not None:
        metric = ours[1]
        return SeriesKey(cell.model, cell.scenario, cell.backend, cell.launch,
                      metric.name, metric.unit, metric.kind)  # fmt: skip
    scenario = f"{name}({', '.join(params)})" if params else name
    if described is None:
        described = Described(_unit_by_name(name), "value")
    metric_name, unit = described.type, described.unit
    return SeriesKey("", scenario, "", "", metric_name, unit, "noisy")


def _unit_by_name(name: str) -> str:
    """The unit that asv's prefix of a benchmark's name says, where its description is lost."""
    return next((unit for prefix, unit in _UNITS if name.rpartition(".")[2].startswith(prefix)), "")


def place_order(place: SeriesKey) -> tuple[tuple[int, str], ...]:
    """Sorts places as the vocabulary is; words that it lacks come after, by alphabet."""
    words = {column: getattr(place, column) for column in _ORDERS}
    return tuple((_ORDERS[column].get(word, _LAST), word) for column, word in words.items())
