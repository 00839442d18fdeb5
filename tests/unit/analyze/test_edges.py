"""A value that sits at a floor gets the same verdict again and again, on real noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.analyze.comparison.rules import (
    COUNTED,
    LEARNED,
    LEAST_SPREAD,
    MOST_SPREAD,
    SMALLEST_STEP,
    Noise,
    conclude,
    rule_of,
    wants_more,
)
from observatory.analyze.history.level_changes import alerted_steps
from observatory.analyze.history.segments import segmented
from observatory.analyze.history.series import Series
from observatory.benchmarks.catalogue import METRICS, STEADY
from observatory.run.interleave import WORKED
from scripts.accuracy.time_rates import kept_pool
from scripts.accuracy.work_rates import concluded, pool_of
from tests.factories_alerts import detected, line, moment, series, stepped, watched

POOLS = Path(__file__).parents[3] / "results/pools"
WORK = rule_of(METRICS["instructions"], "warm_disk")
FLOOR = METRICS["instructions"].material or 0.0


WAITING = rule_of(METRICS["waiting_time"], "warm_disk")
CALM, HELD = (0.0, 0.004, 0.001, 0.0, 0.015), (0.2, 0.205, 0.195, 0.2, 0.3)
RETAINED = rule_of(METRICS["retained_bytes"], "warm_disk")


@pytest.mark.parametrize(
    ("base", "head", "conclusion"),
    [
        (0.0, 2e7, "worse"),
        (2e7, 0.0, "better"),
        (0.0, 3_000.0, "unaffected"),
        (0.0, 150_000.0, "worse"),
    ],
)
def test_values_below_the_resolution_are_equal(base: float, head: float, conclusion: str) -> None:
    assert conclude(RETAINED, [base] * 3, [head] * 3).conclusion == conclusion


def test_a_search_takes_values_below_the_resolution_for_equal() -> None:
    metric = METRICS["retained_bytes"]
    assert metric.same(5_000, 60_000)
    assert not metric.same(5_000, 8e6)


@pytest.mark.parametrize(
    ("base", "head", "conclusion"),
    [
        (CALM, HELD, "worse"),
        (HELD, CALM, "better"),
        (CALM, (0.31, 0.16, 0.2, 0.4, 0.001), "unaffected"),  # a disk was busy
        ((0.3, 0.001, 0.2, 0.1, 0.1), (0.001,) * 5, "unaffected"),
        ((*CALM[:4], 0.15), HELD, "unaffected"),
        (CALM[:4], HELD, "undecided"),
        (HELD, CALM[:4], "undecided"),
        ((0.0,), (0.004,), "unaffected"),
        (CALM, (0.13, 0.14, 0.13, 0.13, 0.14), "unaffected"),  # longer, and not by much
    ],
)
def test_a_build_waits_longer_if_each_wait_is_longer_than_all_of_the_other_side(
    base: tuple[float, ...], head: tuple[float, ...], conclusion: str
) -> None:
    found = conclude(WAITING, base, head)
    assert (found.conclusion, found.ratio) == (conclusion, None)


def test_the_value_that_stands_for_several_waits_is_the_lowest() -> None:
    assert METRICS["waiting_time"].value_of([0.3, 0.001, 0.2, 0.15]) == 0.001


def test_no_work_on_either_side_is_no_change_whatever_the_number_of_samples() -> None:
    assert conclude(RETAINED, [0.0], [0.0, 0.0]).conclusion == "unaffected"
    calls = rule_of(METRICS["python_calls"], "warm_disk")
    assert conclude(calls, [0.0], [0.0, 0.0]).conclusion == "unaffected"
    assert conclude(calls, [0.0], [0.0, 1.0]).conclusion == "workload changed"


@pytest.mark.parametrize(("head", "same"), [(0.06, True), (0.149, True), (0.151, False)])
def test_a_search_takes_waits_for_equal_that_no_verdict_calls_longer(
    head: float, same: bool
) -> None:
    assert METRICS["waiting_time"].same(0.001, head) == same
    assert (conclude(WAITING, [0.001] * 5, [head] * 5).conclusion == "unaffected") == same


@pytest.mark.parametrize("name", [one.name for one in METRICS.values() if one.kind == "exact"])
def test_a_search_takes_for_equal_what_a_verdict_does(name: str) -> None:
    metric, floor = METRICS[name], METRICS[name].material or 0.0
    assert metric.same(0.0, 0.0)
    assert metric.same(1000.0, 1000.0)
    assert metric.same(1000.0, 1000.0 * (1 + floor))
    assert not metric.same(1000.0, 1001.0 * (1 + floor))
    assert not metric.same(0.0, 1.0)


def test_what_is_printed_is_the_ratio_of_what_was_measured() -> None:
    found = conclude(RETAINED, [10_000.0] * 3, [500_000.0] * 3)
    assert found.ratio is not None
    assert (found.conclusion, found.ratio.estimate) == ("worse", 50)
    assert conclude(RETAINED, [0.0] * 3, [2e7] * 3).ratio is None


def noises() -> list[np.ndarray]:
    """Times of each cell of the pools, relative to their median."""
    others = ("-work", "-waits")
    paths = (path for path in sorted(POOLS.glob("*.parquet")) if not path.stem.endswith(others))
    pools = [kept_pool(path) for path in paths]
    return [
        values[:, 0] / np.median(values[:, 0])
        for pool in pools
        for (_, metric), values in pool.items()
        if metric in ("compile_time", "call_time")
    ]


def share_of_alarms(step: float, looks: Sequence[int] = WORKED, spread: float = 0.001) -> float:
    """Of comparisons of work: the noise of a pool, shrunk to what builds vary by."""
    rng = np.random.default_rng(1)
    found = []
    for noise in noises():
        logs = np.log(noise) * spread / np.log(noise).std()
        for _ in range(200):
            base, head = np.exp(rng.choice(logs, (2, max(looks))))
            found.append(concluded(WORK, base.tolist(), (head * (1 + step)).tolist(), looks))
    assert "better" not in found
    return found.count("worse") / len(found)


@pytest.mark.parametrize("looks", [(1,), (3,), WORKED])
def test_work_that_grows_by_its_floor_is_no_alarm_in_any_run(looks: Sequence[int]) -> None:
    """Judged by its median alone, it was an alarm in every second run."""
    assert share_of_alarms(FLOOR, looks) < 0.05
    assert share_of_alarms(0.0, looks) <= (0.01 if looks == (1,) else 0)


def recorded_work() -> dict[tuple[str, str, str], np.ndarray]:
    """Counts of each cell of the pool, idle and busy alike, relative to their median."""
    pool = pool_of(POOLS / "epyc-2core-3.3.7-work.parquet")
    return {
        key: own["value"].to_numpy(float) / own["value"].median()
        for key, own in pool.groupby(["metric", "scenario", "backend"])
    }


RECORDED = recorded_work()


def test_the_pool_has_both_counts_of_builds() -> None:
    found = {(metric, scenario) for metric, scenario, _ in RECORDED}
    assert found >= {
        (metric, scenario)
        for metric in ("instructions", "python_calls")
        for scenario in ("warm_disk", "warm_process")
    }


@given(
    cell=st.sampled_from(sorted(RECORDED)), seed=st.integers(0, 2**32 - 1),
    change=st.floats(1 / (1 + FLOOR), 1 + FLOOR) | st.sampled_from([0.99, 0.995, 1.005, 1.01]),
)  # fmt: skip
def test_repeated_comparisons_of_recorded_work_agree(
    cell: tuple[str, str, str], seed: int, change: float
) -> None:
    """Up to the floor none is an alarm, and from half a per cent on every one is."""
    metric, scenario, _ = cell
    assert METRICS[metric].material == FLOOR
    source = STEADY if metric == "instructions" else ""
    steady = rule_of(METRICS[metric], scenario, source=source)
    drawn = np.random.default_rng(seed).choice(RECORDED[cell], (20, 2, max(WORKED)))
    found = {
        concluded(steady, base.tolist(), (head * change).tolist(), WORKED) for base, head in drawn
    }
    if abs(np.log(change)) > 0.0049:
        assert found == {"worse" if change > 1 else "better"}
    else:
        assert found.isdisjoint(("worse", "better"))


def test_work_that_grows_by_half_a_per_cent_is_an_alarm_in_every_run() -> None:
    assert share_of_alarms(0.005) > 0.95
    assert share_of_alarms(0.005, (1,)) < 0.7


def test_a_change_at_the_edge_is_counted_again_and_a_large_one_is_not() -> None:
    for counts, change, more in [
        (1, 0.001, False), (1, 0.0025, True), (1, 0.05, True), (1, -0.05, True),
        (3, 0.001, False), (3, 0.0025, True), (3, -0.0045, True), (3, 0.007, False),
    ]:  # fmt: skip
        assert wants_more(WORK, [1e9] * counts, [1e9 * (1 + change)] * counts) == more
    assert not wants_more(WORK, [1e9], [])
    assert not wants_more(rule_of(METRICS["cache_misses"], "warm_disk"), [0], [3])


def test_the_more_counts_the_smaller_a_change_is_sure() -> None:
    found = [conclude(WORK, [1e9] * counts, [1.0045e9] * counts).conclusion for counts in (1, 3, 5)]
    assert found == ["workload changed", "worse", "worse"]
    assert conclude(WORK, [1.0042e9] * 3, [1e9] * 3).conclusion == "workload changed"
    assert conclude(WORK, [1.0042e9] * 5, [1e9] * 5).conclusion == "better"


def test_one_count_that_is_far_off_is_no_change_and_wants_more() -> None:
    for base, head in (
        ([1e9] * 3, [1e9, 1e9, 1.1e9]), ([1e9] * 2, [1e9, 1.1e9]),
        ([1e9, 1e9, 1.02e9], [1.006e9] * 3), ([1e9] * 3, [1e9, 1e9, 0.9e9]),
    ):  # fmt: skip
        assert conclude(WORK, base, head).conclusion == "unaffected"
        assert wants_more(WORK, base, head)


def test_counts_without_lookups_are_sure_of_smaller_changes() -> None:
    steady = rule_of(METRICS["instructions"], "warm_disk", source=f"callgrind{STEADY}")
    assert conclude(steady, [1e9], [1.003e9]).conclusion == "worse"
    assert conclude(steady, [1e9], [1.002e9]).conclusion == "workload changed"
    assert conclude(WORK, [1e9], [1.003e9]).conclusion == "unaffected"
    assert rule_of(METRICS["python_calls"], "warm_disk", source=STEADY).spread == (
        METRICS["python_calls"].spread
    )


def test_a_change_must_be_larger_on_a_machine_on_which_work_varies_more() -> None:
    noisier = rule_of(METRICS["instructions"], "warm_disk", Noise(0.004, 6))
    assert noisier.material == WORK.material
    assert noisier.sure(3, 3) == pytest.approx(1.002 * 1.004)


def test_noise_that_was_learned_is_kept_within_bounds() -> None:
    """Few samples may only widen it, and no sample that is far off makes the judge blind."""
    python_calls = METRICS["python_calls"]
    for change, samples, spread in [
        (0.0, LEARNED - 1, python_calls.spread), (0.0, LEARNED, LEAST_SPREAD),
        (0.0006, LEARNED, 0.0006 * math.sqrt(COUNTED)), (0.002, 4, 0.002 * math.sqrt(COUNTED)),
        (0.5, 4, MOST_SPREAD * python_calls.spread), (0.5, 99, MOST_SPREAD * python_calls.spread),
    ]:  # fmt: skip
        rule = rule_of(python_calls, "warm_disk", Noise(change, samples))
        assert (rule.spread, rule.samples) == (pytest.approx(spread), samples)
        assert rule.material == FLOOR


def test_noise_of_one_source_says_nothing_of_another() -> None:
    quiet = Noise(0.0, 100, source=f"callgrind{STEADY}")
    rule = rule_of(METRICS["instructions"], "warm_disk", quiet, source="callgrind")
    assert rule == rule_of(METRICS["instructions"], "warm_disk", source="callgrind")
    rule = rule_of(METRICS["instructions"], "warm_disk", quiet, source=quiet.source)
    assert (rule.spread, rule.samples) == (LEAST_SPREAD, 100)


def nights_with_a_step(seed: int, size: float, remembers: bool) -> list[bool]:
    """For every third night from the 25th on, whether a step at the 20th is seen."""
    noise = noises()[seed % len(noises())]
    values = 0.25 * np.exp(0.05 * np.log(np.random.default_rng(seed).choice(noise, 60)))
    values[20:] *= 1 + size
    found: list[bool] = []
    for nights in range(25, 61, 3):
        seen = series(line(nights), values[:nights])
        alerted = [(seen.key, seen.subject(20).commit)] if remembers and any(found[-1:]) else []
        (track,) = segmented([seen], alerted)
        found.append(any(abs(place - 20) < 5 for place in track.bounds[1:-1]))
    return found


def test_a_step_of_exactly_the_smallest_size_is_seen_in_the_end() -> None:
    """Judged by its estimate alone, every second one was not."""
    last = [nights_with_a_step(seed, SMALLEST_STEP, remembers=False)[-1] for seed in range(12)]
    assert last.count(True) >= 10


def test_a_step_at_the_edge_that_was_an_alert_does_not_come_and_go() -> None:
    gone = {
        remembers: sum(
            was and not now
            for seed in range(12)
            for was, now in pairwise(nights_with_a_step(seed, 0.75 * SMALLEST_STEP, remembers))
        )
        for remembers in (False, True)
    }
    assert gone[False] >= max(1, 2 * gone[True])


def stairs() -> Series:
    values = np.full(60, 0.25) * np.exp(0.001 * np.random.default_rng(1).standard_normal(60))
    values[20:40] *= 1.015
    return series(line(60), values)


def test_an_alerted_step_brings_no_other_small_step_with_it() -> None:
    one = stairs()
    (plain,) = segmented([one])
    (held,) = segmented([one], [(one.key, one.subject(41).commit)])
    assert plain.bounds == (0, 60)
    assert held.bounds == (0, 40, 60)


def test_what_alerts_said_before_is_remembered_until_it_is_over() -> None:
    values = stepped(60, 30, factor=1.06)
    first = detected(watched(60, series(line(60), values)), moment(60))
    assert [commit for _, commit in alerted_steps(first)] == [first.alerts[0].first_bad.commit]
    over = np.concatenate([values, values[:30]])
    later = detected(watched(90, series(line(90), over)), moment(90, first))
    assert later.alerts[0].state == "resolved"
    assert alerted_steps(later) == alerted_steps(None) == []
