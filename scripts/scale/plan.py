"""What a night costs at the scale of a package index, from what this repository's results cost.

    python -m scripts.scale.plan [--projects 1000] [--series 10000] [--commits 10000]

The inputs are measured: seconds and bytes of a sample from RESULTS, the seconds of the detector
from series of growing length, made here. Everything else is multiplication; nothing is fitted but
the exponent of the detector.
"""

from __future__ import annotations

import argparse
import gzip
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from observatory.analyze.history.steps import change_points
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout

_LENGTHS = (100, 300, 1000, 3000, 10_000)
_VALUE = 16
"""Bytes of one value of a series in memory: the value and its place in the history."""


@dataclass(frozen=True)
class Cost:
    """What RESULTS say of a subject, on average."""

    samples: float
    seconds: float
    """Of all its samples, one after the other."""
    series: float
    journal: float
    """Bytes, compressed as git and object stores keep them."""
    ledgers: float
    """New files with a ledger; most are shared with other subjects."""
    ledger: float
    """Bytes of one."""


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


def detector() -> tuple[dict[int, float], float]:
    """CPU seconds of the detector by the length of a series, and the exponent of their growth."""
    chance, found = np.random.default_rng(0), {}
    for length in _LENGTHS:
        values = chance.lognormal(0, 0.02, length)
        values[length // 2 :] *= 1.1
        change_points(values)  # what is loaded once
        began, times = time.process_time(), 0
        while times < 3 or time.process_time() - began < 0.5:
            change_points(values)
            times += 1
        found[length] = (time.process_time() - began) / times
    lengths, seconds = np.log(list(found)), np.log(list(found.values()))
    return found, float(np.polyfit(lengths, seconds, 1)[0])


def main() -> None:
    """Print the plan as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--projects", type=int, default=1000)
    parser.add_argument("--series", type=int, default=10_000)
    parser.add_argument("--commits", type=int, default=10_000)
    given = parser.parse_args()
    cost = costs(given.results)
    detecting, exponent = detector()
    share = given.series / cost.series
    samples = cost.samples * share
    hours = given.projects * cost.seconds * share / 3600
    journal, ledgers = cost.journal * share, cost.ledgers * share
    each = journal + ledgers * cost.ledger
    every = given.projects * given.series
    points = every * given.commits
    print("| measured | |\n|---|---|")
    print(f"| samples of a subject | {cost.samples:.0f} |")
    print(f"| their seconds, one after the other | {cost.seconds:.0f} |")
    print(f"| series of a subject | {cost.series:.0f} |")
    print(f"| bytes of its journal, compressed | {cost.journal:,.0f} |")
    print(f"| new ledgers of a subject, of {cost.ledger:,.0f} bytes | {cost.ledgers:.1f} |")
    for length, seconds in detecting.items():
        print(f"| detector, a series of {length:,} values, ms of CPU | {1000 * seconds:.1f} |")
    print(f"| exponent of the detector in the length | {exponent:.2f} |")
    print(
        f"\n| one commit of {given.projects:,} projects of {given.series:,} series | |\n|---|---|"
    )
    print(f"| samples | {given.projects * samples:,.0f} |")
    print(f"| hours of measuring, one sample after the other | {hours:,.0f} |")
    print(f"| workers of one CPU, eight hours a night | {hours / 8:,.0f} |")
    print(f"| samples a second, eight hours a night | {given.projects * samples / 28800:.0f} |")
    print(f"| bytes of journals and ledgers | {given.projects * each:.3g} |")
    print(f"| requests to write them, one for each file | {given.projects * (1 + ledgers):,.0f} |")
    longest = detecting[_LENGTHS[-1]] * (given.commits / _LENGTHS[-1]) ** exponent
    print(f"| CPU hours of detecting all series from nothing | {every * longest / 3600:,.0f} |")
    print(f"| the same, only a tail of 300 values | {every * detecting[300] / 3600:,.1f} |")
    print(f"\n| after {given.commits:,} commits | |\n|---|---|")
    print(f"| values | {points:.3g} |")
    print(f"| bytes of values in memory, of one project | {points / given.projects * _VALUE:.3g} |")
    print(f"| bytes of the results of one project | {given.commits * each:.3g} |")
    print(f"| commits until one project has 5 GB | {5e9 / each:,.0f} |")


if __name__ == "__main__":
    main()
