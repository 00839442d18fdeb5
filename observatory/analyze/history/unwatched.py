"""Series with nothing to compare their only value with. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from observatory.analyze.comparison.rules import rule_at
from observatory.analyze.history.series import Series


def names_of(new: Sequence[Series], every: Iterable[Series]) -> tuple[str, ...]:
    """Benchmarks of which all judged series are in ``new``; of others, the metrics as well."""
    alone = {id(one) for one in new}
    known = {(one.line.name, one.benchmark) for one in every
             if id(one) not in alone and rule_at(one.place).judged}  # fmt: skip
    return tuple(
        dict.fromkeys(
            f"{one.place.metric} of {one.benchmark}"
            if (one.line.name, one.benchmark) in known
            else one.benchmark
            for one in new
        )
    )


def without_history(series: Sequence[Series]) -> list[Series]:
    """The judged series whose only value is that of the newest subject."""
    found = [
        one
        for one in series
        if len(one) == 1 and one.at[-1] == len(one.line.subjects) - 1 and rule_at(one.place).judged
    ]
    # One value here is no only value where another line has the same series.
    values = Counter[tuple[str, ...]]()
    for one in series if found else ():
        values[one.key] += len(one)
    return [one for one in found if values[one.key] == 1]
