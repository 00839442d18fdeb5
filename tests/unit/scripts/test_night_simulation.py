"""A simulated night does what workers, schedulers and publishers do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from observatory.objects.collection import TRIES
from observatory.store.records import layout
from scripts.scale.night_simulation import Setting, measured, nights, published, simulate
from scripts.scale.plan import costs
from scripts.scale.plan_tables import ENOUGH
from scripts.scale.projects import Cell, Drawn, cells, project
from tests.unit.scripts.test_scale_plan import planned

ROOT = Path(__file__).parents[3]
KNOWN = [
    Cell(np.array([(300.0, 1), (60.0, 2)]), 5), Cell(np.array([(20.0, 1)]), 1),
    Cell(np.array([(900.0, 1)]), 4),
]  # fmt: skip


def drawn(number: int = 4, series: int = 100) -> list[Drawn]:
    chance = np.random.default_rng(1)
    return [project(KNOWN, series, chance) for _ in range(number)]


def test_one_worker_takes_as_long_as_all_samples_together() -> None:
    found = drawn()
    seconds = sum(s for one in found for s, _ in one)
    samples = sum(n for one in found for _, n in one)
    ends = measured(found, [0.0] * len(found), 1, 0.5)
    assert max(map(max, ends)) == pytest.approx(seconds + 0.5 * samples)


def test_twice_the_workers_are_never_later() -> None:
    found, before = drawn(), None
    for workers in (1, 2, 4, 8, 16):
        ends = np.array(measured(found, [0.0] * len(found), workers, 0.5, 3))
        assert before is None or (ends <= before + 1e-9).all()
        before = ends
    longest = max(max(s for s, _ in one) for one in found)
    assert before is not None
    assert before.max() >= longest


def test_a_sample_begins_after_its_project_and_scheduler() -> None:
    late = [[(10.0, 1)], [(10.0, 1)]]
    assert measured(late, [0.0, 100.0], 5, 1.0) == [[11.0], [111.0]]
    assert measured([[(10.0, 1)] * 3], [0.0], 5, 1.0) == [[13.0]]
    assert measured([[(10.0, 1)] * 2] * 2, [0.0, 0.0], 5, 1.0) == [[12.0], [12.0]]
    assert measured([[(10.0, 1)] * 2] * 2, [0.0, 0.0], 5, 1.0, 1, 1) == [[13.0], [14.0]]


def test_projects_take_turns_and_parts_end_with_their_own_samples() -> None:
    two = [[(10.0, 1), (20.0, 1)], [(10.0, 1), (5.0, 1)]]
    assert measured(two, [0.0, 0.0], 1, 0.0, 2) == [[10.0, 40.0], [20.0, 45.0]]


def test_parts_that_publish_one_after_the_other_do_not_meet() -> None:
    chance = np.random.default_rng(1)
    assert published([5.0], 3.0, chance).begins == [5.0]
    apart = published([0.0, 4.0, 8.0], 3.0, chance)
    assert apart.begins == [0.0, 4.0, 8.0]
    assert apart.ends == [3.0, 7.0, 11.0]


def test_whoever_is_overtaken_begins_again_and_publishes_once() -> None:
    found = published([0.0, 1.0], 3.0, np.random.default_rng(1))
    assert len(found.begins) == 3
    assert len(found.ends) == 2
    assert found.ends[0] == 3
    assert 7 <= found.ends[1] <= 7.2
    assert found.given_up == 0


def test_a_part_gives_up_after_as_many_tries_as_the_store_allows() -> None:
    crowd = published([0.0] * 60, 1000.0, np.random.default_rng(1))
    assert crowd.given_up > 0
    assert len(crowd.ends) + crowd.given_up == 60
    assert len(crowd.begins) <= 60 * TRIES


def test_a_project_has_its_series_and_keeps_pairs_together() -> None:
    for one in drawn(series=200):
        assert {(60.0, 2)} == {taken for taken in one if taken[1] == 2}
        had = 5 * one.count((300.0, 1)) + one.count((20.0, 1)) + 4 * one.count((900.0, 1))
        assert 200 <= had < 205


def test_the_committed_cells_have_all_samples_of_their_journals() -> None:
    known, each = cells(ROOT / "results"), costs(ROOT / "results")
    subjects = len(list(layout.journals(ROOT / "results")))
    assert sum(one.taken[:, 1].sum() for one in known) == pytest.approx(subjects * each.samples)
    assert sum(one.taken[:, 0].sum() for one in known) == pytest.approx(subjects * each.seconds)
    assert sum(one.series for one in known) == pytest.approx(subjects * each.series)


def test_a_night_counts_its_tries_and_its_idle_workers() -> None:
    found = simulate(Setting("few", 3, 50), 2, planned(commits=10), KNOWN, 1, 4)
    assert found.tries >= 3 * found.parts
    assert 1 <= found.at_once <= 3 * found.parts
    assert found.groups == 4
    alone = simulate(Setting("one", 1, 50, parts=1), 1, planned(commits=10), KNOWN, 1, 1)
    assert (alone.tries, alone.at_once, alone.given_up) == (1, 1, 0)
    assert alone.idle < 0.01


def test_nights_are_the_same_for_a_seed_and_have_enough_workers() -> None:
    made = planned(projects=40, commits=10)
    kept = {"taken"}
    first, second = (
        [one.model_dump(exclude=kept) for one in nights(made, 10, KNOWN, 3)] for _ in range(2)
    )
    assert first == second
    assert all(one["done"] >= ENOUGH for one in first[:3])
    named = {one["name"]: one for one in first}
    assert named["twice the projects, the same workers"]["projects"] == 20
    assert named["twice the series and workers"]["workers"] == 2 * first[0]["workers"]
    assert all(0 <= one["idle"] < 1 for one in first)
    assert named["each project has its own workers"]["workers"] % 10 == 0
