"""The compare page says what `observatory compare` says, of recorded and of made-up values."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from observatory.analyze.comparison.comparing import (
    Who,
    compared,
    outcome_of,
    pair_of,
    pairs_of,
    setting_of,
    who_of,
)
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.rules import (
    LEAST_IN_RUN,
    Noise,
    Rule,
    conclude_run,
    judged_values,
    rule_of,
)
from observatory.analyze.history.segments import SegmentedSeries
from observatory.app import observed as site_module
from observatory.benchmarks.catalogue import METRICS, SCENARIOS
from observatory.dashboard.lines import rules_of
from observatory.dashboard.site import build
from observatory.dashboard.site_input import SiteInput
from observatory.dashboard.verdict_data import packed
from observatory.store.reading.saved import Saved, load_all
from observatory.store.records.comparison import Comparison
from observatory.text.records import comparison_of
from tests.browser.conftest import Visitor, stays_quiet
from tests.factories_work import CALLGRIND, HARDWARE, history

pytestmark = pytest.mark.browser
RESULTS = Path(__file__).parents[2] / "results"
CASES = 4000
STATUS = {
    "wrong results": ("✗ Wrong results",),
    "worse": ("✗ Worse", "✗ Crashes"),
    "undecided": ("? Partly judged", "? Not judged", "? Wrong or crashing in both"),
    "calm": ("✓ Better", "✓ Unaffected"),
}
ROWS = """async ([a, b, finished]) => {
  const { columns, load, judge } = observatory;
  const [{ block }, { rules }, index] =
    await Promise.all([load("lines"), load("rules"), columns("index")]);
  const at = async (code) => {
    const [line, place] = code.split("-");
    const found = await load(`at-${line}-${Math.floor(place / block)}`);
    return judge.numbered(index, Number(line), found[place]);
  };
  const pair = finished ? judge.unpacked(await load(`pairs-${b}`), a) : null;
  const rows = judge.compared(index, rules, await at(a), await at(b), { why: "", pair });
  const sides = { a: { label: "A" }, b: { label: "B" } };
  const kept = await load("ledgers");
  const both = finished && kept[a] && kept[b];
  const stopped = !both ? new Map() : observatory.ledger.stopped(
    await Promise.all([a, b].map((code) => load(`ledger-${code}`))));
  const told = judge.verdict(rows, sides, { why: "", pair, partial: false, stopped });
  return { status: told.status, state: told.state, stopped: stopped.size,
    sentence: told.said.map((one) => one.name ?? one).join(""),
    rows: rows.map((row) => [row.name, row.metric, row.group, row.conclusion ?? null]) };
}"""


@pytest.fixture(scope="module")
def subjects() -> dict[Who, Saved]:
    return {who_of(one.header): one for one in load_all(RESULTS)}


@pytest.fixture(scope="module")
def observed(subjects: dict[Who, Saved]) -> SiteInput:
    """The recorded history with finished verdicts on neighbours alone, which are enough here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_module, "finished_pairs", lambda *_: {})
        found, _ = site_module.site_data([RESULTS])
    calibrations = {one.machine.machine: one for one in found.calibrations}
    wanted = [(base, head) for base, head, *_ in neighbours(found)]
    made = pairs_of(subjects.values(), wanted, calibrations, "0")
    return replace(
        found,
        pairs={
            head: packed({base: pair_of(comparison_of(compared))}) for base, head, compared in made
        },
    )


@pytest.fixture(scope="module")
def site(observed: SiteInput, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the pages of the committed results."""
    return build(observed, tmp_path_factory.mktemp("site") / "html").parent


@pytest.fixture(scope="module")
def page(site: Path, browser: Any) -> Any:
    visitor = Visitor(browser)
    seen = visitor(site / "compare.html")
    seen.page.wait_for_selector("#compare .verdict h2")
    yield seen.page
    visitor.close()


def neighbours(found: SiteInput) -> Iterator[tuple[Who, Who, str, str]]:
    """Of each line: base and head, and what addresses call them."""
    for number, line in enumerate(found.lines):
        for place, two in enumerate(pairwise(line.subjects)):
            base, head = ((line.machine, line.env_name, one.commit) for one in two)
            yield base, head, f"{number}-{place}", f"{number}-{place + 1}"


def as_on_the_command_line(base: Saved, head: Saved, found: SiteInput) -> Comparison:
    machine = head.header.machine.machine
    known = {one.machine.machine: one for one in found.calibrations}
    sides = (Evidence.of(one.samples) for one in (base, head))
    setting = setting_of(base, head, known.get(machine), observatory="0")
    return comparison_of(compared(setting, *sides))


def test_every_pair_of_neighbours_is_judged_as_on_the_command_line(
    page: Any, observed: SiteInput, subjects: dict[Who, Saved]
) -> None:
    number = seen = 0
    for base, head, a, b in neighbours(observed):
        told = as_on_the_command_line(subjects[base], subjects[head], observed)
        shown = page.evaluate(ROWS, [a, b, True])
        found = {(name, metric): said for name, metric, _, said in shown["rows"] if said}
        wanted = {
            (" ".join(vars(one.cell).values()), one.metric): one.conclusion for one in told.verdicts
        }
        assert found == wanted, (a, b)
        assert shown["status"] in STATUS[outcome_of(told)], (a, b)
        calm = [one for one in ("nothing got worse", "no change") if one in shown["sentence"]]
        assert not ((told.worse or shown["stopped"]) and calm), (a, b)
        assert not (shown["stopped"] and shown["state"] == "good"), (a, b)
        seen += shown["stopped"]
        number += len(wanted)
    assert number > 9000
    assert seen > 0


def test_where_no_verdict_is_finished_the_page_applies_the_rule_as_python_does(
    page: Any, observed: SiteInput
) -> None:
    rules, _ = rules_of(observed)
    assert len(rules) > 5
    shown = {}
    for _, _, a, b in neighbours(observed):
        rows = page.evaluate(ROWS, [a, b, False])["rows"]
        shown |= {(b, name, metric): said for name, metric, _, said in rows if said}
    wanted = {}
    counted: dict[tuple[int, str, str], dict[int, SegmentedSeries]] = defaultdict(dict)
    for track in observed.tracks:
        series, places = track.series, track.series.at.tolist()
        place = observed.line_of(track), series.benchmark, series.place.metric
        counted[place].update(dict.fromkeys(places, track))
        rule = observed.verdicts_on(track).rule
        numbers: list[float | None] = series.values.tolist()
        if rule.kind == "noisy":
            numbers = (
                track.expected.tolist() if track.judgement == "judged" else [None] * len(places)
            )
        for (i, one), (j, other) in pairwise(enumerate(places)):
            if other == one + 1:
                off = bool(track.off[i] or track.off[j])
                said = judged_values(rule, numbers[i], numbers[j], off)
                key = f"{observed.line_of(track)}-{other}", series.benchmark, series.place.metric
                wanted[key] = said
    for (line, benchmark, metric), tracks in counted.items():
        for at, track in tracks.items():
            if at + 1 in tracks and tracks[at + 1] is not track:  # of two sources
                wanted[f"{line}-{at + 1}", benchmark, metric] = "undecided"
    assert len(wanted) > 9000
    assert shown == wanted


def test_made_up_values_are_judged_alike(page: Any) -> None:
    chance = random.Random(18)
    cases = [made_up(chance) for _ in range(CASES)]
    given = [[asdict(rule), *rest] for rule, *rest in cases]
    found = page.evaluate("all => all.map((one) => observatory.judge.conclude(...one))", given)
    wanted = [judged_values(*case) for case in cases]
    assert {*wanted} == {"worse", "better", "unaffected", "workload changed", "undecided"}
    assert [
        (case, here, there)
        for case, here, there in zip(cases, found, wanted, strict=True)
        if here != there
    ] == []


def test_intervals_of_one_run_are_judged_alike(page: Any) -> None:
    chance = random.Random(23)
    cases = [
        [(low, (low + high) / 2, high) for low, high in (interval(chance), interval(chance))]
        for _ in range(CASES)
    ]
    call = "([all, least]) => all.map((one) => observatory.judge.concludeRun(...one, least))"
    found = page.evaluate(call, [cases, LEAST_IN_RUN])
    wanted = [conclude_run(*case).conclusion for case in cases]
    assert {*wanted} == {"worse", "better", "unaffected", "undecided"}
    assert found == wanted


def interval(chance: random.Random) -> tuple[float, float]:
    """Ends that are equal, near each other, far apart, or around zero."""
    low = chance.choice([1.0, 1.0, 1.04, 1.05, 1.2, -0.01])
    return low, low + chance.choice([0.0, 0.0, 0.01, 0.04, 0.3])


def made_up(chance: random.Random) -> tuple[Rule, float | None, float | None, bool]:
    """A rule of ours, and two values that are equal, at its thresholds, near them or far apart."""
    metric = chance.choice([*METRICS.values()])
    noise = chance.choice([None, Noise(0.0005, 20), Noise(0.03, 6)])
    rule = rule_of(metric, chance.choice([*SCENARIOS]), noise)
    near = rule.resolution * chance.uniform(0, 3)
    base = chance.choice([0.0, 1.0, 7.0, near, chance.lognormvariate(0, 5)])
    sure = rule.sure() - 1 if rule.material else 0.0
    edges = [0.0, sure, rule.spread, rule.material or 0.0, rule.smallest, chance.uniform(0, 0.1)]
    factor = (1 + chance.choice(edges)) ** chance.choice([1, -1])
    head = chance.choice([base, base * factor, base * chance.uniform(0, 3), 0.0])
    values = [None if chance.random() < 0.05 else value for value in (base, head)]
    return rule, values[0], values[1], chance.random() < 0.2


@pytest.mark.parametrize("finished", [True, False])
def test_counts_of_two_sources_are_one_row_that_is_not_judged(
    browser: Any, tmp_path: Path, finished: bool
) -> None:
    counts = ((2.0e9, CALLGRIND), (2.2e9, CALLGRIND), (2.2e9, HARDWARE))
    observed, _ = site_module.site_data([history(tmp_path / "results", *counts)])
    visitor = Visitor(browser)
    try:
        page = visitor(build(observed, tmp_path / "html").parent / "compare.html").page
        page.wait_for_selector("#compare .verdict h2")
        said = {}
        for a, b in (("0-0", "0-1"), ("0-1", "0-2")):
            rows = page.evaluate(ROWS, [a, b, finished])["rows"]
            (said[b],) = (row[2:] for row in rows if row[1] == "instructions")
    finally:
        visitor.close()
    assert said == {"0-1": ["measured", "worse"], "0-2": ["unjudged", "undecided"]}


def test_flame_graphs_of_recorded_builds_are_small_quiet_and_fit_a_phone(
    site: Path, visit: Visitor
) -> None:
    pages = sorted((site / "profiles").glob("*.html"), key=lambda one: one.stat().st_size)
    assert len(pages) > 5
    assert pages[-1].stat().st_size <= 250_000
    for width, scheme in ((390, "dark"), (1280, "light")):
        seen = visit(pages[-1], width=width, scheme=scheme).settle()
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert seen.page.locator("[role=treeitem]").count() > 20
        stays_quiet(seen)
