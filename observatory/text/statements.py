"""The sentence for each statement of the analysis: plain text on one line, without a full stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from observatory.analyze.history.series import Era
from observatory.analyze.statements import Kind, Statement
from observatory.text.changes import cause_began, count_fell, level_changed
from observatory.text.profiles import culprit_sentence
from observatory.text.units import count, percent
from observatory.text.words import first_of

_NAMED = 3


def sentence_of(statement: Statement) -> str:
    """The words of a statement."""
    words = _SENTENCES[statement.kind]
    make = words.format if isinstance(words, str) else words
    return make(*statement.values)


def _not_deterministic(metric: str, values: Iterable[float], side: str) -> str:
    numbers = ", ".join(map(count, values))
    return f"{metric} is not deterministic: {numbers} in samples of {side}"


def _same_in_both(metric: str, value: float) -> str:
    return f"{metric} is {count(value)} in both"


def _interval_too_wide(low: float, high: float, smallest: float) -> str:
    ends = (f"{percent(abs(end - 1))} {'less' if end < 1 else 'more'} than" for end in (low, high))
    return (
        f"HEAD takes {' to '.join(ends)} BASE: too wide to tell a change of {percent(smallest)} "
        "from none"
    )


def _measured_apart(smallest: float) -> str:
    return (
        "BASE and HEAD were measured in different runs: their times also differ by whatever else "
        f"the machine did, and only a change of {percent(smallest)} counts"
    )


def _not_calibrated(smallest: float) -> str:
    return (
        f"this machine was never calibrated: a change of {percent(smallest)} counts; `observatory "
        "calibrate` measures its noise"
    )


def _calibrated_elsewhere(cpu: str, smallest: float) -> str:
    return (
        f"the calibration is of another CPU ({cpu}) and is not used: a change of "
        f"{percent(smallest)} counts"
    )


def _run_failed(label: str, how: str, cells: Sequence[str]) -> str:
    return f"{label}: {how} ({first_of(cells, _NAMED, 'more cells')})"


def _run_late(where: str, newest: datetime) -> str:
    return f"nothing was measured on {where} since {newest:%Y-%m-%d %H:%M} UTC"


def _environment_changed(where: str, before: Era, after: Era, ends: str, begins: str) -> str:
    return f"{where}: {before} until {ends}, {after} from {begins} on; each has series of its own"


def _series_ended(ended: int, followed: int, label: str) -> str:
    which = f"{ended} of its {followed} series have" if followed > 1 else "it has"
    return f"{which} no value since {label}: not measured, failed, renamed or removed"


_UNKNOWN = ": whether it still holds is unknown; acknowledge it if this is intended"
_SENTENCES: dict[Kind, str | Callable[..., str]] = {
    "not deterministic": _not_deterministic,
    "same in both": _same_in_both,
    "no time": "no time was taken on both sides; a larger --budget leaves some for it",
    "no ratio": "a side has fewer than two positive values: there is nothing to compare",
    "counted apart": (
        "BASE was counted by {} and HEAD by {}: counts of two sources cannot be compared"
    ),
    "too few processes": "{} processes a side; at least {} are needed",
    "interval too wide": _interval_too_wide,
    "other CPU": "BASE and HEAD were measured on different CPUs: their times cannot be compared",
    "other workload": "other functions are compiled: reuse cannot be compared",
    "not measured": "it was not measured",
    "unavailable": "the subject cannot give this cell",
    "recorded message": "{}",
    "samples failed": "{} of {} samples failed: {}",
    "described": "this metric only describes and is not judged",
    "too few subjects": (
        "fewer than {} subjects with a value in one environment: a step cannot be told from noise "
        "yet"
    ),
    "no ratio of levels": (
        "the size of a step is a ratio, and a value is 0 or below, or the values are too far apart"
    ),
    "work began": culprit_sentence,
    "CPUs differ": "the CPUs differ: {} (BASE), {} (HEAD)",
    "measured apart": _measured_apart,
    "not calibrated": _not_calibrated,
    "calibrated elsewhere": _calibrated_elsewhere,
    "cause began": cause_began,
    "count fell": count_fell,
    "level changed": level_changed,
    "run failed": _run_failed,
    "run late": _run_late,
    "environment changed": _environment_changed,
    "environments alternate": "{}: {} and {} in turn; each has series of its own",
    "over since": "it is over since {}",
    "part of": "it is part of alert {} now",
    "measured again": "measured again",
    "fails no more": "the newest run no longer fails in this way",
    "withdrawn": ("withdrawn: with the values measured since, no change is seen there any more"),
    "series gone": f"its benchmarks are no longer in the results (renamed or removed){_UNKNOWN}",
    "subject gone": f"{{}} is no longer in the results{_UNKNOWN}",
    "series ended": _series_ended,
}
