"""Measure the error rates of change detectors on the series of any asv results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from observatory.analyze import detectors as evaluation
from observatory.analyze import replay
from observatory.analyze.detectors import BLOCK, Detector, OnlineRates, Rates, Window
from observatory.analyze.history.segments import unfit
from observatory.analyze.history.series import series_of
from observatory.analyze.history.steps import Values
from observatory.benchmarks.catalogue import no_such
from observatory.errors import SelectionError
from observatory.run.external import external
from observatory.store.base.problems import Problem
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import read_results

HALVES = {"all": slice(None), "first": slice(0, None, 2), "second": slice(1, None, 2)}
_T = TypeVar("_T", Rates, OnlineRates)


@dataclass(frozen=True)
class Evaluated:
    """The rates of all detectors."""

    alone: list[Rates]
    """With values permuted one by one."""
    blocks: list[Rates]
    online: list[OnlineRates]


def long_series(results: Path, half: str = "all") -> tuple[list[Values], tuple[Problem, ...]]:
    """The values of every noisy series that is long enough, and what could not be read.

    ``half`` is all, or first or second for every other series. Raises RecordError.
    """
    if half not in HALVES:
        raise SelectionError(no_such("half", half, HALVES))
    read = read_results(results, directory_for(results))
    long = [
        one.values
        for one in series_of(read)
        if len(one.values) >= evaluation.FEWEST_VALUES
        and one.place.kind == "noisy"
        and unfit(one) is None
    ]
    return long[HALVES[half]], (*read.problems, *problems_beside(results))


def evaluate(
    series: Sequence[Values],
    detectors: Mapping[str, Detector],
    programs: Iterable[tuple[str, str]] = (),
    *,
    online: bool = False,
    seeds: Sequence[int] = (0,),
    track: Callable[[Sequence[tuple[str, Detector]], str], Iterable[tuple[str, Detector]]],
) -> Evaluated:
    """Measure how often detectors are wrong; return the rates of each.

    ``programs`` holds names and commands of external detectors. ``track`` gets the detectors and a
    description, and yields the detectors, e.g. with a progress bar. Raises ExternalDetectorError.
    """
    with ExitStack() as stack:
        every = dict(detectors) | {
            name: stack.enter_context(external(command)) for name, command in programs
        }

        def measured(
            what: str, rates: Callable[[str, Detector, Sequence[Window]], _T], block: int = 1
        ) -> list[_T]:
            drawn = [one for each in seeds for one in evaluation.windows(series, each, block)]
            return [rates(name, run, drawn) for name, run in track(list(every.items()), what)]

        return Evaluated(
            measured("permuted one by one", evaluation.rates),
            measured(f"permuted in blocks of {BLOCK}", evaluation.rates, BLOCK),
            measured("night after night", evaluation.online_rates) if online else [],
        )


@dataclass(frozen=True)
class Replayed:
    """What alerts a history would have given, week by week, and how soon they tell steps."""

    weeks: list[replay.Week]
    told: list[replay.Told]


def replayed(results: Path, weeks: int, seed: int = 0) -> tuple[Replayed, tuple[Problem, ...]]:
    """Replay the last weeks of a history. Raises RecordError; SelectionError without series."""
    read = read_results(results, directory_for(results))
    series = series_of(read)
    if not series:
        raise SelectionError(f"{results} has no series")
    found = list(replay.replay(series, weeks))
    told = [replay.told(series, factor, seed) for factor in replay.INJECTED]
    return Replayed(found, told), (*read.problems, *problems_beside(results))
