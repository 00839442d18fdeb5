"""How much faster a run is with several workers: the same samples, taken in several ways.

    python -m scripts.scale.fleet_speed [--plan quick] [--rounds 2] [--json FILE]

The plan `quick` counts the quick preset of one release, `history` two cells of sixteen releases.
The ways take turns, each with results of its own; environments are made before. What a way records
is compared with what the first one recorded. A round of `quick` takes eight minutes on two cores
that do nothing else, one of `history` as long; on a busy machine the times say nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.benchmarks.catalogue import METRICS
from observatory.run.local import STATE, environment_of, local_subjects
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from scripts.docs.rows import add_option, keep, now
from scripts.scale.tables import Speed, speed


@dataclass(frozen=True)
class Plan:
    """What each way measures."""

    releases: tuple[str, ...]
    options: tuple[str, ...]
    ways: tuple[str, ...]


ONE_CPU, ONE, TWO, ALONE = (
    "one process on one CPU (`taskset -c 0`)", "`--cluster local:1`, its worker with both CPUs",
    "`--cluster local:2`", "without `--cluster`, two counting samples at a time",
)  # fmt: skip
WAYS = {
    ONE_CPU: (("taskset", "-c", "0"), ()),
    ONE: ((), ("--cluster", "local:1")),
    TWO: ((), ("--cluster", "local:2")),
    ALONE: ((), ()),
}
"""What comes before the command, and its options."""
_CELLS = ("--scenario", "cold", "--scenario", "warm_disk", "--backend", "NUMBA")
PLANS = {
    "quick": Plan(("3.3.8",), ("--quick",), (ONE_CPU, ONE, TWO, ALONE)),
    "history": Plan(
        ("3.3.8", "3.3.7", "3.3.6", "3.3.4", "3.3.0", "3.2.4", "3.1.3", "3.1.1", "3.0.7", "3.0.0",
         "2.38.3", "2.37.0", "2.36.3", "2.36.1", "2.36.0", "2.35.1"),
        (*_CELLS, "--launch", "spawn"),
        (ONE_CPU, TWO),
    ),
}  # fmt: skip


def exact(results: Path) -> dict[str, float]:
    """The exact values below a results directory, by subject, cell and metric."""
    return {
        f"{path.stem} {entry.sample.cell} {name}": value
        for path in layout.journals(results)
        for entry in read_journal(path).entries
        for name, value in entry.sample.metrics.items()
        if METRICS[name].kind == "exact"
    }


def taken(plan: Plan, way: str, results: Path, state: Path) -> float:
    """Measure in one way; returns the seconds. Raises CalledProcessError if it fails."""
    before, options = WAYS[way]
    subjects = [word for name in plan.releases for word in ("--subject", name)]
    began = time.monotonic()
    subprocess.run(
        [*before, sys.executable, "-m", "observatory", "run", *subjects, *plan.options,
         "--pass", "counting", "--results", results, "--state", state, *options],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return time.monotonic() - began


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print the table of each plan."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--plan", choices=PLANS, action="append", help="default: all")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--state", type=Path, default=STATE)
    add_option(parser)
    given = parser.parse_args(argv)
    subjects = local_subjects(given.state)
    rows = []
    for name in given.plan or PLANS:
        plan, first = PLANS[name], dict[str, float]()
        for release in plan.releases:
            environment_of(subjects.parse(release), subjects, given.state)
        for number in range(1, given.rounds + 1):
            for way in plan.ways:
                with tempfile.TemporaryDirectory(prefix="fleet-speed-") as directory:
                    seconds = taken(plan, way, Path(directory), given.state)
                    values = exact(Path(directory))
                first = first or values
                other = [one for one in {**first, **values} if values.get(one) != first.get(one)]
                row = Speed(
                    taken=now(), plan=name, way=way, round=number, seconds=seconds,
                    values=len(values), different=len(other),
                )  # fmt: skip
                keep(given.json, row)
                rows.append(row)
                print(f"{name}, {way}: {seconds:.0f} s", flush=True)
                for one in other:
                    print(f"  {one}: {first.get(one)}, then {values.get(one)}", flush=True)
        print(*speed(rows, name), sep="\n\n")


if __name__ == "__main__":
    main()
