"""The keys of values: subject and versions, and cell and metric or asv's benchmark. Pure.

Results of other projects have no cells: their ``scenario`` is the benchmark with its parameters,
and their ``metric`` asv's type of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from observatory.benchmarks.catalogue import BACKENDS, LAUNCHES, METRICS, MODELS, SCENARIOS, Cell
from observatory.errors import SelectionError as SelectionError
from observatory.store.asv.import_subjects import short
from observatory.store.asv.names import parse_name, parse_params
from observatory.store.reading.read import Described, ResultFile, Results

FEWEST_FOR_INTERVAL = 5
"""The smallest number of samples for which asv derives its interval from the samples."""
_VOCABULARY = (MODELS, SCENARIOS, BACKENDS, LAUNCHES, METRICS)
_ORDERS = tuple({word: rank for rank, word in enumerate(words)} for words in _VOCABULARY)
_LAST = 10**6
_UNITS = (("time_", "seconds"), ("timeraw_", "seconds"), ("mem_", "bytes"), ("peakmem_", "bytes"))
"""The unit by asv's prefix of the name, for a benchmark whose description is lost."""


class Origin(NamedTuple):
    """The columns that all rows of one result file share."""

    subject: str
    pytensor: str
    numba: str
    python: str
    machine: str


class SeriesKey(NamedTuple):
    """The columns that all rows of one series share."""

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


def origins_of(files: Sequence[ResultFile]) -> list[Origin]:
    """The columns that the values of each file share, in the order of ``files``."""
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
            name = short(file.commit)
            label = f"{name} {file.env_name}" if several else name
            origin = Origin(label, "", "", file.python, file.machine)
        found.append(origin)
    return found


def places_of(results: Results) -> tuple[list[SeriesKey], list[npt.NDArray[np.integer]]]:
    """The keys of all series that have a value; and of each part, the number of each key's."""
    each = [part.series.astype(np.int64) << 32 | part.position for part in results.parts]
    present = np.unique(np.concatenate([np.empty(0, np.int64), *each]))
    found = []
    for owner, position in (divmod(one, 2**32) for one in present.tolist()):
        series = results.series[owner]
        params = series.combination(position)
        found.append(_place(series.name, params, results.benchmarks.get(series.name)))
    # A benchmark whose parameters grew, or that is in several directories, has one key.
    known: dict[SeriesKey, int] = {}
    unified = np.array([known.setdefault(place, len(known)) for place in found], np.int32)
    return list(known), [unified[np.searchsorted(present, own)] for own in each]


def _place(name: str, params: tuple[str, ...], described: Described | None) -> SeriesKey:
    ours = parse_name(name)
    cell = parse_params(ours[0], params) if ours else None
    if ours is not None and cell is not None:
        metric = ours[1]
        return SeriesKey(cell.model, cell.scenario, cell.backend, cell.launch,
                      metric.name, metric.unit, metric.kind)  # fmt: skip
    scenario = f"{name}({', '.join(params)})" if params else name
    if described is None:
        function = name.rpartition(".")[2]
        unit = next((unit for prefix, unit in _UNITS if function.startswith(prefix)), "")
        described = Described(unit, "value")
    return SeriesKey("", scenario, "", "", described.type, described.unit, "noisy")


def place_order(words: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """A sort key: the order of the catalogue, then words that it lacks, by alphabet.

    ``words``: a SeriesKey, or its first columns.
    """
    pairs = zip(_ORDERS, words, strict=False)
    return tuple((order.get(word, _LAST), word) for order, word in pairs)
