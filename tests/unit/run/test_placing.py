"""Where a fleet takes a task: a chain stays together, and times come from one class of machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from observatory.benchmarks.catalogue import Cell, Measure, cells
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.run.placing import (
    OF_CLASS,
    NoPlaceError,
    Placing,
    chain_of,
    missing,
    needs_class,
    shard_of,
)
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.schedule import expected_seconds

TASKS = plan(
    cells(("radon",), ("cold", "warm_disk", "call"), ("C", "C_VM", "NUMBA")),
    Rounds(timing=2, counting=1, work=1),
)
CALL = Task(Cell("radon", "call", "NUMBA", "spawn"), "counting", 0)


def placing(of_class: str = "ab", work: str = "ab", **workers: int) -> Placing:
    uncounted = {place: "there is no valgrind" for place in "ab" if place not in work}
    return Placing(workers or {"a": 2, "b": 2}, of_class, uncounted)


def test_what_starts_from_a_cache_is_taken_where_the_cache_was_filled() -> None:
    planned = placing()
    places: dict[str, set[str]] = {}
    for task in TASKS:
        places.setdefault(chain_of(task), set()).add(planned.place_of(task))
    assert all(len(found) == 1 for found in places.values())
    assert {place for found in places.values() for place in found} == {"a", "b"}


def test_the_two_sides_of_a_pair_meet_the_same_machine() -> None:
    planned = placing()
    assert [planned.place_of(task) for task in TASKS] == [planned.place_of(t) for t in TASKS]


def test_times_and_what_they_start_from_come_from_one_class_and_counts_from_anywhere() -> None:
    planned = placing(of_class="a")
    for task in TASKS:
        if task.keep or task.cache or task.measure in ("timing", "work"):
            assert planned.place_of(task) == "a"
    assert planned.place_of(CALL) == "b"  # which has had nothing to do


@pytest.mark.parametrize("measure", ["timing", "work"])
def test_a_cell_without_a_cache_is_timed_on_the_class_wherever_it_was_counted(
    measure: Measure,
) -> None:
    """Its counts came first, and went to a machine that times do not come from."""
    planned = placing(of_class="a")
    planned.load["a"] = 1000.0
    assert planned.place_of(CALL) == "b"
    assert planned.place_of(replace(CALL, measure=measure)) == "a"
    without = placing(work="a")
    without.untimed, without.load["a"] = {"b": "it is slower"}, 1000.0
    assert without.place_of(CALL) == "b"
    assert without.place_of(replace(CALL, measure=measure)) == "a"


def test_a_place_that_counts_no_instructions_takes_no_work() -> None:
    planned = placing(work="b")
    work = next(task for task in TASKS if task.measure == "work")
    assert planned.place_of(work) == "b"
    with pytest.raises(NoPlaceError, match=r"on a nothing counts instructions .there is no val"):
        placing(work="").place_of(work)


def test_what_nobody_can_take_is_said_with_what_each_place_lacks() -> None:
    planned = placing(of_class="a", a=0, b=1)
    planned.hosts = {"a": "first", "b": "second"}
    with pytest.raises(NoPlaceError) as raised:
        planned.place_of(TASKS[0])
    assert str(raised.value) == (
        "no worker of the cluster can take it: on first there is no worker; on second the CPU "
        "differs from that of the machines that take times and work"
    )


def test_no_time_comes_from_a_place_that_is_not_trusted_but_counts_do() -> None:
    planned = placing()
    planned.untimed = {"a": "it is slower"}
    for task in TASKS:
        place = planned.place_of(task)
        assert place == "b" or not needs_class(task)
    assert planned.place_of(CALL) == "a"
    planned = placing()
    planned.untimed = {"a": "it is slower", "b": "it is slower"}
    fillers = [task for task in TASKS if task.keep]
    assert {planned.place_of(task) for task in fillers} == {"a", "b"}  # for what is counted
    timed = next(task for task in TASKS if task.measure == "timing" and task.cache is None)
    with pytest.raises(NoPlaceError, match=r"on a times are not trusted .it is sl.*; on b times"):
        planned.place_of(timed)


def test_a_place_that_is_left_gets_no_further_task() -> None:
    planned = placing()
    first = planned.place_of(CALL)
    planned.leave(first, "numpy is another")
    other = planned.place_of(CALL)
    assert {first, other} == {"a", "b"}
    planned.leave(other, "numba is another")
    with pytest.raises(NoPlaceError, match=r"on a num.* is another; on b num.* is another"):
        planned.place_of(CALL)


def test_the_chains_of_a_lost_place_go_to_others_until_it_joins_again() -> None:
    planned = placing(of_class="a", a=1, b=1)
    filler, warm = (next(t for t in TASKS if t.keep), next(t for t in TASKS if t.cache))
    assert planned.place_of(filler) == "a"
    assert (planned.lose("a"), planned.lose("a")) == (True, False)
    assert planned.place_of(CALL) == "b"
    with pytest.raises(NoPlaceError, match="on a there is no worker; on b the CPU differs"):
        planned.place_of(warm)
    planned.join("c", 1, of_class=True, uncounted="there is no valgrind", host="third")
    assert planned.place_of(warm) == "c"
    with pytest.raises(NoPlaceError, match=r"on third nothing counts instr.*no valgrind"):
        planned.place_of(next(task for task in TASKS if task.measure == "work"))
    assert [planned.has(name) for name in "abcd"] == [False, True, True, False]
    planned.join("a", 1, of_class=True, untimed="it is slower")
    assert planned.has("a")
    assert planned.place_of(replace(CALL, measure="timing")) == "c"
    planned.join("a", 1, of_class=True)  # it is as fast as it was
    planned.lose("c")
    assert planned.place_of(replace(CALL, measure="timing")) == "a"
    planned.leave("a", "numpy is another")
    assert not planned.has("a")


def test_a_place_that_joins_late_gets_its_share_of_what_is_left_and_not_all_of_it() -> None:
    planned = placing(a=1)
    fillers = [task for task in TASKS if task.keep]
    for number in range(20):
        planned.place_of(replace(fillers[0], keep=f"early {number}"))
    planned.join("b", 1, of_class=True)
    late = [planned.place_of(replace(fillers[0], keep=f"late {number}")) for number in range(10)]
    assert late.count("a") == late.count("b")


def test_a_place_without_workers_takes_nothing_and_a_filled_cache_is_gone_to() -> None:
    assert placing(a=0, b=1).place_of(CALL) == "b"
    planned = placing()
    planned.pin(chain_of(CALL), "b")
    assert planned.place_of(CALL) == "b"


def test_more_workers_get_more_to_do() -> None:
    planned = placing(a=3, b=1)
    found = [planned.place_of(task) for task in TASKS if task.keep]
    assert found.count("a") > found.count("b") > 0


@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_the_parts_of_a_plan_are_the_plan_and_no_chain_is_split(number: int) -> None:
    parts = [shard_of(f"{one}/{number}").tasks(TASKS) for one in range(1, number + 1)]
    assert sorted(map(str, TASKS)) == sorted(str(task) for part in parts for task in part)
    chains = [{chain_of(task) for task in part} for part in parts]
    assert sum(map(len, chains)) == len(set().union(*chains))


@pytest.mark.parametrize("preset", ["quick", "history", "night", "full", "census", "work"])
@pytest.mark.parametrize("number", [2, 3, 5])
def test_all_times_are_in_one_part_and_no_cell_is_in_two(preset: str, number: int) -> None:
    tasks = tasks_of(PRESETS[preset], Narrowed())
    parts = [shard_of(f"{one}/{number}").tasks(tasks) for one in range(1, number + 1)]
    assert not any(task.measure in OF_CLASS for part in parts[1:] for task in part)
    cells = [{(str(task.cell), task.measure) for task in part} for part in parts]
    assert sum(map(len, cells)) == len(set().union(*cells))


def test_the_parts_of_a_night_have_about_as_much_to_do() -> None:
    tasks = tasks_of(PRESETS["night"], Narrowed())
    parts = [shard_of(f"{one}/3").tasks(tasks) for one in (1, 2, 3)]
    seconds = [sum(map(expected_seconds, part)) for part in parts]
    assert max(seconds) < 1.2 * min(seconds)


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "1/2/3", "-1/2"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write 2/4"):
        shard_of(text)


def test_missing_parts_are_named() -> None:
    names = ["night-1-of-3", "night-3-of-3", "census-2-of-2", "results"]
    assert missing(names) == ["census-1-of-2", "night-2-of-3"]
    assert missing(["results", "night-1-of-1"]) == []
