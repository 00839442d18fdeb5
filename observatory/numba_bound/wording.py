"""What is said of a plan: lines for whoever runs the script, and the text of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from observatory.numba_bound.judges import Finding, Judged, Verdict
from observatory.numba_bound.pins import Project
from observatory.numba_bound.plan import Plan, Planned
from observatory.text.comment import LIMIT
from observatory.text.document import Name, Paragraph, Points, Strong, Table, Words, written
from observatory.text.markdown import markdown
from observatory.text.plain import shorten
from observatory.text.words import listed

NOT_JUDGED = "Nothing was run with this numba before this was proposed."
_MOST, _LONGEST = 40, 300
"""Pins and characters of one that are shown; no real file has as many."""
_FINDINGS = {Finding.GOOD: "good", Finding.OPEN: "open", Finding.BAD: "bad"}


def report(plan: Plan, source: str) -> Iterator[str]:
    """One line for the numba, one or two for each pin, one for what is not rewritten."""
    yield f"numba {plan.end}: {source}"
    for each in plan.pins:
        before, after = _short(each.pin.text), _short(each.spelled.text)
        arrow = f"{before} -> {after}" if each.rewritten and before != after else after
        why = f"{each.spelled.change.value}: {_short(each.spelled.why)}"
        yield f"{_short(each.pin.name)}: {arrow}  ({why})"
        if each.spelled.note:
            yield f"    note: {_short(each.spelled.note)}"
    if plan.project.elsewhere:
        yield f"not rewritten, being no list of requirements: {places(plan.project)}"


def places(project: Project) -> str:
    """Where numba is named in a form that is not rewritten."""
    more = len(project.elsewhere) - _MOST
    named = ", ".join(map(_short, project.elsewhere[:_MOST]))
    return named + (f" and {more} more" if more > 0 else "")


def verdicts(judged: Judged) -> Iterator[str]:
    """One line for each verdict."""
    for verdict in judged.verdicts:
        yield f"{verdict.command}: {_FINDINGS[verdict.finding]}: {verdict.said}"


def pull_request(plan: Plan, source: str, judged: Judged | None) -> str:
    """Title, empty line and body, the way git and `gh` take them; no text in it is obeyed.

    The body is within what GitHub takes: where it would be longer, the comparison stays out.
    """
    bad = [v for v in judged.verdicts if v.finding is Finding.BAD] if judged else []
    title = f"Bump numba upper bound to <={plan.end}" if plan.moved else "Spell numba's bounds anew"
    head = [f"Do not merge: {title[0].lower()}{title[1:]}" if bad else title]
    if bad:
        head.append(markdown(Paragraph((Strong("Do not merge:"), f" {_reasons(bad)}."))))
    head.append(markdown(Paragraph(written(f"numba {plan.end}: {source}."))))
    head.append(markdown(_table(plan.rewritten)))
    body = [*head, *_notes(plan), *_verdicts(judged)]
    if judged is not None and judged.comment:
        folded = (
            f"<details><summary>numba {plan.end} beside numba {judged.old}</summary>\n\n"
            f"{judged.comment}\n\n</details>"
        )
        if sum(map(len, body)) + 2 * len(body) + len(folded) < LIMIT:
            body.append(folded)
        else:
            body.append("The comparison is too long for a pull request and is left out.")
    return "\n\n".join(body) + "\n"


def _table(pins: Sequence[Planned]) -> Table:
    rows = [
        (_name(each.pin.place), _name(each.pin.text), _name(each.spelled.text),
         written(each.spelled.why))
        for each in pins[:_MOST]
    ]  # fmt: skip
    if len(pins) > _MOST:
        rows.append(((f"and {len(pins) - _MOST} more",), (), (), ()))
    return Table(("where", "before", "after", "why"), tuple(rows))


def _notes(plan: Plan) -> Iterator[str]:
    points: list[Words] = [
        (*_name(each.pin.place), ": ", *written(each.spelled.note))
        for each in plan.rewritten
        if each.spelled.note
    ]
    points += [
        (*_name(each.pin.place), " stays ", *_name(each.pin.text), ": ",
         *written(_short(each.spelled.why)))
        for each in plan.left
    ]  # fmt: skip
    if plan.project.elsewhere:
        points.append((f"Not rewritten, being no list of requirements: {places(plan.project)}",))
    if points:
        yield markdown(Points(tuple(points[:_MOST])))


def _verdicts(judged: Judged | None) -> Iterator[str]:
    if judged is None:
        yield NOT_JUDGED
        return
    beside = f", beside numba {judged.old}" if judged.old else ""
    yield markdown(Paragraph(("Before this was proposed, the observatory ran PyTensor ",
                         Name(judged.subject), f" with numba {judged.new}{beside}:")))  # fmt: skip
    points: list[Words] = [
        (Name(each.command), f": {_FINDINGS[each.finding]}: {each.said}")
        for each in judged.verdicts
    ]
    if judged.old is None:
        points.append(("No comparison: the old pin lets this numba in, or no other one.",))
    yield markdown(Points(tuple(points)))


def _reasons(bad: Sequence[Verdict]) -> str:
    return listed([f"{verdict.command} says that {verdict.said}" for verdict in bad])


def _short(text: str) -> str:
    return shorten(text, _LONGEST)


def _name(text: str) -> Words:
    return (Name(_short(text)),)
