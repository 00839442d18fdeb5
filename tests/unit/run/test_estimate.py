"""The estimate of what is left."""

from __future__ import annotations

import pytest

from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.schedule import Estimate, expected_seconds


@pytest.mark.parametrize("preset", PRESETS)
def test_every_task_of_every_preset_has_an_expectation(preset: str) -> None:
    assert all(expected_seconds(t) > 0 for t in tasks_of(PRESETS[preset](), Narrowed()))


def test_a_machine_twice_as_slow_doubles_what_is_left_in_the_end() -> None:
    tasks = tasks_of(PRESETS["quick"](), Narrowed())
    usual, slow = Estimate(tasks, 2), Estimate(tasks, 2)
    for task in tasks[:40]:
        usual.finished(task, expected_seconds(task))
        slow.finished(task, 2 * expected_seconds(task))
    assert slow.seconds_left() / usual.seconds_left() == pytest.approx(2, rel=0.1)


def test_nothing_is_left_when_all_is_done() -> None:
    tasks = tasks_of(PRESETS["quick"](), Narrowed())
    estimate = Estimate(tasks, 2)
    for task in tasks:
        estimate.finished(task, 1.0)
    assert estimate.seconds_left() == 0
