"""The headline: what can be said in words about the newest subject.

Only exact facts are stated: misses of warm caches, wrong results, crashes. Which counts are wrong
comes with the values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from observatory.analyze.history.wrong_counts import is_checked
from observatory.benchmarks.catalogue import (
    MAIN_BACKENDS,
    MATRIX_LAUNCHES,
    MATRIX_MODELS,
    WARM_SCENARIOS,
    Cell,
)
from observatory.benchmarks.catalogue import cells as known_cells
from observatory.dashboard.pages.cell_values import CellValue, Setting, unasked
from observatory.text.words import Term, listed, several

State = Literal["bad", "unknown", "good"]
_STATES: tuple[State, ...] = ("bad", "unknown", "good")
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
    """The same subject in other settings, of which only the problems are stated."""

    def of(self, metric: str) -> dict[Cell, CellValue]:
        """The values of one metric by cell; cells without a value are left out."""
        return {
            one.cell: one
            for one in self.cell_values
            if one.metric == metric and one.value is not None
        }

    def checked(self, metric: str) -> tuple[dict[Cell, float], dict[Cell, float]]:
        """The values of a metric where one value is the right one, and those that are wrong."""
        own = [
            one for one in self.of(metric).values()
            if one.wrong is not None and is_checked(metric, one.cell.backend)
        ]  # fmt: skip
        return (
            {one.cell: one.value or 0.0 for one in own},
            {one.cell: one.value or 0.0 for one in own if one.wrong},
        )

    def unchecked(self, metric: str) -> int:
        """The number of measured cells that have no value of such a metric."""
        measured = {
            one.cell for one in self.cell_values if is_checked(metric, one.cell.backend)
        }  # fmt: skip
        return len(measured - self.checked(metric)[0].keys())


class Claim(NamedTuple):
    """What is said of one thing that was counted."""

    state: State
    sentence: str
    known: str = ""
    """How it is said in short where an alert has told it already."""
    setting: str = ""
    """The setting in which it holds."""


class Headline(NamedTuple):
    """What the page says first."""

    subject: str
    claims: tuple[Claim, ...]
    """The worst first."""

    @property
    def state(self) -> State:
        """How the worst claim is."""
        return self.claims[0].state

    def sentences(self, short: bool = False) -> str:
        """All claims, in a sentence for each setting; ``short``: what is bad is known.

        A setting is named only if there are several.
        """
        said: dict[str, list[str]] = {}
        for one in self.claims:
            words = one.known if short and one.state == "bad" else one.sentence
            said.setdefault(one.setting, []).append(words)
        (first, own), *others = said.items()
        subject = f"PyTensor {self.subject}{f' with {first}' if others else ''}"
        return " ".join(
            f"{beginning}: {'; '.join(claims)}."
            for beginning, claims in [
                (subject, own), *((f"With {setting}", claims) for setting, claims in others),
            ]
        )  # fmt: skip


def newest(cell_values: tuple[CellValue, ...], machine: str | None = None) -> Newest | None:
    """Pick the newest subject and its setting; None if nothing was measured.

    Newest is by date, then version; a plain release comes before one with extra requirements.
    If the subject was measured in several settings, the one of ``machine`` is chosen, or else the
    one with the longest history to compare with.
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
    """Say in words what holds for the subject, the worst first; of other settings what is bad."""
    claims = _within(subject)
    for other in subject.others:
        claims += [one for one in _within(other) if one.state == "bad"]
    claims.sort(key=lambda claim: _STATES.index(claim.state))
    return Headline(subject.subject, tuple(claims))


def _within(subject: Newest) -> list[Claim]:
    return [one._replace(setting=str(subject.setting)) for one in _claims(subject)]


def facts(subject: Newest, measured_at: datetime | None) -> tuple[Term, ...]:
    """What the values of the subject are values of, and when they were measured."""
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


def _claims(subject: Newest) -> Iterator[Claim]:
    yield _claim(subject, "wrong_results", "wrong results", "results were not checked")
    yield _claim(subject, "crashed", "crashes", "crashes were not recorded")
    counted, missing = subject.checked("cache_misses")
    _, refused = subject.checked("uncacheable")
    if missing:
        known = f"known misses in {several(len(missing), 'cell')}"
        yield Claim("bad", _count_where(missing, "miss in", "misses in"), known=known)
    if refused:
        refusals = "are refused by the cache in", "is refused by the cache in"
        known = f"known refusals in {several(len(refused), 'cell')}"
        yield Claim("bad", _count_where(refused, *refusals), known=known)
    if not missing and not refused:
        yield _calm_caches(subject, counted)


def _claim(subject: Newest, metric: str, noun: str, unknown: str) -> Claim:
    counted, bad = subject.checked(metric)
    if bad:
        known = f"known {noun} in {several(len(bad), 'cell')}"
        return Claim("bad", f"{noun} in {_where(bad)}", known=known)
    if not counted:
        return Claim("unknown", unknown)
    if absent := subject.unchecked(metric):
        cells = several(len(counted), "cell")
        verb = "was" if absent == 1 else "were"
        return Claim("unknown", f"no {noun} in {cells}, and {absent:,} {verb} not checked")
    return Claim("good", f"no {noun}")


def _calm_caches(subject: Newest, counted: Iterable[Cell]) -> Claim:
    """No cache missed: whether every cell that belongs to the measured matrix was counted."""
    cells = set(counted)
    if not cells:
        return Claim("unknown", "no warm cache was counted")
    seen = {one.cell for one in subject.cell_values}
    expected = set(known_cells(
        models=tuple(sorted({cell.model for cell in seen} & set(MATRIX_MODELS))),
        scenarios=WARM_SCENARIOS,
        backends=MAIN_BACKENDS,
        launches=tuple(sorted({cell.launch for cell in seen} & set(MATRIX_LAUNCHES))),
    ))  # fmt: skip
    if absent := len(expected - cells):
        return Claim("unknown", f"{len(cells)} warm caches hit, {absent} were not counted")
    misses, compiled, refused = map(
        subject.of, ("cache_misses", "functions_compiled", "uncacheable")
    )
    never = {
        cell: number for cell in expected
        if (number := unasked(cell, misses[cell], compiled.get(cell), refused.get(cell)))
    }  # fmt: skip
    if never:
        verbs = "are compiled without a lookup in", "is compiled without a lookup in"
        return Claim("unknown", _count_where(never, *verbs))
    launches = {cell.launch for cell in cells}
    where = f" under {launches.pop()}" if len(launches) == 1 else ""
    models = sorted({cell.model for cell in expected or cells})
    built = f"the model{'s' * (len(models) > 1)} {listed(models, 'or')}"
    return Claim("good", f"no warm build of {built} misses{where}")


def _groups(values: Mapping[Cell, float]) -> dict[str, float]:
    """The largest value by scenario and backend: launches and models usually agree."""
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
    counts = set(_groups(values).values())
    count = max(counts)
    if len(counts) > 1:
        return f"up to {several(count, 'function')} {plural} {_where(values)}"
    verb = singular if count == 1 else plural
    return f"{several(count, 'function')} {verb} {_where(values)}"
