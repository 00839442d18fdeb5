"""Verdicts on shared caches, as tables and a sentence: siblings, and upgrades. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from observatory.analyze.comparison.evidence import message_of
from observatory.benchmarks.catalogue import LAUNCHES, MEMBERS, SCENARIOS, SIBLINGS, Cell
from observatory.guard.verdicts import FATES, Finding
from observatory.store.records.upgrades import Part, Upgrade
from observatory.text.tables import Table
from observatory.text.words import first_of, listed, several

WORDS = {
    "wrong": "WRONG NUMBERS in {}",
    "crashed": "CRASHED in {}",
    "shared symbols": "symbols shared in {}",
    "not judged": "{} not judged",
    "right": "right in {}",
}
"""The words for each fate in the sentence, worst first."""
_MOST_NOTES = 20
_MOST_SETTINGS = 4
_MOST_TOLD = 4


def brief(finding: Finding) -> str:
    """A verdict in a few words, for the table: "1 of 4 WRONG"."""
    sample = finding.sample
    if finding.fate == "wrong" and sample is not None:
        wrong = sum(check.wrong for check in sample.checks)
        return f"{wrong} of {len(sample.checks)} WRONG"
    if finding.fate == "shared symbols" and sample is not None:
        return f"right, {sample.metrics['collided_symbols']:g} SHARED"
    return "CRASHED" if finding.fate == "crashed" else finding.fate


def notes(finding: Finding) -> list[str]:
    """Sentences: which sibling returned whose numbers, or what happened instead."""
    sample = finding.sample
    if sample is None or finding.fate == "right":
        return []
    if finding.fate == "wrong":
        collided = {step.name: step.note for step in sample.steps if step.status == "collided"}
        told = collided | {check.name: check.note for check in sample.checks if check.wrong}
        return [f"{name}: {note or 'not the reference'}" for name, note in told.items()]
    if finding.fate == "shared symbols":
        shared = several(sample.metrics["collided_symbols"], "symbol")
        return [f"{shared} with different bodies: right by chance"]
    return [message_of(sample)]


def sibling_table(label: str, findings: Sequence[Finding]) -> Table:
    """Model and scenario by start method; the footnotes say what was not right, worst first."""
    by_cell = {finding.cell: finding for finding in findings}
    # What builds graphs one by one comes last.
    models = list(dict.fromkeys([*MEMBERS, *(cell.model for cell in by_cell)]))
    scenarios = list(dict.fromkeys([*SIBLINGS, *SCENARIOS]))
    launches = [one for one in LAUNCHES if any(cell.launch == one for cell in by_cell)]
    places = sorted(
        {(cell.model, cell.scenario, cell.backend) for cell in by_cell},
        key=lambda place: (models.index(place[0]), scenarios.index(place[1])),
    )
    rows = []
    for model, scenario, backend in places:
        cells = [Cell(model, scenario, backend, launch) for launch in launches]
        texts = (brief(by_cell[cell]) if cell in by_cell else "" for cell in cells)
        rows.append((model, scenario, *texts))
    header = ("model", "scenario", *launches)
    title = f"{label}: processes that share a cache"
    return Table(title, header, tuple(rows), tuple(_sibling_notes(findings)))


def sentence(label: str, findings: Sequence[Finding]) -> str:
    """The verdict on one subject, as a sentence."""
    parts = [
        words.format(several(number, "cell"))
        for fate, words in WORDS.items()
        if (number := sum(finding.fate == fate for finding in findings))
    ]
    return f"{label}: {', '.join(parts) or 'nothing was measured'}."


def _sibling_notes(findings: Sequence[Finding]) -> Iterable[str]:
    """Each note once, with the first cell that it is about and the number of the others."""
    places: dict[tuple[str, str], list[str]] = {}
    for finding in sorted(findings, key=lambda finding: FATES.index(finding.fate)):
        for note in notes(finding):
            place = f"{finding.cell.scenario} {finding.cell.launch}"
            places.setdefault((finding.cell.model, note), []).append(place)
    for (model, note), where in list(places.items())[:_MOST_NOTES]:
        more = f" and {several(len(where) - 1, 'more cell')}" if len(where) > 1 else ""
        yield f"{model}, {note} ({where[0]}{more})"
    if len(places) > _MOST_NOTES:
        yield f"and {len(places) - _MOST_NOTES} more: every sample is in the journal"


def settings_sentence(
    label: str, rows: int, told: Sequence[tuple[str, float, Sequence[str], int]], base: str
) -> str:
    """What is worse with other settings than with the release before.

    ``rows``: how many combinations of settings are worse. ``told``: for each count its name, by how
    much it is too high, the settings that all rows with it share, and how many rows those are; for
    a failure its sentence, and infinity. ``base``: the release before; empty if there is none.
    """
    parts = [
        f"with {first_of(shared, _MOST_SETTINGS) or several(own, 'combination')}, "
        + (f"{by:g} {what} too many" if isfinite(by) else what)
        for what, by, shared, own in told[:_MOST_TOLD]
    ]
    more = f"; and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    worse = f"is worse than {base}" if base else "is not right"
    many = several(rows, "combination")
    return f"{label} {worse} with {many} of settings: {'; '.join(parts)}{more}"


def own_cache_table(label: str, parts: Sequence[Part]) -> Table:
    """A row for each model that was built on a copy of somebody's cache."""
    header = ("model", "backend", "from the cache", "compiled", "stale", "wrong")
    rows = [
        (
            each.model, each.backend, str(each.reused), str(each.rebuilt),
            f"{len(each.stale)} STALE" if each.stale else "0",
            f"{len(each.wrong)} WRONG" if each.wrong else "0",
        )
        for each in parts
    ]  # fmt: skip
    notes = [
        f"{each.model} {each.backend}: {what} {', '.join(names)}"
        for each in parts
        for what, names in (
            ("stale", each.stale),
            ("wrong only with the cache", each.wrong_by_cache),
            ("wrong with any cache", each.fresh_wrong),
            ("cannot build", each.unsupported),
            ("failed", [each.failure] if each.failure else []),
        )
        if names
    ]
    return Table(label, header, tuple(rows), tuple(notes))


def check_sentence(parts: Sequence[Part]) -> str:
    """What the cache did to the values of the graphs that were built on it."""
    built, reused = sum(each.built for each in parts), sum(each.reused for each in parts)
    hurt = sorted({name for each in parts for name in each.changed})
    if not parts:
        return "Nothing was checked: the environment has neither numba nor a C++ compiler."
    took = f"{several(built, 'graph')} took {several(reused, 'function')} from the cache"
    if hurt:
        return f"{took}, which CHANGES the values of {listed(hurt)}."
    if not reused:
        return f"{took}: the cache holds nothing that they need, so it was not checked."
    return f"{took}, which changes no value."


def upgrade_table(upgrades: Sequence[Upgrade], warnings: Sequence[str] = ()) -> Table:
    """A row for each pair and model; below it what was found, and warnings."""
    header = ("from", "to", "model", "backend", "reused", "rebuilt", "rebuilt again", "stale",
              "wrong")  # fmt: skip
    rows = [
        (
            *one.labels, each.model, each.backend,
            str(each.reused), str(each.rebuilt),
            "" if each.again_rebuilt is None else str(each.again_rebuilt),
            f"{len(each.stale)} STALE" if each.stale else "0",
            f"{len(each.wrong)} WRONG" if each.wrong else "0",
        )
        for one in upgrades
        for each in one.parts
    ]  # fmt: skip
    title = "Each on the cache that the one before it left"
    return Table(
        title, header, tuple(rows), tuple(dict.fromkeys((*_footnotes(upgrades), *warnings)))
    )


def _footnotes(upgrades: Iterable[Upgrade]) -> Iterable[str]:
    for one in upgrades:
        base, head = one.labels
        for each in one.parts:
            model = f", {each.model}"
            where = f"{head} on the cache of {base}{model} {each.backend}"
            for place, what, names in (
                (where, "stale", each.stale),
                (where, "wrong", each.wrong),
                (f"{base} from an empty cache{model}", "wrong", each.base_wrong),
                (f"{head} from an empty cache{model}", "wrong", each.fresh_wrong),
                (f"{head}{model} {each.backend}", "cannot build", each.unsupported),
                (f"{base} again after {head}{model}", "stale", each.again_stale),
            ):
                if names:
                    yield f"{place}: {what} {', '.join(names)}"
            if each.failure:
                yield f"{where}: {each.failure}"
