"""Histories of several machines and causes, brought together."""

from __future__ import annotations

from benchmarks.vocabulary import Cell
from observatory.decide.counts import Counted, History
from observatory.decide.evidence import Evidence
from observatory.decide.timeline import at
from observatory.decide.watch import Watched, watch
from observatory.record.alerts import Alerts
from observatory.record.sample import Sample
from tests.factories import failed, sample
from tests.factories_alerts import line, moment, series, stepped, subject
from tests.factories_alerts import watched as runs

DISK = Cell("radon", "warm_disk", "NUMBA", "spawn")
PROCESS = Cell("radon", "warm_process", "NUMBA", "spawn")


def history(machine: str, *nights: list[Sample]) -> History:
    counted = [Counted(at(subject(n)), Evidence.of(taken), n) for n, taken in enumerate(nights)]
    return History(machine, "py3.13", counted)


def died(cell: Cell, message: str) -> Sample:
    found = failed(cell, "counting")
    assert found.failure is not None
    told = found.failure.model_copy(update={"message": message})
    return found.model_copy(update={"failure": told})


def well(cell: Cell) -> Sample:
    return sample(cell, "counting", {"cache_misses": 0})


def watched(*histories: History, nights: int = 60) -> Alerts:
    calm = series(line(nights), stepped(nights))
    base = moment(nights)

    return watch(Watched([calm], histories, runs(nights).runs), base, "0.1")


def test_one_cause_on_two_machines_is_one_alert_until_both_are_well() -> None:
    bad, good = [died(DISK, "no")], [well(DISK)]
    found = watched(history("a", good, bad, good), history("b", good, bad, bad))
    (alert,) = found.alerts
    assert {one.machine for one in alert.series} == {"a", "b"}
    assert alert.state == "new"
    over = watched(history("a", good, bad, good), history("b", good, bad, good))
    assert over.alerts[0].state == "resolved"


def test_two_errors_at_one_subject_are_two_alerts_with_ids_of_their_own() -> None:
    good = [well(DISK), well(PROCESS)]
    bad = [died(DISK, "no such file"), died(PROCESS, "no such key")]
    found = watched(history("a", good, bad))
    assert [alert.kind for alert in found.alerts] == ["crashed", "crashed"]
    assert len({alert.id for alert in found.alerts}) == 2


def test_times_that_follow_from_a_cache_are_told_with_it() -> None:
    values = stepped(60, 40, factor=3.0)
    slow = series(line(60), values)
    other = series(line(60), values, cell=("radon", "warm_disk", "C", "spawn"))
    nights = [[well(DISK)]] * 40 + [
        [sample(DISK, "counting", {"cache_misses": 4})] for _ in range(20)
    ]

    exact = history("bench", *nights)
    found = watch(Watched([slow, other], [exact], runs(60).runs), moment(60), "0.1")
    kinds = {alert.kind: {one.benchmark for one in alert.series} for alert in found.alerts}
    assert kinds == {
        "unexplained": {"radon warm_disk NUMBA spawn"},
        "slower to build": {"radon warm_disk C spawn"},
    }
