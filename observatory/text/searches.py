"""What a search found, in words: for a terminal, an issue and a page."""

from __future__ import annotations

from collections.abc import Iterator

from observatory.benchmarks.catalogue import COMPARED
from observatory.store.records.searches import BlamedCommit, Certainty, Culprit, Searched
from observatory.text import document as doc
from observatory.text import units
from observatory.text.comparison.phrases import enumerated, name, only_graphs, sentence
from observatory.text.plain import shorten
from observatory.text.words import first_of, several

_FILES = 5
_SKIPPED = 10
_DEPENDENCIES = 8
_CAUSES = 5
_CULPRITS = 5
_TITLE = 120
_WORD = 60
MOST = 10
"""Commits of a culprit that are listed; more say nothing."""
CERTAIN: dict[Certainty, str] = {
    "confirmed": "confirmed",
    "not measured again": "found, but not measured a second time",
    "half measured again": "not confirmed: a side could not be measured again",
    "dependencies": "not reproduced with equal dependencies: a dependency made the change",
    "not reproduced": "not reproduced",
}
"""What is known of a change, after a comma; the most certain first."""


def told(search: Searched) -> Iterator[doc.Paragraph | doc.Points]:
    """What was searched, and every culprit."""
    yield doc.Paragraph(range_of(search))
    if not search.culprits:
        yield doc.Paragraph((nothing(search),))
    for culprit in search.culprits[:_CULPRITS]:
        yield doc.Paragraph(change(culprit, search.metric))
        if points := tuple(_evidence(culprit)):
            yield doc.Points(points)
    if (rest := len(search.culprits) - _CULPRITS) > 0:
        yield doc.Paragraph((f"and {several(rest, 'more change')}",))


def nothing(search: Searched) -> str:
    """Why a search without a culprit has none."""
    if not search.finished:
        return "The time ended before a culprit was found; the next search continues."
    known = COMPARED.get(search.metric)
    values = [one.value for one in search.probes if one.value is not None]
    if known is not None and values and not known.same(values[0], values[-1]):
        low, high = (value(one, search.metric) for one in (values[0], values[-1]))
        return (
            f"The value changes from {low} to {high} little by little: no change between two "
            "neighbours is large enough to count."
        )
    return "The value is the same at both ends, so nothing between them was searched."


def change(culprit: Culprit, metric: str) -> doc.Words:
    """Between which subjects the value changes, how, and how certain that is."""
    values = f"{value(culprit.low, metric)} → {value(culprit.high, metric)}"
    return (
        name(culprit.before.label), " → ", name(culprit.after.label), f": {values}, ",
        CERTAIN[culprit.certainty],
    )  # fmt: skip


def value(found: float, metric: str) -> str:
    """A value of a search in words; of a time it is a ratio to the first subject."""
    known = COMPARED.get(metric)
    if known is not None and known.kind == "noisy":
        return f"{found:.2f} times"
    return units.human(found, known.unit if known else "")


def range_of(search: Searched) -> doc.Words:
    """What was searched, how much of it was measured, and how long that took."""
    known = sum(one.value is not None for one in search.probes)
    parts = [
        several(search.subjects, "subject"), f"{known} with a value",
        f"{several(search.measured, 'subject')} measured in {units.seconds(search.seconds)}",
    ]  # fmt: skip
    work = (" (the work of ", name(search.instead_of), ")") if search.instead_of else ()
    return (
        name(search.metric), *work, " of ", name(str(search.cell)), *only_graphs(search.graphs),
        ", ", name(search.good.label), " to ", name(search.bad.label), f": {', '.join(parts)}.",
    )  # fmt: skip


def _evidence(culprit: Culprit) -> Iterator[doc.Words]:
    if len(culprit.commits) <= MOST:
        for commit in culprit.commits:
            yield _commit(commit)
    yield from beside(culprit)


def beside(culprit: Culprit) -> Iterator[doc.Words]:
    """What is known besides the commits: what was skipped, what else changed, and the causes.

    Of commits that are too many to list, their number.
    """
    if (number := len(culprit.commits)) > MOST:
        yield (f"made by one of the {several(number, 'commit')} in between, too many to list",)
    if culprit.skipped:
        labels = [name(shorten(one, _WORD)) for one in culprit.skipped]
        told = enumerated(labels, _SKIPPED, "subject")
        yield ("could not be measured, and may have made the change: ", *told)
    if culprit.dependencies:
        pairs = culprit.dependencies.items()
        changed = [name(shorten(f"{one} {old} → {new}", _WORD)) for one, (old, new) in pairs]
        yield ("changed at the same time: ", *enumerated(changed, _DEPENDENCIES, "package"))
        if culprit.certainty not in ("confirmed", "not measured again"):
            yield (name("observatory cross"), " finds out which of them caused it")
    for cause in culprit.causes[:_CAUSES]:
        yield sentence(cause.sentence)


def _commit(commit: BlamedCommit) -> doc.Words:
    pull = (" (pull request ", name(str(commit.pull_request)), ")") if commit.pull_request else ()
    files = first_of([shorten(one, _WORD) for one in commit.files], _FILES)
    return (
        name(commit.hash[:12]), " ", name(shorten(commit.author, 60)), f" {commit.date:%Y-%m-%d}: ",
        name(shorten(commit.title, _TITLE)), *pull, *((": ", name(files)) if files else ()),
    )  # fmt: skip
