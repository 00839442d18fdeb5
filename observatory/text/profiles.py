"""What a difference of two profiles says, as a sentence: which part of a build does more."""

from __future__ import annotations

from observatory.store.records.profile import PartChange, ProfileDifference
from observatory.text.document import Name, Words
from observatory.text.units import percent

_ENOUGH = 0.25
"""A rewriter with a smaller share of the additional calls is not the culprit: a function may be."""


def culprit(difference: ProfileDifference) -> PartChange | None:
    """Return the part that a worsening is explained by; None where no part does more.

    That is the rewriter that grew most, if rewriters explain the growth at all; else the function
    with which most of the additional calls begin.
    """
    grown = difference.head - difference.base
    first = difference.rewriters[0] if difference.rewriters else None
    if first is not None and first.calls > 0 and first.calls >= _ENOUGH * grown:
        return first
    functions = [change for change in difference.functions if change.calls > 0]
    return functions[0] if functions else None


def sentence(difference: ProfileDifference) -> Words | None:
    """Return a sentence on the culprit; None where no part does more.

    "`local_subtensor_merge` was entered 1,210 times, now 4,840; 71 % of the additional calls."
    """
    part = culprit(difference)
    if part is None:
        return None
    share = f"{percent(part.share)} of the additional calls"
    name = Name(_short(part.name))
    if part.new or not part.base:
        return (name, f" is new and makes {part.calls:,} calls; {share}.")
    if part.head == part.base:
        return (
            name,
            f" is entered as often as before and makes {part.calls:,} more calls; {share}.",
        )
    before = "once" if part.base == 1 else f"{part.base:,} times"
    counts = f" was entered {before}, now {part.head:,}; {share}."
    if part.replaces is None:
        return (name, counts)
    return (name, " (before: ", Name(_short(part.replaces)), ")", counts)


def _short(name: str) -> str:
    """Return the name of a function without its module."""
    return name.partition(":")[2] or name
