"""Places that join while samples are taken: prepared for all who share a placing, then used."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.benchmarks.plan import Task
from observatory.fleet import worker as remote
from observatory.fleet.cluster import DaskFleet
from observatory.fleet.orders import Place
from observatory.fleet.taking import Samples
from observatory.run.fleets import FleetError
from observatory.run.interleave import Matrix
from tests.unit.fleet.test_machines import (
    CALL,
    COLD,
    COUNTS,
    DISK,
    NO_PYTHON,
    Cluster,
    cluster,  # noqa: F401
    comparing,
    entries,
    fleet,
)
from tests.unit.fleet.test_taking import FILLS, TIMED, WARM, samples


def only_home(made: Cluster) -> dict[str, Place]:
    """Leave only this machine; the workers of the others."""
    return made.lose("twin") | made.lose("other")


def joined(own: DaskFleet, taking: Samples, name: str) -> None:
    """Wait until a place may be used."""
    own.crew.refresh(now=True)
    while taking.welcome() or not (taking.placing.has(name) or taking.placing.is_left(name)):
        threading.Event().wait(0.01)


def test_a_place_that_joins_is_prepared_and_takes_what_a_lost_one_had(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    late = only_home(cluster)
    with samples(cluster, tmp_path) as (own, taking):
        for task in (FILLS, WARM, TIMED):
            taking.run(task)
        cluster.lost = {"home": []}
        cluster.places |= {address: one for address, one in late.items() if one.host == "twin"}
        joined(own, taking, "twin")
        assert cluster.made == ["twin"]
        for task in (replace(WARM, measure="timing"), TIMED):
            taking.run(task)
    assert [host for host, _ in cluster.taken] == [*["home"] * 3, *["twin"] * 3]
    assert len(entries(tmp_path / "results")) == 5  # without the sample that filled a cache again


def test_a_place_that_joins_is_waited_for_while_it_is_prepared(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No other place is left, and it may not be used before it has the environment."""
    late, begun, ready = only_home(cluster), threading.Event(), threading.Event()
    prepare = remote.make
    submit = Cluster.submit

    def slow(self, function, *args, **more):  # type: ignore[no-untyped-def]
        if function is prepare:
            begun.set()
            ready.wait()
        return submit(self, function, *args, **more)

    monkeypatch.setattr(Cluster, "submit", slow)
    with samples(cluster, tmp_path) as (own, taking):
        cluster.lost = {"home": []}
        cluster.places |= {"z": replace(next(iter(late.values())), name="new", host="new")}
        own.crew.refresh(now=True)
        done = threading.Thread(target=lambda: taking.run(TIMED))
        done.start()
        begun.wait()
        while taking.placing.has("home"):  # which is lost meanwhile
            threading.Event().wait(0.01)
        assert cluster.taken == []
        ready.set()
        done.join()
    assert [host for host, _ in cluster.taken] == ["new"]


def test_a_place_that_joins_with_another_python_takes_nothing_and_is_asked_once(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    late, said = only_home(cluster), list[str]()
    cluster.refused["twin"][remote.make] = NO_PYTHON
    with samples(cluster, tmp_path, said) as (own, taking):
        cluster.places |= {address: one for address, one in late.items() if one.host == "twin"}
        joined(own, taking, "twin")
        cluster.lose("home")
        own.crew.refresh(now=True)
        with pytest.raises(
            FleetError, match=r"on home there is no worker; on twin Python 3\.13 is not"
        ):
            taking.run(TIMED)
    assert said.count(f"twin takes no sample: {NO_PYTHON}") == 1


def test_no_time_comes_from_a_place_that_joins_and_is_slower_but_counts_do(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    late = only_home(cluster)
    cluster.refused["twin"][remote.watch] = OSError("torn")
    with samples(cluster, tmp_path) as (own, taking):
        cluster.places |= {address: one for address, one in late.items() if one.host == "twin"}
        joined(own, taking, "twin")
        cluster.lost = {"home": []}
        taking.run(Task(CALL, "counting", 0))
        with pytest.raises(FleetError, match="on twin times are not trusted"):
            taking.run(TIMED)
    assert [host for host, _ in cluster.taken] == ["twin"]


def test_a_place_that_has_joined_is_looked_at_before_the_next_subject_is_timed_there(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    late = only_home(cluster)
    own = fleet(cluster, [], tmp_path / "state")
    assert own.placing().untimed == {}
    cluster.refused["twin"][remote.watch] = OSError("torn")
    cluster.places |= late
    own.crew.refresh(now=True)
    assert own.placing().untimed == {"twin": "the sentinel could not look at it: torn"}


def test_a_place_of_another_class_that_joins_takes_counts_only(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    late = only_home(cluster)
    with samples(cluster, tmp_path) as (own, taking):
        cluster.places |= {address: one for address, one in late.items() if one.host == "other"}
        joined(own, taking, "other")
        for task in (*COUNTS, FILLS, TIMED):
            taking.run(task)
    measured = {(host, task.measure) for host, task in cluster.taken if host == "other"}
    assert measured == {("other", "counting")}


def test_a_place_that_comes_back_emptied_fills_its_caches_anew(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    only_home(cluster)
    with samples(cluster, tmp_path) as (own, taking):
        taking.run(FILLS)
        back = cluster.lose("home")
        own.crew.refresh(now=True)
        with pytest.raises(FleetError, match="no worker is left on home"):
            taking.run(WARM)
        cluster.kept.clear()
        cluster.places |= back
        joined(own, taking, "home")
        taking.run(WARM)
    assert [task for _, task in cluster.taken] == [FILLS, FILLS, WARM]


def test_both_sides_of_a_comparison_are_prepared_before_a_place_takes_a_pair(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    """The only place is lost in a pair, and another one joins."""
    late = only_home(cluster)
    twin = {address: one for address, one in late.items() if one.host == "twin"}

    class Replaced(Cluster):
        def lose(self, host: str) -> dict[str, Place]:
            self.places |= twin
            return super().lose(host)

    cluster.__class__ = Replaced
    with comparing(cluster, tmp_path, Matrix((("all", (DISK,)),), (), (DISK, COLD)), _none) as one:
        own = one.session.fleet
        assert isinstance(own, DaskFleet)
        own._untimed, own.crew.patience = {}, 0.0
        cluster.lost = {"home": [Task(COLD, "timing", 0)]}
        one.sample(1)
    assert cluster.made == ["twin"] * 2
    for side in ("base", "head"):
        times = [x.sample for x in entries(tmp_path / side) if x.sample.measure == "timing"]
        assert [x.cell for x in times] == [DISK, COLD]


def _none(_: object) -> None:
    """Report nothing."""
