"""The compare page in a real Chromium, from file://, on data files made by hand."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, PackageLoader, StrictUndefined

from observatory.analyze.comparison.rules import LEAST_IN_RUN
from observatory.dashboard.lines import GROUPS, phrases
from observatory.dashboard.rendering import assets
from tests.browser import conftest
from tests.browser.conftest import columns_of, violations

pytestmark = pytest.mark.browser
HOSTILE = "a|b`c``\n@octocat <img src=x onerror=alert(1)>\u202e #1"
CLEANED = "a|b`c`` @octocat <img src=x onerror=alert(1)>\ufffd #1"
FORK, SPAWN, C = (f"radon warm_disk {rest}" for rest in ("NUMBA fork", "NUMBA spawn", "C spawn"))


# Sites made by hand


def subjects(*labels: str) -> list[list[str]]:
    """Subjects of one line, with commits and dates of their own."""
    commits = [f"{number:x}{number:x}" * 20 for number in range(1, len(labels) + 1)]
    return [
        [label, commit, f"2025-11-{number + 1:02}T12:00:00Z", "", "", commit]
        for number, (label, commit) in enumerate(zip(labels, commits, strict=True), 1)
    ]


def line(
    *labels: str, machine: str = "epyc-2core", env: str = "py311", cpu: str = "AMD EPYC"
) -> dict[str, Any]:
    return {"machine": machine, "env": env, "era": "0", "cpu": cpu, "subjects": subjects(*labels)}


@dataclass
class One:
    """One series: its values by subject (None: not measured), and what was decided of it."""

    name: str
    metric: str
    values: Sequence[float | None]
    unit: str = "functions"
    kind: str = "exact"
    judgement: str = "exact"
    alerting: int = 1
    line: int = 0
    segments: str = ""
    levels: Sequence[float] = ()
    material: float | None = None
    source: str = ""
    of_cpu: bool = False
    once: bool = False
    spread: float | None = None  # how far the interval of one run goes around each value

    @property
    def rule(self) -> dict[str, Any]:
        """As the data files have it."""
        judged = bool(self.alerting) if self.kind == "exact" else self.judgement != "described"
        return {
            "kind": self.kind, "judged": judged, "spread": 0.01, "material": self.material,
            "smallest": 0.02, "group": GROUPS.get(self.metric, ""),
            "of_cpu": self.of_cpu, "once": self.once,
        }  # fmt: skip


def counts(name: str, metric: str, *values: float | None, **more: Any) -> One:
    return One(name, metric, values, **more)


def judged(
    name: str, metric: str, segments: str, levels: Sequence[float], *values: float | None,
    unit: str = "seconds", **more: Any,
) -> One:  # fmt: skip
    """A judged series; ``segments`` are its subjects' levels, as digits."""
    given = values or tuple(levels[int(digit)] for digit in segments)
    return One(name, metric, given, unit, "noisy", "judged", 0, more.pop("line", 0), segments,
               levels)  # fmt: skip


def unfit(name: str, metric: str, *values: float | None, **more: Any) -> One:
    return One(name, metric, values, **{"unit": "seconds", "kind": "noisy", "judgement": "unfit",
                                        "alerting": 0} | more)  # fmt: skip


def described(name: str, metric: str, *values: float | None, **more: Any) -> One:
    return unfit(name, metric, *values, **{"judgement": "described"} | more)


def put(directory: Path, name: str, content: object) -> None:
    text = f'observatory.receive("{name}",{json.dumps(content)});\n'
    (directory / "data" / f"{name}.js").write_text(text, "utf-8")


def site(
    directory: Path,
    series: Sequence[One],
    *,
    lines: Sequence[dict[str, Any]] | None = None,
    ledgers: dict[str, Any] | None = None,
    pairs: dict[str, Any] | None = None,
    profiles: dict[str, Any] | None = None,
    compare_url: str = "",
    static: Sequence[dict[str, str]] = (),
) -> Path:
    """Write a site of one page, and return that page."""
    lines = [line("3.3.5", "3.3.6", "3.3.7")] if lines is None else lines
    ledgers = ledgers or {}
    (directory / "data").mkdir(parents=True)
    for name, content in assets():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    for name, content in columns_of(lines):
        put(directory, name, content | (
            {"block": 16, "models": ["radon", "radon_pymc"], "compare_url": compare_url}
            if name == "lines" else {}
        ))  # fmt: skip
    rules = [one.rule for one in series]
    put(directory, "rules", {"phrases": phrases(), "rules": rules, "run": LEAST_IN_RUN})
    columns = ("name", "metric", "unit", "kind", "line", "judgement", "source")
    numbers = range(len(series))
    ids = {"id": [f"{number:010x}" for number in numbers], "rule": list(numbers)}
    put(directory, "index", ids | {c: [getattr(one, c) for one in series] for c in columns})
    put(directory, "ledgers", {spot: list(one["cells"]) for spot, one in ledgers.items()})
    for spot, one in ledgers.items():
        put(directory, f"ledger-{spot}", one)
    pairs = pairs or {}
    put(directory, "pairs", {head: list(one["bases"]) for head, one in pairs.items()})
    put(directory, "profiles", profiles or {"pages": {}, "cells": [], "of": {}})
    for head, one in pairs.items():
        put(directory, f"pairs-{head}", one)
    for number, each in enumerate(lines):
        places = range(len(each["subjects"]))
        put(directory, f"at-{number}-0", {n: at(series, number, n) for n in places})
    environment = Environment(
        loader=PackageLoader("observatory.dashboard"), autoescape=True, undefined=StrictUndefined
    )
    text = environment.get_template("compare.html.j2").render(
        root="", page="compare.html", pages=[], version="0.1.0", newest=None, url="", section=None,
        brand="Benchmarks", repository="", project="",
        problems=[], static=static, profile=None, static_title="3.3.7 against <3.3.6>",
    )  # fmt: skip
    (directory / "compare.html").write_text(text, "utf-8")
    return directory / "compare.html"


def at(series: Sequence[One], number: int, place: int) -> dict[str, list[Any]]:
    """What one subject has of all series of its line."""
    found: dict[str, list[Any]] = {"i": [], "v": [], "l": [], "o": [], "lo": [], "hi": []}
    for index, one in enumerate(one for one in series if one.line == number):
        value, spread = one.values[place] if place < len(one.values) else None, one.spread
        if value is None:
            continue
        level = int(one.segments[place]) if one.segments else None
        for key, each in (("i", index), ("v", value),
                          ("l", None if level is None else one.levels[level]),
                          ("lo", None if spread is None else value * (1 - spread)),
                          ("hi", None if spread is None else value * (1 + spread))):  # fmt: skip
            found[key].append(each)
        if level is not None and value > 4 * one.levels[level]:
            found["o"].append(index)
    return found if any(found["lo"]) else {key: found[key] for key in "ivlo"}


def ledger(**cells: Sequence[tuple[str, str, int, float, int | None]]) -> dict[str, Any]:
    """A ledger; cells are written with underscores for `radon warm_disk NUMBA fork` and such."""
    names: dict[str, int] = {}
    written = {
        {"fork": FORK, "spawn": SPAWN, "c": C}[cell]: [
            [names.setdefault(name, len(names)), *rest] for name, *rest in entries
        ]
        for cell, entries in cells.items()
    }
    return {"names": list(names), "cells": written}


def mixed() -> list[One]:
    """A bit of everything; 3.3.6 against 3.3.7 is what matters."""
    return [
        judged(C, "compile_time", "001", (1.0, 1.31)),
        judged(SPAWN, "compile_time", "001", (0.25, 0.525)),
        judged(FORK, "call_time", "000", (0.002,), 0.002, 0.0019, 0.0024),
        judged(FORK, "peak_rss", "001", (2e8, 2.16e8), unit="bytes"),
        judged(C, "call_time", "001", (0.021, 0.01)),
        counts(FORK, "cache_misses", 0, 0, 35),
        counts(SPAWN, "cache_misses", 0, 0, 1),
        counts(C, "uncacheable", 3, 3, 0),
        counts(C, "crashed", 0, 0, 1, unit="samples"),
        counts(FORK, "wrong_results", 0, 0, 7, unit="values"),
        counts(FORK, "functions_compiled", 35, 35, 36, alerting=0),
        counts(C, "cache_bytes", 1e6, 1e6, 1.5e6, unit="bytes", kind="near_exact",
               judgement="described", alerting=0),
        described(FORK, "cpu_time", 0.3, 0.31, 0.32),
        unfit(C, "import_time", None, 0.5, 0.9),
        counts("bench.time_it", "value", 5, 5, 5, alerting=0),
    ]  # fmt: skip


# Visits


class Visit(conftest.Visit):
    """With what this page says."""

    def texts(self, selector: str) -> list[str]:
        found = self.page.eval_on_selector_all(selector, "all => all.map(one => one.innerText)")
        return [" ".join(text.split()) for text in found]

    @property
    def verdict(self) -> str:
        return self.texts("#compare .verdict h2")[0]

    def tables(self) -> list[str]:
        """The titles of the tables of series that are drawn."""
        return self.texts("#compare section[aria-label='What differs'] caption b")

    def rows(self, title: str) -> list[list[str]]:
        """The cells of each row of a table."""
        return self.page.evaluate(
            "title => [...document.querySelectorAll('#compare table')]"
            ".filter(table => table.caption.querySelector('b').textContent === title)"
            ".flatMap(table => [...table.tBodies[0].rows].map(row => [...row.cells]"
            ".map(cell => cell.innerText.replace(/\\s+/g, ' ').trim())))",
            title,
        )

    def folded(self) -> list[str]:
        return self.texts("#compare section[aria-label='What differs'] summary")

    def unfold(self, title: str) -> None:
        folded = self.page.locator(f"#compare details:has(summary b:text-is('{title}'))")
        folded.locator("summary").click()
        folded.locator("table").wait_for()

    def markdown(self) -> str:
        return self.page.evaluate("observatory.compareMarkdown()")

    def control(self, role: str, name: str) -> Any:
        return self.page.get_by_role(role, name=name, exact=True)

    def go(self, choices: str) -> None:
        self.page.evaluate("hash => { location.hash = hash; }", choices)


Open = Callable[..., Visit]


@pytest.fixture
def visit(visit: Any) -> Iterator[Open]:
    """Open a page; no visit may leave a complaint, or ask for anything but the site's files."""
    visits = []

    def go(path: Path, choices: str = "", *, ready: str = "#compare .verdict h2", **more) -> Visit:
        opened = visit(path, choices, **more)
        seen = Visit(opened.page, opened.complaints, opened.requests)
        seen.page.set_default_timeout(10_000)
        seen.page.wait_for_selector(ready)
        visits.append((seen, path.parent.as_uri()))
        return seen

    yield go
    for seen, root in visits:
        assert seen.complaints == []
        assert [u for u in seen.requests if not u.startswith((root, "data:"))] == []


# The verdict


def test_wrong_results_and_crashes_are_told_first_then_counts_then_times(visit, tmp_path):
    seen = visit(site(tmp_path / "s", mixed()))
    assert seen.verdict == (
        "3.3.7 against 3.3.6: wrong results in 1 cell, crashes in 1 cell, 2 counts worse, "
        "2 timings slower, 1 size larger, 1 count better, 1 timing faster; 2 series unaffected, "
        "2 with a changed workload, 1 only described, 1 not judged."
    )
    assert seen.texts("#compare .status") == ["✗ Wrong results"]
    assert seen.tables() == [
        "Wrong results", "Crashes", "Counts that got worse", "Slower or larger", "Better",
    ]  # fmt: skip
    assert seen.rows("Wrong results") == [[FORK, "wrong_results", "0 → 7", "✗ 7 wrong values"]]
    assert seen.rows("Crashes") == [[C, "crashed", "0 → 1", "✗ B crashes"]]
    assert [row[2:] for row in seen.rows("Counts that got worse")] == [
        ["0 → 35", "✗ 35 functions stopped hitting the cache"],
        ["0 → 1", "✗ 1 function stopped hitting the cache"],
    ]
    assert [row[1:] for row in seen.rows("Slower or larger")] == [
        ["compile_time", "250 → 525 ms", "✗ slower: ×2.1"],
        ["compile_time", "1.00 → 1.31 s", "✗ slower: +31 %"],
        ["peak_rss", "200 → 216 MB", "✗ larger: +8 %"],
    ]
    assert [row[1:] for row in seen.rows("Better")] == [
        ["uncacheable", "3 → 0", "✓ 3 more functions can be stored"],
        ["call_time", "21.0 → 10.0 ms", "✓ faster: ÷2.1"],
    ]
    assert seen.folded() == [
        "Workload changed, no alarm 2 series: these numbers follow from the graph",
        "Only described 1 series: these metrics are shown, but never judged",
        "Not judged 1 series: the page of each series gives the reason",
        "Unaffected 2 series: no change found",
    ]
    seen.unfold("Workload changed, no alarm")
    assert [row[1:] for row in seen.rows("Workload changed, no alarm")] == [
        ["functions_compiled", "35 → 36", "higher: +1"],
        ["cache_bytes", "1.00 → 1.50 MB", "larger: +50 %"],
    ]
    said = seen.texts("#compare .verdict")[0]
    assert f"Most important: {FORK} wrong_results, 7 wrong values (0 → 7)." in said


def test_a_cache_that_confuses_graphs_is_told_with_wrong_results(visit, tmp_path):
    series = [
        counts(C, "files_leaked", 0, 0, 8, unit="files"),
        counts(FORK, "key_collisions", 0, 0, 1, unit="graphs"),
        counts(FORK, "wrong_results", 0, 0, 7, unit="values"),
        counts(SPAWN, "key_collisions", 0, 0, 2, unit="graphs"),
    ]
    seen = visit(site(tmp_path / "s", series))
    assert seen.verdict == "3.3.7 against 3.3.6: wrong results in 2 cells, 1 count worse."
    assert seen.texts("#compare .status") == ["✗ Wrong results"]
    assert [row[:2] for row in seen.rows("Wrong results")] == [
        [FORK, "wrong_results"], [SPAWN, "key_collisions"], [FORK, "key_collisions"],
    ]  # fmt: skip


def test_what_got_worse_is_most_important_beside_what_is_wrong_in_both(visit, tmp_path):
    series = [
        counts(C, "wrong_results", 7, 7, 7, unit="values"),
        counts(FORK, "graphs_raised", 0, 0, 4, unit="graphs"),
    ]
    seen = visit(site(tmp_path / "s", series))
    assert seen.texts("#compare .status") == ["✗ Worse"]
    assert f"Most important: {FORK} graphs_raised, " in seen.texts("#compare .verdict")[0]


def test_where_nothing_was_judged_it_is_not_called_partly_judged(visit, tmp_path):
    kept = pairs((C, "compile_time", "noisy", 4, [1.0, 1.3, 1.3, 0]), outcome="undecided")
    series = [unfit(C, "compile_time", 1.0, 1.0, 1.3)]
    assert visit(site(tmp_path / "a", series, pairs=kept)).texts("#compare .status") == [
        "? Not judged"
    ]
    assert visit(site(tmp_path / "b", series)).texts("#compare .status") == ["? Not judged"]


def test_every_row_leads_to_its_series(visit, tmp_path):
    seen = visit(site(tmp_path / "s", mixed()))
    link = seen.page.locator("#compare td", has_text="slower: +31 %").locator("xpath=../th/a")
    assert link.get_attribute("href") == "series.html#s=0000000000"
    assert link.get_attribute("aria-label") == f"{C}, compile_time: its history"


def test_levels_decide_whatever_the_values_are(visit, tmp_path):
    same = judged(FORK, "compile_time", "000", (0.25,), 0.25, 0.20, 0.40)
    other = judged(C, "compile_time", "001", (0.25, 0.5), 0.25, 0.31, 0.30)
    up_and_down = judged(SPAWN, "compile_time", "010", (0.25, 0.5))
    seen = visit(site(tmp_path / "s", [same, other, up_and_down]), "#a=0-0&b=0-2")
    assert seen.verdict == "3.3.7 against 3.3.5: 1 timing slower; 2 series unaffected."
    # The level is what is judged; what was measured of these two stands below it.
    assert seen.rows("Slower or larger") == [
        [C, "compile_time", "250 → 500 ms 250 → 300 ms", "✗ slower: ×2"]
    ]
    seen.unfold("Unaffected")
    assert [row[2:] for row in seen.rows("Unaffected")] == [
        ["250 → 400 ms", "no change found"],
        ["250 → 250 ms", "no change found"],
    ]


def test_what_is_far_off_its_level_is_not_called_unaffected(visit, tmp_path):
    early = judged(FORK, "compile_time", "000", (0.25,), 4.0, 0.25, 0.25)
    seen = visit(site(tmp_path / "s", [early]), "#a=0-0&b=0-2")
    assert seen.verdict == ("3.3.7 against 3.3.5: nothing could be judged; 1 series not confirmed.")
    seen.unfold("Not confirmed")
    assert [row[2:] for row in seen.rows("Not confirmed")] == [
        ["4.00 → 0.25 s", "faster: ÷16, not confirmed"]
    ]


def test_nothing_is_said_of_series_that_were_not_judged(visit, tmp_path):
    seen = visit(site(tmp_path / "s", [unfit(C, "compile_time", 1.0, 1.0, 9.0)]))
    assert seen.verdict == "3.3.7 against 3.3.6: nothing could be judged; 1 series not judged."
    assert seen.tables() == []
    seen.unfold("Not judged")
    assert seen.rows("Not judged") == [[C, "compile_time", "1.00 → 9.00 s", "not judged"]]


def test_what_is_apart_within_one_run_is_told_and_not_judged(visit, tmp_path):
    series = [unfit("bench.time_it", "value", 1.0, 1.0, 1.3, spread=0.01)]
    seen = visit(site(tmp_path / "s", series))
    assert seen.verdict == "3.3.7 against 3.3.6: 1 benchmark apart within one run only."
    assert seen.texts("#compare .status") == ["? Partly judged"]
    assert seen.rows("Apart within one run only") == [
        ["bench.time_it", "value", "1.00 → 1.30 s", "slower: +30 %"]
    ]


def test_the_calm_and_the_better_are_told_as_such(visit, tmp_path):
    calm = [counts(FORK, "cache_misses", 0, 0, 0)]
    seen = visit(site(tmp_path / "calm", calm))
    assert seen.verdict == "3.3.7 against 3.3.6: no change found; 1 series unaffected."
    assert seen.texts("#compare .status") == ["✓ Unaffected"]
    seen = visit(site(tmp_path / "better", [counts(FORK, "cache_misses", 5, 5, 0)]))
    assert seen.verdict == "3.3.7 against 3.3.6: nothing got worse, 1 count better."
    assert seen.texts("#compare .status") == ["✓ Better"]


def test_what_crashes_in_both_is_no_peace(visit, tmp_path):
    both = [counts(FORK, "crashed", 1, 1, 1), counts(C, "wrong_results", 5, 5, 2)]
    seen = visit(site(tmp_path / "s", both))
    assert seen.verdict == (
        "3.3.7 against 3.3.6: nothing got worse, 1 count better; "
        "both crash or give wrong values in 2 cells."
    )
    assert seen.texts("#compare .status") == ["? Wrong or crashing in both"]
    assert seen.tables() == ["Wrong or crashing in both", "Better"]


def test_series_of_only_one_of_the_two_are_named(visit, tmp_path):
    series = [
        counts(FORK, "cache_misses", 0, 0, None),
        counts(C, "cache_misses", None, None, 2),
        counts(SPAWN, "cache_misses", 0, 0, 0),
    ]
    seen = visit(site(tmp_path / "s", series))
    assert seen.verdict == (
        "3.3.7 against 3.3.6: no change found; 1 series unaffected, 1 missing in 3.3.6, "
        "1 missing in 3.3.7."
    )
    assert seen.texts("#compare .status") == ["? Partly judged"]
    seen.unfold("Missing in A")
    seen.unfold("Missing in B")
    assert seen.rows("Missing in A") == [[C, "cache_misses", "- → 2", "missing in A"]]
    assert seen.rows("Missing in B") == [[FORK, "cache_misses", "0 → -", "missing in B"]]


def test_of_two_lines_counts_are_compared_and_times_are_not(visit, tmp_path):
    lines = [line("3.3.6", "3.3.7"), line("3.3.7", machine="laptop")]
    series = [
        judged(FORK, "compile_time", "00", (0.25,)),
        counts(FORK, "cache_misses", 0, 0),
        counts(C, "cache_misses", 0, 0),
        judged(FORK, "compile_time", "0", (9.0,), line=1),
        counts(FORK, "cache_misses", 35, line=1),
        counts(C, "wrong_results", 0, line=1),
    ]
    seen = visit(site(tmp_path / "s", series, lines=lines), "#a=0-0&b=1-0")
    assert seen.verdict == (
        "3.3.7 against 3.3.6: 1 count worse; 1 series not compared, 1 missing in 3.3.6, "
        "1 missing in 3.3.7."
    )
    said = seen.texts("#compare .verdict")[0]
    assert "different environments (another machine)" in said
    assert "times and memory are not" in said
    href = seen.page.get_attribute("#compare tbody th a", "href")
    assert href == "series.html#s=0000000001&s=0000000004"
    seen.unfold("Not judged")
    assert seen.rows("Not judged")[0][3] == "not compared: another machine"
    # The search names the line of what it finds, and finds it by that.
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("laptop wrong")
    seen.page.wait_for_selector("#search-found [role=option]")
    assert seen.texts("#search-found") == [f"{C} wrong_results laptop, py311, 0"]


def memory(*values: float, line: int = 0) -> One:
    return One(FORK, "retained_bytes", values, "bytes", "near_exact", "exact", line=line,
               material=0.05, of_cpu=True)  # fmt: skip


def work(value: float, source: str, *, line: int) -> One:
    return One(FORK, "instructions", (value,), "instructions", "near_exact", "exact", line=line,
               material=0.002, source=source)  # fmt: skip


@pytest.mark.parametrize(
    ("cpu", "source", "said"),
    [
        (
            "AMD EPYC", "callgrind, znver3",
            "1 work count higher, 1 size larger",
        ),
        (
            "Xeon", "hardware counter, skylake",
            "nothing could be judged; 2 series not compared",
        ),
    ],
)  # fmt: skip
def test_counts_of_two_lines_are_judged_only_where_they_mean_the_same(
    visit, tmp_path, cpu, source, said
):
    """Work of one source, and memory of one CPU."""
    lines = [line("3.3.7"), line("3.3.8", machine="laptop", cpu=cpu)]
    series = [
        work(1e9, "callgrind, znver3", line=0), memory(1e8),
        work(1.3e9, source, line=1), memory(1.2e8, line=1),
    ]  # fmt: skip
    seen = visit(site(tmp_path / "s", series, lines=lines), "#a=0-0&b=1-0")
    assert seen.verdict == f"3.3.8 against 3.3.7: {said}."
    if cpu == "Xeon":
        seen.unfold("Not judged")
        assert [row[1::2] for row in seen.rows("Not judged")] == [
            ["instructions", "counted by different sources"],
            ["retained_bytes", "depends on the CPU, and the two have different ones"],
        ]


def test_a_change_from_nothing_to_nothing_is_the_smallest(visit, tmp_path):
    none = (0.0, 0.0)
    values = {"a": none, "b": (1.0, 1.001), "c": none, "d": (1.0, 1.005), "e": none}
    series = [One(name, "m", two, "u", "near_exact", "exact") for name, two in values.items()]
    seen = visit(site(tmp_path / "s", series, lines=[line("1.0", "1.1")]))
    seen.unfold("Unaffected")
    assert [row[0] for row in seen.rows("Unaffected")] == ["d", "b", "a", "c", "e"]


# Finished verdicts


def pairs(*told: tuple[str, str, str, int, list[Any]], outcome: str) -> dict[str, Any]:
    """The verdicts on 3.3.7 against 3.3.6: name, metric, kind, number of conclusion, values."""
    texts = ["3 processes a side; at least 7 are needed", "the function is not stored", "separate"]
    verdicts = "".join(str(digit) for *_, digit, _ in told)
    one = {"outcome": outcome, "verdicts": verdicts, "values": [v for *_, v in told if v],
           "missing": [[C, "base", 0]], "causes": [1], "warnings": [2]}  # fmt: skip
    units = {"exact": "functions", "near_exact": "calls", "noisy": "seconds"}
    return {
        "0-2": {
            "series": [[name, metric, units[kind], kind] for name, metric, kind, *_ in told],
            "groups": [GROUPS.get(metric, "") for _, metric, *_ in told], "texts": texts,
            "conclusions": ["unaffected", "worse", "better", "workload changed", "undecided"],
            "bases": {"0-1": one},
        }
    }  # fmt: skip


def test_finished_verdicts_are_shown_whatever_levels_and_values_say(visit, tmp_path):
    series = [
        judged(C, "compile_time", "001", (1.0, 1.31)),
        counts(FORK, "cache_misses", 0, 0, 35),
        described(FORK, "cpu_time", 0.3, 0.31, 0.32),
    ]
    kept = pairs(
        (C, "compile_time", "noisy", 4, [1.0, 1.3, 1.3, 0]),
        (FORK, "cache_misses", "exact", 0, []),
        (SPAWN, "reuse_lost", "exact", 1, [0, 2, None, -1]),
        (SPAWN, "python_calls", "near_exact", 1, [100_000, 124_000, 1.24, -1]),
        outcome="worse",
    )
    seen = visit(site(tmp_path / "s", series, pairs=kept))
    assert seen.verdict == (
        "3.3.7 against 3.3.6: 1 count worse, 1 work count higher; 1 series unaffected, "
        "1 only described, 1 at another level but not judged; 1 cell could not be compared in full."
    )
    said = seen.texts("#compare .verdict")[0]
    assert "the function is not stored." in said
    assert "Separate." in said
    assert seen.rows("Counts that got worse") == [
        [SPAWN, "reuse_lost", "0 → 2", "✗ 2 functions that A reused are compiled again"]
    ]
    assert seen.rows("Different levels, not judged") == [
        [
            C, "compile_time", "1.00 → 1.31 s 1.00 → 1.30 s",
            "levels slower: +31 %; 3 processes a side; at least 7 are needed",
        ]
    ]  # fmt: skip
    seen.unfold("Cells that could not be compared in full")
    seen.control("combobox", "A (base)").select_option("0-0")
    seen.page.wait_for_function("location.hash.startsWith('#a=0-0')")
    assert seen.verdict.startswith("3.3.7 against 3.3.5: 1 count worse, 1 timing slower;")


def test_what_a_finished_pair_does_not_judge_by_itself_is_not_called_described(visit, tmp_path):
    series = [
        unfit(SPAWN, "import_time", None, 0.5, 0.9, judgement="judged", once=True),
        unfit(C, "import_time", None, 0.5, 0.9, judgement="judged", once=True),
        described(FORK, "cpu_time", 0.3, 0.31, 0.32),
    ]
    kept = pairs((C, "import_time", "noisy", 4, [0.5, 0.9, 1.8, 0]), outcome="undecided")
    seen = visit(site(tmp_path / "s", series, pairs=kept))
    seen.unfold("Not judged")
    assert [(row[0], row[3]) for row in seen.rows("Not judged")] == [
        (C, "3 processes a side; at least 7 are needed"),
        (SPAWN, f"judged once for all cells of radon: see {C}"),
    ]
    assert "1 series only described, 2 not judged" in seen.verdict


def test_the_memory_of_two_cpus_is_not_called_described(visit, tmp_path):
    lines = [line("3.3.6", cpu="Xeon", machine="laptop"), line("3.3.5", "3.3.6", "3.3.7")]
    series = [memory(1e8), memory(1e8, 1e8, 1.2e8, line=1)]
    kept = pairs((FORK, "cache_misses", "exact", 0, []), outcome="calm")["0-2"]
    told = {"1-2": kept | {"bases": {"0-0": kept["bases"]["0-1"]}}}
    seen = visit(site(tmp_path / "s", series, lines=lines, pairs=told), "#a=0-0&b=1-2")
    seen.unfold("Not judged")
    (row,) = seen.rows("Not judged")
    assert row[3] == "depends on the CPU, and the two have different ones"


def test_a_calm_pair_is_not_green_above_functions_that_stopped_hitting(visit, tmp_path):
    kept = pairs((FORK, "cache_misses", "exact", 0, []), outcome="calm")
    calm = [counts(FORK, "cache_misses", 0, 0, 0)]
    seen = visit(site(tmp_path / "s", calm, ledgers=ledgers(), pairs=kept))
    assert seen.texts("#compare .status") == ["? Look at the functions"]
    assert seen.page.get_attribute("#compare section.verdict", "class") == "verdict "


def test_a_calm_pair_is_not_green_where_b_lacks_what_could_be_judged(visit, tmp_path):
    kept = pairs((FORK, "cache_misses", "exact", 0, []), outcome="calm")
    series = [counts(FORK, "cache_misses", 0, 0, 0), counts(C, "cache_misses", 0, 0, None)]
    seen = visit(site(tmp_path / "s", series, pairs=kept))
    assert seen.texts("#compare .status") == ["? Partly judged"]


def test_nothing_is_called_calm_above_functions_that_stopped_hitting(visit, tmp_path):
    calm = [counts(FORK, "cache_misses", 0, 0, 0)]
    seen = visit(site(tmp_path / "s", calm, ledgers=ledgers()))
    assert seen.verdict == (
        "3.3.7 against 3.3.6: no verdict is worse, but 2 functions stopped hitting a cache in "
        "2 cells; 1 series unaffected."
    )
    # Samples and ledgers say more than one value of each series: no green mark.
    assert seen.texts("#compare .status") == ["? Partly judged"]
    assert "no verdict on this cell is worse" in seen.texts("#compare .ledger caption")[0]


# Choosing


def test_the_newest_of_the_longest_line_is_set_against_the_one_before(visit, tmp_path):
    lines = [line("1.0", "1.1"), line("2.0", "2.1", "2.2", machine="other")]
    seen = visit(site(tmp_path / "s", [], lines=lines))
    assert seen.page.input_value("select >> nth=0") == "1-1"
    assert seen.page.input_value("select >> nth=1") == "1-2"
    assert seen.page.url.endswith("#a=1-1&b=1-2")
    groups = "all => all.map(one => one.label)"
    assert seen.page.eval_on_selector_all("select:first-of-type optgroup", groups)[:2] == [
        "epyc-2core, py311, 0", "other, py311, 0",
    ]  # fmt: skip
    newest = seen.texts("select >> nth=0 >> optgroup >> nth=1 >> option")
    assert [text.split(" · ")[0] for text in newest] == ["2.2", "2.1", "2.0"]


def test_the_two_can_be_swapped(visit, tmp_path):
    seen = visit(site(tmp_path / "s", [counts(FORK, "cache_misses", 0, 0, 35)]))
    assert "1 count worse" in seen.verdict
    seen.page.click("text=Swap")
    seen.page.wait_for_function("location.hash === '#a=0-2&b=0-1'")
    assert seen.verdict == "3.3.6 against 3.3.7: nothing got worse, 1 count better."


def test_a_subject_that_is_not_there_is_said(visit, tmp_path):
    seen = visit(site(tmp_path / "s", mixed()), "#a=7-1&b=0-1&cell=nowhere")
    assert seen.texts("#notes") == [
        (
            "The address asks for subject 7-1 as A, which these pages do not have; "
            "3.3.5 is shown instead."
        )
    ]
    assert seen.verdict.startswith("3.3.6 against 3.3.5:")
    seen.go("a=0-0&b=x%3Cb%3E")
    seen.page.wait_for_function("document.getElementById('notes').textContent.includes('<b>')")
    assert "as B, which these pages do not have" in seen.texts("#notes")[0]
    seen.page.select_option("select >> nth=0", "0-1")
    seen.page.wait_for_function("location.hash.startsWith('#a=0-1')")
    assert seen.texts("#notes") == [""]


def test_one_subject_against_itself_differs_in_nothing(visit, tmp_path):
    seen = visit(site(tmp_path / "s", mixed()), "#a=0-2&b=0-2")
    assert "A and B are the same subject" in seen.texts("#compare .verdict")[0]
    assert seen.texts("#compare .status") == ["? Wrong or crashing in both"]


# Filters


def test_filters_narrow_the_tables_and_stand_in_the_address(visit, tmp_path):
    page = site(tmp_path / "s", mixed())
    seen = visit(page)
    whole = seen.verdict
    seen.control("combobox", "Kind").select_option("times")
    assert seen.tables() == ["Slower or larger", "Better"]
    seen.control("spinbutton", "Least change, % (exact counts always shown)").fill("50")
    assert [row[3] for row in seen.rows("Slower or larger")] == ["✗ slower: ×2.1"]
    seen.control("checkbox", "better").uncheck()
    assert seen.tables() == ["Slower or larger"]
    seen.control("combobox", "Backend").select_option("NUMBA")
    seen.control("searchbox", "Cell, benchmark or metric").fill("COMPILE")
    assert len(seen.rows("Slower or larger")) == 1
    assert seen.verdict == whole  # the verdict is of all series
    assert seen.page.url.endswith(
        "#a=0-1&b=0-2&backend=NUMBA&kind=times&least=50&q=COMPILE&show=worse&show=described"
        "&show=unaffected&show=not+judged"
    )
    assert seen.texts("#said") == ["1 series shown"]

    again = visit(page, seen.page.url.partition("compare.html")[2])
    assert again.rows("Slower or larger") == seen.rows("Slower or larger")
    assert again.tables() == ["Slower or larger"]
    assert again.control("combobox", "Backend").input_value() == "NUMBA"
    again.go("a=0-1&b=0-2&launch=fork&show=none")
    again.page.wait_for_function("!document.querySelector('#compare caption')")
    assert again.control("combobox", "Start method").input_value() == "fork"
    said = "No series that got worse or better passes the filters."
    assert again.texts("#compare .quiet")[0] == said
    again.go("a=0-1&b=0-2&launch=nonsense&least=x&kind=y")
    again.page.wait_for_function("document.querySelector('#compare caption')")
    assert again.page.url.endswith("#a=0-1&b=0-2")


def test_words_of_ours_are_choices_only_where_names_are_ours(visit, tmp_path):
    theirs = [counts("bench.a b c d", "value", 1, 1, 1), counts("other", "value", 1, 1, 1)]
    seen = visit(site(tmp_path / "s", theirs))
    assert seen.control("combobox", "Backend").count() == 0
    assert seen.control("combobox", "Scenario").count() == 0


# Ledgers


TIMES = "\N{MULTIPLICATION SIGN}"


def ledgers() -> dict[str, Any]:
    long = "Composite{" + "x + " * 80 + "y}"
    base = ledger(
        fork=[("Add", "hit", 2, 0.001, 900), ("Mul", "miss", 1, 0.2, 50), (long, "hit", 1, 0.1, 5),
              ("Gone", "miss", 1, 0.3, None), ("inner", "internal", 3, 0.1, None),
              ("Same", "hit", 4, 0.01, 70), ("Refused", "miss", 1, 0.1, 1),
              ("Unasked", "hit", 1, 0.0, 1)],
        spawn=[("Add", "hit", 1, 0.001, 900)],
        c=[("only here", "hit", 1, 0.1, 1)],
    )  # fmt: skip
    head = ledger(
        spawn=[("Add", "uncacheable", 1, 0.1, 900)],
        fork=[("Add", "miss", 2, 0.25, 900), ("Mul", "hit", 1, 0.001, 50), (long, "hit", 1, 0.1, 5),
              ("New", "miss", 2, 0.4, 10), ("inner", "internal", 1, 0.1, None),
              ("Same", "hit", 4, 0.02, 70), ("Refused", "uncacheable", 1, 0.1, 1),
              ("Unasked", "internal", 1, 0.1, 1)],
    )  # fmt: skip
    return {"0-1": base, "0-2": head}


def test_ledgers_are_set_side_by_side_function_by_function(visit, tmp_path):
    seen = visit(site(tmp_path / "s", mixed(), ledgers=ledgers()))
    cell = seen.control("combobox", "Cell")
    assert cell.input_value() == FORK  # most differences
    assert cell.locator("option").all_inner_texts() == [
        f"{SPAWN}: 1 of its functions differs",
        f"{FORK}: 6 of its functions differ",
    ]
    assert seen.rows("Stopped hitting") == [
        ["Add", f"2 {TIMES} hit 1.00 ms, 900 B", f"2 {TIMES} miss 250 ms, 900 B"],
        ["Unasked", "hit 0 s, 1 B", "internal 100 ms, 1 B"],
    ]
    assert seen.rows("Began to hit") == [["Mul", "miss 200 ms, 50 B", "hit 1.00 ms, 50 B"]]
    assert seen.rows("Stored differently") == [
        ["Refused", "miss 100 ms, 1 B", "uncacheable 100 ms, 1 B"]
    ]
    assert seen.rows("Appeared") == [["New", "absent", f"2 {TIMES} miss 400 ms, 10 B"]]
    assert seen.rows("Vanished") == [["Gone", "miss 300 ms", "absent"]]
    seen.unfold("The same")
    shown = seen.rows("The same")
    assert [row[1] for row in shown] == ["hit 100 ms, 5 B", f"4 {TIMES} hit 10.0 ms, 70 B"]
    assert len(shown[0][0]) <= 160
    assert seen.page.locator("th.function[title]").get_attribute("title").endswith("x + y}")
    seen.unfold("Internal")
    assert seen.rows("Internal") == [["inner", f"3 {TIMES} internal 100 ms", "internal 100 ms"]]

    cell.select_option(SPAWN)
    assert seen.rows("Stopped hitting")[0][2] == "uncacheable 100 ms, 900 B"
    assert seen.page.url.endswith("#a=0-1&b=0-2&cell=radon+warm_disk+NUMBA+spawn")
    again = visit(tmp_path / "s" / "compare.html", "#a=0-1&b=0-2&cell=radon+warm_disk+NUMBA+spawn")
    assert again.control("combobox", "Cell").input_value() == SPAWN


def test_a_missing_ledger_is_said(visit, tmp_path):
    seen = visit(site(tmp_path / "s", mixed(), ledgers=ledgers()), "#a=0-0&b=0-1")
    assert "No ledger is saved for 3.3.5." in seen.texts("#compare .quiet")


# Markdown, commands, strangers


def test_the_comment_has_the_verdict_and_the_rows_that_are_seen(visit, tmp_path):
    series = [judged(C, "compile_time", "001", (1.0, 1.31)), counts(FORK, "cache_misses", 0, 0, 0)]
    seen = visit(site(tmp_path / "s", series))
    head = (
        "`3.3.7` against `3.3.6`: 1 timing slower; 1 series unaffected.\n\n"
        "| verdict | cell or benchmark | metric | `3.3.6` → `3.3.7` | in words |\n"
        "|---|---|---|---|---|\n"
        f"| worse | `{C}` | `compile_time` | 1.00 → 1.31\u00a0s | slower: +31\u00a0% |\n"
    )
    assert seen.markdown() == head
    seen.unfold("Unaffected")
    seen.page.wait_for_function("observatory.compareMarkdown().includes('cache_misses')")
    assert (
        seen.markdown() == f"{head}| unaffected | `{FORK}` | `cache_misses` | 0 → 0 | the same |\n"
    )
    seen.page.click("text=Copy as Markdown")
    seen.page.wait_for_selector("button:text-matches('Copied|Not allowed')")


def test_no_name_is_obeyed_by_the_page_or_by_the_comment(visit, tmp_path):
    lines = [line("3.3.6", HOSTILE, machine=HOSTILE, env="<b>env</b>")]
    series = [counts(HOSTILE, HOSTILE, 1, 2), counts("__proto__", "constructor", 1, 2)]
    entries = [(HOSTILE, "hit", 1, 0.1, 1), ("__proto__", "hit", 1, 0.1, 1)]
    kept = {"0-0": ledger(fork=entries), "0-1": ledger(fork=[])}
    seen = visit(site(tmp_path / "s", series, lines=lines, ledgers=kept))
    assert seen.verdict == f"{CLEANED} against 3.3.6: 2 counts worse."
    assert seen.page.evaluate("document.images.length") == 0
    assert seen.rows("Counts that got worse")[0][:2] == [CLEANED, CLEANED]
    assert {row[0] for row in seen.rows("Vanished")} == {CLEANED, "__proto__"}
    span = "```" + CLEANED + "```"
    comment = seen.markdown().splitlines()
    assert comment[0] == f"{span} against `3.3.6`: 2 counts worse."
    escaped = span.replace("|", "\\|")
    assert comment[4] == f"| worse | {escaped} | {escaped} | 1 → 2 | higher: +1 |"
    assert comment[5] == "| worse | `__proto__` | `constructor` | 1 → 2 | higher: +1 |"


@pytest.mark.parametrize(
    ("labels", "command"),
    [
        (("3.3.6", "3.3.7 numba==0.66.0"), "observatory compare 3.3.6 '3.3.7 numba==0.66.0'"),
        (("3.3.6", "main"), f"observatory compare --repo CLONE {'1' * 40} {'2' * 40}"),
        (
            ("3.3.6 a==1", "main a==1"),
            f"observatory compare --repo CLONE {'1' * 40} {'2' * 40} --with a==1",
        ),
    ],
)
def test_the_command_that_measures_both_anew(visit, tmp_path, labels, command):
    series = [counts(FORK, "cache_misses", 0, 0)]
    page = site(tmp_path / "s", series, lines=[line(*labels)], compare_url="https://x.invalid/c/")
    seen = visit(page)
    assert seen.texts("#compare pre") == [command]
    link = seen.page.get_by_text("What changed in between")
    assert link.get_attribute("href") == f"https://x.invalid/c/{'1' * 40}...{'2' * 40}"


@pytest.mark.parametrize("labels", [("nightly", "main"), ("3.3.6+whl.0a1b2c3d", "3.3.7"),
                                    ("3.3.6", "3.3.7'; rm x")])  # fmt: skip
def test_commits_that_are_none_make_no_command_and_no_link(visit, tmp_path, labels):
    odd = line(*labels)
    odd["subjects"][0][1], odd["subjects"][0][5] = "--upload-pack=x", ""
    series = [counts(FORK, "cache_misses", 0, 0)]
    seen = visit(site(tmp_path / "s", series, lines=[odd], compare_url="https://x.invalid/c/"))
    assert seen.texts("#compare pre") == []
    assert "no command can name it" in seen.page.inner_text("#compare")
    assert seen.page.get_by_text("What changed in between").count() == 0


PROFILES = {"pages": {"0-0 0-1": [str(FORK), "profiles/a.html"]}, "cells": ["one", "other"],
            "of": {"0-0": [0, 1], "0-1": [0], "0-2": [1], "1-0": [0], "1-1": [0]}}  # fmt: skip


@pytest.mark.parametrize(
    ("a", "b", "more"),
    [
        ("0-0", "0-1", None),  # they have a page
        ("0-1", "0-0", "observatory profile 3.3.6 3.3.5 --form html --out profile.html"),
        ("0-0", "0-2", "observatory profile 3.3.5 '3.3.7 a==1' --form html --out profile.html"),
        ("0-1", "0-2", None),  # no cell has a profile of both
        ("0-0", "0-0", None),
        ("0-0", "0-3", None),  # one has no profile
    ],
)
def test_a_pair_without_a_flame_graph_has_the_command_that_draws_it(visit, tmp_path, a, b, more):
    lines = [line("3.3.5", "3.3.6", "3.3.7 a==1", "3.3.8")]
    page = site(
        tmp_path / "s", [counts(FORK, "cache_misses", 0, 0)], lines=lines, profiles=PROFILES
    )
    seen = visit(page, f"#a={a}&b={b}")
    assert seen.texts("#compare pre")[1:] == [*filter(None, [more])]
    assert seen.page.get_by_text("a flame graph", exact=False).count() == bool(
        more or (a, b) == ("0-0", "0-1")
    )


def test_the_command_for_a_flame_graph_names_the_machine_where_there_are_several(visit, tmp_path):
    second = line("3.3.5", "3.3.6") | {"machine": "the other"}
    page = site(
        tmp_path / "s", [counts(FORK, "cache_misses", 0, 0)], lines=[line("3.3.5"), second],
        profiles=PROFILES,
    )  # fmt: skip
    command = "observatory profile 3.3.5 3.3.6 --machine 'the other' --form html --out profile.html"
    for a, b, more in (("0-0", "1-1", []), ("1-0", "1-1", [command])):
        assert visit(page, f"#a={a}&b={b}").texts("#compare pre")[1:] == more


def test_of_another_project_saved_results_are_compared(visit, tmp_path):
    odd = [line("3.3.6", "it's $(x)")]
    series = [counts("bench.time_it", "value", 1, 1)]
    seen = visit(site(tmp_path / "s", series, lines=odd, compare_url="javascript:x"))
    command = ["observatory", "compare", "RESULTS:3.3.6", "RESULTS:it's $(x)"]
    assert seen.texts("#compare pre") == [shlex.join(command)]
    assert seen.page.get_by_text("What changed in between").count() == 0  # a link runs nothing


# Size, looks, and what is left without JavaScript or data


def test_twenty_thousand_series_are_drawn_by_the_hundred(visit, tmp_path):
    series = [counts(f"suite.Bench{n}.time_{n % 7}", "value", 0, 0, n % 50) for n in range(20_000)]
    seen = visit(site(tmp_path / "s", series))
    assert "19,600 counts worse; 400 series unaffected" in seen.verdict
    drawn = "document.querySelector('#compare tbody').rows.length"
    assert seen.page.evaluate(drawn) == 500
    assert seen.texts("#compare .rest")[0] == "and 19,100 more Show the next 500"
    seen.page.click("text=Show the next 500")
    assert seen.page.evaluate(drawn) == 1000
    assert seen.page.evaluate("document.activeElement.textContent") == "Show the next 500"
    seen.control("searchbox", "Cell, benchmark or metric").fill("77")
    seen.page.click("text=Show the next 56")
    row = "document.activeElement.closest('tr').sectionRowIndex"
    assert seen.page.evaluate(row) == 500  # no button is left: on to what it showed
    seen.control("searchbox", "Cell, benchmark or metric").fill("bench1999")
    assert seen.texts("#said") == ["11 series shown"]
    seen.control("searchbox", "Cell, benchmark or metric").fill("")
    comment = seen.markdown()
    assert len(comment) < 65_000
    assert re.search(r"and 1\d,\d{3} more\n$", comment)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_no_wider_than_the_screen(visit, tmp_path, width, scheme):
    name = "benchmarks.suite.Long" * 6
    series = [*mixed(), counts(name, "value" * 12, 1, 1, 2)]
    lines = [line("3.3.5", "3.3.6", "3.3.7+dirty." + "x" * 70)]
    page = site(tmp_path / "s", series, lines=lines, ledgers=ledgers())
    seen = visit(page, width=width, scheme=scheme)
    for summary in seen.page.query_selector_all("main summary"):
        summary.click()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_serious_fault_of_accessibility_is_found(visit, tmp_path):
    page = site(tmp_path / "s", mixed(), ledgers=ledgers(), compare_url="https://x.invalid/c/")
    seen = visit(page, bypass_csp=True)
    for summary in seen.page.query_selector_all("main summary"):
        summary.click()
    assert violations(seen.page) == []


def test_without_javascript_the_static_table_is_there(visit, tmp_path):
    row = ("<i>cell</i>", "m", "1", "2", "1 more")
    page = site(tmp_path / "s", [], static=[row])
    seen = visit(page, ready="#compare table", java_script_enabled=False)
    assert seen.page.locator("#compare h2").inner_text() == "3.3.7 against <3.3.6>"
    assert seen.page.locator("#compare tbody th").inner_text() == "<i>cell</i>"
    assert "observatory compare RESULTS:A RESULTS:B" in seen.page.inner_text("main")
    scripted = visit(page)
    assert scripted.page.locator("#static").count() == 0


def test_nothing_measured_is_said(visit, tmp_path):
    page = site(tmp_path / "s", [], lines=[])
    seen = visit(page, ready="#compare .quiet")
    assert seen.texts("#compare") == ["Nothing has been measured yet."]


def test_a_data_file_that_is_gone_is_said(browser, tmp_path):
    page = site(tmp_path / "s", mixed())
    (tmp_path / "s" / "data" / "at-0-0.js").unlink()
    context = browser.new_context(offline=True)
    opened = context.new_page()
    opened.goto(page.as_uri())
    opened.wait_for_selector("#notes p")
    assert "Nothing can be compared: data/at-0-0.js is missing" in opened.inner_text("#notes")
    context.close()
