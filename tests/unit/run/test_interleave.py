"""Who is measured when, in a comparison."""

import math
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Task
from observatory.run.fleets import FleetError
from observatory.run.interleave import Interleaving, Job, matrix
from observatory.run.presets import Narrowed
from observatory.store.records.sample import Sample
from tests.factories import sample

DISK = Cell("radon", "warm_disk", "NUMBA", "spawn")
CALL = Cell("radon", "call", "NUMBA", "spawn")
COLD = Cell("radon", "cold", "NUMBA", "spawn")


class Stub:
    """Takes samples at once, and keeps the caches it is asked to keep."""

    def __init__(self, caches: Path) -> None:
        self.caches = caches
        self.caches.mkdir()
        self.cancelled = False

    def holds(self, cache: str) -> bool:
        return (self.caches / cache).is_dir()

    def run(self, task: Task) -> Sample:
        if task.keep is not None:
            (self.caches / task.keep).mkdir()
        return sample(task.cell, task.measure)

    def cancel(self) -> None:
        self.cancelled = True


@pytest.fixture
def taken() -> list[Job]:
    return []


@pytest.fixture
def interleaving(tmp_path: Path, taken: list[Job]) -> Interleaving:
    executors = {"base": Stub(tmp_path / "base"), "head": Stub(tmp_path / "head")}
    return Interleaving(
        executors, lambda _: None, lambda job, _: taken.append(job), 1, random.Random(7)
    )


def test_each_pair_has_one_of_each_side_in_random_order(
    interleaving: Interleaving, taken: list[Job]
) -> None:
    assert interleaving.time([DISK, CALL], 20, float("inf"))
    pairs = [(a, b) for a, b in zip(taken[::2], taken[1::2], strict=True)]
    assert len(pairs) == 40
    assert all({a.side, b.side} == {"base", "head"} for a, b in pairs)
    assert all(a.task == b.task for a, b in pairs)
    first = Counter(a.side for a, _ in pairs)
    assert min(first["base"], first["head"]) > 8
    assert [a.task.cell for a, _ in pairs[:4]] == [DISK, CALL, DISK, CALL]


def test_a_spent_budget_ends_it_between_pairs(interleaving: Interleaving, taken: list[Job]) -> None:
    assert not interleaving.time([DISK], 5, time.monotonic() - 1)
    assert taken == []


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the clock, each sample takes ten seconds."""
    now, run = [0.0], Stub.run

    def slowly(self: Stub, task: Task) -> Sample:
        now[0] += 10
        taken = run(self, task)
        assert taken.overhead is not None
        overhead = taken.overhead.model_copy(update={"total": 10.0})
        return taken.model_copy(update={"overhead": overhead})

    monkeypatch.setattr(Stub, "run", slowly)
    monkeypatch.setattr("observatory.run.interleave.time.monotonic", lambda: now[0])


@pytest.mark.usefixtures("slow")
def test_a_spent_budget_ends_the_counting_between_pairs(
    interleaving: Interleaving, taken: list[Job]
) -> None:
    """Siblings and variants of an old release take minutes each: a group is too much to finish."""
    assert not interleaving.count([DISK, COLD, CALL], deadline=35)
    cells = [job.task.cell for job in taken]
    assert cells[::2] == cells[1::2]
    assert len(cells) == 4
    taken.clear()
    assert interleaving.count([DISK, COLD, CALL])


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize(("deadline", "rounds"), [(45, 1), (55, 1), (65, 2), (85, 3)])
def test_no_pair_begins_that_would_probably_end_too_late(
    interleaving: Interleaving, taken: list[Job], deadline: float, rounds: int
) -> None:
    """The caches are filled in 20 s, and each round takes 20 more."""
    done = interleaving.work([CALL], "tracing", range(3), deadline)
    assert done == (rounds == 3)
    assert Counter(job.task.measure for job in taken)["tracing"] == 2 * rounds


@pytest.mark.usefixtures("slow")
def test_caches_that_are_filled_need_no_time(interleaving: Interleaving, taken: list[Job]) -> None:
    assert interleaving.count([DISK])
    taken.clear()
    assert interleaving.work([CALL], "tracing", range(1), deadline=45)
    assert [job.task.measure for job in taken] == ["tracing"] * 2


def test_caches_are_filled_once_a_side(interleaving: Interleaving, taken: list[Job]) -> None:
    interleaving.count([DISK, COLD])
    interleaving.count([CALL])
    filled = Counter((job.side, job.task.keep) for job in taken if job.task.keep)
    assert set(filled.values()) == {1}
    assert len(filled) == 2
    warm = [job.task for job in taken if job.task.cell in (DISK, CALL)]
    assert {task.cache for task in warm} == {"radon-NUMBA-spawn"}
    assert Counter((j.side, j.task.cell) for j in taken) == Counter(
        (side, cell) for side in ("base", "head") for cell in (DISK, COLD, CALL)
    )


def test_each_step_says_first_what_it_will_take(
    interleaving: Interleaving, taken: list[Job]
) -> None:
    steps: list[tuple[list[Task], int, float]] = []
    interleaving.begins = lambda *step: steps.append((list(step[0]), *step[1:]))
    interleaving.workers, interleaving.workers_of_work = 2, 3
    later = time.monotonic() + 600
    for take, *how in (
        (lambda: interleaving.count([DISK, COLD], later), 2, later),
        (lambda: interleaving.count([DISK]), 2, math.inf),  # the caches are filled
        (lambda: interleaving.repeat([DISK, CALL], "tracing", 2), 2, math.inf),
        (lambda: interleaving.work([CALL], "work", range(3), later), 3, later),
        (lambda: interleaving.time([DISK, CALL], 3, later), 1, later),
    ):
        steps.clear()
        taken.clear()
        take()
        ((tasks, *told),) = steps
        assert told == how
        assert Counter((one.cell, one.measure, one.keep) for one in tasks) == Counter(
            (job.task.cell, job.task.measure, job.task.keep) for job in taken
        )


def test_caches_for_a_trace_are_filled_once_and_nothing_else_is_taken(
    interleaving: Interleaving, taken: list[Job]
) -> None:
    interleaving.fill([DISK, CALL])
    assert sorted((job.side, job.task.cell) for job in taken) == [("base", COLD), ("head", COLD)]
    interleaving.fill([DISK])
    assert len(taken) == 2


def test_a_second_count_starts_from_the_filled_caches(
    interleaving: Interleaving, taken: list[Job]
) -> None:
    interleaving.count([DISK])
    taken.clear()
    interleaving.repeat([DISK], "counting", 1)
    assert [job.task.cache for job in taken] == ["radon-NUMBA-spawn"] * 2


def test_numba_comes_first_and_long_scenarios_last() -> None:
    groups = [name for name, _ in matrix(Narrowed()).groups]
    assert groups == [
        "NUMBA caches", "C caches", "C_VM caches", "Ops, keys and topics",
        "NUMBA siblings and variants",
    ]  # fmt: skip


def test_long_scenarios_of_c_are_counted_where_they_are_named() -> None:
    named = matrix(Narrowed(backends=["C"], scenarios=["variants"]))
    assert {c.scenario for c in named.counted} == {"variants"}
    assert not any(c.scenario == "variants" for c in matrix(Narrowed(backends=["C"])).counted)


def test_times_are_taken_under_one_launch_and_of_cold_builds_only_if_named() -> None:
    assert {(c.scenario, c.launch) for c in matrix(Narrowed()).timed} == {
        ("warm_disk", "spawn"), ("warm_process", "spawn"), ("call", "spawn"),
    }  # fmt: skip
    named = matrix(Narrowed(scenarios=["cold"], launches=["fork"]))
    assert {(c.scenario, c.launch) for c in named.timed} == {("cold", "fork")}
    assert {c.scenario for c in named.counted} == {"cold"}


def test_a_cold_build_is_traced_once_and_last_where_the_compiler_is_inside_of_the_process() -> None:
    traced = [(cell.scenario, cell.backend, cell.launch) for cell in matrix(Narrowed()).traced]
    assert [one for one in traced if one[0] == "cold"] == [("cold", "NUMBA", "spawn")]
    assert traced[-1] == ("cold", "NUMBA", "spawn")
    assert matrix(Narrowed(launches=["fork"])).traced[-1].scenario != "cold"
    assert {cell.scenario for cell in matrix(Narrowed(scenarios=["warm_disk"])).traced} == {
        "warm_disk"
    }
    named = matrix(Narrowed(scenarios=["cold"], backends=["NUMBA"])).traced
    assert [(cell.scenario, cell.launch) for cell in named] == [("cold", "spawn")]


def test_a_time_that_only_describes_is_not_taken() -> None:
    found = matrix(Narrowed(models=["key_cost"], scenarios=["key_making"]))
    assert [one.scenario for one in found.cells] == ["key_making"] * 2
    assert found.timed == found.traced == ()


def test_without_the_timing_pass_nothing_is_timed_and_everything_is_counted() -> None:
    exact = matrix(Narrowed(measures=["counting"]))
    assert (exact.timed, exact.traced) == ((), ())
    assert exact.groups == matrix(Narrowed()).groups
    assert matrix(Narrowed(measures=["tracing"])).traced == matrix(Narrowed()).traced


def test_work_is_counted_only_where_it_is_asked_for_and_may_be_taken_alone() -> None:
    assert matrix(Narrowed()).worked == ()
    alone = matrix(Narrowed(measures=["work"]))
    assert (alone.groups, alone.timed) == ((), ())
    expected = [
        (scenario, backend)
        for backend in ("NUMBA", "C_VM")
        for scenario in ("warm_disk", "warm_process", "call")
    ]
    found = [(cell.scenario, cell.backend) for cell in alone.worked]
    assert sorted(found) == sorted(expected)
    assert [scenario for scenario, _ in found[:2]] == ["call", "call"]
    assert {cell.launch for cell in alone.cells} == {"spawn"}
    named = matrix(Narrowed(measures=["work"], backends=["C"]))
    assert {cell.backend for cell in named.worked} == {"C"}
    both = matrix(Narrowed(measures=["counting", "work"]))
    assert both.groups == matrix(Narrowed()).groups
    assert set(both.worked) <= set(both.counted)


def test_later_samples_of_work_start_from_the_caches_of_the_first(
    interleaving: Interleaving, taken: list[Job]
) -> None:
    assert interleaving.work([DISK], "work", range(1), math.inf)
    assert interleaving.work([DISK], "work", range(1, 3), math.inf)
    assert {job.task.measure for job in taken} == {"work"}
    for side in ("base", "head"):
        own = [job.task for job in taken if job.side == side]
        assert [task.cell.scenario for task in own] == ["cold", *["warm_disk"] * 3]
        assert [task.hash_seed for task in own[1:]] == [1, 2, 3]


class Together(Stub):
    """Ends no sample before as many are taken as a barrier waits for."""

    barrier = threading.Barrier(1)

    def run(self, task: Task) -> Sample:
        if task.keep is None:
            self.barrier.wait(60)
        return super().run(task)


def test_more_samples_of_work_than_of_counts_are_taken_at_a_time(tmp_path: Path) -> None:
    sides = {"base": Together(tmp_path / "base"), "head": Together(tmp_path / "head")}
    interleaving = Interleaving(
        sides,  # type: ignore[arg-type]
        lambda _: None, lambda *_: None, 1, random.Random(7), 4,
    )  # fmt: skip
    interleaving.repeat([CALL], "counting", 2)
    Together.barrier = threading.Barrier(4)
    interleaving.work([CALL], "work", range(8), math.inf)


def test_a_narrow_matrix_counts_no_more_than_it_times() -> None:
    needed = matrix(Narrowed()).of_timed()
    assert set(needed.counted) == set(needed.timed) | set(needed.traced)


def test_every_comparison_builds_the_quick_sets_with_numba_once() -> None:
    cells = dict(matrix(Narrowed()).groups)["Ops, keys and topics"]
    assert {(c.model, c.scenario) for c in cells} == {
        ("ops_quick", "census_cold"), ("ops_quick", "census_warm"),
        ("keys_quick", "pairs_keys"), ("topics_quick", "topics"),
    }  # fmt: skip
    assert {(c.backend, c.launch) for c in cells} == {("NUMBA", "spawn")}
    assert len(cells) == 4
    found = matrix(Narrowed())
    assert set(cells).isdisjoint({*found.timed, *found.traced, *found.worked})


@pytest.mark.parametrize(
    "narrowed",
    [Narrowed(models=["radon"]), Narrowed(scenarios=["cold"]), Narrowed(backends=["C"])],
)  # fmt: skip
def test_who_names_what_to_compare_gets_that_alone(narrowed: Narrowed) -> None:
    cells = [cell for cell in matrix(narrowed).cells if cell.model != "radon"]
    assert cells == []


@pytest.mark.parametrize(("launches", "once"), [(["fork"], "fork"), (["fork", "spawn"], "spawn")])
def test_the_quick_sets_are_built_under_one_start_method(launches: list[str], once: str) -> None:
    cells = dict(matrix(Narrowed(launches=launches)).groups)["Ops, keys and topics"]
    assert {cell.launch for cell in cells} == {once}


class Dying(Stub):
    """As on a fleet: the samples with these numbers were begun again after a worker had died.

    ``waited``: the seconds that lie before those that were begun once, after their scheduler or
    client had been stopped.
    """

    def __init__(self, caches: Path, late: set[int], waited: Mapping[int, float] = {}) -> None:
        super().__init__(caches)
        self.late, self.taken, self.waited = late, list[Sample](), waited
        self.dropped: list[Sample] = []
        self.places: dict[int, str] = {}
        """Where the samples with these numbers are taken, if not at the first place."""
        self.lost: BaseException | None = None
        """What is raised instead of a sample."""

    def run(self, task: Task) -> Sample:
        if self.lost is not None:
            raise self.lost
        one = super().run(task)
        after = timedelta(seconds=self.waited.get(len(self.taken), 0.0))
        self.taken.append(one.model_copy(update={"started_at": one.started_at + after}))
        return self.taken[-1]

    def was_late(self, one: Sample) -> bool:
        return self._number(one) in self.late

    def place_of(self, one: Sample) -> str:
        return self.places.get(self._number(one), "the first")

    def _number(self, one: Sample) -> int:
        return next(n for n, taken in enumerate(self.taken) if taken is one)

    def drop(self, one: Sample) -> None:
        self.dropped.append(one)


def paired(
    tmp_path: Path,
    late: set[int],
    first_late: set[int] = frozenset(),  # type: ignore[assignment]
    waited: Mapping[int, float] = {},
) -> tuple[Dying, Dying, list[Sample]]:
    """One pair, of which BASE is taken first, is taken: both sides, and what counts."""
    sides = Dying(tmp_path / "base", first_late), Dying(tmp_path / "head", late, waited)
    interleaving, ended = of_dying(*sides)
    assert interleaving.time([DISK], 1, math.inf)
    return *sides, ended


def of_dying(*sides: Dying) -> tuple[Interleaving, list[Sample]]:
    """What takes pairs, BASE first, and the list of the samples that count."""
    ended: list[Sample] = []
    first_base = random.Random(0)
    first_base.sample = lambda them, _: list(them)  # type: ignore[assignment,method-assign]
    interleaving = Interleaving(
        dict(zip(("base", "head"), sides, strict=True)),  # type: ignore[arg-type]
        lambda _: None, lambda _, one: ended.append(one), 1, first_base,
    )  # fmt: skip
    return interleaving, ended


def test_if_a_worker_dies_in_the_second_sample_of_a_pair_both_are_taken_again(
    tmp_path: Path,
) -> None:
    base, head, ended = paired(tmp_path, late={0})
    assert [len(base.taken), len(head.taken)] == [2, 2]
    assert ended[0] is base.taken[1]
    assert ended[1] is head.taken[1]
    assert (len(base.dropped), len(head.dropped)) == (1, 1)


@pytest.mark.parametrize(("waited", "times"), [(62.0, 2), (20.0, 1)])
def test_if_a_minute_lies_within_a_pair_both_are_taken_again(
    tmp_path: Path, waited: float, times: int
) -> None:
    """The first sample takes two seconds; twenty are those of a busy machine."""
    base, head, ended = paired(tmp_path, late=set(), waited={0: waited})
    assert [len(base.taken), len(head.taken)] == [times, times]
    assert ended[0] is base.taken[-1]
    assert ended[1] is head.taken[-1]


def test_a_pair_that_never_comes_in_time_is_kept_in_the_end(tmp_path: Path) -> None:
    base, head, ended = paired(tmp_path, late={0, 1, 2, 3})
    assert (len(base.taken), len(head.taken), len(ended)) == (3, 3, 2)
    assert ended[1] is head.taken[2]


def test_a_first_sample_that_was_late_spoils_no_pair(tmp_path: Path) -> None:
    base, head, ended = paired(tmp_path, late=set(), first_late={0})
    assert (len(base.taken), len(head.taken), len(ended)) == (1, 1, 2)


def test_a_pair_is_never_split_over_two_machines_however_often_one_is_lost(
    tmp_path: Path,
) -> None:
    base, head = Dying(tmp_path / "base", set()), Dying(tmp_path / "head", set())
    base.places = {1: "second", 2: "third", 3: "fourth", 4: "fifth"}
    head.places = {0: "second", 1: "third", 2: "fourth", 3: "fifth", 4: "fifth"}
    interleaving, ended = of_dying(base, head)
    assert interleaving.time([DISK], 1, math.inf)
    assert ended == [base.taken[4], head.taken[4]]
    assert (base.dropped, head.dropped) == (base.taken[:4], head.taken[:4])


@pytest.mark.parametrize(("lost", "kept"), [(FleetError("lost"), 0), (KeyboardInterrupt(), 1)])
def test_the_first_sample_of_a_pair_is_kept_if_a_user_ends_it_but_not_if_the_cluster_is_lost(
    tmp_path: Path, lost: BaseException, kept: int
) -> None:
    base, head = Dying(tmp_path / "base", set()), Dying(tmp_path / "head", set())
    head.lost = lost
    interleaving, ended = of_dying(base, head)
    with pytest.raises(type(lost)):
        interleaving.time([DISK], 1, math.inf)
    assert (len(base.taken), len(ended), len(base.dropped)) == (1, kept, 1 - kept)
