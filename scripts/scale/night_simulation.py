"""Simulates the night that `plan` multiplies: workers, schedulers, and publishers to stores.

    python -m scripts.scale.night_simulation [--group 200] [--seed 1] [--json FILE]

Each project draws cells from the journals in RESULTS, with the seconds that their samples took,
until it has its series. Two timing samples of a cell are a pair, which one worker takes. A
scheduler of each project gives out its samples, one after the other. Workers that all projects
share take a sample of each project in turn. The samples of a project belong to several parts; the
publisher of a part begins when the last sample of its part has ended, and begins again if another
part has published meanwhile. The costs are those of the newest row of `results/tables/plan.jsonl`.

A group of the projects is simulated, in about a minute; the table multiplies it by the number of
such groups.
"""

from __future__ import annotations

import argparse
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush, heapreplace
from pathlib import Path

import numpy as np

from observatory.objects.collection import TRIES
from observatory.store.records import layout
from scripts.docs.rows import add_option, keep, now, read
from scripts.scale.bill import Bill, Planned
from scripts.scale.plan_tables import ENOUGH, PARTS, PLAN, Simulated, simulated
from scripts.scale.projects import Cell, Drawn, cells, project

DAY, NIGHT = 86_400.0, 28_800.0


def measured(
    projects: Sequence[Drawn], begins: Sequence[float], workers: int, client: float,
    parts: int = 1, schedulers: int | None = None,
) -> list[list[float]]:  # fmt: skip
    """When the last sample of each part of each project ends.

    ``begins`` ascend. ``client``: seconds in which a scheduler gives out a sample; with fewer
    ``schedulers`` than projects, several projects share each.
    """
    free = [begins[0]] * workers  # a heap: when each worker has nothing to do
    busy = [0.0] * (schedulers or len(projects))
    ends = [[begin] * parts for begin in begins]
    waiting = deque[tuple[int, int]]()  # projects, each with the place of its next samples
    following, time = 0, begins[0]
    while waiting or following < len(projects):
        time = max(time, free[0])
        if not waiting:
            time = max(time, begins[following])
        while following < len(projects) and begins[following] <= time:
            waiting.append((following, 0))
            following += 1
        number, place = waiting.popleft()
        seconds, samples = projects[number][place]
        scheduler = number % len(busy)
        busy[scheduler] = max(time, busy[scheduler]) + samples * client
        end = busy[scheduler] + seconds
        heapreplace(free, end)
        ends[number][place % parts] = max(ends[number][place % parts], end)
        if place + 1 < len(projects[number]):
            waiting.append((number, place + 1))
    return ends


@dataclass
class Published:
    """What became of publications."""

    begins: list[float] = field(default_factory=list)
    """Of every try."""
    ends: list[float] = field(default_factory=list)
    given_up: int = 0


def published(ends: Iterable[float], seconds: float, chance: np.random.Generator) -> Published:
    """Publish the parts of one project to its store, as `observatory.objects.collection` does."""
    found, version = Published(), 0
    # The moment, the number of the part, which try, and which version it saw: -1 before it looked.
    events = [(end, part, 1, -1) for part, end in enumerate(ends)]
    heapify(events)
    while events:
        time, part, tries, seen = heappop(events)
        if seen < 0:
            found.begins.append(time)
            heappush(events, (time + seconds, part, tries, version))
        elif seen == version:
            version += 1
            found.ends.append(time)
        elif tries == TRIES:
            found.given_up += 1
        else:
            wait = chance.uniform(0, min(0.1 * 2**tries, 10))
            heappush(events, (time + wait, part, tries + 1, -1))
    return found


@dataclass(frozen=True)
class Setting:
    """What a night is like."""

    name: str
    projects: int
    series: int
    parts: int = PARTS
    spread: bool = False
    """Whether projects begin at any time of the day, and not all at once."""
    own: bool = False
    """Whether each project has workers of its own."""
    shared: bool = False
    """Whether one scheduler serves all projects of the plan, of which these are a group."""


def simulate(
    setting: Setting, workers: int, plan: Planned, known: Sequence[Cell], seed: int, groups: float
) -> Simulated:
    """Simulate a night; of projects that begin at any time, the second of two equal days."""
    chance, bill = np.random.default_rng(seed), Bill(plan)
    number = setting.projects
    drawn = [project(known, setting.series, chance) for _ in range(number)]
    begins = sorted(chance.uniform(0, DAY) if setting.spread else 0.0 for _ in drawn)
    if setting.own:
        ends = [measured([one], [begin], workers // number, bill.client, setting.parts)[0]
                for one, begin in zip(drawn, begins, strict=True)]  # fmt: skip
    else:
        days = 1 + setting.spread
        every = [begin + day * DAY for day in range(days) for begin in begins]
        client = bill.client * (groups if setting.shared else 1)
        schedulers = 1 if setting.shared else None
        ends = measured(drawn * days, every, workers, client, setting.parts, schedulers)[-number:]
        begins = every[-number:]
    seconds = bill.try_seconds(setting.parts) * setting.series / plan.series
    stores = [published(own, seconds, chance) for own in ends]
    tries = np.array([one for store in stores for one in store.begins])
    asked = np.add.outer(tries - tries.min(), np.arange(plan.requests) * seconds / plan.requests)
    moments = np.argsort(np.concatenate([tries, tries + seconds]), kind="stable")
    lasted = np.array([max(one.ends) - begin for one, begin in zip(stores, begins, strict=True)])
    whole = np.array([not one.given_up for one in stores])
    span = DAY if setting.spread else max(map(max, ends)) - begins[0]
    return Simulated(
        taken=now(), name=setting.name, client=bill.client, publish=bill.try_seconds(PARTS),
        projects=number, series=setting.series, seed=seed,
        workers=workers, groups=groups, parts=setting.parts,
        samples=sum(count for one in drawn for _, count in one),
        done=float(np.mean(whole & (lasted <= NIGHT))),
        idle=1 - sum(took for one in drawn for took, _ in one) / (workers * span),
        last=float(lasted.max()) / 3600, tries=len(tries),
        given_up=sum(one.given_up for one in stores),
        at_once=int(np.cumsum(np.where(moments < len(tries), 1, -1)).max()),
        peak=int(np.bincount(asked.astype(int).ravel()).max()),
    )  # fmt: skip


def nights(plan: Planned, group: int, known: Sequence[Cell], seed: int) -> Iterator[Simulated]:
    """Yield every night; the first three say how many workers they need."""
    first = Setting("all projects begin at once", group, plan.series)
    spread = replace(first, name="projects begin at any time of the day", spread=True)
    own = replace(first, name="each project has its own workers", own=True)
    twice = replace(first, name="twice the projects, the same workers", projects=2 * group)
    more = replace(twice, name="twice the projects and workers")
    longer = replace(first, name="twice the series and workers", series=2 * plan.series)
    shared = replace(first, name="as the first, one scheduler for all", shared=True)
    divided = replace(first, name="as the first, 30 parts for each project", parts=30)
    seconds = Bill(plan).hours * 3600 / plan.projects * group

    def tried(setting: Setting, workers: int) -> Simulated:
        return simulate(setting, workers, plan, known, seed, plan.projects / group)

    def enough(setting: Setting, least: float, step: float) -> Simulated:
        workers = math.ceil(least)
        found = tried(setting, workers)
        while found.done < ENOUGH or found.idle <= 0:  # without any idle time, they fall behind
            found = tried(setting, workers := workers + math.ceil(step))
        return found

    yield (found := enough(first, seconds / NIGHT, seconds / NIGHT / 100))
    yield enough(spread, seconds / DAY, seconds / DAY / 100)
    yield enough(own, group * math.ceil(seconds / NIGHT / group), group)
    for setting in (shared, divided, twice):
        yield tried(setting, found.workers)
    for setting in (more, longer):
        yield tried(setting, 2 * found.workers)


def main(argv: Sequence[str] | None = None) -> None:
    """Simulate, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--group", type=int, default=200, help="of so many projects")
    parser.add_argument("--seed", type=int, default=1)
    add_option(parser)
    given = parser.parse_args(argv)
    plan = read(Planned, PLAN, given.results / layout.TABLES)[-1]
    rows = []
    for row in nights(plan, given.group, cells(given.results), given.seed):
        keep(given.json, row)
        rows.append(row)
        print(f"{row.name}: {row.workers} workers, {row.done:.1%} in eight hours", flush=True)
    print(*simulated(rows), sep="\n\n")


if __name__ == "__main__":
    main()
