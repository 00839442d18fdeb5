"""What a night costs at the scale of a package index, from what this repository's results cost.

    python -m scripts.scale.plan [--projects 1000] [--commits 10000] [--keep-times] [--json FILE]

Samples, seconds and bytes are those of RESULTS. What pages, publishing and schedulers cost comes
from the rows in `results/tables/`. The detector and the reading of a store's list of files are
timed here, in a minute; `--keep-times` takes them from the newest row, for when only other rows
have changed. `bill` says how all of this is multiplied.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import math
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from observatory.analyze.history.steps import change_points
from observatory.objects.index import MOST_LISTED, Entry, combined, packed, unpacked
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from scripts.beside_asv.tables import BUILDING, ONE_MORE, Built
from scripts.docs.rows import add_option, keep, now, read
from scripts.scale import bill
from scripts.scale.bill import Cost, Planned, Points
from scripts.scale.plan_tables import LONG_HISTORIES, PLAN, planned
from scripts.scale.tables import SIMULATION, STORE_NIGHTS, Scaled, StoreNight

_LENGTHS = (100, 300, 1000, 3000, 10_000)
_LISTED = (MOST_LISTED, 4 * MOST_LISTED, 10 * MOST_LISTED)


def costs(results: Path) -> Cost:
    """Read what the subjects in a results directory cost."""
    paths = list(layout.journals(results))
    samples, seconds, compressed, series = 0, 0.0, 0, 0
    for path in paths:
        journal = read_journal(path)
        entries = journal.entries
        samples += len(entries)
        seconds += sum(one.sample.overhead.total for one in entries if one.sample.overhead)
        series += len({(one.sample.cell, name) for one in entries for name in one.sample.metrics})
        compressed += len(gzip.compress(path.read_bytes()))
    ledgers = [path.stat().st_size for path in (results / layout.LEDGERS).rglob("*.gz")]
    number = len(paths)
    return Cost(
        samples / number, seconds / number, series / number, compressed / number,
        len(ledgers) / number, sum(ledgers) / len(ledgers),
    )  # fmt: skip


def quickest(called: Callable[[], object]) -> float:
    """CPU seconds of a call: the least of some, as other programs make each one longer."""
    found, began = list[float](), time.process_time()
    while not found or time.process_time() - began < 1:
        before = time.process_time()
        called()
        found.append(time.process_time() - before)
    return min(found)


def detector() -> dict[int, float]:
    """CPU seconds of the detector by the length of a series."""
    chance, found = np.random.default_rng(0), {}
    for length in _LENGTHS:
        values = chance.lognormal(0, 0.02, length)
        values[length // 2 :] *= 1.1
        change_points(values)  # what is loaded once
        found[length] = quickest(lambda values=values: change_points(values))
    return found


def listing() -> tuple[dict[int, float], float]:
    """CPU seconds of reading a store's list, by its files, and bytes of memory for each file."""
    segments = [_segment(number) for number in range(max(_LISTED) // MOST_LISTED)]

    def list_of(files: int) -> object:
        some = segments[: files // MOST_LISTED]
        return combined([unpacked(name, content) for name, content in some])

    found = {files: quickest(lambda files=files: list_of(files)) for files in _LISTED}
    tracemalloc.start()
    kept = list_of(MOST_LISTED)
    size = tracemalloc.get_traced_memory()[0] / MOST_LISTED
    tracemalloc.stop()
    del kept
    return found, size


def _segment(number: int) -> tuple[str, bytes]:
    """The name and content of a list of as many ledgers as one may have."""
    pack = hashlib.sha256(str(number).encode()).hexdigest()
    listed = {}
    for place in range(MOST_LISTED):
        sha = hashlib.sha256(f"{number} {place}".encode()).hexdigest()
        path = f"{layout.LEDGERS}/{sha[:2]}/{sha}.json.gz"
        listed[path] = Entry(path, sha, 4353, pack, 4353 * place, 4353)
    content = packed(listed)
    return hashlib.sha256(content).hexdigest(), content


def measured_before(kept: Path) -> dict[str, Points]:
    """What the committed rows say that pages, publishing and clients take."""
    by_size = [one for one in read(Built, BUILDING, kept) if one.one_cpu]
    shortest = min(one.values // one.series for one in by_size)
    nights = read(StoreNight, STORE_NIGHTS, kept)
    return {
        bill.PAGES_SERIES: _built(
            (one for one in by_size if one.values // one.series == shortest),
            lambda one: one.series,
        ),
        bill.PAGES_VALUES: _built(
            read(Built, LONG_HISTORIES, kept), lambda one: round(one.values / one.series)
        ),
        bill.STORE: {one.nights: one.publish for one in nights if one.way == "store"},
        bill.BRANCH: {one.nights: one.publish for one in nights if one.way == "branch"},
        bill.CLIENT: {one.workers: one.cpu for one in read(Scaled, SIMULATION, kept)},
    }


def _built(rows: Iterable[Built], size: Callable[[Built], int]) -> Points:
    """The quickest round of building the pages again after one new file, by a size."""
    found: dict[int, float] = {}
    for one in rows:
        if one.situation == ONE_MORE:
            found[size(one)] = min(found.get(size(one), math.inf), one.seconds)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--projects", type=int, default=1000)
    parser.add_argument("--series", type=int, default=10_000)
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--keep-times", action="store_true")
    add_option(parser)
    given = parser.parse_args(argv)
    kept = given.results / layout.TABLES
    if given.keep_times:
        before = read(Planned, PLAN, kept)[-1]
        found, lists = before.curves[bill.DETECTOR], before.curves[bill.LIST]
        listed, when = before.listed, before.taken
    else:
        (lists, listed), found, when = listing(), detector(), now()
    curves = {**measured_before(kept), bill.DETECTOR: found, bill.LIST: lists}
    last = [one for one in read(StoreNight, STORE_NIGHTS, kept) if one.way == "store"][-1]
    row = Planned(
        taken=when, projects=given.projects, series=given.series, commits=given.commits,
        cost=costs(given.results), subjects=len(list(layout.journals(given.results))),
        curves={name: dict(points) for name, points in curves.items()},
        built=read(Built, LONG_HISTORIES, kept)[-1].series, published=last.samples,
        requests=last.requests or 0, listed=listed,
    )  # fmt: skip
    keep(given.json, row)
    for text in planned([row]).values():
        print(text, end="\n\n")


if __name__ == "__main__":
    main()
