"""A plan in words: lines for the terminal, and the text of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from observatory.numba_bound.judges import Finding, Judged
from observatory.numba_bound.pins import Pin, Project
from observatory.numba_bound.plan import Change, Plan, Spelled
from observatory.text.comment import LIMIT
from observatory.text.document import Name, Paragraph, Points, Strong, Table, Words, written
from observatory.text.markdown import markdown
from observatory.text.plain import shorten
from observatory.text.words import first_of, listed

NOT_JUDGED = "Nothing was run with this numba before this proposal."
_MOST, _LONGEST = 40, 300
"""Pins, and characters of one, that are shown; no real file has as many."""


def report(plan: Plan, source: str) -> Iterator[str]:
    """One line for the numba, one or two for each pin, one for what is not rewritten."""
    yield f"numba {plan.end}: {source}"
    for pin, new in plan.pins.items():
        before, after = _short(pin.text), _short(new.text)
        arrow = f"{before} -> {after}" if pin in plan.rewritten and before != after else after
        yield f"{_short(pin.name)}: {arrow}  ({new.change.value}: {_short(new.why)})"
        if new.note:
            yield f"    note: {_short(new.note)}"
    if plan.project.elsewhere:
        yield not_rewritten(plan.project)


def not_rewritten(project: Project) -> str:
    """The places that name numba in a form that is not rewritten."""
    places = first_of([_short(place) for place in project.elsewhere], _MOST)
    return f"not rewritten, because not a list of requirements: {places}"


def pull_request(plan: Plan, source: str, judged: Judged | None) -> str:
    """Title, empty line and body, as git and `gh` take them; all text in it is inert.

    The body has at most the length that GitHub accepts: a comparison that is too long is left out.
    """
    bad = [v for v in judged.verdicts if v.finding is Finding.BAD] if judged else []
    moved = plan.having(Change.MOVED)
    title = f"Bump numba upper bound to <={plan.end}" if moved else "Respell numba's bounds"
    body = [f"Do not merge: {title[0].lower()}{title[1:]}" if bad else title]
    if bad:
        reasons = listed([f"{verdict.command} reports that {verdict.sentence}" for verdict in bad])
        body.append(markdown(Paragraph((Strong("Do not merge:"), f" {reasons}."))))
    body.append(markdown(Paragraph(written(f"numba {plan.end}: {source}."))))
    body += [markdown(_table(plan.rewritten)), *_notes(plan), *_verdicts(judged)]
    if judged is not None and judged.comment:
        folded = (
            f"<details><summary>numba {plan.end} compared with numba {judged.old}</summary>\n\n"
            f"{judged.comment}\n\n</details>"
        )
        fits = sum(map(len, body)) + 2 * len(body) + len(folded) < LIMIT
        body.append(folded if fits else "The comparison is too long for a pull request.")
    return "\n\n".join(body) + "\n"


def _table(pins: Mapping[Pin, Spelled]) -> Table:
    rows = [
        (_name(pin.place), _name(pin.text), _name(after.text), written(after.why))
        for pin, after in list(pins.items())[:_MOST]
    ]
    if len(pins) > _MOST:
        rows.append(((f"and {len(pins) - _MOST} more",), (), (), ()))
    return Table(("place", "before", "after", "reason"), tuple(rows))


def _notes(plan: Plan) -> Iterator[str]:
    points: list[Words] = [
        (*_name(pin.place), ": ", *written(after.note))
        for pin, after in plan.rewritten.items()
        if after.note
    ]
    points += [
        (*_name(pin.place), " stays ", *_name(pin.text), ": ", *written(_short(after.why)))
        for pin, after in plan.having(Change.LEFT).items()
    ]
    if plan.project.elsewhere:
        points.append((not_rewritten(plan.project).capitalize(),))
    if points:
        yield markdown(Points(tuple(points[:_MOST])))


def _verdicts(judged: Judged | None) -> Iterator[str]:
    if judged is None:
        yield NOT_JUDGED
        return
    old = f" and, for comparison, numba {judged.old}" if judged.old else ""
    yield markdown(Paragraph(("Before this proposal, the observatory ran PyTensor ",
                         Name(judged.subject), f" with numba {judged.new}{old}:")))  # fmt: skip
    points: list[Words] = [
        (Name(each.command), f": {each.finding.name.lower()}: {each.sentence}")
        for each in judged.verdicts
    ]
    if judged.old is None:
        points.append(("There is no comparison: the old pin allows this numba, or no other one.",))
    yield markdown(Points(tuple(points)))


def _short(text: str) -> str:
    return shorten(text, _LONGEST)


def _name(text: str) -> Words:
    return (Name(_short(text)),)
