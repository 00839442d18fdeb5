"""Changes of near-exact counts, such as work, from one subject to the next. Pure.

They need no test and no later subjects: values of one subject hardly differ, so that the rule of a
comparison judges two neighbours. Where chance adds to many values, as many subjects in a row must
differ from those before as a comparison needs values. What is too small for it adds up in
`accumulation`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from observatory.analyze.comparison.rules import Rule, conclude, judged_values
from observatory.analyze.history.level_changes import LevelChange
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.segments import STILL
from observatory.analyze.history.series import Series
from observatory.analyze.history.steps import Values
from observatory.store.records.alerts import SeriesChange, at_of, cut

_CHANGED = ("worse", "better")


def work_changes(series: Series, floors: MachineFloors) -> Iterator[LevelChange]:
    """The changes of a series of our own that its near-exact rule calls worse or better.

    A change is over at the first later subject with less than STILL of it left.
    """
    if series.place.kind != "near_exact":
        return
    rule = floors.rule_of(series)
    values = np.maximum(series.values, rule.resolution)
    if not rule.judged or values.min() <= 0:
        return
    side, single = rule.all_of, replace(rule, all_of=1)
    for place, (before, after) in enumerate(pairwise(values.tolist()), start=1):
        if judged_values(single, before, after) not in _CHANGED:
            continue
        if side > 1 and not _stays(values, place, side, rule):
            continue
        left = np.log(values[place:] / before) / math.log(after / before) < STILL
        over = at_of(series.subject(place + int(np.argmax(left)))) if left.any() else None
        change = _series_change(series, rule, place, over is None)
        subjects = series.line.subjects
        first, last = int(series.at[place - 1]), int(series.at[place])
        within = subjects[first].date, subjects[last].date
        yield LevelChange(change, False, over, last - first - 1, within)


def _stays(values: Values, place: int, side: int, rule: Rule) -> bool:
    """Whether all of ``side`` values before a place differ from as many after it."""
    before, after = values[place - side : place], values[place : place + side]
    enough = side <= place <= len(values) - side
    return enough and conclude(rule, before.tolist(), after.tolist()).conclusion in _CHANGED


def _series_change(series: Series, rule: Rule, place: int, holds: bool) -> SeriesChange:
    machine, env_name, benchmark, metric = series.key
    values = series.values
    return SeriesChange(
        machine=machine, env_name=env_name, benchmark=benchmark, metric=metric,
        unit=cut(series.place.unit), kind="near_exact",
        before=float(values[place - 1]), after=float(values[place]), now=float(values[-1]),
        last_good=at_of(series.subject(place - 1)), first_bad=at_of(series.subject(place)),
        newest=at_of(series.subject(len(values) - 1)), holds=holds,
        # Of next to nothing, a relative change says nothing.
        counts_from=None if rule.all_of > 1 else rule.sure() - 1, learned_from=rule.samples,
    )  # fmt: skip
