"""Exponents and cliffs of synthetic curves, and what is judged of a sample of growing graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.analyze.comparison.causes import explained
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.graphs import by_graph
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.verdicts import judge_exact
from observatory.analyze.growth.curve import Curve, Point
from observatory.analyze.growth.families import OF_SIZES, by_subject, families
from observatory.analyze.history.exact_changes import counted_changes
from observatory.analyze.history.followed import CountedSubject, History
from observatory.analyze.statements import JudgedVerdict
from observatory.app.probing import Prober
from observatory.app.session import Session
from observatory.benchmarks.catalogue import METRICS, Cell
from observatory.store.records.alerts import at_of
from observatory.store.records.sample import Build, Sample, Size
from observatory.text.statements import sentence_of
from tests.factories import header, sample
from tests.factories_alerts import subject

LAYERS = (1, 3, 10, 30, 100, 300)
WIDTHS = (2, 5, 10, 20, 30, 40, 60)
CELL = Cell("growth", "growth", "NUMBA", "spawn")


def curve(cost: Callable[[int], float], sizes: tuple[int, ...] = LAYERS) -> Curve:
    return Curve(tuple(Point(size, cost(size)) for size in sizes))


@pytest.mark.parametrize(
    ("cost", "power"),
    [
        (lambda n: 400_000 + 12_000 * n, 1.0),
        (lambda n: 400_000 + 7 * n**2, 2.0),
        (lambda n: 400_000 + (n > 1) * 90_000 + 12_000 * n, 1.0),
    ],
)
def test_the_exponent_is_that_of_what_grows(cost: Callable[[int], float], power: float) -> None:
    found = curve(cost).exponent
    assert found is not None
    assert found.estimate == pytest.approx(power, abs=0.01)
    assert found.low <= found.estimate <= found.high
    assert curve(cost).cliffs == ()


def test_what_hardly_grows_has_the_exponent_0() -> None:
    found = curve(lambda n: 1_000 + 0.1 * n).exponent
    assert found is not None
    assert found.estimate == 0


def test_three_sizes_give_no_exponent() -> None:
    assert curve(lambda n: n, LAYERS[:3]).exponent is None


def wide(width: int) -> float:
    """As PyTensor 3.3.0 with numba: about five times as much for each input above 30."""
    return 220_000 + 27_000 * width + 110_000 * max(0, width - 30)


def test_a_cliff_is_found_without_being_told_where_and_leaves_the_exponent_alone() -> None:
    (cliff,) = curve(wide, WIDTHS).cliffs
    assert (cliff.below, cliff.at) == (30, 40)
    assert cliff.each == pytest.approx(5.1, abs=0.1)
    before = curve(wide, WIDTHS).exponent
    assert before is not None
    assert before.estimate == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("power", [1, 1.5, 2, 2.4])
def test_a_power_of_the_size_is_no_cliff(power: float) -> None:
    for sizes in (LAYERS, WIDTHS):
        assert curve(lambda n: 1_000 + n**power, sizes).cliffs == ()


def test_a_build_that_was_ended_can_show_a_cliff() -> None:
    points = [Point(size, 1.0 + size / 100) for size in (10, 20, 30)]
    (cliff,) = Curve((*points, Point(40, 15.0, at_least=True))).cliffs
    assert cliff.at_least
    assert (cliff.below, cliff.at) == (30, 40)


def grown(cost: Callable[[int], float], functions: Callable[[int], int]) -> list[Sample]:
    """A tracing and a counting sample of a chain of layers."""
    found = []
    for measure, metric, value in (
        ("tracing", "python_calls", cost), ("counting", "functions_compiled", functions),
    ):  # fmt: skip
        steps = [
            Build(name=f"layers.{size}", metrics={metric: value(size), "graphs_raised": 0},
                  size=Size(family="layers", noun="layers", number=size, limit=15.0,
                            equal_layers=True))
            for size in LAYERS
        ]  # fmt: skip
        total = sum(step.metrics[metric] for step in steps)
        found.append(sample(CELL, measure, {metric: total, "graphs_raised": 0}, steps=steps))
    return found


def linear(size: int) -> float:
    return 400_000 + 12_000 * size


def judged(base: list[Sample], head: list[Sample]) -> list[JudgedVerdict]:
    return judge_exact([CELL], Evidence.of(base), Evidence.of(head), NoiseFloors()).verdicts


def causes(base: list[Sample], head: list[Sample]) -> dict[str, list[str]]:
    old, new = Evidence.of(base), Evidence.of(head)
    found, _ = explained(judge_exact([CELL], old, new, NoiseFloors()).verdicts, old, new)
    return {cause.kind: [graph.name for graph in cause.graphs] for cause in found}


def test_a_higher_exponent_is_an_alarm_that_names_the_family() -> None:
    found = causes(
        grown(linear, lambda _: 11), grown(lambda n: linear(n) + 60 * n**2, lambda _: 11)
    )
    assert found == {"work grows faster": ["layers"]}


def test_a_new_cliff_is_an_alarm_that_names_the_family() -> None:
    found = causes(
        grown(linear, lambda _: 11),
        grown(lambda n: linear(n) + 90_000 * max(0, n - 30), lambda _: 11),
    )
    assert found == {"work rises at once": ["layers"]}


def test_a_cliff_that_moves_to_a_smaller_size_is_an_alarm_and_one_that_moves_up_is_none() -> None:
    low, high = (
        grown(lambda n, limit=limit: linear(n) + 90_000 * max(0, n - limit), lambda _: 11)
        for limit in (10, 30)
    )
    assert causes(high, low) == {"work rises earlier": ["layers"]}
    assert causes(low, high) == {}
    twice = grown(
        lambda n: linear(n) + 90_000 * max(0, n - 30) + 9_000_000 * max(0, n - 100), lambda _: 11
    )
    assert causes(low, twice) == {"work rises at once": ["layers"]}


def ended(samples: list[Sample], size: int) -> list[Sample]:
    """The samples with the sizes from one on ended by their limit."""

    def as_ended(one: Build) -> Build:
        assert one.size is not None
        if one.size.number < size:
            return one
        return one.model_copy(update={"status": "limited", "metrics": {}})

    return [
        one.model_copy(update={"steps": [as_ended(step) for step in one.steps]}) for one in samples
    ]


def test_a_head_that_ends_sizes_is_not_better_and_is_judged_over_the_others() -> None:
    def cliff(size: int) -> float:
        return linear(size) + 90_000 * max(0, size - 30)

    whole, cut = grown(cliff, lambda _: 11), ended(grown(cliff, lambda _: 11), 100)
    verdicts = {one.metric: one for one in judged(whole, cut)}
    assert verdicts["work_cliffs"].conclusion == "undecided"
    assert verdicts["work_cliffs"].because is not None
    assert sentence_of(verdicts["work_cliffs"].because) == (
        "HEAD does not finish layers with 100 layers within 15 s of CPU time, and BASE does; only "
        "smaller sizes were compared"
    )
    assert verdicts["work_cliffs"].base.values == verdicts["work_cliffs"].head.values == [0]
    # A head that builds more sizes may have a cliff there, which nobody could see in the base.
    assert all(one.conclusion == "unaffected" for one in judged(cut, whole))
    slow, fast = (
        grown(lambda n, power=power: 400_000 + 4_000 * n**power, lambda _: 11)
        for power in (1.5, 1.7)
    )
    assert causes(slow, ended(fast, 300)) == {"work grows faster": ["layers"]}


def test_a_family_that_a_metric_does_not_count_decides_nothing_about_it() -> None:
    """Of inputs, functions are not counted: that some are ended says nothing of layers."""

    def both(ends: bool) -> list[Sample]:
        inputs = [
            Build(name=f"inputs.{size}",
                  metrics={} if ends and size > 10 else {"python_calls": 100.0 * size},
                  status="limited" if ends and size > 10 else "ok",
                  size=Size(family="inputs", noun="inputs", number=size, limit=15.0))
            for size in WIDTHS
        ]  # fmt: skip
        return [
            one.model_copy(update={"steps": [*one.steps, *inputs]})
            for one in grown(linear, lambda _: 11)
        ]

    verdicts = {one.metric: one for one in judged(both(False), both(True))}
    assert verdicts["functions_added"].conclusion == "unaffected"
    assert verdicts["work_cliffs"].conclusion == "undecided"


def test_a_head_that_builds_no_size_is_undecided() -> None:
    same = grown(linear, lambda _: 11)
    found = judged(same, ended(same, 1))
    assert {one.metric for one in found if one.conclusion == "undecided"} == {*OF_SIZES}


def test_along_a_history_a_higher_exponent_is_an_alert_until_it_returns() -> None:
    nights = [
        grown(lambda n, power=power: 400_000 + 4_000 * n**power, lambda _: 11)
        for power in (1.5, 1.5, 1.7, 1.5)
    ]
    subjects = [
        CountedSubject(at_of(subject(n)), Evidence.of(taken), n) for n, taken in enumerate(nights)
    ]
    worse, *others = counted_changes(History("bench", "py3.13", subjects))[0]
    assert (worse.change.kind, worse.change.first_bad.label) == ("work grows faster", "n2")
    (change,) = worse.change.series
    assert (change.metric, change.before, change.after) == ("work_exponent", 1.5, 1.7)
    assert "layers" in sentence_of(worse.statement)
    assert worse.recovered is not None
    assert worse.recovered.label == "n3"
    assert not any(other.worse for other in others)


def test_an_exponent_that_is_not_sure_is_not_judged() -> None:
    def bent(size: int) -> float:
        return linear(size) + 100_000 * (size >= 10) + 900_000 * (size >= 100)

    head = Evidence.of(grown(bent, lambda _: 11)[:1])
    assert not [one for s in head.samples for one in s.steps if "work_exponent" in one.metrics]


def test_layers_that_are_compiled_apart_are_an_alarm_and_equal_ones_are_not() -> None:
    same = grown(linear, lambda _: 11)
    assert causes(same, same) == {}
    assert causes(same, grown(linear, lambda n: 10 + n)) == {
        "equal layers are compiled apart": ["layers"]
    }


def test_a_family_says_in_words_what_is_judged() -> None:
    base, head = (Evidence.of(grown(wide_layers, lambda _: 11)) for _ in "ab")
    found = by_graph(CELL, METRICS["work_cliffs"], base, head)
    assert found is not None
    (note,) = {one.note for s in head.samples for one in s.steps if "work_cliffs" in one.metrics}
    assert note is not None
    assert note.startswith("from 30 to 100 layers, one more takes 8.5 times as many calls")


def test_a_search_sees_what_is_derived_of_a_sample(tmp_path: Path) -> None:
    session = Session("bisect", tmp_path / "results", tmp_path / "state", header().machine)
    prober = Prober(session, CELL, METRICS["work_cliffs"])
    assert prober.median(grown(linear, lambda _: 11)) == 0
    assert prober.median(grown(wide_layers, lambda _: 11)) == 1


def wide_layers(size: int) -> float:
    return linear(size) + 90_000 * max(0, size - 30)


def test_families_come_in_the_order_of_their_builds_with_sizes_in_order() -> None:
    builds = grown(linear, lambda _: 11)[0].steps
    (one,) = families(reversed(builds))
    assert [b.size.number for b in one.builds if b.size] == list(LAYERS)
    assert families([Build(name="radon", metrics={})]) == []


def test_a_size_that_one_pass_could_not_build_and_another_one_could_is_one_point() -> None:
    builds = [
        Build(name=f"a.{number}", status=status, metrics={"cpu_time": seconds},
              size=Size(family="a", noun="nodes", number=number, limit=12.0))
        for number, seconds, status in ((10, 1.0, "ok"), (30, 11.0, "limited"))
    ]  # fmt: skip
    (one,) = families(builds)
    assert [point.size for point in one.curve("cpu_time").points] == [10, 30]


def test_the_families_of_all_cells_of_a_subject_are_shown_together() -> None:
    (one,) = families(grown(linear, lambda _: 11)[0].steps)
    other = replace(one, name="radon")
    measured = [("3.3.0", [one]), ("3.3.8", [one]), ("3.3.8", [other]), ("3.3.8", [one])]
    assert by_subject(measured) == {"3.3.0": (one,), "3.3.8": (one, other)}
