"""Why something is not judged or not compared, and what to keep in mind. Pure.

Constants with braces are templates. Each sentence is plain text without a full stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from observatory.store.records.sample import Sample
from observatory.text.units import count, percent
from observatory.text.words import first_of

OTHER_CPU = "BASE and HEAD were measured on different CPUs: their times cannot be compared"
NO_TIME = "no time was taken on both sides; a larger --budget leaves some for it"
NO_RATIO = "a side has fewer than two positive values: there is nothing to compare"
NOT_MEASURED = "it was not measured"
UNAVAILABLE = "the subject cannot give this cell"
OTHER_WORKLOAD = "other functions are compiled: reuse cannot be compared"
DESCRIBED = "this metric only describes and is not judged"
NO_RATIO_OF_LEVELS = (
    "the size of a step is a ratio, and a value is 0 or below, or the values are too far apart"
)


SAME_IN_BOTH = "{} is {} in both"
"""The metric and its value."""
TOO_FEW = "{} processes a side; at least {} are needed"
TOO_SHORT = (
    "fewer than {} subjects with a value in one environment: a step cannot be told from noise yet"
)
CPUS_DIFFER = "the CPUs differ: {} (BASE), {} (HEAD)"
MEASURED_APART = (
    "BASE and HEAD were measured in different runs: their times also differ by whatever else the "
    "machine did, and only a change of {} counts"
)
NOT_CALIBRATED = (
    "this machine was never calibrated: a change of {} counts; `observatory calibrate` measures "
    "its noise"
)
CALIBRATED_ELSEWHERE = (
    "the calibration is of another CPU ({}) and is not used: a change of {} counts"
)
_WORDS_SHOWN = 40


def not_deterministic(metric: str, values: Iterable[float], side: str) -> str:
    """An exact metric that differs between the samples of one side."""
    said = ", ".join(count(value) for value in values)
    return f"{metric} is not deterministic: {said} in samples of {side}"


def too_wide(low: float, high: float, smallest: float) -> str:
    """A noisy metric whose interval leaves the verdict open. ``low``, ``high``: ratios."""
    return (
        f"HEAD takes {_against_base(low)} to {_against_base(high)} BASE: too wide to tell a change "
        f"of {percent(smallest)} from none"
    )


def samples_failed(failures: Sequence[Sample], samples: int) -> str:
    """A cell of which at least one sample failed, in the words of the last failure."""
    return f"{len(failures)} of {samples} samples failed: {message_of(failures[-1])}"


def message_of(sample: Sample) -> str:
    """How a sample failed; its status where nothing else was recorded."""
    return sample.failure.message if sample.failure else sample.status


def no_such_word(column: str, word: str, present: Sequence[str]) -> str:
    """A filter by a word that no row has. ``present``: the words that the column has."""
    said = f"no result has the {column} {word!r}"
    if not present:
        return f"{said}; there are no results at all"
    return f"{said}; there are {first_of([one or '(empty)' for one in present], _WORDS_SHOWN)}"


def no_such_row(filters: Mapping[str, Sequence[str]]) -> str:
    """Filters by words, by column, that no row matches together."""
    given = " and ".join(f"{key} {' or '.join(words)}" for key, words in filters.items() if words)
    return f"no result has {given} at once; drop one of the filters"


def _against_base(ratio: float) -> str:
    """`1.9 % less than`, `7.1 % more than`."""
    return f"{percent(abs(ratio - 1))} {'less' if ratio < 1 else 'more'} than"
