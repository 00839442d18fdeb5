"""What each pin of the pass `work` does to the counts: each lifted alone, in several samples.

    .venv/bin/python -m scripts.accuracy.pin_spread [--subject 3.3.7] [--samples 5] [--json FILE]

Prints, for each pin and cell, how far the median moves from that with all pins, and the range of
the samples. One cache is filled for all samples of a cell. Counts hardly depend on the load of the
machine, so that this may run beside other work; a sample takes about half a minute.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from observatory.run.environments import Environment
from observatory.run.local import STATE, environment_of, local_subjects
from scripts.accuracy.tables import NO_PIN, Pinned, pins
from scripts.docs.rows import add_option, keep, now

CELLS = (("warm_process", "NUMBA"), ("call", "NUMBA"))
CALLS_ONLY = frozenset({"arena of calls"})
PINS = (
    NO_PIN, "addresses", "size of the environment", "hash seed", "garbage collection",
    "BLAS and NumPy", "glibc", "names of sandboxes", "links to packages and benchmarks",
    "arena of calls", "lookups and allocations",
)  # fmt: skip
"""Those of `pin_lifted`, which needs the environment under test."""
_LIFT = Path(__file__).with_name("pin_lifted.py")


def counted(where: Environment, pin: str, number: int, *arguments: str) -> int:
    """The instructions of one sample, with one pin lifted. Raises SystemExit if it fails."""
    command = [str(where.python), str(_LIFT), pin, str(number), "--pass", "work", *arguments]
    done = subprocess.run(
        command, env=where.variables(), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"the sample without the pin {pin!r} failed: {done.stdout[-2000:]}")
    return int(json.loads(done.stdout)["metrics"]["instructions"])


def main() -> int:
    """Take the samples, and print a row as soon as it is complete."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--subject", default="newest")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--pin", action="append", choices=PINS[1:], help="only this; repeatable")
    parser.add_argument("--state", type=Path, default=STATE)
    add_option(parser)
    options = parser.parse_args()
    subjects = local_subjects(options.state)
    where = environment_of(subjects.parse(options.subject), subjects, options.state)
    rows = []
    with TemporaryDirectory(prefix="pin-spread-") as kept:
        for scenario, backend in CELLS:
            cell = ("--model", "radon", "--backend", backend, "--scenario", scenario)
            cache = Path(kept, backend)
            if not cache.exists():
                filled = ("--model", "radon", "--backend", backend, "--scenario", "warm_disk")
                counted(where, NO_PIN, 0, *filled, "--keep-cache", str(cache))
            for pin in (PINS[0], *(options.pin or PINS[1:])):
                if pin in CALLS_ONLY and scenario != "call":
                    continue
                found = [
                    counted(where, pin, number, *cell, "--cache", str(cache))
                    for number in range(options.samples)
                ]
                row = Pinned(
                    taken=now(), subject=where.versions.pytensor, pin=pin, scenario=scenario,
                    backend=backend, counts=tuple(found),
                )  # fmt: skip
                keep(options.json, row)
                rows.append(row)
                print(f"{scenario} {backend} without {pin}: {found}", flush=True)
    print(*pins(rows), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
