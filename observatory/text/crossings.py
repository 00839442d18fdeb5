"""Which axes made a change, in words: for a terminal, an issue and a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from observatory.benchmarks.catalogue import COMPARED
from observatory.store.records.crossings import (
    Along,
    Combined,
    Crossed,
    CrossedAxis,
    CrossedCause,
    CrossedStep,
    UnderCondition,
)
from observatory.text import document as doc
from observatory.text import units
from observatory.text.comparison.phrases import enumerated, name, only_graphs
from observatory.text.plain import shorten
from observatory.text.words import several

_AXES, _PACKAGES, _ROWS, _CAUSES = 10, 8, 30, 5
_WORD, _WHY = 60, 300


def told(crossed: Crossed) -> Iterator[doc.Flat]:
    """What made the change, how that is known, and what it took."""
    yield doc.Paragraph(_change(crossed))
    if crossed.causes:
        for cause in crossed.causes[:_CAUSES]:
            yield doc.Paragraph(_blamed(crossed, cause))
        if (rest := len(crossed.causes) - _CAUSES) > 0:
            yield doc.Paragraph((f"and {several(rest, 'more cause')}",))
    else:
        yield doc.Paragraph((nothing(crossed),))
    if crossed.combinations:
        yield doc.Table(("new", "value"), tuple(_rows(crossed)))
    if failed := [one for one in crossed.combinations if one.value is None]:
        yield doc.Paragraph(_failed(crossed, failed))
    for along in crossed.along[:_CAUSES]:
        yield doc.Paragraph(_along(along, crossed.metric))
    yield doc.Paragraph((_taken(crossed),))
    if crossed.conditions:
        yield doc.Paragraph(_tied(crossed))
        rows = tuple(_conditions(crossed))[:_ROWS]
        yield doc.Table(("with", "before", "after", "the change"), rows)


def nothing(crossed: Crossed) -> str:
    """Why no axis is blamed."""
    if not crossed.finished:
        return "The time ended before the cause was known; the next search continues."
    if not crossed.axes:
        return (
            "Both have the same packages and the same Python: something else made the change, or "
            "chance did."
        )
    return "The value is the same at both ends, so nothing was searched."


def _change(crossed: Crossed) -> doc.Words:
    values: doc.Words = ()
    if crossed.low is not None and crossed.high is not None:
        low, high = (_value(one, crossed.metric) for one in (crossed.low, crossed.high))
        values = (f": {low} → {high}",)
    return (
        name(crossed.metric), " of ", name(str(crossed.cell)), *only_graphs(crossed.graphs), ", ",
        name(crossed.good.label),
        " to ", name(crossed.bad.label), *values, ".",
    )  # fmt: skip


def _blamed(crossed: Crossed, cause: CrossedCause) -> doc.Words:
    of = {one.name: one for one in crossed.axes}
    blamed = [of[axis] for axis in cause.axes]
    versions = [
        name(shorten(f"{package} {old} → {new}", _WORD))
        for axis in blamed
        for package, (old, new) in axis.versions.items()
    ]
    return (
        *_axes(cause.axes), *_how(crossed, cause, blamed), " (",
        *enumerated(versions, _PACKAGES, "package"), ").", *_parts(crossed, blamed),
    )  # fmt: skip


def _how(crossed: Crossed, cause: CrossedCause, blamed: Sequence[CrossedAxis]) -> doc.Words:
    """What a cause does, alone, together or beside others."""
    if len(crossed.axes) == 1:
        return (" did it: nothing else differs",)
    if cause.untried:
        parts = [name(doc.spoken(_axes(one))) for one in cause.untried]
        told = enumerated(parts, _AXES, "part")
        return (" did it, in whole or in part; it could not be measured with only ", *told, " new")
    known = {frozenset(one.new): one.value for one in crossed.combinations}
    every = {one.name for one in crossed.axes}
    new, old = known.get(frozenset(cause.axes)), known.get(frozenset(every - {*cause.axes}))
    whole = _reaches(new, crossed.high, crossed.low, crossed)
    if len(crossed.causes) > 1:
        makes = "make" if len(blamed) > 1 else "makes"
        return (f" {makes} {'' if whole else 'most of '}the change without the others",)
    did = (
        " did it"
        if whole and _reaches(old, crossed.low, crossed.high, crossed)
        else " made most of it"
    )
    if len(blamed) > 1:
        return (f"{did}, only together",)
    alone = f"{did}: if only it is new, the value is {_shown(new, crossed)}"
    if old is None:
        return (alone, *_most_without(crossed, cause))
    return (f"{alone}; if only it is old, {_shown(old, crossed)}",)


def _alike(value: float | None, other: float | None, crossed: Crossed) -> bool:
    """Whether two values are equal, as far as is known: one that is not measured may be."""
    if value is None or other is None or crossed.metric not in COMPARED:
        return None in (value, other) or value == other
    return COMPARED[crossed.metric].same(value, other)


def _reaches(value: float | None, end: float | None, start: float | None, crossed: Crossed) -> bool:
    """Whether a value is that of one end of the change or beyond it, as far as is known."""
    if value is None or end is None or start is None or _alike(value, end, crossed):
        return True
    return (value > end) == (end > start)


def _most_without(crossed: Crossed, cause: CrossedCause) -> doc.Words:
    """What the most that is measurable without a cause gives, where not all the rest is."""
    without = [
        one for one in crossed.combinations
        if one.value is not None and not {*cause.axes} & {*one.new}
    ]  # fmt: skip
    if not without:
        return ("; whether the change also happens without it could not be measured",)
    most = max(without, key=lambda one: len(one.new))
    value = f" new, it is {_shown(most.value, crossed)}"
    more = "; no combination with more new packages could be measured without it"
    return ("; if it is old and only ", *_axes(most.new), value, more)


def _parts(crossed: Crossed, blamed: Sequence[CrossedAxis]) -> doc.Words:
    """What is left of the change without each part of a cause, where that was measured."""
    if len(blamed) < 2:
        return ()
    every = {one.name for one in crossed.axes}
    known = {frozenset(one.new): one.value for one in crossed.combinations}
    words: list[doc.Piece] = []
    for axis in blamed:
        value = known.get(frozenset(every - {axis.name}))
        if value is not None:
            told = _shown(value, crossed)
            words += ["; without " if words else " Without ", name(axis.name), f": {told}"]
    return (*words, ".") if words else ()


def _rows(crossed: Crossed) -> Iterator[tuple[doc.Words, ...]]:
    every = [one.name for one in crossed.axes]
    ends = [Combined(new=[], value=crossed.low), Combined(new=every, value=crossed.high)]
    for one in (ends[0], *crossed.combinations[:_ROWS], ends[1]):
        yield _new(crossed, one.new), (_shown(one.value, crossed),)
    if (rest := len(crossed.combinations) - _ROWS) > 0:
        yield (f"and {several(rest, 'more combination')}",), ("",)


def _failed(crossed: Crossed, failed: Sequence[Combined]) -> doc.Words:
    """How many combinations have no value, and why the first of them has none."""
    first = failed[0]
    many = several(len(failed), "combination")
    verb = "has" if len(failed) == 1 else "have"
    return (
        f"{many} {verb} no value; with new ",
        *_new(crossed, first.new),
        ": ",
        _short(first.why),
    )


def _shown(value: float | None, crossed: Crossed) -> str:
    return "-" if value is None else _value(value, crossed.metric)


def _new(crossed: Crossed, axes: Sequence[str]) -> doc.Words:
    """A combination in few words."""
    old = [one.name for one in crossed.axes if one.name not in axes]
    if not axes:
        return ("nothing",)
    if not old:
        return ("everything",)
    return ("all but ", *_axes(old)) if len(old) < len(axes) else _axes(axes)


def _along(along: Along, metric: str) -> doc.Words:
    known = sum(one.value is not None for one in along.values)
    words: list[doc.Piece] = ["Along the releases of ", name(along.package), ": "]
    for place, step in enumerate(along.steps):
        words += ["; " if place else "", *_step(step, metric)]
    counted = f"{known} of {several(along.releases, 'release')} with a value"
    return (*words, f" ({counted}, {several(along.samples, 'sample')}).")


def _step(step: CrossedStep, metric: str) -> doc.Words:
    values = f": {_value(step.low, metric)} → {_value(step.high, metric)}"
    skipped: doc.Words = ()
    if step.skipped:
        labels = [name(shorten(one, _WORD)) for one in step.skipped]
        skipped = (", or in between, not measurable: ", *enumerated(labels, _AXES, "release"))
    return (name(step.before), " → ", name(step.after), values, *skipped)


def _tied(crossed: Crossed) -> doc.Words:
    """With which settings the change is gone."""
    gone = [name(one.name) for one in crossed.conditions if _is_gone(one, crossed)]
    if not gone:
        return ("No setting makes the change go away.",)
    return ("The change is gone with ", *enumerated(gone, _AXES, "setting"), ".")


def _conditions(crossed: Crossed) -> Iterator[tuple[doc.Words, ...]]:
    """Both values under each condition, and whether the change is there, too."""
    for one in crossed.conditions:
        values = tuple((_shown(value, crossed),) for value in (one.low, one.high))
        yield (name(one.name),), *values, (_beside(one, crossed),)


def _beside(one: UnderCondition, crossed: Crossed) -> str:
    if one.high is None:
        return "no value with it"
    if one.low is None:
        return "as usual" if _alike(one.high, crossed.high, crossed) else "no value before"
    return "is gone" if _is_gone(one, crossed) else "has another size"


def _is_gone(one: UnderCondition, crossed: Crossed) -> bool:
    return None not in (one.low, one.high) and _alike(one.low, one.high, crossed)


def _taken(crossed: Crossed) -> str:
    measured = sum(one.measured for one in crossed.combinations)
    return (
        f"{several(measured, 'combination')} of {units.count(2 ** len(crossed.axes))} measured: "
        f"{several(crossed.samples, 'sample')}, where the full product takes "
        f"{units.count(crossed.full_product)}, in {units.seconds(crossed.seconds)}."
    )


def _axes(axes: Sequence[str]) -> doc.Words:
    return enumerated([name(shorten(one, _WORD)) for one in axes], _AXES, "part")


def _value(value: float, metric: str) -> str:
    return units.human(value, COMPARED[metric].unit if metric in COMPARED else "")


def _short(text: str) -> str:
    return shorten(text, _WHY)
