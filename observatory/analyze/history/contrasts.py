"""Two subjects of a project that measures with asv or pytest-benchmark, series by series. Pure.

Such a project saves one value of each series, with asv's 99 % interval of its median if it was
measured often enough: no samples are left to test. Where the history of a series was cut into
levels, they decide, as on the pages (`rules.conclude_levels`). Where it is too short, the intervals
do (`rules.conclude_run`). They know the rounds of one run, and nothing of how much one run differs
from the next: that is no alarm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from observatory.analyze.comparison import rules
from observatory.analyze.history.segments import SegmentedSeries, segmented, unfit
from observatory.analyze.history.series import Line, Series, Subject
from observatory.analyze.series_keys import FEWEST_FOR_INTERVAL
from observatory.benchmarks.catalogue import no_such
from observatory.errors import SelectionError
from observatory.store.base.patterns import contains
from observatory.store.records import contrast as record
from observatory.store.records.comparison import Conclusion

_SHORTEST = 4
"""Characters by which a hash is recognised."""
_NAMED = 5
"""Subjects named where another one was asked for."""


def subject_on(line: Line, name: str) -> int | None:
    """The number of the subject with this label, else of the newest whose commit begins so."""
    labels = [number for number, one in enumerate(line.subjects) if one.label == name]
    if not labels and len(name) >= _SHORTEST:
        begin = name.lower()
        labels = [n for n, one in enumerate(line.subjects) if one.commit.startswith(begin)]
    return labels[-1] if labels else None


def lines_with(lines: Iterable[Line], names: Sequence[str]) -> dict[int, list[int]]:
    """By the identity of each line that has all these subjects, their numbers on it.

    Raises SelectionError if a subject is on no line, is several commits, or no line has all.
    """
    lines = list(lines)
    for name in names:
        _check(lines, name)
    found = {id(line): [subject_on(line, name) for name in names] for line in lines}
    whole = {key: [n for n in own if n is not None] for key, own in found.items()}
    if not (kept := {key: own for key, own in whole.items() if len(own) == len(names)}):
        raise SelectionError(
            f"no machine measured {' and '.join(names)} in one environment, with one processor, "
            "system and Python: values of different ones are not compared"
        )
    return kept


def _check(lines: Sequence[Line], name: str) -> None:
    found = [line.subjects[n] for line in lines if (n := subject_on(line, name)) is not None]
    if not found:
        subjects = sorted((one for line in lines for one in line.subjects), key=lambda s: s.date)
        known = list(dict.fromkeys(one.label for one in reversed(subjects)))
        raise SelectionError(f"in these results {no_such('subject', name, known, _NAMED)}")
    if len(commits := sorted({one.commit for one in found})) > 1:
        some = ", ".join(commits[:_NAMED])
        raise SelectionError(f"{name!r} is the beginning of several commits: {some}")


def lines_of(
    series: Sequence[Series], base: str, head: str, pattern: str | None = None
) -> Iterator[record.Line]:
    """What both subjects have on each line, the largest differences first.

    ``pattern``: only series whose name has this text; * stands for any text. Raises
    SelectionError, as `lines_with` and where no series is left.
    """
    places = lines_with({id(one.line): one.line for one in series}.values(), (base, head))
    chosen = [
        one for one in series
        if id(one.line) in places and not one.place.model and contains(one.benchmark, pattern)
    ]  # fmt: skip
    if not chosen:
        raise SelectionError(f"no benchmark of {base} and {head} matches {pattern!r}")
    both = [one for one in chosen if not set(places[id(one.line)]) - set(one.at.tolist())]
    tracks = {id(track.series): track for track in segmented(both)}
    grouped: dict[int, list[record.Contrast]] = defaultdict(list)
    for one in chosen:
        before, after = places[id(one.line)]
        grouped[id(one.line)].append(_contrast(one, tracks.get(id(one)), before, after))
    lines = {id(one.line): one.line for one in chosen}
    for key, own in grouped.items():
        line, (before, after) = lines[key], places[key]
        yield record.Line(
            machine=line.machine, environment=line.env_name, system=str(line.era),
            base=_side(line.subjects[before]), head=_side(line.subjects[after]),
            series=sorted(own, key=lambda c: (-c.size, c.benchmark, c.metric)),
        )  # fmt: skip


def conclusion_of_run(series: Series, base: int, head: int) -> Conclusion | None:
    """What the rounds of two subjects say; None where one has no interval."""
    old, new = (_interval(_measured(series, number)) for number in (base, head))
    return None if old is None or new is None else rules.conclude_run(old, new).conclusion


def _interval(one: record.Measured | None) -> rules.Interval | None:
    if one is None or one.low is None or one.high is None:
        return None
    return one.low, one.value, one.high


def _side(one: Subject) -> record.Side:
    return record.Side(label=one.label, commit=one.commit, date=one.date)


def _contrast(
    series: Series, track: SegmentedSeries | None, base: int, head: int
) -> record.Contrast:
    old, new = (_measured(series, number) for number in (base, head))
    before = None if old is None else old.value
    after = None if new is None else new.value
    conclusion: Conclusion = "undecided"
    by: record.By = "nothing"
    if track is not None and track.judgement == "judged":
        at = np.searchsorted(series.at, (base, head))
        was, now = track.expected[at].tolist()
        off = bool(track.off[at].any())
        rule = rules.rule_at(series.place, None, series.source)
        conclusion, by = rules.judged_values(rule, was, now, off), "levels"
        if conclusion in ("worse", "better"):
            before, after = was, now
    elif found := conclusion_of_run(series, base, head):
        conclusion, by = found, "one run"
    if conclusion == "undecided" and by != "levels" and _no_ratio(series, before, after):
        by = "no ratio"
    return record.Contrast(
        benchmark=series.benchmark, metric=series.place.metric, unit=series.place.unit,
        base=old, head=new, before=before, after=after, conclusion=conclusion, by=by,
    )  # fmt: skip


def _no_ratio(series: Series, before: float | None, after: float | None) -> bool:
    """Whether it is the values, and not their number, that keep a series from being judged."""
    reason = unfit(series)
    return (reason is not None and reason.kind == "no ratio of levels") or any(
        value is not None and value <= 0 for value in (before, after)
    )


def _measured(series: Series, number: int) -> record.Measured | None:
    """The value at a subject; None if it has none, or infinity."""
    place = _index(series, number)
    if place is None or not np.isfinite(series.values[place]):
        return None
    n = int(series.n[place])
    ends = (float(series.ci_low[place]), float(series.ci_high[place]))
    known = n >= FEWEST_FOR_INTERVAL and all(np.isfinite(ends))
    low, high = ends if known else (None, None)
    return record.Measured(value=float(series.values[place]), n=max(n, 1), low=low, high=high)


def _index(series: Series, number: int) -> int | None:
    """Where the series has the value of a subject of its line."""
    found = np.flatnonzero(series.at == number)
    return int(found[0]) if len(found) else None
