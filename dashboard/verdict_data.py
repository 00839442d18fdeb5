"""Verdicts as data for the compare page: finished ones of pairs, and the rules of series."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from benchmarks.catalogue import Cell
from dashboard.site_input import SiteInput, Spot, spot_name
from observatory.analyze.comparison.comparing import Outcome
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.pairs import Finding, Pair
from observatory.analyze.comparison.rules import Rule, rule_at
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.series_keys import SeriesKey
from observatory.text.plain import clean

GROUPS = {"wrong_results": "wrong", "crashed": "crashed"}
"""Metrics whose worsening has a table of its own; the page has a table for all others."""
CONCLUSIONS = ("unaffected", "worse", "better", "workload changed", "undecided")
_SHOWN: dict[Outcome, str] = {
    "wrong results": "worse", "worse": "worse", "undecided": "undecided", "calm": "calm",
}  # fmt: skip
_DIGITS = 6


def rules_of(observed: SiteInput) -> tuple[list[dict[str, object]], list[int]]:
    """The different rules of all series, and for each series the number of its rule."""
    floors = {
        one.machine.machine: (one.machine.cpu, NoiseFloors.of(one)) for one in observed.calibrations
    }
    known: dict[tuple[Rule, str], int] = {}
    numbers = []
    for track in observed.tracks:
        rule = rule_of_track(track, floors)
        key = rule, GROUPS.get(track.series.place.metric, "")
        numbers.append(known.setdefault(key, len(known)))
    return [asdict(rule) | {"group": group} for rule, group in known], numbers


def rule_of_track(track: SegmentedSeries, floors: Mapping[str, tuple[str, NoiseFloors]]) -> Rule:
    """The rule of a series, with the noise floor that its machine was calibrated with.

    ``floors``: by machine, with the processor that they were measured on.
    """
    place, line = track.series.place, track.series.line
    cpu, known = floors.get(line.machine, ("", NoiseFloors()))
    usable = place.model and cpu == line.era.cpu
    return rule_at(place, known.change(cell_of(place), place.metric) if usable else None)


def cell_of(place: SeriesKey) -> Cell:
    """The cell of one of our series."""
    return Cell(place.model, place.scenario, place.backend, place.launch)


def pair_files(observed: SiteInput) -> Iterator[tuple[str, object]]:
    """Names and contents of the data files on pairs: one lists all, and each subject has one."""
    heads: dict[Spot, dict[Spot, Pair]] = defaultdict(dict)
    for (one, other), pair in observed.pairs.items():
        if one in observed.spots and other in observed.spots:
            heads[observed.spots[other]][observed.spots[one]] = pair
    yield "pairs", {spot_name(head): [spot_name(base) for base in sorted(own)] for head, own in
                    sorted(heads.items())}  # fmt: skip
    for spot, own in sorted(heads.items()):
        yield f"pairs-{spot_name(spot)}", _pairs(own)


def _pairs(own: Mapping[Spot, Pair]) -> dict[str, object]:
    """What one head is against each base.

    ``series`` are what any of the pairs has a verdict of; ``verdicts`` has a digit for each, the
    number of its conclusion, or a dash; ``values`` one entry for each digit that is not 0.
    """
    series: dict[tuple[str, str, str, str], int] = {}
    texts: dict[str, int] = {}
    for pair in own.values():
        for one in pair.findings:
            series.setdefault(one[:4], len(series))
    return {
        "series": [[clean(word) for word in one] for one in series],
        "groups": [GROUPS.get(metric, "") for _, metric, _, _ in series],
        "conclusions": CONCLUSIONS,
        "bases": {spot_name(base): _pair(own[base], series, texts) for base in sorted(own)},
        "texts": list(texts),
    }


def _pair(
    pair: Pair, series: Mapping[tuple[str, str, str, str], int], texts: dict[str, int]
) -> dict[str, object]:
    digits = ["-"] * len(series)
    numbered: list[tuple[int, list[Any]]] = []
    for one in pair.findings:
        number = series[one[:4]]
        digits[number] = str(CONCLUSIONS.index(one.conclusion))
        if one.conclusion != "unaffected":
            numbered.append((number, _values(one, texts)))
    return {
        "outcome": _SHOWN[pair.outcome],
        "verdicts": "".join(digits),
        "values": [values for _, values in sorted(numbered)],
        "missing": [
            [clean(cell), side, _text(reason, texts)] for cell, side, reason in pair.missing
        ],
        "causes": [_text(one, texts) for one in pair.causes],
        "warnings": [_text(one, texts) for one in pair.warnings],
    }


def _values(one: Finding, texts: dict[str, int]) -> list[Any]:
    reason = -1 if one.reason is None else _text(one.reason, texts)
    return [*(_rounded(value) for value in (one.before, one.after, one.ratio)), reason]


def _text(text: str, texts: dict[str, int]) -> int:
    return texts.setdefault(clean(text), len(texts))


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")
