"""Which workers may measure, and what each place is worth; the cluster is a fake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from observatory.fleet.cluster import DaskFleet
from observatory.fleet.crew import Crew, Site
from observatory.fleet.orders import Place
from observatory.fleet.taking import Samples
from observatory.run.fleets import FleetError
from observatory.run.placing import Placing
from tests.factories import header

MACHINE = header().machine
HERE = Place("here", "one", "boot", True, Path("/state"), MACHINE, (0,))
THERE = replace(HERE, name="there", host="two", machine=MACHINE.model_copy(update={"cpu": "Else"}))


class Client:
    """A cluster of workers that tell what a test says."""

    def __init__(self, places: dict[str, Place]) -> None:
        self.places, self.dead = places, False

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        if self.dead:
            raise OSError("refused")
        return {"workers": dict.fromkeys(self.places)}

    def run(self, _: Callable[..., Any], *__: object, **___: object) -> dict[str, Place]:
        return self.places


@pytest.fixture
def said() -> list[str]:
    return []


def crew(said: list[str], own: str = "Some CPU", **places: Place) -> Crew:
    class Plugin:
        name = "observatory"

    made = Crew(Client(places), own, said.append, Plugin())  # type: ignore[arg-type]
    made.refresh(now=True)
    return made


def test_a_worker_that_may_not_measure_is_left_out_once_and_asked_again(said: list[str]) -> None:
    one = crew(said, a=HERE, b=replace(HERE, problem="it shares its CPU"))
    assert one.number == 1
    assert said == ["the worker b on one is left out: it shares its CPU"]
    one.client.places["b"] = replace(HERE, cpus=(1,))
    one._looked = 0.0
    one.refresh()
    assert (one.number, one.sites["here"].cpus, len(said)) == (2, (0, 1), 1)


def test_times_come_from_the_clients_cpu_and_else_from_that_of_most_workers(
    said: list[str],
) -> None:
    assert crew(said, a=HERE, b=THERE, c=THERE).of_class() == ["here"]
    assert crew(said, "Third", a=HERE, b=THERE, c=THERE).of_class() == ["there"]
    fleet = DaskFleet(crew(said, "Third", a=HERE, b=THERE, c=THERE), Path("/state"))
    assert fleet.machine(MACHINE).cpu == "Else"
    assert (fleet.workers, fleet.timed_at_once) == (3, 1)


def test_work_is_counted_if_one_place_can(said: list[str]) -> None:
    without = replace(THERE, uncounted="there is no valgrind")
    fleet = DaskFleet(crew(said, a=HERE, b=without), Path("/state"))
    assert fleet.uncounted() == ""
    assert fleet.placing().uncounted == {"there": "there is no valgrind"}
    assert DaskFleet(crew(said, b=without), Path("/state")).uncounted() == "there is no valgrind"


def test_a_place_whose_workers_were_all_replaced_is_a_new_generation(said: list[str]) -> None:
    one = crew(said, a=HERE, b=HERE)
    site, places = one.sites["here"], one.client.places
    assert site.generation == 1
    del places["a"]
    one.refresh(now=True)
    places["c"] = HERE
    one.refresh(now=True)
    assert site.generation == 1  # b was there all the time
    places.clear()
    places["d"] = HERE
    one.refresh(now=True)
    assert site.generation == 2


def test_a_scheduler_that_does_not_answer_is_said_in_a_sentence(said: list[str]) -> None:
    one = crew(said, a=HERE)
    one.client.dead = True
    with pytest.raises(FleetError, match="--resume continues"):
        one.refresh(now=True)


def test_a_time_waits_until_its_machine_does_nothing_else(said: list[str]) -> None:
    one = crew(said, a=HERE, b=HERE)
    taking = Samples(one, "s", "r", "m", None, "c", Placing({}, ()), {}, {})  # type: ignore[arg-type]
    site: Site = one.sites["here"]
    with taking._slot("here", alone=False), taking._slot("here", alone=False):
        assert (site.running, site.alone) == (2, False)
    with taking._slot("here", alone=True):
        assert (site.running, site.alone) == (1, True)
    assert (site.running, site.alone) == (0, False)


def test_what_was_repeated_is_said(said: list[str]) -> None:
    fleet = DaskFleet(crew(said, a=HERE), Path("/state"))
    assert fleet.report() == ""
    fleet.crew.counts.update(again=2, recognised=1)
    assert fleet.report() == (
        "workers or connections were lost: 2 samples begun again, 1 sample recorded already and "
        "not taken again"
    )
