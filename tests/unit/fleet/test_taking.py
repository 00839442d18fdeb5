"""A machine that is lost for good: what may move is taken elsewhere, once, and in whole pairs.

The workers are those of `test_machines`; a machine that is lost is not waited for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.fleet.cluster import DaskFleet
from observatory.fleet.fetching import fetch_left
from observatory.fleet.orders import Order, Place, Taken
from observatory.fleet.taking import Samples
from observatory.run import spool
from observatory.run.environments import NO_PINS, Environment
from observatory.run.fleets import FleetError
from observatory.run.interleave import Matrix
from tests.factories import RUN, header
from tests.unit.fleet.test_machines import (
    CALL,
    COLD,
    COUNTS,
    DISK,
    OWN,
    Cluster,
    cluster,  # noqa: F401
    comparing,
    entries,
    fleet,
)

FILLS, WARM = plan([DISK], Rounds(timing=0, counting=1))
TIMED = Task(CALL, "timing", 0)
ENDS = "; what was recorded is kept, and `observatory run` continues with --resume"


@contextmanager
def samples(
    made: Cluster, tmp_path: Path, said: list[str] | None = None
) -> Iterator[tuple[DaskFleet, Samples]]:
    own = fleet(made, [] if said is None else said, tmp_path / "state")
    own._untimed, own.crew.patience = {}, 0.0
    environment = Environment(Path("/env/python"), header().versions, "key", Path("/env"))
    with own.samples(
        tmp_path / "results", RUN, OWN.machine, header().subject, environment, added=(),
        pins=NO_PINS, caches=own.state / "caches", placing=own.placing(),
        settings={"timeout": 1.0},
    ) as found:  # fmt: skip
        yield own, found


def without(made: Cluster, *hosts: str) -> None:
    for host in hosts:
        made.lose(host)


@pytest.mark.parametrize("recording", [False, True])
def test_what_a_lost_machine_was_taking_is_taken_elsewhere_and_comes_in_once(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
    recording: bool,
) -> None:
    """Also if the machine had recorded it, and is there again when the command ends."""
    cluster.lost, cluster.recording, said = {"twin": []}, recording, list[str]()
    gone = {address: one for address, one in cluster.places.items() if one.host == "twin"}
    with samples(cluster, tmp_path, said) as (own, taking):
        for task in COUNTS:
            assert taking.run(task).status == "ok"  # nobody accepts it: it is fetched in the end
        assert cluster.places.keys().isdisjoint(gone)
        cluster.places |= gone
        own.crew.refresh(now=True)
    found = Counter(one.sample.cell for one in entries(tmp_path / "results"))
    assert found == Counter(task.cell for task in COUNTS)
    assert said[0] == "no worker has come back to twin: others take its tasks"
    assert own.report() == (
        "workers or connections were lost: 1 sample taken elsewhere, because no worker came back"
    )
    assert not list(spool.left_behind(own.state))


def test_what_a_lost_machine_recorded_is_not_fetched_after_the_client_was_killed_either(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without(cluster, "other")
    cluster.lost, cluster.recording = {"home": []}, True
    gone = {address: one for address, one in cluster.places.items() if one.host == "home"}
    cluster.kept["home"].add(str(FILLS.keep))  # as an interrupted run has left it
    with monkeypatch.context() as killed, samples(cluster, tmp_path) as (own, taking):
        assert taking.run(WARM).status == "ok"
        killed.setattr("observatory.fleet.cluster.fetch", lambda *_: False)
    assert [host for host, _ in cluster.taken] == ["home", "twin", "twin"]
    cluster.places |= gone
    fetch_left(fleet(cluster, [], own.state).crew, own.state)
    (found,) = entries(tmp_path / "results")
    assert found.sample.cell == DISK
    assert found.sample.metrics["compile_time"] == 3  # the third that was taken
    assert not list(spool.left_behind(own.state))


def test_a_lost_machine_that_may_have_what_nobody_took_again_is_asked_by_a_later_command(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    without(cluster, "home", "other")
    with samples(cluster, tmp_path) as (own, taking):
        taking.run(COUNTS[0])
        gone = cluster.lose("twin")
        own.crew.refresh(now=True)
    assert [owner.elsewhere for _, owner in spool.left_behind(own.state)] == [["twin"]]
    assert entries(tmp_path / "results") == []
    cluster.places |= gone
    fetch_left(fleet(cluster, [], own.state).crew, own.state)
    assert [one.sample.cell for one in entries(tmp_path / "results")] == [COUNTS[0].cell]


def test_a_lost_machine_is_not_missed_if_all_that_it_took_is_recorded(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    without(cluster, "home", "other")
    said = list[str]()
    with samples(cluster, tmp_path, said) as (own, taking):
        taking.accept(taking.run(COUNTS[0]))
        cluster.lose("twin")
        own.crew.refresh(now=True)
    assert said == []
    assert not list(spool.left_behind(own.state))


def test_what_is_on_present_machines_is_fetched_though_another_one_never_comes_back(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without(cluster, "home")
    with monkeypatch.context() as killed, samples(cluster, tmp_path) as (own, taking):
        hosts = {taking.machine_of(taking.run(task)).cpu for task in COUNTS}
        killed.setattr("observatory.fleet.cluster.fetch", lambda *_: False)
    assert len(hosts) == 2
    without(cluster, "twin")
    said = list[str]()
    fetch_left(fleet(cluster, said, own.state).crew, own.state)
    kept = [task.cell for host, task in cluster.taken if host == "other"]
    assert [one.sample.cell for one in entries(tmp_path / "results")] == kept
    assert "may lie on machines that take no part now" in said[-1]


@pytest.mark.parametrize("twice", [False, True])
def test_a_filled_cache_that_is_lost_is_filled_again_once_and_its_sample_is_not_recorded_twice(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
    twice: bool,
) -> None:
    """``twice``: the machine on which it is filled again is lost as well, while it does so."""
    third = replace(cluster.place("twin"), name="third", host="third", state=tmp_path / "third")
    cluster.places["z"] = third
    with samples(cluster, tmp_path) as (own, taking):
        taking.run(FILLS)
        (filler, _), warm = cluster.taken[0], [replace(WARM, round=number) for number in range(3)]
        taking.run(warm[0])
        cluster.lost = {filler: []}
        if twice:
            (second,) = {"home", "twin"} - {filler}
            cluster.lost[second] = [FILLS]
            taking.placing.load["third"] = 1e6
        taking.run(warm[1])
        taking.run(warm[2])
    after = [(host, task) for host, task in cluster.taken if host != filler]
    (host,) = {host for host, _ in after}
    assert host == "third" if twice else host in {"home", "twin", "third"}
    assert [task for _, task in after] == [FILLS, warm[1], warm[2]]
    found = Counter(one.sample.cell for one in entries(tmp_path / "results"))
    assert found == {FILLS.cell: 1, WARM.cell: 3}
    assert "1 sample taken again to fill a cache elsewhere" in own.report()


@pytest.mark.parametrize(("struck", "hosts"), [(1, 1), (2, 2), (3, 2)])
def test_a_pair_whose_machine_is_lost_is_taken_again_as_a_whole_on_an_equal_one(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
    struck: int,
    hosts: int,
) -> None:
    """``struck``: after so many times, the machine disappears in the next one."""

    class Striking(Cluster):
        def _take(self, order: Order, place: Place) -> Taken:
            done = super()._take(order, place)
            times = [task.measure for _, task in self.taken].count("timing")
            if order.task.measure == "timing" and times == struck:
                self.lost[place.host] = []
            return done

    cluster.__class__ = Striking
    matrix = Matrix((("all", (DISK,)),), (), (DISK,))
    with comparing(cluster, tmp_path, matrix, lambda _: None) as comparer:
        own = comparer.session.fleet
        assert isinstance(own, DaskFleet)
        own.crew.patience = 0.0
        comparer.sample(3)
    sides = [
        [one.sample for one in entries(tmp_path / side) if one.sample.measure == "timing"]
        for side in ("base", "head")
    ]
    assert [len(side) for side in sides] == [3, 3]
    host_of = dict(enumerate((host for host, _ in cluster.taken), 1))
    pairs = [
        [host_of[int(one.metrics["compile_time"])] for one in pair]
        for pair in zip(*sides, strict=True)
    ]
    assert all(first == second for first, second in pairs)
    used = {host for pair in pairs for host in pair}
    assert used <= {"home", "twin"}
    assert len(used) == hosts
    report = own.report()
    assert "1 sample taken elsewhere, because no worker came back" in report
    assert ("2 samples taken again with the other one of their pair" in report) == (struck % 2 == 1)


def test_times_go_nowhere_else_than_to_an_equal_machine_and_the_command_says_how_to_go_on(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    cluster.lost = {"home": [], "twin": []}
    nowhere = (
        f"^no worker is left on home and twin; {CALL} timing: no worker of the cluster can take "
        "it: on home there is no worker; on twin there is no worker; on other the CPU differs "
        f"from that of the machines that take times and work{re.escape(ENDS)}$"
    )
    with samples(cluster, tmp_path) as (own, taking):
        with pytest.raises(FleetError, match=nowhere):
            taking.run(TIMED)
        assert taking.run(Task(CALL, "counting", 0)).status == "ok"
    assert {host for host, _ in cluster.taken} == {"other"}
    assert "2 samples taken elsewhere" in own.report()


def test_a_sample_that_three_machines_did_not_survive_is_blamed_on_nobody_and_tried_no_more(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    cluster.lost = {"home": [], "twin": [], "other": []}
    cluster.places["z"] = replace(cluster.place("twin"), name="third", host="third")
    with samples(cluster, tmp_path) as (_, taking), pytest.raises(FleetError, match="3 machines"):
        taking.run(Task(COLD, "counting", 0))
    assert cluster.taken == []
    assert entries(tmp_path / "results") == []


def test_a_subject_that_begins_after_a_machine_was_lost_goes_to_the_others(
    cluster: Cluster,  # noqa: F811
    tmp_path: Path,
) -> None:
    own = fleet(cluster, [], tmp_path / "state")
    own._untimed = {}
    without(cluster, "twin")
    own.crew.refresh(now=True)
    environment = Environment(Path("/env/python"), header().versions, "key", Path("/env"))
    with own.samples(
        tmp_path / "results", RUN, OWN.machine, header().subject, environment, added=(),
        pins=NO_PINS, caches=own.state / "caches", placing=own.placing(),
        settings={"timeout": 1.0},
    ) as taking:  # fmt: skip
        for task in COUNTS:
            taking.accept(taking.run(task))
    own.tidy(own.state / "caches")
    assert {host for host, _ in cluster.taken} == {"home", "other"}
