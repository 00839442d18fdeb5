"""Wrong answers across processes and upgrades: the page `guard.html`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from observatory.benchmarks.catalogue import (
    CORRECTNESS,
    LAUNCHES,
    SAMPLING,
    SCENARIOS,
    SIBLINGS,
    SYMBOLS,
)
from observatory.dashboard.pages.cell_values import CellValue, Flag, cell_values_of
from observatory.dashboard.site_input import SiteInput
from observatory.store.records.settings import Settings
from observatory.store.records.upgrades import Part, Upgrade
from observatory.text import units
from observatory.text.plain import clean, shorten
from observatory.text.words import listed, several

PATH = "guard.html"
_METRICS = frozenset((*CORRECTNESS, *SYMBOLS))
_GUARDING = (*SIBLINGS, *SAMPLING)
_MOST = 200
_LONGEST = 400


def guard_page(observed: SiteInput) -> dict[str, Any] | None:
    """The values of `guard.html.j2`; None if nothing of it was measured."""
    found = [one for one in cell_values_of(observed, _METRICS) if one.cell.scenario in _GUARDING]
    if not (found or observed.upgrades or observed.settings):
        return None
    present = {(one.cell.scenario, one.cell.launch) for one in found}
    columns = [
        (scenario, launch, SCENARIOS[scenario].meaning)
        for scenario in _GUARDING
        for launch in LAUNCHES
        if (scenario, launch) in present
    ]
    by_subject: dict[str, list[CellValue]] = {}
    for one in reversed(found):  # the newest first
        by_subject.setdefault(one.subject, []).append(one)
    newest = next(iter(by_subject.values()), [])
    crossed = sorted(observed.settings, key=lambda one: one.subject.date, reverse=True)
    upgrades = sorted(observed.upgrades, key=lambda one: one.head.subject.date, reverse=True)
    return {
        "verdict": _verdict(newest),
        "where": _where(newest),
        "columns": columns,
        "again": shlex.join(["observatory", "canary", *(clean(one.subject) for one in newest[:1])]),
        "rows": [_row(own, columns) for own in list(by_subject.values())[:_MOST]],
        "settings": list(map(_crossed, crossed[:_MOST])),
        "upgrades": [_upgrade(one, part) for one in upgrades for part in one.parts][:_MOST],
        # Once each: a subject is head of one pair and base of the next.
        "findings": list(dict.fromkeys(t for one in upgrades for t in _findings(one)))[:_MOST],
    }


def _row(
    own: Sequence[CellValue], columns: Sequence[tuple[str, str, str]]
) -> tuple[str, str, Flag, list[Flag]]:
    """One subject: its label, its numba, its symbols, and what happened in each column."""
    first = own[0]
    numba = f"numba {clean(first.numba)}" if first.numba else ""
    fates = [
        _fate([o for o in own if (o.cell.scenario, o.cell.launch) == (scenario, launch)])
        for scenario, launch, _ in columns
    ]
    return shorten(first.subject, 60), numba, _symbols(own), fates


def _fate(own: Sequence[CellValue]) -> Flag:
    """The worst outcome of any model in one arrangement of processes."""
    wrong, crashed = _largest(own, "wrong_results"), _largest(own, "crashed")
    checked = {one.cell for one in own if one.metric == "wrong_results" and one.value is not None}
    if wrong is None and crashed is None:
        return Flag(units.MISSING, "absent")
    if wrong:
        return Flag(f"{units.count(wrong)} wrong", "bad")
    if crashed:
        return Flag("crashed", "bad")
    return Flag("right") if checked == {one.cell for one in own} else Flag("not checked", "unknown")


def _symbols(own: Sequence[CellValue]) -> Flag:
    collided, vulnerable = _largest(own, "collided_symbols"), _largest(own, "vulnerable_symbols")
    if collided is None and vulnerable is None:
        return Flag(units.MISSING, "absent")
    if collided:
        return Flag(f"{units.count(collided)} shared", "bad")
    if vulnerable:
        return Flag(f"{units.count(vulnerable)} vulnerable", "unknown")
    return Flag("not checked", "unknown") if collided is None else Flag("unique")


def _largest(own: Sequence[CellValue], metric: str) -> float | None:
    values = [one.value for one in own if one.metric == metric and one.value is not None]
    return max(values, default=None)


def _verdict(newest: Sequence[CellValue]) -> Flag:
    if not newest:
        return Flag("not measured", "absent")
    fate, symbols = _fate(newest), _symbols(newest)
    if fate.state:
        return fate
    if symbols.state == "bad":
        return Flag(f"values are right, but symbols are not unique ({symbols.text})", "bad")
    return Flag("right", "good")


def _where(newest: Sequence[CellValue]) -> str:
    if not newest:
        return "no siblings were measured"
    cells = {one.cell for one in newest}
    hurt = sorted(
        {f"{o.cell.scenario} {o.cell.launch}" for o in newest
         if o.metric in ("wrong_results", "crashed") and o.value}
    )  # fmt: skip
    hurt_in = f": {listed(hurt)}" if hurt else ""
    return f"in {several(len(cells), 'cell')} of {shorten(newest[0].subject, 60)}{hurt_in}"


def _upgrade(one: Upgrade, part: Part) -> tuple[tuple[str, ...], tuple[Flag, Flag]]:
    """The texts of a row, and what is stale and wrong."""
    again = units.MISSING if part.again_rebuilt is None else units.count(part.again_rebuilt)
    stale = Flag(f"{len(part.stale)} stale", "bad") if part.stale else Flag("none")
    wrong = Flag(f"{len(part.wrong)} wrong", "bad") if part.wrong else Flag("none")
    if part.failure and not part.built:
        stale = wrong = Flag("not judged", "unknown")
    base, head = (shorten(label, 60) for label in one.labels)
    what, reused = f"{part.model} {part.backend}", units.count(part.reused)
    return (base, head, what, reused, units.count(part.rebuilt), again), (stale, wrong)


def _crossed(one: Settings) -> tuple[str, str, str, list[tuple[str, Flag]]]:
    """The subject, the machine, the date, and each row of settings with what came out."""
    usual = one.rows[0]
    rows = []
    for row in one.rows:
        worse = "; ".join(row.beyond(None if row is usual else usual))
        flag = Flag(shorten(worse, _LONGEST), "bad") if worse else Flag("right")
        rows.append((shorten(row.name, _LONGEST), flag))
    where = f"{clean(one.machine.machine)}, Python {clean(one.versions.python)}"
    return shorten(one.subject.label, 60), where, f"{one.taken_at:%Y-%m-%d}", rows


def _findings(one: Upgrade) -> Iterator[str]:
    base, head = (shorten(label, 60) for label in one.labels)
    for part in one.parts:
        claims = (
            (part.stale, f"With the cache of {base}, {head} returns what {base} compiled"),
            (part.base_wrong, f"{base} computes wrong values even from an empty cache"),
            (part.fresh_wrong, f"{head} computes wrong values even from an empty cache"),
            (part.unsupported, f"{head} cannot build all graphs, so these were not tried"),
            (part.again_stale, f"{base}, used again after {head}, returns what {head} compiled"),
        )
        for names, claim in claims:
            if names:
                yield f"{claim}: {listed([clean(name) for name in names])}."
        if part.failure:
            why = shorten(part.failure, 400)
            yield f"{head} with the cache of {base}, {clean(part.model)}: {why}"
