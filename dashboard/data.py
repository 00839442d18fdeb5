"""The data that interactive pages load, as scripts: from file:// nothing else can be loaded.

docs/site.md describes them. Counts are whole; other values have six significant digits. Texts may
come from anybody: they are JSON, and pages use them as text only.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import orjson

from observatory.analyze.comparison.rules import LEAST_IN_RUN
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.steps import Step
from observatory.analyze.series_keys import FEWEST_FOR_INTERVAL
from observatory.dashboard.colours import colour_of
from observatory.dashboard.grid import grid_files
from observatory.dashboard.kept import Kept, Later, hashed
from observatory.dashboard.lines import GROUPS, line_files, phrases, rules_of
from observatory.dashboard.pages.profiles import ProfilePages
from observatory.dashboard.site_input import SiteInput, Spot, spot_name
from observatory.dashboard.subject_values import known_ends, significant, subject_blocks
from observatory.dashboard.verdict_data import CONCLUSIONS
from observatory.dashboard.views import Views
from observatory.store.reading.compiled import Functions
from observatory.text import sizes, units
from observatory.text.alerts import with_page
from observatory.text.counting import counted_by
from observatory.text.forge import Forge
from observatory.text.plain import clean
from observatory.text.statements import sentence_of
from observatory.text.titles import title_of

_FROM_NOTHING = 100.0
"""The size of a step from or to 0: larger than the logarithm of any ratio."""
_JSON = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


def data_files(
    observed: SiteInput, forge: Forge, *,
    profiles: ProfilePages | None = None,
    views: Views | None = None,
) -> Iterator[tuple[str, bytes | Later]]:  # fmt: skip
    """Every data file: its path in the site and its content, or how to make it.

    ``views``: what is shown of each series; by default made anew.
    ``profiles``: the pages with flame graphs.
    """
    rules, numbers = rules_of(observed)
    yield from (_file(name, content) for name, content in line_files(observed, forge))
    yield _file("rules", {"rules": rules, "phrases": phrases(), "run": LEAST_IN_RUN})
    yield _file("index", short(_index(observed, numbers)))
    views = views or Views(observed, Kept(), of_caches=False)
    for name, content in grid_files(observed, views):
        yield _file(name, short(content) if isinstance(content, dict) else content)
    yield from _series_files(observed, views)
    yield from _subject_files(observed, views)
    yield from _function_files(observed)
    yield from _pair_files(observed)
    yield _file("profiles", _profiles(profiles))


def _profiles(pages: ProfilePages | None) -> dict[str, Any]:
    """Which pairs of subjects have a page, and what else `observatory profile` can show."""
    of_pairs = {} if pages is None else pages.of_pairs
    recorded = {} if pages is None else pages.recorded()
    names = list(dict.fromkeys(name for own in recorded.values() for name in own))
    places = {name: place for place, name in enumerate(names)}
    return {
        "pages": {
            f"{spot_name(base)} {spot_name(head)}": (str(one.cell), one.path)
            for (base, head), one in sorted(of_pairs.items())
        },
        "cells": names,
        "of": {spot_name(spot): [places[name] for name in own] for spot, own in recorded.items()},
    }


def short(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns; one whose values recur is written as its different values and their numbers.

    >>> short({"unit": ["s", "s", "s", "B"], "id": ["a", "b"], "line": [0, 0, 0, 0]})
    {'unit': {'of': ['s', 'B'], 'at': [0, 0, 0, 1]}, 'id': ['a', 'b'], 'line': {'of': [0], 'at': 4}}
    """
    return {name: _short(one) if isinstance(one, list) else one for name, one in columns.items()}


def _short(values: list[Any]) -> Any:
    different = list(dict.fromkeys(values))
    if len(different) > len(values) / 2:
        return values
    if len(different) == 1:
        return {"of": different, "at": len(values)}
    places = {value: place for place, value in enumerate(different)}
    return {"of": different, "at": list(map(places.__getitem__, values))}


def _file(name: str, content: object) -> tuple[str, bytes]:
    return f"data/{name}.js", _content(name, content)


def _content(name: str, content: object) -> bytes:
    return b'observatory.receive("%s",%s);\n' % (
        name.encode(), orjson.dumps(content, option=_JSON),
    )  # fmt: skip


def _index(observed: SiteInput, rules: list[int]) -> dict[str, list[Any]]:
    places = [track.series.place for track in observed.tracks]
    return {
        "id": list(observed.ids),
        "name": [clean(track.series.benchmark) for track in observed.tracks],
        "metric": [clean(place.metric) for place in places],
        "unit": [clean(place.unit) for place in places],
        "kind": [place.kind for place in places],
        "line": [observed.line_of(track) for track in observed.tracks],
        "judgement": [track.judgement for track in observed.tracks],
        "source": [clean(track.series.source) for track in observed.tracks],
        "rule": rules,
    }


def _series_files(observed: SiteInput, views: Views) -> Iterator[tuple[str, Later]]:
    """Each series is a JSON text of its own, so that a page parses only what it shows."""
    pages = frozenset(alert.id for alert in with_page(observed.alerts))
    shelves: dict[str, list[int]] = defaultdict(list)
    for number, id_ in enumerate(observed.ids):
        shelves[observed.shelves.of(id_)].append(number)

    def text(number: int) -> str:
        track, kin = views.track(number), views.kin
        beside = {"kin": kin.of(number), "events": kin.events(number)}
        content = _series(observed, track, observed.ids[number], pages) | beside
        track.forget()
        return orjson.dumps(content, option=_JSON).decode()

    def later(name: str, numbers: list[int]) -> Later:
        with_pages = [str(alert.id in pages) for n in numbers for alert, _ in observed.alerts_on(n)]
        return Later(
            hashed(*(views.keys[number] for number in numbers), *with_pages),
            lambda: _content(name, {observed.ids[number]: text(number) for number in numbers}),
        )

    for beginning, numbers in shelves.items():
        name = f"series-{beginning}"
        yield f"data/{name}.js", later(name, numbers)


def _series(
    observed: SiteInput, track: SegmentedSeries, id_: str, pages: frozenset[str]
) -> dict[str, object]:
    series, place = track.series, track.series.place
    n = series.n
    has_intervals = place.kind == "noisy" and bool((n >= FEWEST_FOR_INTERVAL).any())
    whole = len(series.at) == len(series.line.subjects)
    parts = [series.values, np.array(track.levels)]
    if has_intervals:
        parts += [known_ends(series.ci_low, n), known_ends(series.ci_high, n)]
    # In one call: its overhead is larger than the work on so few values.
    short_ones, ends = significant(np.concatenate(parts)), [0, *accumulate(map(len, parts))]
    v, levels, low, high = [short_ones[a:b] for a, b in pairwise(ends)] + [None] * (4 - len(parts))
    return {
        "name": clean(series.benchmark), "metric": clean(place.metric), "unit": clean(place.unit),
        "kind": place.kind, "line": observed.line_of(track),
        "source": clean(counted_by(place.cell, series.source)),
        "at": None if whole else series.at, "v": v,
        "n": n if n.any() else None,
        "lo": low, "hi": high,
        "bounds": track.bounds, "levels": levels,
        "steps": list(_steps(track)), "drift": _drift(track),
        "judgement": track.judgement, "reason": _reason(track), "noise": track.noise,
        "alerts": list(_alerts(observed, track, pages)),
        "colour": colour_of(track, id_), "expected": observed.verdicts_on(track).best,
    }  # fmt: skip


def _reason(track: SegmentedSeries) -> str:
    return "" if track.reason is None else sentence_of(track.reason)


def _steps(track: SegmentedSeries) -> Iterator[dict[str, object]]:
    bounds, unit = track.bounds, track.series.place.unit
    if track.judgement == "exact":
        for place in bounds[1:-1]:
            before, after = track.series.values[place - 1 : place + 1].tolist()
            words = units.difference(before, after, unit)
            numbers = units.change(before, after, unit)
            size = abs(math.log(after / before)) if min(before, after) > 0 else _FROM_NOTHING
            yield {
                "at": place, "worse": after > before, "words": words, "numbers": numbers,
                "size": size,
            }  # fmt: skip
    for step in track.steps:
        yield {
            "at": step.index, "worse": step.worse, "words": sizes.brief(step, unit),
            "numbers": sizes.details(step, unit), "size": abs(math.log(step.ratio)),
        }  # fmt: skip


def _drift(track: SegmentedSeries) -> dict[str, object] | None:
    one = track.drift
    if one is None:
        return None
    whole = Step(1, *track.longest, one.ratio, one.low, one.high)
    words, numbers = sizes.drifting(whole, one.ratio, track.series.place.unit)
    return {"ratio": one.ratio, "words": words, "numbers": numbers}


def _alerts(
    observed: SiteInput, track: SegmentedSeries, pages: frozenset[str]
) -> Iterator[dict[str, object]]:
    """The alerts of a series, each with its first bad value on this line."""
    own = observed.verdicts_on(track).alerts
    if not own:
        return
    commits = {track.series.subject(i).commit: i for i in range(len(track.series.values))}
    for alert, one in own:
        yield {
            "id": alert.id, "state": alert.state, "kind": title_of(alert.kind),
            "page": alert.id in pages,
            "sentence": clean(alert.sentence), "at": commits.get(one.first_bad.commit),
        }  # fmt: skip


def _subject_files(observed: SiteInput, views: Views) -> Iterator[tuple[str, Later]]:
    """The values of each subject over all series: what two of them are compared by."""
    lines: dict[int, list[int]] = defaultdict(list)
    for number, track in enumerate(observed.tracks):
        lines[observed.line_of(track)].append(number)

    def later(line: int, numbers: list[int], key: str) -> Iterator[tuple[str, Later]]:
        blocks = subject_blocks(observed, numbers, views.track)
        for block in blocks.numbers:
            name = f"at-{line}-{block}"

            def make(name: str = name, block: int = block) -> bytes:
                return _content(name, blocks.of(block))

            yield f"data/{name}.js", Later(hashed(key, str(block)), make)

    for line, numbers in lines.items():
        yield from later(line, numbers, views.line_keys[line])


def _function_files(observed: SiteInput) -> Iterator[tuple[str, bytes]]:
    found = sorted(observed.functions_at.items())
    yield _file("ledgers", {spot_name(spot): list(cells) for spot, cells in found})
    for spot, functions in found:
        yield _file(f"ledger-{spot_name(spot)}", _functions(functions))


def _functions(functions: Functions) -> dict[str, object]:
    names: dict[str, int] = {}
    cells = {
        cell: [
            [names.setdefault(clean(f.name), len(names)), f.outcome, f.number, f.seconds, f.bytes]
            for f in found
        ]
        for cell, found in functions.items()
    }
    return {"names": list(names), "cells": cells}


def _pair_files(observed: SiteInput) -> Iterator[tuple[str, bytes]]:
    """One file lists all pairs with finished verdicts, and each head has one of its own."""
    spots = observed.spots
    heads: dict[Spot, dict[str, Any]] = {}
    for head, own in observed.pairs.items():
        bases = {spots[base]: one for base, one in own.bases.items() if base in spots}
        if head in spots and bases:
            heads[spots[head]] = {
                "series": own.series,
                "groups": [GROUPS.get(metric, "") for _, metric, *_ in own.series],
                "conclusions": CONCLUSIONS,
                "bases": {spot_name(base): bases[base] for base in sorted(bases)},
                "texts": own.texts,
            }
    names = {spot_name(head): one for head, one in sorted(heads.items())}
    yield _file("pairs", {name: list(one["bases"]) for name, one in names.items()})
    for name, one in names.items():
        yield _file(f"pairs-{name}", one)
