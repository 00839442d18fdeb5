"""Profiles of two subjects, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from observatory.analyze.profiles.samples import (
    NOT_ATTRIBUTED,
    Differences,
    grown_phase,
    longer_phase,
    phase_times,
)
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.profile import Phase, PhaseTime, Profile
from observatory.store.records.sample import Sample
from tests.factories import WARM, failed, sample, traced

COLD = Cell("radon", "cold", "NUMBA", "fork")


def timed(total: float, *, unwatched: Sequence[str] = (), **seconds: float) -> Sample:
    phases = [Phase(name=name, entries=1, seconds=one) for name, one in seconds.items()]
    profile = Profile(phases=phases, unwatched=list(unwatched))
    return sample(metrics={"compile_time": total}, profile=profile)


def test_cells_that_both_have_traced_are_compared() -> None:
    base = [traced(1000), traced(1000), traced(7, COLD), sample(), failed(WARM, "tracing")]
    found = Differences(base, [traced(1200), traced(1200), timed(1.0)])
    assert list(found) == [WARM]
    assert [(one.name, one.base, one.head) for one in found[WARM].functions] == [
        ("m:f", 1000, 1200)
    ]


def test_phases_have_their_median_seconds_and_the_rest_is_not_attributed() -> None:
    base = [timed(10.0, rewriting=6.0, linking=2.0), timed(10.0, rewriting=5.0, linking=3.0)]
    base.append(timed(20.0, rewriting=9.0, linking=3.0))
    head = [timed(9.5, rewriting=8.0, typing=0.5)]
    found = phase_times(base, head)
    assert [(one.name, one.base, one.head) for one in found[WARM]] == [
        ("rewriting", 6.0, 8.0),
        ("typing", 0.0, 0.5),
        (NOT_ATTRIBUTED, 2.0, 1.0),
        ("linking", 3.0, 0.0),
    ]


def test_without_times_of_both_sides_there_are_none() -> None:
    assert phase_times([timed(1.0, rewriting=1.0)], [sample(), failed()]) == {}


def builds(load: float, loading: float) -> list[Sample]:
    """Eight builds whose phases vary by 10 %, one of which takes ``load`` seconds more."""
    return [
        timed((1 + n / 80) * (1 + loading) + load, rewriting=1 + n / 80,
              loading=(1 + n / 80) * loading + load)
        for n in range(8)
    ]  # fmt: skip


def explained(base: list[Sample], head: list[Sample]) -> tuple[str, float] | None:
    found = longer_phase(phase_times(base, head)[WARM])
    return None if found is None else (found[0].name, round(found[1], 2))


def test_a_phase_that_waits_is_named_with_its_share_of_the_additional_time() -> None:
    assert explained(builds(0.0, 0.1), builds(0.2, 0.1)) == ("loading", 1.0)


def test_what_differs_by_less_than_samples_do_is_not_named() -> None:
    assert explained(builds(0.0, 0.1), builds(0.004, 0.1)) is None
    assert explained(builds(0.0, 0.1)[:6], builds(0.2, 0.1)[:6]) is None  # too few to know
    assert explained(builds(0.0, 0.1), builds(0.0, 0.1)) is None


def test_a_phase_that_explains_little_of_the_additional_time_is_not_named() -> None:
    times = [PhaseTime(name="linking", base=1, head=2), PhaseTime(name="a", base=1, head=1.2)]
    assert longer_phase([times[0], times[1].model_copy(update={"sure": True})]) is None


def test_a_share_above_all_of_the_additional_time_says_so() -> None:
    times = [PhaseTime(name="a", base=1, head=2, sure=True), PhaseTime(name="b", base=1, head=0.5)]
    assert longer_phase(times) == (times[0], 2.0)


def several(unwatched: Sequence[str] = (), **seconds: float) -> list[Sample]:
    """Eight builds whose phases vary by 1 %."""
    scales = [1 + n / 800 for n in range(8)]
    return [
        timed(sum(seconds.values()) * scale, unwatched=unwatched,
              **{name: one * scale for name, one in seconds.items()})
        for scale in scales
    ]  # fmt: skip


def test_a_phase_is_not_named_for_the_seconds_of_one_that_a_side_could_not_see() -> None:
    """HEAD has another name for what begins `lowering`, whose 3 s are then in `passes`."""
    base = several(typing=1.0, lowering=3.0, passes=0.5)
    head = several(["lowering"], typing=1.5, passes=3.5)
    assert explained(base, head) is None
    # A phase that is seen and not entered took no time: a build that hits lowers nothing.
    assert explained(several(typing=1.0), several(typing=1.0, lowering=3.0)) == ("lowering", 1.0)
    # One that only BASE could not see is none that takes longer.
    base = several(["lowering"], typing=1.0, passes=3.5)
    assert explained(base, several(typing=2.0, lowering=3.0, passes=0.5)) == ("typing", 1.0)


def test_nothing_is_remarked_on_for_the_seconds_of_a_phase_that_head_could_not_see() -> None:
    base = several(typing=1.0, lowering=3.0, passes=0.5)
    head = several(["lowering"], typing=1.0, passes=3.5)
    assert grown_phase(phase_times(base, head)[WARM]) is None


@pytest.mark.parametrize("samples", [7, 15])
def test_between_samples_of_one_subject_hardly_any_phase_is_remarked(samples: int) -> None:
    rng = np.random.default_rng(8)
    typical = np.geomspace(0.005, 0.5, 12)

    def side() -> list[Sample]:
        taken = typical * rng.lognormal(0, 0.4, (samples, 12)) * rng.lognormal(0, 0.2, (samples, 1))
        return [timed(sum(row), **{f"p{n}": one for n, one in enumerate(row)}) for row in taken]

    found = [grown_phase(phase_times(side(), side())[WARM]) for _ in range(100)]
    assert sum(one is not None for one in found) <= 5


def test_a_phase_is_remarked_that_takes_much_longer_and_is_no_trifle() -> None:
    def time(name: str, base: float, head: float, sure: bool = True) -> PhaseTime:
        return PhaseTime(name=name, base=base, head=head, sure=sure)

    rest = time("rewriting", 1.0, 1.2)
    assert grown_phase([time("loading", 0.1, 0.16), rest]) == time("loading", 0.1, 0.16)
    assert grown_phase([time("loading", 0.1, 0.16, sure=False), rest]) is None
    assert grown_phase([time("loading", 0.1, 0.14), rest]) is None
    assert grown_phase([time("loading", 0.001, 0.008), rest]) is None
    assert grown_phase([time("compiler runs", 0.0, 0.3), rest]) == time("compiler runs", 0.0, 0.3)
