"""The tables of docs/explanation/scale.md: the bill of a night, its simulation, its limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scripts.docs.markdown import table, wrapped
from scripts.docs.rows import Row, measured
from scripts.scale.bill import (
    BRANCH,
    CLIENT,
    DETECTOR,
    LIST,
    PAGES_SERIES,
    PAGES_VALUES,
    STORE,
    Bill,
    Planned,
    last_power,
    power,
)

PLAN, NIGHT_SIMULATION, LONG_HISTORIES = "plan", "night_simulation", "long_histories"
ENOUGH = 0.99
"""Share of the projects that have to be done within eight hours of their beginning."""
LARGEST = 5e9
"""Bytes of the largest repository that hosts recommend."""
PARTS = 3
"""In which the night of a project is taken, as those of `observatory init` are."""


class Simulated(Row):
    """What became of a night."""

    client: float
    """CPU seconds a sample, as `Bill.client` of the plan."""
    publish: float
    """As `Bill.try_seconds` of the plan for `PARTS`."""
    name: str
    projects: int
    series: int
    """Of each project."""
    seed: int
    workers: int
    groups: float
    """How many times as many projects there are; projects, workers and so on are those of one."""
    parts: int
    """Of the night of a project, each with a publisher of its own."""
    samples: int
    done: float
    """Share of the projects that have published within eight hours of their beginning."""
    idle: float
    """Share of the workers' time without a sample, until the last one or in a whole day."""
    last: float
    """Hours from the beginning of a project until it has published; the longest."""
    tries: int
    """To publish; as many as parts if nobody has to begin again."""
    given_up: int
    at_once: int
    """Publishers that are at work, at most."""
    peak: int
    """Requests to stores in one second, at most."""


def _size(number: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= factor:
            return f"{number / factor:.{0 if number >= 10 * factor else 1}f} {unit}"
    return f"{number:.0f} bytes"


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _hours(hours: float) -> str:
    return f"{hours:,.{0 if hours >= 10 else 1}f}"


def planned(rows: Sequence[Planned]) -> dict[str, str]:
    """The content of each part that the newest plan decides."""
    if not rows:
        return dict.fromkeys(("scale subject", "scale powers", "scale night", "scale limits"), "")
    made = rows[-1]
    return {
        "scale subject": _subject(made), "scale powers": _powers(made),
        "scale night": _night(Bill(made)), "scale limits": _limits(Bill(made)),
    }  # fmt: skip


def _subject(made: Planned) -> str:
    cost = made.cost
    return table(
        (f"a subject in `results/`, the mean of {made.subjects}", ""),
        (
            ("samples", f"{cost.samples:.0f}"),
            ("their seconds, one after the other", f"{cost.seconds:,.0f}"),
            ("series", f"{cost.series:.0f}"),
            ("bytes of its journal, compressed", f"{cost.journal:,.0f}"),
            (f"ledgers that no earlier subject has, of {cost.ledger:,.0f} bytes",
             f"{cost.ledgers:.1f}"),
        ),
    )  # fmt: skip


def _powers(made: Planned) -> str:
    shown = (
        (DETECTOR, "search for steps in one series", "values"),
        (PAGES_SERIES, "pages after one more commit, 60 values in a series", "series"),
        (PAGES_VALUES, f"pages after one more commit, {made.built} series", "values in a series"),
        (LIST, "reading a store's list of files", "files"),
        (STORE, "publishing one more night to a store", "nights"),
        (BRANCH, "publishing one more night to a branch", "nights"),
        (CLIENT, "client, scheduler and worker, for each sample", "workers"),
    )
    lines = []
    for name, what, unit in shown:
        points = dict(sorted(made.curves[name].items()))
        (least, first), *_, (most, last) = points.items()
        lines.append((
            what, f"{least:,} to {most:,} {unit}", f"{_seconds(first)} to {_seconds(last)}",
            f"{power(points):.2f}", f"{last_power(points):.2f}",
        ))  # fmt: skip
    header = ("CPU time of", "measured from", "CPU time", "power", "between the last two")
    return f"{table(header, lines)}\n\n{wrapped(measured([made]))}"


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:.{1 if seconds < 0.01 else 0}f} ms"
    return f"{seconds:.{0 if seconds >= 100 else 1}f} s"


def _cpu_hours(bill: Bill) -> tuple[tuple[str, float, str], ...]:
    """What needs CPU time besides measuring: hours, and how they are computed."""
    made = bill.planned
    return (
        ("clients, schedulers and workers, besides the samples", bill.client_hours,
         "the largest CPU time that was measured, for each sample: an upper bound"),
        ("publishing to stores", bill.publish_hours,
         "in proportion to the samples: an upper bound, as starting is counted with each"),
        ("reading the lists of files in the stores",
         made.projects * PARTS * bill.list_seconds / 3600,
         f"{PARTS} publishers for each project, none of which begins again"),
        ("building the pages", made.projects * bill.page_seconds / 3600,
         (f"measured with {made.built} series of {max(made.curves[PAGES_VALUES]):,} values; in "
          "proportion to the series, and with the square of the values: an upper bound")),
    )  # fmt: skip


def _night(bill: Bill) -> str:
    made, cpu = bill.planned, _cpu_hours(bill)
    publications = made.projects * PARTS
    lines = [
        ("samples", f"{bill.samples:,.0f}", "in proportion to the series"),
        ("hours of measuring, one sample after the other", f"{bill.hours:,.0f}",
         "in proportion to the series"),
        *((f"CPU hours of {what}", _hours(hours), how) for what, hours, how in cpu),
        ("share of measuring in these hours",
         _percent(bill.hours / (bill.hours + sum(hours for _, hours, _ in cpu)), 1), ""),
        ("bytes of journals and ledgers", _size(made.projects * bill.bytes),
         "in proportion to the series; compressed"),
        ("requests to write them, one for each file",
         f"{made.projects * bill.files:,.0f}", "a journal, and each new ledger"),
        ("requests to publish them to stores", f"{publications * made.requests:,}",
         f"{made.requests} for each of {PARTS} publishers of a project, for any number of nights"),
    ]  # fmt: skip
    return table(
        (f"{made.projects:,} projects, one commit of each", "", "how it is computed"), lines
    )


def _limits(bill: Bill) -> str:
    made = bill.planned
    values = made.series * made.commits
    until = LARGEST / bill.bytes
    lines = (
        ("bytes that one commit adds", _size(bill.bytes)),
        (f"commits until a repository has {_size(LARGEST)}, the most that hosts recommend",
         f"{until:,.0f}"),
        (f"files after {made.commits:,} commits", f"{bill.listed / 1e6:.1f} million"),
        ("CPU time of reading the list of these files", _seconds(bill.list_seconds)),
        ("memory for this list", _size(bill.listed * made.listed)),
        ("CPU time of building the pages after one more commit, at most",
         f"{bill.page_seconds / 60:.0f} minutes"),
        ("CPU time of the detector for all series, from their first values on",
         f"{60 * bill.detector_hours / made.projects:.0f} minutes"),
        ("the same for their last 300 values",
         _seconds(3600 * bill.tail_hours / made.projects)),
        (f"memory for {values / 1e6:,.0f} million values and their places", _size(16 * values)),
        (f"all results after {made.commits:,} commits", _size(made.commits * bill.bytes)),
    )  # fmt: skip
    return table((f"one project of {made.series:,} series", ""), lines)


def simulated(rows: Sequence[Simulated]) -> Iterator[str]:
    """Yield the blocks of simulated nights; a newer one of a name replaces an older one."""
    newest = [*{one.name: one for one in rows}.values()]
    yield table(
        ("night", "workers", "done in eight hours", "workers idle", "longest project",
         "publishers at once", "tries of a part", "given up", "requests a second"),
        ((one.name, f"{one.groups * one.workers:,.0f}", _percent(one.done, 1), _percent(one.idle),
          f"{one.last:.1f} h", f"{one.groups * one.at_once:,.0f}",
          f"{one.tries / (one.projects * one.parts):.2f}",
          _percent(one.given_up / (one.projects * one.parts)),
          f"{one.groups * one.peak:,.0f}") for one in newest),
    )  # fmt: skip
    one = newest[0]
    yield wrapped(
        f"In the first night, {one.projects} projects took {one.samples:,} samples with "
        f"{one.workers:,} workers, and published {one.parts} parts each (`--seed {one.seed}`). The "
        f"table has {one.groups:g} times as many workers, publishers and requests. Publishers and "
        "requests are the most at one moment and in one second. As the projects take turns, most "
        "are done shortly before the last one, so a few more workers decide whether nearly all or "
        "few of them are done in time."
    )


def answer(plans: Sequence[Planned], nights: Sequence[Simulated]) -> str:
    """The first sentences of the page; empty without both kinds of rows."""
    if not plans or not nights:
        return ""
    bill, made = Bill(plans[-1]), plans[-1]
    first, spread, *_ = (
        f"{one.groups * one.workers:,.0f}" for one in {one.name: one for one in nights}.values()
    )
    other = sum(hours for _, hours, _ in _cpu_hours(bill))
    return wrapped(
        f"**It takes about {first} workers of one CPU if all projects begin at once and have to "
        f"be done within eight hours, and about {spread} if they begin at any time of the day.** "
        f"One new commit of each of {made.projects:,} projects takes {bill.hours:,.0f} hours of "
        f"measuring. Everything else takes at most {other:,.0f} CPU hours, nearly all of them for "
        f"pages. The new results have {_size(made.projects * bill.bytes)}, and object stores take "
        f"them in {made.projects * PARTS * made.requests:,} requests. The results branch breaks "
        f"first: after {LARGEST / bill.bytes:,.0f} commits of one project, its repository is "
        "larger than hosts recommend."
    )
