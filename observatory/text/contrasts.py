"""Two subjects of a project that measures with asv or pytest-benchmark, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from observatory.store.records.contrast import By, Contrast, Contrasts, Line
from observatory.text import document as doc
from observatory.text import units
from observatory.text.plain import shorten
from observatory.text.words import several, shared_prefix

_LONGEST_NAME = 120
_LONGEST_LABEL = 40
_REASONS: dict[By, str] = {
    "levels": "one value is far from its level, with too few subjects around it to confirm a step",
    "one run": "the intervals of the two medians are too wide, or less than 5 % apart",
    "nothing": "fewer than ten subjects were measured, and fewer than five rounds on a side",
    "no ratio": "a value is 0 or below, or values lie too far apart, so they have no ratio",
}
"""Why a series is not judged, by what could have judged it."""
_ONE_RUN = (
    "The intervals of both medians do not overlap. One run on each side cannot show how much the "
    "next one differs: another run may differ as much, so this raises no alarm. Measure both again "
    "before you believe it."
)


def told(found: Contrasts, most: int | None = None) -> doc.Story:
    """The comparison for a terminal or a comment. ``most``: rows of each table; None: all."""
    own = found.every
    worse, better = (_of(own, word, "levels") for word in ("worse", "better"))
    once = [one for word in ("worse", "better") for one in _of(own, word, "one run")]
    parts = [part for line in found.lines for part in _parts(line, most, len(found.lines) > 1)]
    base, head = (
        doc.Name(shorten(one.label, _LONGEST_LABEL))
        for one in (found.lines[0].base, found.lines[0].head)
    )
    claim = f": {_claim(worse, better, once)}{_remaining(own)}"
    state, status = _status(worse, better, own)
    return doc.Story(state, status, (head, " against ", base, claim), tuple(parts))


def _of(series: Sequence[Contrast], conclusion: str, by: str) -> list[Contrast]:
    return [one for one in series if one.conclusion == conclusion and one.by == by]


def _status(
    worse: Sequence[Contrast], better: Sequence[Contrast], own: Sequence[Contrast]
) -> tuple[doc.State, doc.Status]:
    if worse:
        return "worse", doc.Status("✗", "Worse")
    if any(one.by != "levels" or one.conclusion == "undecided" for one in own):
        return "undecided", doc.Status("?", "Partly judged")
    if better:
        return "better", doc.Status("✓", "Better")
    return "unaffected", doc.Status("✓", "Unaffected")


def _claim(worse: Sequence[Contrast], better: Sequence[Contrast], once: Sequence[Contrast]) -> str:
    said = [
        f"{several(len(series), 'benchmark')} {word}"
        for series, word in ((worse, "worse"), (better, "better")) if series
    ]  # fmt: skip
    if once:
        said.append(f"{several(len(once), 'benchmark')} apart within one run only")
    return ", ".join(said) or "nothing differs that can be judged"


def _remaining(own: Sequence[Contrast]) -> str:
    both = [one for one in own if one.base and one.head]
    numbers = (
        (len(_of(both, "unaffected", "levels")), "unaffected"),
        (len(_of(both, "unaffected", "one run")), "the same within one run only"),
        (sum(one.conclusion == "undecided" for one in both), "not judged"),
        (len(own) - len(both), "measured on one side only"),
    )
    return "".join(f"; {units.count(number)} {words}" for number, words in numbers if number)


def _parts(line: Line, most: int | None, titled: bool) -> Iterator[doc.Part]:
    blocks: list[doc.Block] = []
    for title, conclusions, by in (
        ("Worse", ("worse",), "levels"), ("Better", ("better",), "levels"),
        ("Apart within one run only", ("worse", "better"), "one run"),
    ):  # fmt: skip
        rows = [one for one in line.series if one.conclusion in conclusions and one.by == by]
        if rows:
            blocks += [doc.Heading((title,)), *_explained(by), _table(line, rows[:most])]
            if most is not None and len(rows) > most:
                blocks.append(doc.Paragraph((f"and {units.count(len(rows) - most)} more",)))
    if reasons := list(_reasons(line)):
        blocks.append(doc.Points(tuple((reason,) for reason in reasons)))
    if titled and blocks:
        machine, environment, system = (
            doc.Name(shorten(word, 200)) for word in (line.machine, line.environment, line.system)
        )
        blocks.insert(0, doc.Heading(("On ", machine, ", ", environment, ": ", system)))
    if blocks:
        yield doc.Part(1, "a machine", tuple(blocks))


def _explained(by: str) -> list[doc.Block]:
    return [doc.Paragraph((_ONE_RUN,))] if by == "one run" else []


def _table(line: Line, rows: Sequence[Contrast]) -> doc.Table:
    sides = (line.base.label, line.head.label)
    prefix = shared_prefix(one.benchmark for one in line.series)
    header = (
        f"benchmark ({shorten(prefix, _LONGEST_LABEL)}*)" if prefix else "benchmark",
        " → ".join(shorten(one, _LONGEST_LABEL) for one in sides), "change",
    )  # fmt: skip
    return doc.Table(header, tuple(tuple(_row(one, prefix)) for one in rows))


def _row(one: Contrast, prefix: str) -> Iterator[doc.Words]:
    yield (doc.Name(shorten(one.benchmark.removeprefix(prefix), _LONGEST_NAME)),)
    yield (units.change(one.before, one.after, one.unit),)
    yield (change_of(one),)


def change_of(one: Contrast) -> str:
    """The direction and size, with the interval of the ratio where it rests on one run."""
    if one.before is None or one.after is None:
        return units.MISSING
    said = units.effect(one.before, one.after, one.unit)
    ends = [one.base and one.base.low, one.base and one.base.high,
            one.head and one.head.low, one.head and one.head.high]  # fmt: skip
    if one.by != "one run" or any(not end or end <= 0 for end in ends):
        return said
    low, high, new_low, new_high = (float(end or 0) for end in ends)
    between = units.span(new_low / high, new_high / low)
    return said if said.endswith(between) else f"{said} ({between})"


def _reasons(line: Line) -> Iterator[str]:
    """Why series have no verdict, with their number."""
    both = [one for one in line.series if one.base and one.head and one.conclusion == "undecided"]
    for by, reason in _REASONS.items():
        if number := sum(one.by == by for one in both):
            yield f"{units.count(number)} not judged: {reason}."
