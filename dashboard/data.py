"""The data that interactive pages load, as scripts: from file:// nothing else can be loaded.

docs/site.md describes them. Values have six significant digits. Texts may
come from anybody: they are JSON, and pages use them as text only.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from benchmarks.catalogue import METRICS, MODELS, REUSE_LOST
from dashboard.colours import colour_of
from dashboard.grid import grid_files
from dashboard.kin import Kin
from dashboard.site_input import SiteInput, Spot, spot_name
from dashboard.verdict_data import CONCLUSIONS
from observatory.analyze.comparison.rules import Rule
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.steps import Step
from observatory.analyze.series_keys import FEWEST_FOR_INTERVAL
from observatory.store.reading.compiled import Functions
from observatory.text import sizes, units
from observatory.text.alerts import with_page
from observatory.text.forge import Forge, ref_of
from observatory.text.plain import clean
from observatory.text.statements import sentence_of

PER_FILE = 100
"""Series in one data file, about."""
BLOCK = 16
"""Subjects in one data file."""
GROUPS = {"wrong_results": "wrong", "crashed": "crashed"}
"""Metrics whose worsening has a table of its own; the page has a table for all others."""
_DIGITS = 6
_RELEASE = re.compile(r"v?\d+(\.\d+)+((a|b|rc)\d+|\.post\d+)?$")
"""The label of a subject that is a release."""
_FROM_NOTHING = 100.0
"""The size of a step from or to 0: larger than the logarithm of any ratio."""
_JSON = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
_Floats = npt.NDArray[np.float64]


def data_files(
    observed: SiteInput, forge: Forge, *,
    profiles: Mapping[tuple[Spot, Spot], tuple[str, str]] | None = None,
) -> Iterator[tuple[str, bytes]]:  # fmt: skip
    """Every data file: its path in the site and its content.

    ``profiles``: by pair of subjects, the cell and the path of the page with its flame graphs.
    """
    digits = _digits(len(observed.tracks))
    lines = [
        {
            "machine": clean(line.machine),
            "env": clean(line.env_name),
            "era": clean(str(line.era)),
            "subjects": [
                [
                    clean(one.label), clean(one.commit), f"{one.date:%Y-%m-%dT%H:%M:%SZ}",
                    observed.versions(one), forge.of(one.label, one.commit),
                    ref_of(one.label, one.commit),
                ]
                for one in line.subjects
            ],
            "releases": [n for n, one in enumerate(line.subjects) if _RELEASE.match(one.label)],
        }
        for line in observed.lines
    ]  # fmt: skip
    rules, numbers = rules_of(observed)
    head = {
        "digits": digits, "block": BLOCK, "rules": rules, "axis": axis_of(lines),
        "compare_url": forge.compare, "models": list(MODELS),
        "phrases": phrases(), "lines": lines,
    }  # fmt: skip
    yield _file("lines", head)
    yield _file("index", _index(observed, numbers))
    yield from (_file(name, content) for name, content in grid_files(observed))
    yield from _series_files(observed, digits)
    yield from _subject_files(observed)
    yield from _function_files(observed)
    yield from _pair_files(observed)
    shown = {
        f"{spot_name(base)} {spot_name(head)}": page
        for (base, head), page in sorted((profiles or {}).items())
    }
    yield _file("profiles", shown)


def axis_of(lines: Sequence[Mapping[str, Any]]) -> str:
    """Along what charts begin: "subject" where most have the name of a release, else "date"."""
    subjects = sum(len(line["subjects"]) for line in lines)
    return "subject" if 2 * sum(len(line["releases"]) for line in lines) >= subjects else "date"


def significant(values: _Floats) -> _Floats:
    """The values with six significant digits."""
    size = np.abs(np.where(values == 0, 1.0, values))
    places = _DIGITS - 1 - np.floor(np.log10(np.where(np.isfinite(size), size, 1.0)))
    up = places >= 0
    with np.errstate(over="ignore", invalid="ignore"):
        scale = 10.0 ** np.abs(places)
        large, small = np.round(values * scale) / scale, np.round(values / scale) * scale
        rounded = np.where(up, large, small)
    return np.where(np.isfinite(rounded), rounded, values)


def phrases() -> dict[str, list[list[str]]]:
    """By exact metric: claims about a count that rose, and that fell, by 1 and by several."""
    return {
        one.name: [
            [form.replace("HEAD", "B").replace("BASE", "A") for form in forms or ()]
            for forms in (one.rose, one.fell)
        ]
        for one in (*METRICS.values(), REUSE_LOST) if one.rose or one.fell
    }  # fmt: skip


def rules_of(observed: SiteInput) -> tuple[list[dict[str, object]], list[int]]:
    """The different rules of all series, and for each series the index of its rule."""
    known: dict[tuple[Rule, str], int] = {}
    numbers = [
        known.setdefault((own.rule, GROUPS.get(one.series.place.metric, "")), len(known))
        for one, own in zip(observed.tracks, observed.verdicts, strict=True)
    ]
    return [asdict(rule) | {"group": group} for rule, group in known], numbers


def _digits(count: int) -> int:
    """Hexadecimal digits of an id that name a data file."""
    return max(0, math.ceil(math.log(max(1.0, count / PER_FILE), 16)))


def _file(name: str, content: object) -> tuple[str, bytes]:
    return f"data/{name}.js", b'observatory.receive("%s",%s);\n' % (
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
        "rule": rules,
    }


def _series_files(observed: SiteInput, digits: int) -> Iterator[tuple[str, bytes]]:
    groups: dict[str, dict[str, object]] = {
        format(number, f"0{digits}x") if digits else "": {} for number in range(16**digits)
    }
    pages = frozenset(alert.id for alert in with_page(observed.alerts))
    kin = Kin(observed)
    for number, (track, id_) in enumerate(zip(observed.tracks, observed.ids, strict=True)):
        beside = {"kin": kin.of(number), "events": kin.events(number)}
        groups[id_[:digits]][id_] = _series(observed, track, id_, pages) | beside
    for name, content in groups.items():
        yield _file(f"series-{name}", content)


def _series(
    observed: SiteInput, track: SegmentedSeries, id_: str, pages: frozenset[str]
) -> dict[str, object]:
    series, place = track.series, track.series.place
    columns, rows = observed.values, series.rows
    n = columns.n[rows]
    has_intervals = place.kind == "noisy" and bool((n >= FEWEST_FOR_INTERVAL).any())
    whole = len(series.at) == len(series.line.subjects)
    return {
        "name": clean(series.benchmark), "metric": clean(place.metric), "unit": clean(place.unit),
        "kind": place.kind, "line": observed.line_of(track), "source": clean(series.source),
        "at": None if whole else series.at, "v": significant(series.values),
        "n": n if n.any() else None,
        "lo": significant(_known(columns.ci_low[rows], n)) if has_intervals else None,
        "hi": significant(_known(columns.ci_high[rows], n)) if has_intervals else None,
        "bounds": track.bounds, "levels": significant(np.array(track.levels)),
        "steps": list(_steps(track)), "drift": _drift(track),
        "judgement": track.judgement, "reason": _reason(track), "noise": track.noise,
        "alerts": list(_alerts(observed, track, pages)),
        "colour": colour_of(track, id_), "expected": observed.verdicts_on(track).best,
    }  # fmt: skip


def _reason(track: SegmentedSeries) -> str:
    return "" if track.reason is None else sentence_of(track.reason)


def _known(ends: _Floats, n: npt.NDArray[np.integer]) -> _Floats:
    return np.where(n >= FEWEST_FOR_INTERVAL, ends, np.nan)


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
    commits = {track.series.subject(i).commit: i for i in range(len(track.series.values))}
    for alert, one in observed.verdicts_on(track).alerts:
        yield {
            "id": alert.id, "state": alert.state, "kind": clean(alert.kind),
            "page": alert.id in pages,
            "sentence": clean(alert.sentence), "at": commits.get(one.first_bad.commit),
        }  # fmt: skip


def _subject_files(observed: SiteInput) -> Iterator[tuple[str, bytes]]:
    """The values of each subject over all series: what two of them are compared by."""
    if not observed.tracks:
        return
    parts: dict[str, list[npt.NDArray[Any]]] = defaultdict(list)
    for number, track in enumerate(observed.tracks):
        n = len(track.series.values)
        parts["line"].append(np.full(n, observed.line_of(track)))
        parts["at"].append(track.series.at)
        parts["i"].append(np.full(n, number))
        parts["v"].append(track.series.values)
        judged = track.judgement == "judged"
        parts["l"].append(track.expected if judged else np.full(n, np.nan))
        parts["o"].append(track.off if judged else np.zeros(n, np.bool_))
    whole = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    order = np.lexsort((whole["i"], whole["at"], whole["line"]))
    whole = {name: array[order] for name, array in whole.items()}
    whole["v"], whole["l"] = significant(whole["v"]), significant(whole["l"])
    places = np.stack([whole["line"], whole["at"]])
    starts = np.flatnonzero((np.diff(places, axis=1, prepend=-1) != 0).any(axis=0))
    blocks: dict[tuple[int, int], dict[int, object]] = defaultdict(dict)
    for start, stop in pairwise([*starts.tolist(), len(order)]):
        line, place = int(places[0, start]), int(places[1, start])
        one = {key: array[start:stop] for key, array in whole.items()}
        blocks[line, place // BLOCK][place] = {
            "i": one["i"], "v": one["v"], "l": one["l"], "o": one["i"][one["o"]],
        }  # fmt: skip
    for (line, number), content in blocks.items():
        yield _file(f"at-{line}-{number}", content)


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
