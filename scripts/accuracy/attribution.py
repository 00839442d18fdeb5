"""How much of the time of each build its profile attributes: a table of saved samples.

    observatory run --subject 2.38.3 --subject 3.3.7 --pass timing --scenario cold \
        --scenario warm_disk --scenario warm_process --launch spawn --results DIR
    python -m scripts.accuracy.attribution DIR [--json FILE]

A build's time is that of the metric `compile_time`. Its phases are those of the profile; what
belongs to none of them is not attributed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from observatory.analyze.profiles.cells import cell_profiles
from observatory.analyze.profiles.samples import NOT_ATTRIBUTED
from observatory.store.reading.saved import load_all
from scripts.accuracy.tables import Attributed, attribution
from scripts.docs.rows import Taken, add_option, keep


def attributed(results: Path) -> Iterator[Attributed]:
    """Yield what is attributed, by subject and cell. Raises RecordError for unreadable results."""
    for saved in load_all(results):
        machine = saved.header.machine
        for cell, found in cell_profiles(saved.samples).items():
            timed = [one.taken for one in found.timed]
            shares = [1 - one[NOT_ATTRIBUTED] / sum(one.values()) for one in timed]
            if shares:
                phases = {n: s for n, s in found.seconds.items() if n != NOT_ATTRIBUTED}
                ended = max(one.started_at for one in saved.samples if one.cell == cell)
                yield Attributed(
                    taken=Taken(at=ended, cpu=machine.cpu, cpus=int(machine.num_cpu)),
                    subject=saved.header.subject.label, scenario=cell.scenario,
                    backend=cell.backend, launch=cell.launch, builds=len(shares),
                    least=min(shares), most=max(one[NOT_ATTRIBUTED] for one in timed),
                    largest=max(phases, key=lambda name: phases[name]),
                )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    add_option(parser)
    given = parser.parse_args()
    rows = list(attributed(given.results))
    if not rows:
        raise SystemExit(f"{given.results} has no builds with a profile")
    for one in rows:
        keep(given.json, one)
    print(*attribution(rows), sep="\n\n")


if __name__ == "__main__":
    main()
