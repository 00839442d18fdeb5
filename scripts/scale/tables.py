"""What was measured of fleets and object stores, as rows, and the tables of the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from scripts.docs.markdown import table, wrapped
from scripts.docs.rows import Row, blocks, measured, read
from scripts.scale.bill import Planned, Points, power
from scripts.scale.plan_tables import NIGHT_SIMULATION, PLAN, Simulated, answer, planned, simulated

KILLS, SPEED, SIMULATION = "fleet_kills", "fleet_speed", "fleet_simulation"
STORE_KILLS, STORE_NIGHTS = "store_kills", "store_nights"


class Strike(Row):
    """What became of a command of which one part was struck."""

    subject: str
    seed: int
    command: str
    blow: str
    target: str
    stopped: float
    """Seconds of a SIGSTOP."""
    again: int
    """Processes that took a sample, less the samples that were recorded."""
    paired: int
    """Of these, those that were taken again with the other one of their pair."""
    returned: int
    """Tasks that ran again although a worker had recorded their sample."""
    tries: int
    """How often the command was begun anew, or resumed."""
    lost: int
    doubled: int
    split: int
    gap: float
    """The longest time between the two samples of a pair, in seconds."""
    left: int
    """Processes and files that were left behind."""


def struck(blow: str, target: str, stopped: float) -> str:
    """What was done to what."""
    if blow == "cut":
        whose = "all connections of the scheduler" if target == "scheduler" else ""
        return f"{whose or f'the connections of a {target}'} cut"
    article = "the" if target in ("scheduler", "client") else "a"
    return f"{blow} of {article} {target}" + (f" for {stopped:g} s" if blow == "SIGSTOP" else "")


def kills(rows: Sequence[Strike]) -> Iterator[str]:
    """Yield the blocks of what strikes at a fleet came to, of the subject of the last row."""
    rows = [one for one in rows if one.subject == rows[-1].subject]
    sums: dict[str, Counter[str]] = {}
    for one in rows:
        counts = sums.setdefault(struck(one.blow, one.target, one.stopped), Counter())
        counts[f"{one.command} times"] += 1
        for name in ("again", "paired", "returned", "tries"):
            counts[f"{one.command} {name}"] += getattr(one, name)
        counts["bad"] += one.lost + one.doubled + one.split
    names = (
        "run times", "run again", "run returned", "run tries", "compare times", "compare again",
        "compare paired", "compare returned", "compare tries", "bad",
    )  # fmt: skip
    yield table(
        ("disturbance", "`run`: times", "taken again", "returned from disk", "resumed",
         "`compare`: times", "taken again", "of these, for their pair", "returned from disk",
         "begun anew", "lost, doubled or split"),
        ((what, *(str(counts[name]) for name in names)) for what, counts in sums.items()),
    )  # fmt: skip
    seeds = ", ".join(dict.fromkeys(str(one.seed) for one in rows))
    yield wrapped(
        f"At most {max(one.gap for one in rows):.1f} s lay between the two samples of a pair, and "
        f"{sum(one.left for one in rows)} processes or samples of a worker were left behind. "
        f"{measured(rows)} PyTensor {rows[0].subject}; `--seed` {seeds}."
    )


class Speed(Row):
    """How long a command took in one way."""

    plan: str
    """Of `fleet_speed.PLANS`."""
    way: str
    round: int
    seconds: float
    values: int
    """Exact values that were recorded."""
    different: int
    """Those that differ from what the first way recorded."""


def speed(rows: Sequence[Speed], plan: str) -> Iterator[str]:
    """Yield the blocks of how long one command took in each way; a newer row replaces an older."""
    own = [*{(one.way, one.round): one for one in rows if one.plan == plan}.values()]
    ways = list(dict.fromkeys(one.way for one in own))
    best = {way: min(one.seconds for one in own if one.way == way) for way in ways}
    rounds = sorted({one.round for one in own})
    taken = {(one.way, one.round): f"{one.seconds:.0f} s" for one in own}
    yield table(
        ("", *(f"round {number}" for number in rounds), "times as fast as the first"),
        ((way, *(taken.get((way, number), "") for number in rounds),
          f"{best[ways[0]] / best[way]:.1f}") for way in ways),
    )  # fmt: skip
    values, different = own[0].values, sum(one.different for one in own)
    compared = "The last column compares the quickest rounds. " if len(rounds) > 1 else ""
    yield wrapped(
        f"{compared}Each run recorded {values} exact values, of which {different or 'none'} "
        f"differed from those of the first run. {measured(own)}"
    )


class Scaled(Row):
    """A run of sleeping samples."""

    workers: int
    samples: int
    speed: float
    """How many times shorter than the recorded ones the sleeps were."""
    longest: float
    """The longest sleep, in seconds."""
    seconds: float
    slept: float
    """The sum of all sleeps, in seconds."""
    between: float
    """The median time between two samples of a worker, in seconds."""
    cpu: float
    """Seconds of CPU for each sample, of the client with its scheduler and of the worker."""


def simulation(rows: Sequence[Scaled]) -> Iterator[str]:
    """Yield the blocks of how a fleet scales."""
    newest = {one.workers: one for one in rows}
    first, *_ = newest.values()
    yield table(
        ("workers", "seconds", "times faster", "without a sample", "between two samples",
         "CPU a sample"),
        ((str(one.workers), f"{one.seconds:.1f}", f"{first.seconds / one.seconds:.1f}",
          f"{1 - one.slept / (one.seconds * one.workers):.0%}".replace("%", " %"),
          f"{1000 * one.between:.0f} ms", f"{1000 * one.cpu:.0f} ms") for one in newest.values()),
    )  # fmt: skip
    yield wrapped(
        f"Each run takes {first.samples} counting samples of the quick preset. Each of them sleeps "
        f"for its recorded time divided by {first.speed:g}, {first.longest:.1f} s at most. The CPU "
        f"time is that of the client, with its scheduler, and of the worker. "
        f"{measured(newest.values())}"
    )


class StoreKill(Row):
    """A round of three publishers, of which one was killed."""

    server: str
    place: float
    """After or before which object it was killed: see `store_kills.PLACES`."""
    began_again: int
    """Publishers that others had overtaken."""
    samples: int
    """That were published up to now."""
    lost: int
    doubled: int
    torn: int


def store_kills(rows: Sequence[StoreKill]) -> Iterator[str]:
    """Yield the blocks of what kills of publishers came to, by server."""
    servers: dict[str, list[StoreKill]] = {}
    for one in rows:
        servers.setdefault(one.server, []).append(one)
    yield table(
        ("server", "rounds", "publishers that began again", "lost", "doubled", "torn"),
        ((server, str(len(own)), str(sum(one.began_again for one in own)),
          f"{sum(one.lost for one in own)} of {max(one.samples for one in own)} samples",
          str(sum(one.doubled for one in own)), str(sum(one.torn for one in own)))
         for server, own in servers.items()),
    )  # fmt: skip
    yield measured(rows)


class StoreNight(Row):
    """What publishing one more night costs in one way."""

    way: str
    """"branch" or "store"."""
    nights: int
    samples: int
    """Of a night."""
    size: float
    """Of the files of a night, in MB."""
    publish: float
    """CPU seconds of the command and git."""
    copy_cpu: float
    more: float
    """MB by which the repository or the store grows."""
    copied: float
    """MB of a copy."""
    requests: int | None = None


def store_nights(rows: Sequence[StoreNight]) -> Iterator[str]:
    """Yield the blocks of what nights cost on a branch and in a store."""
    found = {(one.way, one.nights): one for one in rows}
    sizes = sorted({one.nights for one in rows})
    lines = []
    for nights in sizes:
        branch, store = found["branch", nights], found["store", nights]
        lines.append((
            str(nights), f"{branch.publish:.1f} s", f"{branch.copy_cpu:.1f} s",
            f"{branch.copied:.1f}", f"{store.publish:.1f} s", str(store.requests),
            f"{store.copy_cpu:.1f} s", f"{store.copied:.1f}",
        ))  # fmt: skip
    yield table(
        ("nights", "branch: CPU to publish one more", "CPU to copy", "MB of a copy",
         "store: CPU to publish one more", "requests", "CPU to copy", "MB of a copy"),
        lines,
    )  # fmt: skip
    last = max(rows, key=lambda one: one.nights)
    yield wrapped(
        f"A night is {last.samples} samples, {last.size:.2f} MB of files. The CPU seconds are "
        f"those of `publish` with git; the server is on the same machine. "
        f"{measured(found.values())}"
    )
    if len(sizes) > 1:
        yield wrapped(_leaving({nights: found["branch", nights].publish for nights in sizes}))


def _leaving(points: Points) -> str:
    """When publishing to a branch takes a minute: both ways to go on from what was measured."""
    (first, least), *_, (before, lower), (last, most) = [
        next(iter(points.items())),
        *points.items(),
    ]
    slope = (most - lower) / (last - before)
    by_power = last * (60 / most) ** (1 / power(points))
    by_slope = last + (60 - most) / slope
    return (
        f"From {first} to {last} nights, one publication to the branch grew from {least:.1f} to "
        f"{most:.1f} s of CPU: with the power {power(points):.2f} of the number of nights. Nobody "
        f"has measured when it takes a minute. If it keeps this power, that is after about "
        f"{_about(by_power)} nights; if each further night adds what it added between {before} and "
        f"{last} nights ({1000 * slope:.0f} ms), after about "
        f"{_about(by_slope)}."
    )


def _about(number: float) -> str:
    return f"{float(f'{number:.2g}'):,.0f}"


def parts(plans: Iterable[str]) -> dict[str, dict[str, str]]:
    """From the path of a page to its parts: from name to content, which is empty without rows.

    ``plans``: the names of `fleet_speed.PLANS`.
    """
    speeds = read(Speed, SPEED)
    bills, simulations = read(Planned, PLAN), read(Simulated, NIGHT_SIMULATION)
    return {
        "docs/fleet.md": {
            "fleet kills": blocks(kills, read(Strike, KILLS)),
            "fleet simulation": blocks(simulation, read(Scaled, SIMULATION)),
            **{f"fleet speed {plan}": blocks(
                partial(speed, plan=plan), [one for one in speeds if one.plan == plan]
            )
               for plan in plans},
        },
        "docs/sharing.md": {"store kills": blocks(store_kills, read(StoreKill, STORE_KILLS))},
        "docs/explanation/scale.md": {
            **planned(bills),
            "scale answer": answer(bills, simulations),
            "scale simulation": blocks(simulated, simulations),
            "store nights": blocks(store_nights, read(StoreNight, STORE_NIGHTS)),
        },
    }  # fmt: skip
