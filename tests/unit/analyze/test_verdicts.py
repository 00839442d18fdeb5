"""Verdicts by kind of metric, and what is said to be missing."""

import random
from collections.abc import Sequence

import pytest

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.noisy import LOOKS
from observatory.analyze.comparison.rules import Noise
from observatory.analyze.comparison.verdicts import judge_exact, judge_noisy
from observatory.analyze.statements import JudgedVerdict, Statement
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.sample import Sample
from observatory.text.statements import sentence_of
from tests.factories import WARM, failed, sample

OTHER_CPU = Statement("other CPU")
CALL = Cell("radon", "call", "NUMBA", "fork")


def exact(base: Sequence[Sample], head: Sequence[Sample], floors: NoiseFloors | None = None):
    old, new = Evidence.of(base), Evidence.of(head)
    return judge_exact(sorted(old.cells | new.cells), old, new, floors or NoiseFloors())


def one(verdicts: Sequence[JudgedVerdict], metric: str) -> JudgedVerdict:
    (found,) = [verdict for verdict in verdicts if verdict.metric == metric]
    return found


def times(*values: float, cell: Cell = WARM) -> list[Sample]:
    return [sample(cell, metrics={"compile_time": value}) for value in values]


def noisy(base: Sequence[Sample], head: Sequence[Sample], **options: object) -> list[JudgedVerdict]:
    old, new = Evidence.of(base), Evidence.of(head)
    return judge_noisy([WARM], old, new, NoiseFloors(), 1, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "conclusion"),
    [(0, 1, "worse"), (1, 0, "better"), (3, 3, "unaffected")],
)
def test_one_miss_more_in_a_warm_cell_is_worse(before: int, after: int, conclusion: str) -> None:
    base = [sample(WARM, "counting", {"cache_misses": before})]
    head = [sample(WARM, "counting", {"cache_misses": after})]
    assert one(exact(base, head).verdicts, "cache_misses").conclusion == conclusion


@pytest.mark.parametrize(
    ("base", "head", "conclusion"),
    [
        ([0, 0], [35, 34], "worse"), ([35, 34], [0, 0], "better"), ([0, 0], [0, 1], "undecided"),
        ([10, 12], [13, 14], "undecided"), ([0, 3], [3, 0], "undecided"),
        ([0, 0], [1, 3], "undecided"),
        ([2, 3], [9, 8], "worse"),
    ],
)  # fmt: skip
def test_counts_that_vary_less_than_they_moved_are_judged(
    base: list[int], head: list[int], conclusion: str
) -> None:
    """A key that depends on the hash seed gives another number of misses in each process."""
    sides = ([sample(WARM, "counting", {"cache_misses": n}) for n in own] for own in (base, head))
    assert one(exact(*sides).verdicts, "cache_misses").conclusion == conclusion


@pytest.mark.parametrize(
    ("base", "head", "conclusion"),
    [("..x", "xxx", "worse"), ("..x", ".xx", "unaffected"), ("xxx", "xxx", "unaffected")],
)
def test_a_head_that_always_fails_is_worse_than_a_base_that_failed_once(
    base: str, head: str, conclusion: str
) -> None:
    def taken(text: str) -> list[Sample]:
        good = sample(WARM, metrics={"compile_time": 0.4})
        return [failed(WARM) if letter == "x" else good for letter in text]

    assert one(exact(taken(base), taken(head)).verdicts, "crashed").conclusion == conclusion


def test_misses_of_a_cold_build_describe_the_workload() -> None:
    cold = Cell("radon", "cold", "NUMBA", "fork")
    base = [sample(cold, "counting", {"cache_misses": 35, "uncacheable": 0})]
    head = [sample(cold, "counting", {"cache_misses": 41, "uncacheable": 1})]
    verdicts = exact(base, head).verdicts
    assert one(verdicts, "cache_misses").conclusion == "workload changed"
    assert one(verdicts, "uncacheable").conclusion == "worse"


def test_the_worst_sample_speaks_for_correctness() -> None:
    base = [sample(WARM) for _ in range(7)]
    head = [*base[:6], sample(WARM, metrics={"wrong_results": 1})]
    verdict = one(exact(base, head).verdicts, "wrong_results")
    assert verdict.conclusion == "worse"


def test_wrong_on_both_sides_is_said_and_is_no_alarm() -> None:
    side = [sample(WARM, metrics={"wrong_results": 2})]
    verdict = one(exact(side, side).verdicts, "wrong_results")
    assert verdict.conclusion == "unaffected"
    assert verdict.because == Statement("same in both", ("wrong_results", 2))


def test_a_failed_sample_is_an_alarm_and_a_gap() -> None:
    judged = exact([sample(WARM)], [failed(WARM)])
    assert one(judged.verdicts, "crashed").conclusion == "worse"
    (gap,) = judged.missing
    assert gap.side == "head"
    (reason,) = gap.reasons
    assert (reason.kind, reason.values[:2]) == ("samples failed", (1, 1))
    assert "SIGSEGV" in reason.values[2]


def test_a_gap_is_told_in_the_words_of_the_last_failure() -> None:
    hung = failed(WARM, failure={"message": "it hung"})
    (gap,) = exact([sample(WARM)], [failed(WARM), sample(WARM), hung]).missing
    assert [reason.values for reason in gap.reasons] == [(2, 3, "it hung")]


def test_a_cell_that_one_side_lacks_is_named_and_not_judged() -> None:
    judged = exact([sample(WARM), sample(CALL)], [sample(WARM)])
    (gap,) = judged.missing
    assert (gap.cell, gap.side) == (CALL, "head")
    assert {verdict.cell.scenario for verdict in judged.verdicts} == {"warm_disk"}


@pytest.mark.parametrize(
    ("head", "conclusion"),
    [
        (700_100, "unaffected"),
        (701_300, "unaffected"),
        (703_000, "worse"),
        (697_000, "better"),
    ],
)
def test_python_calls_are_worse_where_they_move_more_than_between_processes(
    head: int, conclusion: str
) -> None:
    base = [sample(WARM, "tracing", {"python_calls": value}) for value in (700_000, 700_200)]
    other = [sample(WARM, "tracing", {"python_calls": head})]
    assert one(exact(base, other).verdicts, "python_calls").conclusion == conclusion


def test_a_calibrated_spread_is_respected() -> None:
    base = [sample(WARM, "tracing", {"python_calls": 700_000})]
    head = [sample(WARM, "tracing", {"python_calls": 704_200})]
    floors = NoiseFloors({(WARM, "python_calls"): Noise(0.004, 6)})
    assert one(exact(base, head, floors).verdicts, "python_calls").conclusion == "unaffected"


def worked(*values: float, by: str = "callgrind, code for haswell") -> list[Sample]:
    return [sample(WARM, "work", {"instructions": value}, counted_by=by) for value in values]


@pytest.mark.parametrize(
    ("head", "conclusion"),
    [
        ((2.0008e9, 2.0012e9, 2.0004e9), "unaffected"),
        ((2.010e9, 2.011e9, 2.0105e9), "worse"),
        ((1.990e9, 1.989e9, 1.9895e9), "better"),
    ],
)
def test_half_a_per_cent_more_instructions_is_worse(
    head: tuple[float, ...], conclusion: str
) -> None:
    found = exact(worked(2.0e9, 2.0011e9, 2.0006e9), worked(*head))
    assert one(found.verdicts, "instructions").conclusion == conclusion


def test_calls_are_never_compared_with_those_of_a_version_that_counted_more() -> None:
    base = [sample(WARM, "tracing", {"python_calls": 600_000})]
    head = [sample(WARM, "tracing", {"python_calls": 480_000}, counted_by="sys.monitoring")]
    verdict = one(exact(base, head).verdicts, "python_calls")
    assert verdict.conclusion == "undecided"
    assert sentence_of(verdict.because) == (
        "an older version of the observatory counted BASE, with calls that are left out now: "
        "measure it again to compare"
    )
    back = one(exact(head, base).verdicts, "python_calls")
    assert "counted HEAD" in sentence_of(back.because)


@pytest.mark.parametrize(
    ("interleaved", "number", "conclusion", "because"),
    [
        (True, 5, "worse", ""),
        (False, 5, "undecided", "BASE and HEAD were not measured in turn"),
        (True, 4, "undecided", "a side has only 4 processes; at least 5 are needed"),
    ],
)
def test_a_longer_wait_needs_five_of_each_side_that_were_taken_in_turn(
    interleaved: bool, number: int, conclusion: str, because: str
) -> None:
    base, head = (
        [sample(WARM, "timing", {"waiting_time": waits})] * number for waits in (0.001, 0.3)
    )
    floors = NoiseFloors(interleaved=interleaved)
    verdict = one(exact(base, head, floors).verdicts, "waiting_time")
    assert verdict.conclusion == conclusion
    assert (sentence_of(verdict.because) if verdict.because else "").startswith(because)
    calm = one(exact(base, base, floors).verdicts, "waiting_time")
    assert calm.conclusion == "unaffected"


def test_instructions_of_two_sources_are_never_compared() -> None:
    found = exact(worked(2.0e9), worked(1.0e9, by="hardware (EPYC), code for haswell"))
    verdict = one(found.verdicts, "instructions")
    assert verdict.conclusion == "undecided"
    assert verdict.ratio is None
    assert "counts from different counters" in sentence_of(verdict.because)


def test_of_several_sources_the_newest_counts() -> None:
    mixed = [*worked(9.0e9, by="hardware (EPYC), code for haswell"), *worked(2.0e9)]
    assert one(exact(mixed, worked(2.0e9)).verdicts, "instructions").base.values == [2.0e9]


@pytest.mark.parametrize(
    ("source", "conclusion"),
    [("callgrind, code for haswell", "unaffected"), ("hardware (EPYC), code for haswell", "worse")],
)
def test_noise_that_was_learned_of_another_counter_hides_nothing(
    source: str, conclusion: str
) -> None:
    base, head = worked(2.000e9, 2.001e9, 2.002e9), worked(2.013e9, 2.014e9, 2.015e9)
    floors = NoiseFloors({(WARM, "instructions"): Noise(0.006, 12, source)})
    assert one(exact(base, head, floors).verdicts, "instructions").conclusion == conclusion


def test_bytes_describe_and_never_alarm() -> None:
    base = [sample(WARM, "counting", {"cache_bytes": 1_000_000})]
    head = [sample(WARM, "counting", {"cache_bytes": 3_000_000})]
    assert one(exact(base, head).verdicts, "cache_bytes").conclusion == "workload changed"


SEVEN = (0.25, 0.251, 0.252, 0.249, 0.248, 0.253, 0.247)


def test_noisy_values_need_seven_processes_a_side() -> None:
    (verdict,) = noisy(times(*SEVEN[:6]), times(*(2 * v for v in SEVEN[:6])))
    assert verdict.conclusion == "undecided"
    assert verdict.because == Statement("too few processes", (6, 7))
    (verdict,) = noisy(times(*SEVEN), times(*(2 * v for v in SEVEN)))
    assert verdict.conclusion == "worse"
    assert verdict.ratio is not None
    assert verdict.ratio.estimate == pytest.approx(2)


def test_times_of_other_cpus_are_never_judged() -> None:
    (verdict,) = noisy(times(*SEVEN), times(*(2 * v for v in SEVEN)), incomparable=OTHER_CPU)
    assert (verdict.conclusion, verdict.because) == ("undecided", OTHER_CPU)


def test_separate_runs_need_a_larger_change() -> None:
    floors = NoiseFloors(interleaved=False)
    assert floors.minimum_effect(WARM, "compile_time") == 0.25
    assert NoiseFloors().minimum_effect(WARM, "compile_time") == 0.05


def test_parts_of_compile_time_are_not_judged_beside_it() -> None:
    side = [sample(WARM, metrics={"compile_time": 1, "first_call_time": 0.5})] * 7
    assert [verdict.metric for verdict in noisy(side, side)] == ["compile_time"]


def test_a_time_that_was_wanted_and_never_taken_is_undecided() -> None:
    side = [sample(WARM, "counting")]
    assert noisy(side, side) == []
    (verdict,) = noisy(side, side, wanted=[WARM])
    assert (verdict.metric, verdict.conclusion) == ("compile_time", "undecided")
    assert verdict.because == Statement("no time")


def test_importing_is_one_thing_in_every_cell_and_is_judged_once() -> None:
    cells = [
        Cell("radon", scenario, "NUMBA", "spawn") for scenario in ("warm_disk", "warm_process")
    ]
    sides = [
        [sample(cell, metrics={"import_time": seconds * (1 + n / 100)})
         for cell in cells for n in range(7)]
        for seconds in (0.2, 0.3)
    ]  # fmt: skip
    found = judge_noisy(cells, *map(Evidence.of, sides), NoiseFloors(), 1)
    (one_of,) = [verdict for verdict in found if verdict.metric == "import_time"]
    assert (one_of.base.n, one_of.head.n) == (14, 14)
    assert one_of.conclusion == "worse"


@pytest.mark.parametrize("pairs", [7, 30])
def test_importing_is_looked_at_when_the_cells_are_and_not_by_the_number_of_its_values(
    pairs: int,
) -> None:
    rng = random.Random(1)
    cells = [Cell("radon", "warm_disk", backend, "spawn") for backend in ("C", "C_VM", "NUMBA")]
    sides = [
        [sample(cell, metrics={"import_time": rng.gauss(1, 0.1), "compile_time": rng.gauss(1, 0.1)})
         for cell in cells for _ in range(pairs)]
        for _ in range(2)
    ]  # fmt: skip
    found = judge_noisy(cells, *map(Evidence.of, sides), NoiseFloors(), 1)
    (one_of,) = [verdict for verdict in found if verdict.metric == "import_time"]
    assert one_of.base.n == 3 * pairs
    assert one_of.q_value == pytest.approx(min(1, LOOKS[pairs] * one_of.p_value))


def test_where_a_sample_failed_values_are_not_taken_for_pairs() -> None:
    """A machine whose speed changes from pair to pair: only what is paired is sure."""
    speed = [0.2 * 1.3 ** (n % 7) for n in range(15)]
    base, head = times(*speed), times(*[1.1 * one for one in speed])
    (paired,) = [v for v in noisy(base, head) if v.metric == "compile_time"]
    assert paired.p_value is not None
    assert paired.p_value < 0.001
    both = [failed(WARM), *base[1:]], [failed(WARM), *head[1:]]
    (apart,) = [v for v in noisy(*both) if v.metric == "compile_time"]
    assert (apart.base.n, apart.head.failed) == (14, 1)
    assert apart.p_value is not None
    assert apart.p_value > 0.1


@pytest.mark.parametrize("better", [False, True])
def test_a_clear_interval_that_may_be_chance_among_many_cells_is_not_called_wide(
    better: bool,
) -> None:
    cells = [Cell("radon", "warm_disk", backend, launch)
             for backend in ("C", "C_VM", "NUMBA", "NUMBA_NO_CACHE", "NUMBA_OPS_ONLY", "DEFAULT")
             for launch in ("fork", "spawn")]  # fmt: skip
    *others, place = cells
    calm = (1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06)
    base, head = ([each for cell in others for each in times(*calm, cell=cell)] for _ in "ab")
    base += times(1.00, 1.01, 1.02, 1.03, 1.04, 1.05, 1.25, cell=place)
    head += times(1.20, 1.22, 1.24, 1.26, 1.28, 1.30, 1.21, cell=place)
    old, new = (Evidence.of(side) for side in ((head, base) if better else (base, head)))
    found = judge_noisy(sorted(old.cells), old, new, NoiseFloors(), 1)
    (moved,) = [each for each in found if each.cell == place and each.ratio is not None]
    assert moved.conclusion == "undecided"
    assert moved.ratio is not None
    assert max(moved.ratio.low, 1 / moved.ratio.high) > 1.05
    assert moved.because is not None
    assert "may be chance" in sentence_of(moved.because)
