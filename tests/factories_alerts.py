"""Synthetic histories and alerts. FOR TESTS ONLY: no value here was measured."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from observatory.analyze.history.alerts import AlertContext
from observatory.analyze.history.detection import Histories, detect_changes
from observatory.analyze.history.recorded import Run
from observatory.analyze.history.segments import segmented
from observatory.analyze.history.series import Era, Line, Series, Subject
from observatory.analyze.history.wrong_counts import wrong_counts
from observatory.analyze.series_keys import SeriesKey
from observatory.store.records.alerts import Alerts, at_of
from observatory.store.records.triage import Triage
from observatory.text.records import alerts_of

START = datetime(2026, 1, 1, tzinfo=UTC)
ERA = Era("Some CPU", "2", "x86_64", "Linux 6.8", "3.13")
CELL = ("radon", "warm_disk", "NUMBA", "spawn")


def night(number: int) -> datetime:
    """When the subject of a night was made."""
    return START + timedelta(days=number)


def subject(number: int) -> Subject:
    """The subject of a night: its commit follows from its number."""
    commit = hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()
    return Subject(f"n{number}", commit, night(number), number)


def line(nights: int, machine: str = "bench", era: Era = ERA) -> Line:
    """A line of that many nights."""
    return Line(machine, "observatory-py3.13", era, tuple(subject(n) for n in range(nights)))


def series(
    on: Line, values: Sequence[float], metric: str = "compile_time", cell: Sequence[str] = CELL
) -> Series:
    """A series with a value for each of the first subjects of a line; NaN: none."""
    place = SeriesKey(*cell, metric, "bytes" if metric == "peak_rss" else "seconds", "noisy")
    array = np.asarray(values, dtype=float)
    there = np.flatnonzero(~np.isnan(array))
    return Series.of(on, place, there, array[there])


def stepped(
    nights: int, place: int | None = None, factor: float = 1.3, seed: int = 3
) -> np.ndarray:
    """Values with 2 % of noise, and a step; the same noise for the same seed."""
    values = 0.25 * np.exp(0.02 * np.random.default_rng(seed).standard_normal(1000)[:nights])
    if place is not None:
        values[place:] *= factor
    return values


def watched(
    nights: int, *found: Series, failures: Mapping[str, Sequence[str]] | None = None
) -> Histories:
    """Series whose newest run was on the night of the newest subject."""
    run = Run("bench", "observatory-py3.13", at_of(subject(nights - 1)), night(nights - 1),
              nights, failures or {})  # fmt: skip
    return Histories(list(segmented(found)), (), (run,), None if failures else night(nights - 1))


def detected(given: Histories, context: AlertContext) -> Alerts:
    """The record of what changed in histories."""
    wrong = wrong_counts(given.tracks)
    return alerts_of(detect_changes(given, context), "0.1", wrong=wrong)


def moment(
    nights: int, previous: Alerts | None = None, triage: Triage | None = None
) -> AlertContext:
    """An hour after the newest night was measured."""
    now = night(nights - 1) + timedelta(hours=1)
    return AlertContext(now, timedelta(days=2), triage or Triage(), previous)
