"""Who made a change, in one line, from all that searches found about it."""

from __future__ import annotations

from observatory.store.records.crossings import Crossed
from observatory.store.records.found import Found
from observatory.store.records.searches import Culprit, Searched
from observatory.text import document as doc
from observatory.text.comparison.phrases import enumerated, name
from observatory.text.plain import shorten
from observatory.text.searches import CERTAIN
from observatory.text.words import several

_AXES, _WORD = 5, 60
_ORDER = list(CERTAIN)


def headline(found: Found) -> doc.Words:
    """The culprit of one change for the worse; empty if no search has one.

    A commit or release that was measured again comes first; then a package that makes the change
    alone; then what is less certain. Of several that are equally certain, it is the one with the
    largest share of what its own search found: numbers of two metrics are never compared.
    """
    searches = [one for one in found.searches if one.culprits]
    crossed = next((one for one in reversed(found.crossings) if one.causes), None)
    # Not the releases between whose tags the commit was found.
    wider = {(one.within[0].commit, one.within[1].commit) for one in searches if one.within}
    shares = [
        (each, (each.high - each.low) / sum(_worsening(one))) for one in searches
        for each in one.culprits
        if each.high > each.low and (each.before.commit, each.after.commit) not in wider
    ]  # fmt: skip
    if not shares:
        return () if crossed is None else _axes(crossed)
    main, _ = min(shares, key=lambda one: (_ORDER.index(one[0].certainty), -one[1]))
    if crossed is not None and main.certainty != "confirmed":
        return _axes(crossed)
    rest = len(shares) - 1
    return (*_subject(main), *((f", and {several(rest, 'more change')}",) if rest else ()))


def _worsening(search: Searched) -> list[float]:
    return [one.high - one.low for one in search.culprits if one.high > one.low]


def _subject(culprit: Culprit) -> doc.Words:
    who = culprit.commits[0] if len(culprit.commits) == 1 else None
    what: doc.Words = (
        (name(culprit.after.label),) if who is None
        else (name(who.hash[:12]), " by ", name(shorten(who.author, 60)))
    )  # fmt: skip
    return (*what, f", {CERTAIN[culprit.certainty].partition(':')[0]}")


def _axes(crossed: Crossed) -> doc.Words:
    """What makes the change alone: numba 0.66.0 → 0.68.0; several axes only together."""
    versions = {one.name: one.versions for one in crossed.axes}
    words: list[doc.Piece] = []
    for cause in crossed.causes[:_AXES]:
        told = [
            name(shorten(f"{axis} {_change(versions.get(axis, {}), axis)}".rstrip(), _WORD))
            for axis in cause.axes
        ]
        together = ", only together" if len(told) > 1 else ""
        maybe = " or a part of it" if cause.untried else ""
        words += [" or " if words else "", *enumerated(told, _AXES, "part"), maybe, together]
    return tuple(one for one in words if one)


def _change(versions: dict[str, tuple[str, str]], axis: str) -> str:
    """The versions of the package itself: those of what moves with it are in the search."""
    pair = versions.get(axis) or versions.get(axis.lower())
    return "" if pair is None else f"{pair[0]} → {pair[1]}"
