"""What the caches of one subject did, function by function, and when a filled cache has paid."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from observatory.benchmarks.catalogue import (
    BACKENDS,
    LAUNCHES,
    MAIN_BACKENDS,
    MATRIX_MODELS,
    OUTCOMES,
    SCENARIOS,
    Cell,
    without_cache,
)
from observatory.dashboard.colours import css_name
from observatory.dashboard.drawing.panels import Table
from observatory.dashboard.site_input import SiteInput, Spot, spot_name
from observatory.store.reading.compiled import Function, Functions
from observatory.text import units
from observatory.text.plain import clean, shorten
from observatory.text.words import known_first, listed, meaning_of, several

MOST_SUBJECTS = 40
_SHOWN = 12
_MOST = 300
_NAME = 160
_OUTCOMES = tuple(OUTCOMES)


@dataclass(frozen=True)
class Kept:
    """What one cell, or several with equal ledgers, compiled and reused."""

    title: str
    css: str
    counts: tuple[tuple[str, str], ...]
    """Outcomes and their counts, in the order of the vocabulary; never 0."""
    bar: tuple[tuple[str, float], ...]
    """Outcome and its share of the functions that asked a cache, 0 to 100."""
    summary: str
    head: Table
    rest: Table | None


def path_of(spot: Spot) -> str:
    """Where the caches of a subject are shown."""
    return f"caches/{spot_name(spot)}.html"


def chosen(observed: SiteInput) -> list[Spot]:
    """The subjects that have a page: those that alerts name, and the newest; oldest first."""
    there = sorted(observed.functions_at, key=lambda spot: observed.subject(spot).date)
    commits = {
        at.commit
        for alert in observed.alerts.alerts
        for at in (alert.last_good, alert.first_bad)
        if at is not None
    }
    named = [spot for spot in there if observed.subject(spot).commit in commits]
    newest = [spot for spot in there if spot not in named]
    kept = set(named[-MOST_SUBJECTS:])
    kept.update(newest[-max(1, MOST_SUBJECTS - len(kept)) :])
    return [spot for spot in there if spot in kept]


def caches_page(observed: SiteInput, spot: Spot, times: Mapping[Cell, float]) -> dict[str, Any]:
    """The values of `caches.html.j2` for one subject. ``times``: compile times in seconds."""
    subject, line = observed.subject(spot), observed.lines[spot[0]]
    return {
        "label": shorten(subject.label, 60),
        "versions": observed.versions(subject),
        "line": clean(f"{line.name}: {line.era}"),
        "scenarios": list(_scenarios(observed.functions_at[spot])),
        "paybacks": list(_paybacks(times)),
        "outcomes": list(OUTCOMES.items()),
    }


def times_of(observed: SiteInput) -> dict[Spot, dict[Cell, float]]:
    """The compile times of every subject, by cell."""
    found: dict[Spot, dict[Cell, float]] = defaultdict(dict)
    for track in observed.tracks:
        series, place = track.series, track.series.place
        if place.model and place.metric == "compile_time":
            cell = place.cell
            number = observed.line_of(track)
            for at, value in zip(series.at.tolist(), series.values.tolist(), strict=True):
                found[number, at][cell] = value
    return found


def _scenarios(functions: Functions) -> Iterator[tuple[str, str, list[Kept]]]:
    """Each scenario, its meaning, and what was kept by cell."""
    named = {name: name.split() for name in functions}
    cells = {Cell(*words): functions[name] for name, words in named.items() if len(words) == 4}
    backends = known_first((cell.backend for cell in cells), BACKENDS)
    launches = known_first((cell.launch for cell in cells), LAUNCHES)
    for scenario in known_first((cell.scenario for cell in cells), SCENARIOS):
        own = [cell for cell in cells if cell.scenario == scenario]
        own.sort(key=lambda c: (c.model, backends.index(c.backend), launches.index(c.launch)))
        groups: dict[tuple[str, str, object], list[Cell]] = defaultdict(list)
        for cell in own:
            same = frozenset((f.name, f.outcome, f.number) for f in cells[cell])
            groups[cell.model, cell.backend, same].append(cell)
        kept = [_kept(group, cells[group[0]]) for group in groups.values()]
        yield scenario, meaning_of(SCENARIOS, scenario), kept


def _kept(cells: Sequence[Cell], found: Sequence[Function]) -> Kept:
    """``cells`` are of one model and backend and have equal ledgers."""
    model, backend = cells[0].model, cells[0].backend
    counts: Counter[str] = Counter()
    for function in found:
        counts[function.outcome] += function.number
    asked = sum(number for outcome, number in counts.items() if outcome != "internal") or 1
    outcomes = [outcome for outcome in _OUTCOMES if counts[outcome]]
    seconds, size = sum(f.seconds for f in found), sum(f.bytes for f in found)
    rows = [
        (
            shorten(f.name, _NAME), f.outcome, units.count(f.number), units.seconds(f.seconds),
            units.size(f.bytes) if f.bytes else units.MISSING,
        )
        for f in found[:_MOST]
    ]  # fmt: skip
    header = ("function", "outcome", "how many", "time", "machine code")
    place = f"{clean(backend)} under {listed([cell.launch for cell in cells])}"
    place = place if model == MATRIX_MODELS[0] else f"{clean(model)}, {place}"
    more = f" of {len(found)}" if len(found) > _SHOWN + 3 else ""
    cut = _SHOWN if more else len(rows)
    caption = f"{place}: the {cut}{more} slowest" if more else f"{place}: every function"
    left_out = f"; {units.count(len(found) - _MOST)} faster ones are left out"
    others = f"{place}: the others{left_out if len(found) > _MOST else ''}"
    return Kept(
        place, css_name(backend),
        tuple((outcome, units.count(counts[outcome])) for outcome in outcomes),
        tuple((o, round(100 * counts[o] / asked, 2)) for o in outcomes if o != "internal"),
        f"{several(sum(counts.values()), 'function')}, {units.seconds(seconds)}, "
        f"{units.size(size)} of machine code",
        Table(caption, header, tuple(rows[:cut])),
        Table(others, header, tuple(rows[cut:])) if more else None,
    )  # fmt: skip


def _paybacks(times: Mapping[Cell, float]) -> Iterator[tuple[str, str, str, list[str], str]]:
    """For each backend and start method: its colour, its times, and when the cache has paid off.

    The times are those of a cold build, of both warm ones, and of one without a cache.
    """
    model = MATRIX_MODELS[0]
    for backend in MAIN_BACKENDS:
        for launch in LAUNCHES:
            cold, disk, process = (
                times.get(Cell(model, scenario, backend, launch))
                for scenario in ("cold", "warm_disk", "warm_process")
            )
            other = without_cache(backend)
            without = times.get(Cell(model, "warm_process", other, launch)) if other else None
            warm = disk if process is None else process
            if cold is not None and warm is not None:
                shown = [units.human(one, "seconds") for one in (cold, disk, process, without)]
                yield backend, launch, css_name(backend), shown, _paid(cold, warm, without)


def _paid(cold: float, warm: float, without: float | None) -> str:
    """After how many builds a cache that has to be filled first has cost less than none.

    Without a cache n builds cost n times ``without`` (where that is unknown: n times ``cold``,
    which is what the first one costs); with it ``cold`` and n - 1 times ``warm``.
    """
    each = cold if without is None else without
    if each <= warm:
        return "never: a warm build takes as long as one without a cache"
    builds = max(1, math.ceil((cold - warm) / (each - warm) - 1e-9))
    saved = units.seconds(each - warm)
    if without is None:
        return f"from build 2 on; each saves {saved} of a cold build"
    return f"from build {max(2, builds)} on; each saves {saved}"
