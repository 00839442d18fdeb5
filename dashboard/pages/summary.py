"""The headline: what can be said in words about the newest subject.

Only exact facts are stated: misses of warm caches, wrong results, crashes. What counts as wrong is
decided in `observatory.analyze.history.newest`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from benchmarks.catalogue import (
    MAIN_BACKENDS,
    MATRIX_LAUNCHES,
    MATRIX_MODELS,
    WARM_SCENARIOS,
    Cell,
)
from benchmarks.catalogue import cells as known_cells
from dashboard.pages.cell_values import CellValue, Setting
from observatory.analyze.history.newest import Checked
from observatory.text.words import Term, listed, several

State = Literal["good", "bad", "unknown"]
NAMED_GROUPS = 3
"""More groups of cells than these in one claim make a headline that nobody reads."""


@dataclass(frozen=True)
class Newest:
    """The newest subject of a frame, in one setting: that of the page, or one of the ``others``."""

    subject: str
    numba: str | None
    setting: Setting
    date: datetime | None
    cell_values: tuple[CellValue, ...]
    others: tuple[Newest, ...] = ()
    """The same subject in other settings: not shown in full, yet never passed over in silence."""

    def of(self, metric: str) -> dict[Cell, float]:
        """Values of one metric by cell; cells without a value are left out."""
        return {
            one.cell: one.value
            for one in self.cell_values
            if one.metric == metric and one.value is not None
        }


@dataclass(frozen=True)
class Claim:
    """One statement of the headline, without its full stop."""

    state: State
    text: str


@dataclass(frozen=True)
class Headline:
    """What the page says first."""

    state: State
    sentence: str


def newest(cell_values: tuple[CellValue, ...], machine: str | None = None) -> Newest | None:
    """Pick the newest subject and its setting; None if nothing was measured.

    Newest is by date, then version; a plain release comes before one with extra requirements.
    Where it was measured in several settings, the page speaks of `machine` if it is among them,
    else of the setting in which the whole history has most cell_values: the longest line to compare
    with.
    """
    if not cell_values:
        return None
    last = max(cell_values, key=lambda one: one.order)
    own = [r for r in cell_values if r.subject == last.subject and r.date == last.date]
    sizes = Counter(one.setting for one in cell_values)
    settings = sorted(
        {one.setting for one in own},
        key=lambda each: (each.machine != machine, -sizes[each], each.python, each.machine),
    )

    def within(setting: Setting, others: tuple[Newest, ...] = ()) -> Newest:
        chosen = tuple(one for one in own if one.setting == setting)
        numba = next((one.numba for one in chosen if one.numba), None)
        return Newest(last.subject, numba, setting, last.date, chosen, others)

    return within(settings[0], tuple(within(setting) for setting in settings[1:]))


def headline(subject: Newest) -> Headline:
    """Say in words what holds for the subject, the worst first."""
    elsewhere = (
        Claim("bad", f"{claim.text} with {other.setting}")
        for other in subject.others
        for claim in _claims(other)
        if claim.state == "bad"
    )
    claims = [*_claims(subject), *elsewhere]
    rank: dict[State, int] = {"bad": 0, "unknown": 1, "good": 2}
    state = min((claim.state for claim in claims), key=lambda each: rank[each])
    ordered = sorted(claims, key=lambda claim: rank[claim.state])
    if state == "good":
        ordered.sort(key=lambda claim: claim.text.startswith("no "))
    said = "; ".join(claim.text for claim in ordered)
    return Headline(state, f"PyTensor {subject.subject}: {said}.")


def facts(subject: Newest, measured_at: datetime | None) -> tuple[Term, ...]:
    """Return what its values are values of, and when they were taken."""
    repeats = sorted(
        {r.n for r in subject.cell_values if r.n and r.metric in ("compile_time", "call_time")}
    )
    ends = dict.fromkeys((repeats[0], repeats[-1])) if repeats else ("none",)
    measured = measured_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if measured_at else None
    return (
        Term("released", subject.date.strftime("%Y-%m-%d") if subject.date else "unknown"),
        Term("numba", subject.numba or "not installed"),
        Term("Python", subject.setting.python),
        Term("machine", subject.setting.machine),
        Term("samples per timed cell", " to ".join(map(str, ends))),
        Term("measured", measured or "unknown"),
        *(Term("also measured with", str(other.setting)) for other in subject.others),
    )


def _claims(subject: Newest) -> tuple[Claim, ...]:
    return (
        _claim_about_results(subject),
        _claim_about_crashes(subject),
        *_claims_about_caches(subject),
    )


def _claim_about_results(subject: Newest) -> Claim:
    found = Checked.of("wrong_results", subject.of("wrong_results"))
    if found.bad:
        return Claim("bad", f"wrong results in {_where(found.bad)}")
    if not found.checked:
        return Claim("unknown", "results were not checked")
    return Claim("good", "no wrong results")


def _claim_about_crashes(subject: Newest) -> Claim:
    found = Checked.of("crashed", subject.of("crashed"))
    if found.bad:
        return Claim("bad", f"crashes in {_where(found.bad)}")
    if not found.checked:
        return Claim("unknown", "crashes were not recorded")
    return Claim("good", "no crashes")


def _claims_about_caches(subject: Newest) -> tuple[Claim, ...]:
    misses = Checked.of("cache_misses", subject.of("cache_misses"))
    refused = Checked.of("uncacheable", subject.of("uncacheable")).bad
    counted, missing = misses.checked, misses.bad
    claims = []
    if missing:
        claims.append(Claim("bad", _count_where(missing, "miss in", "misses in")))
    if refused:
        claims.append(Claim("bad", _count_where(refused, "are refused by the cache in",
                                                "is refused by the cache in")))  # fmt: skip
    if claims:
        return tuple(claims)
    if not counted:
        return (Claim("unknown", "no warm cache was counted"),)
    expected = _expected_warm_cells(subject)
    absent = len(expected - set(counted))
    if absent:
        said = f"{len(counted)} warm caches hit, {absent} were not counted"
        return (Claim("unknown", said),)
    launches = {cell.launch for cell in counted}
    where = f" under {launches.pop()}" if len(launches) == 1 else ""
    return (Claim("good", f"every warm cache hits{where}"),)


def _expected_warm_cells(subject: Newest) -> set[Cell]:
    """The warm cells that the measured part of the matrix promises."""
    seen = {one.cell for one in subject.cell_values}
    return set(
        known_cells(
            models=tuple(sorted({cell.model for cell in seen} & set(MATRIX_MODELS))),
            scenarios=WARM_SCENARIOS,
            backends=MAIN_BACKENDS,
            launches=tuple(sorted({cell.launch for cell in seen} & set(MATRIX_LAUNCHES))),
        )
    )


def _groups(values: Mapping[Cell, float]) -> dict[str, float]:
    """Largest value by scenario and backend: launches and models say the same thing twice."""
    groups: dict[str, float] = {}
    for cell, value in sorted(values.items()):
        name = f"{cell.scenario} {cell.backend}"
        groups[name] = max(value, groups.get(name, 0))
    return groups


def _where(values: Mapping[Cell, float]) -> str:
    names = list(_groups(values))
    rest = len(names) - NAMED_GROUPS
    more = [several(rest, "other cell")] if rest > 0 else []
    return listed(names[:NAMED_GROUPS] + more)


def _count_where(values: Mapping[Cell, float], plural: str, singular: str) -> str:
    groups = _groups(values)
    counts = set(groups.values())
    if len(counts) == 1:
        count = counts.pop()
        verb = singular if count == 1 else plural
        return f"{several(count, 'function')} {verb} {_where(values)}"
    count = max(counts)
    return f"up to {several(count, 'function')} {plural} {_where(values)}"
