"""How much of the time of each build its profile attributes: a table of saved samples.

    observatory run --subject 2.38.3 --subject 3.3.7 --pass timing --scenario cold \
        --scenario warm_disk --scenario warm_process --launch spawn --results DIR
    .venv/bin/python -m scripts.accuracy.attribution DIR

A build's time is that of the metric `compile_time`. Its phases are those of the profile; what
belongs to none of them is not attributed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from observatory.analyze.profiles.cells import cell_profiles
from observatory.analyze.profiles.samples import NOT_ATTRIBUTED
from observatory.benchmarks.catalogue import Cell
from observatory.store.reading.saved import load_all
from observatory.text.units import seconds


class Attributed(NamedTuple):
    """The builds of one cell of a subject."""

    subject: str
    cell: Cell
    builds: int
    least: float
    """The share of its time that phases have, of the build that has least."""
    most: float
    """Seconds that belong to no phase, of the build that has most."""
    largest: str
    """The phase that takes longest, as a median."""


def attributed(results: Path) -> Iterator[Attributed]:
    """Yield what is attributed, by subject and cell. Raises RecordError for unreadable results."""
    for saved in load_all(results):
        for cell, found in cell_profiles(saved.samples).items():
            timed = [one.taken for one in found.timed]
            shares = [1 - one[NOT_ATTRIBUTED] / sum(one.values()) for one in timed]
            if shares:
                phases = {n: s for n, s in found.seconds.items() if n != NOT_ATTRIBUTED}
                yield Attributed(
                    saved.header.subject.label, cell, len(shares), min(shares),
                    max(one[NOT_ATTRIBUTED] for one in timed),
                    max(phases, key=lambda name: phases[name]),
                )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    print(
        "| subject | cell | builds | attributed, at least | to no phase, at most | longest phase |"
    )
    print("|---|---|---|---|---|---|")
    for one in attributed(parser.parse_args().results):
        print(
            f"| {one.subject} | `{one.cell.scenario}` {one.cell.backend} {one.cell.launch} | "
            f"{one.builds} | "
            f"{100 * one.least:.1f} % | {seconds(one.most)} | {one.largest} |"
        )


if __name__ == "__main__":
    main()
