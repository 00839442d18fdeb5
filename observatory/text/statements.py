"""The sentence for each statement of the analysis: plain text on one line, without a full stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Formatter
from typing import Any

from observatory.analyze.moved_alike import MovedAlike
from observatory.analyze.statements import FoundCause, Kind, Loss, Sides, Statement
from observatory.store.records.alerts import SeriesChange
from observatory.text import sizes, units
from observatory.text.causes import cause_sentence
from observatory.text.guard import settings_sentence
from observatory.text.plain import shorten
from observatory.text.profiles import (
    grown_parts_sentence,
    grown_phase_sentence,
    grown_sentence,
    import_sentence,
    longer_sentence,
    main_part_sentence,
    memory_sentence,
    passes_sentence,
)
from observatory.text.torture import got_worse_sentence
from observatory.text.units import count, percent
from observatory.text.words import first_of, several

_NAMED = 3


def count_changed(
    counts: Sequence[SeriesChange], times: Sequence[SeriesChange], unfelt: bool = False
) -> str:
    """A count whose cause is not told: `cache_misses 105 → 0 in radon warm_disk NUMBA fork`.

    ``times``: compile times that changed with it. ``unfelt``: the times of its cells have no step.
    """
    return f"{counts[0].metric} {_largest(counts)}{_with_times(times, unfelt)}"


def cause_began(
    backends: Sequence[str],
    cause: FoundCause,
    sides: Sides,
    counts: Sequence[SeriesChange],
    times: Sequence[SeriesChange],
    unfelt: bool = False,
) -> str:
    """A cause that began: the backends, its sentence and, if there are any, its largest count."""
    largest = f" ({_largest(counts)})" if counts else ""
    said = f"{', '.join(backends)}: {cause_sentence(cause, sides)}{largest}"
    return said + _with_times(times, unfelt)


def level_changed(
    changes: Sequence[SeriesChange], word: str, drifting: bool, begins: Statement | None = None
) -> str:
    """Noisy series that moved together, the largest change first: how much, how sure and where.

    ``word``: "slower", "less memory". ``begins``: with which phase or module.
    """
    why = "" if begins is None else f"; {sentence_of(begins)}"
    most = changes[0]
    verb, verbs = ("takes", "take") if word.endswith("memory") else ("is", "are")
    how = f"{word}, little by little" if drifting else word
    by, numbers = _size(most, drifting)
    if len(changes) == 1:
        size = f": {by}" * bool(by) + f" ({numbers})" if most.modes is None else f": {numbers}"
        return f"{most.benchmark} {verb} {how}{size}{why}"
    ratios = [one.ratio if drifting else sizes.medians(one) for one in changes]
    known = [ratio for ratio in ratios if ratio is not None]
    by = f" ({units.span(min(known), max(known))})" if known else ""
    names = list(dict.fromkeys(one.benchmark for one in changes))
    names[0] += f" ({numbers})"
    return f"{len(changes)} series {verbs} {how}{by}: {first_of(names, _NAMED)}{why}"


def work_changed(
    changes: Sequence[SeriesChange], unfelt: bool = False, begins: Statement | None = None
) -> str:
    """Near-exact counts that changed together, the largest change first, and where that begins.

    ``unfelt``: the times of their cells have no step there.
    """
    ratios = [ratio for one in changes if (ratio := sizes.medians(one)) is not None]
    known = ratios and len(ratios) == len(changes)
    by = units.span(min(ratios), max(ratios)) if known else "from nothing measurable"
    if known and len(changes) == 1:
        by = units.signed(ratios[0])
    most = changes[0]
    levels = units.change(most.before, most.after, most.unit)
    verb = "grew" if most.worse else "fell"
    why = "" if begins is None else f"; {sentence_of(begins)}"
    if most.counts_from is not None:
        why += f"; {_counts_from(most.counts_from, most.learned_from)}"
    why += _with_times((), unfelt)
    if len(changes) == 1:
        return f"{most.metric} of {most.benchmark} {verb}: {by} ({levels}){why}"
    where = f"{most.metric} of {most.benchmark} ({levels})"
    return f"{len(changes)} series {verb} ({by}), most of all {where}{why}"


def compared(least: float, samples: int) -> str:
    """How a near-exact count is judged: by its neighbour.

    ``least``: the relative change that counts; ``samples``: from which its noise was learned.
    """
    counts = _counts_from(least, samples)
    return f"each value is compared only with the one before it, and {counts}"


def _counts_from(least: float, samples: int) -> str:
    noise = f"noise learned from {count(samples)} samples" if samples else "default noise"
    return f"a change counts from {percent(least)} on ({noise})"


def losses_added_up(changes: Sequence[SeriesChange], losses: Sequence[Loss]) -> str:
    """Small losses that add up to a drift: its range, its size and its largest contributors.

    ``changes``: the largest first; ``losses``: those of the largest.
    """
    most = changes[0]
    ratio = sizes.medians(most)
    by = "from nothing measurable" if ratio is None else units.signed(ratio)
    levels = units.change(most.before, most.after, most.unit)
    since = most.last_good.label if most.last_good else ""
    ordered = sorted(losses, key=lambda one: -one.ratio)
    named = [
        f"{one.label} ({units.signed(one.ratio)}{', accepted' * one.accepted})" for one in ordered
    ]
    others = len(changes) - 1
    more = f" and of {count(others)} more series" if others else ""
    return (
        f"{most.metric} of {most.benchmark}{more} grew since {since}: {by} ({levels}) in "
        f"{several(len(losses), 'small or accepted step')}, the largest at "
        f"{first_of(named, _NAMED)}"
    )


def _largest(changes: Sequence[SeriesChange]) -> str:
    """The largest change of a count, and where it is: `105 → 0 in radon cold C fork`."""
    most = max(changes, key=lambda one: abs(one.after - one.before))
    others = len({one.benchmark for one in changes}) - 1
    more = f" and {several(others, 'more cell')}" if others else ""
    return f"{sizes.levels(most)} in {most.benchmark}{more}"


def _with_times(times: Sequence[SeriesChange], unfelt: bool) -> str:
    if not times:
        return "; the times of these cells show no step there" if unfelt else ""
    most = max(times, key=lambda one: abs(one.after - one.before))
    levels = units.change(most.before, most.after, most.unit)
    by = units.effect(most.before, most.after, most.unit)
    return f"; with it {most.metric} is {by} ({levels}, {most.benchmark})"


def times_moved_alike(alike: MovedAlike) -> str:
    """That times moved and work did not, and what follows."""
    return (
        f"{count(alike.moved)} of {several(alike.measured, 'time')} changed alike "
        f"(median {units.signed(alike.ratio)}), but the work of the same cells did not "
        f"(median {units.signed(alike.work)} of {several(alike.counted, 'count')}): the machine "
        "(its processor, system or load) has probably changed, not the code; measure both again, "
        "side by side"
    )


def times_moved_alike_in_between(since: str, alike: MovedAlike) -> str:
    """The same of a subject between the two that are compared, or of the later one."""
    return f"since {shorten(since, 60)}, {times_moved_alike(alike)}"


def _size(change: SeriesChange, drifting: bool) -> tuple[str, str]:
    """The relative change, empty where none describes it, and the numbers."""
    if drifting and change.ratio is not None:
        return sizes.drifting(change, change.ratio, change.unit)
    ratio = sizes.medians(change)
    return "" if ratio is None else units.signed(ratio), sizes.details(change, change.unit)


class _Sentence(Formatter):
    """A format string whose fields may name one of our formats: `{:percent}`."""

    def format_field(self, value: Any, spec: str) -> str:
        formats: dict[str, Callable[[Any], str]] = {
            "count": count,
            "counts": lambda values: ", ".join(map(count, values)),
            "percent": percent,
            "more": lambda end: f"{percent(abs(end - 1))} {'less' if end < 1 else 'more'}",
            "cells": lambda cells: first_of([*map(str, cells)], _NAMED, "cell"),
            "words": lambda words: first_of(words, _NAMED),
        }
        return formats[spec](value) if spec in formats else format(value, spec)


def sentence_of(statement: Statement) -> str:
    """The words of a statement."""
    words = _SENTENCES[statement.kind]
    if isinstance(words, str):
        return _Sentence().format(words, *statement.values)
    return words(*statement.values)


def _series_ended(ended: int, followed: int, label: str) -> str:
    have = "has" if ended == 1 else "have"
    which = f"{ended} of its {followed} series {have}" if followed > 1 else "it has"
    return f"{which} no value since {label}: not measured, failed, renamed or removed"


def _no_value(names: Sequence[str], why: str) -> str:
    said = f"not compared: HEAD has no value of {first_of(names, _NAMED)}"
    return f"{said} ({why})" if why else said


_UNKNOWN = ": whether it still holds is unknown; acknowledge it if this is intended"
_SENTENCES: dict[Kind, str | Callable[..., str]] = {
    "not deterministic": "{} is not deterministic: {:counts} in samples of {}",
    "same in both": "{} is {:count} in both",
    "no time": "no time was measured on both sides; a larger --budget leaves room for times",
    "no ratio": "a side has fewer than two positive values: there is nothing to compare",
    "counted apart": (
        "BASE was counted by {} and HEAD by {}: counts from different counters cannot be compared"
    ),
    "counted more": (
        "an older version of the observatory counted {}, with calls that are left out now: measure "
        "it again to compare"
    ),
    "not in turn": (
        "BASE and HEAD were not measured in turn, and the disk may have been busy for one of them"
    ),
    "too few processes": "a side has only {} processes; at least {} are needed",
    "interval too wide": (
        "HEAD takes between {:more} and {:more} than BASE: this range is too wide to tell a change "
        "of {:percent} from none"
    ),
    "may be chance": (
        "HEAD takes between {:more} and {:more} than BASE, but among so many cells this may be "
        "chance: more processes would tell"
    ),
    "other CPU": "BASE and HEAD were measured on different CPUs: their times cannot be compared",
    "other speed": "the machine has probably changed between BASE and HEAD",
    "other workload": "other functions are compiled: reuse cannot be compared",
    "not measured": "no sample was taken",
    "unavailable": "the subject does not support this cell",
    "recorded message": "{}",
    "samples failed": "{} of {} samples failed: {}",
    "counted once": "the budget ended before it was counted again, and one count proves nothing",
    "instructions not counted": "the budget ended before the instructions were counted",
    "described": "this metric is for information only and is not judged",
    "compared": compared,
    "in a row": (
        "a change counts once {} subjects in a row have it, because a busy disk moves some of them"
    ),
    "too few subjects": (
        "fewer than {} subjects with a value in one environment: a step cannot be told from noise "
        "yet"
    ),
    "no ratio of levels": (
        "the size of a step is a ratio, and a value is 0 or below, or the values are too far apart"
    ),
    "no baseline": "not compared: BASE has no value of {:words} in {:cells}",
    "no successor": "not compared: HEAD has no value of {:words} in {:cells}",
    "no value": _no_value,
    "other graphs": "the two sides built different graphs, so their sums cannot be compared",
    "size ended": (
        "HEAD does not finish {} with {} {} within {:g} s of CPU time, and BASE does; only smaller "
        "sizes were compared"
    ),
    "no earlier value": "no earlier value to compare with: {:words}",
    "work began": main_part_sentence,
    "time began": longer_sentence,
    "memory began": memory_sentence,
    "passes ran": passes_sentence,
    "part grew": grown_sentence,
    "parts grew": grown_parts_sentence,
    "phase grew": grown_phase_sentence,
    "imports more": import_sentence,
    "CPUs differ": (
        "the CPUs differ: {} (BASE), {} (HEAD). The memory that builds leave in use is not compared"
    ),
    "times moved alike": times_moved_alike,
    "times moved alike in between": times_moved_alike_in_between,
    "measured apart": (
        "BASE and HEAD were measured in different runs, so other work of the machine also changes "
        "their times: a change counts only from {:percent} on"
    ),
    "not calibrated": (
        "this machine is not calibrated, so a change counts only from {:percent} on; `observatory "
        "calibrate` measures its noise"
    ),
    "calibrated elsewhere": (
        "the calibration is of another CPU ({}) and is not used: a change counts only from "
        "{:percent} on"
    ),
    "partly calibrated": (
        "this machine is calibrated for {} of the {} judged times and sizes; a change of the "
        "others counts only from {:percent} on"
    ),
    "cause began": cause_began,
    "count changed": count_changed,
    "level changed": level_changed,
    "work changed": work_changed,
    "losses added up": losses_added_up,
    "worse under faults": got_worse_sentence,
    "worse with other settings": settings_sentence,
    "run failed": "{}: {} ({:cells})",
    "run late": "nothing has been measured on {} since {:%Y-%m-%d %H:%M} UTC",
    "environment changed": "{0}: {1} until {3}, {2} from {4} on; each has its own series",
    "environments alternate": "{}: {} and {} in turn; each has its own series",
    "over since": "it has been over since {}",
    "part of": "it is now part of alert {}",
    "measured again": "measured again",
    "fails no more": "the newest run no longer fails in this way",
    "small now": "the values measured since then show a change that is too small for an alert",
    "withdrawn": "withdrawn: the values measured since then show no change",
    "counts no more": (
        "withdrawn: with the values measured or the noise learned since then, it no longer counts "
        "as a change"
    ),
    "series gone": f"its benchmarks are no longer in the results (renamed or removed){_UNKNOWN}",
    "subject gone": f"{{}} is no longer in the results{_UNKNOWN}",
    "series ended": _series_ended,
    "no run there": "no run of {} is in the results: whether this is over is unknown",
    "records gone": f"records that it follows from are gone or cannot be read{_UNKNOWN}",
    "unread": "files of its machine cannot be read, so whether it still holds is unknown",
}
