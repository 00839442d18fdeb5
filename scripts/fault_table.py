"""Run `observatory compare` on every known fault: caught, for the right cause, and alone.

    .venv/bin/python -m scripts.fault_table [NAME ...] [--subject 3.3.7] [--budget 5m]
        [--backend NUMBA] [--scenario warm_disk] [--machine NAME] [--keep DIR]

The first row compares the subject with itself: whatever it alarms, a fault would not have caused.
Exit status 1 if a fault was not caught, was given another cause, or alarmed beside it. About four
minutes a fault; what each comparison said is kept as NAME.json and NAME.md in --keep, by default
.observatory/faults/.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from observatory.store.records.comparison import Comparison, Verdict
from scripts.fault_kit import FAULTS, Fault, build, fault

NOTHING = "no fault"
_PASSING = (0, 5, 7, 8)
"""Exit statuses of a comparison that was made: nothing worse, wrong, worse, not all judged."""


@dataclass(frozen=True)
class Row:
    """What a comparison said of one fault."""

    name: str
    caught: bool
    causes: tuple[str, ...]
    wanted: str
    alarms: tuple[str, ...]
    """The metrics that alarmed and had to."""
    aside: tuple[str, ...]
    """Alarms that have nothing to do with the fault."""
    seconds: float

    @property
    def good(self) -> bool:
        """Caught, with the right cause and no other, and nothing beside it."""
        return self.caught and not self.aside and self.causes in ((), (self.wanted,))


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--subject", default="3.3.7")
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--backend", action="append", default=[])
    parser.add_argument("--scenario", action="append", default=[], help="default: all")
    parser.add_argument("--machine", help="whose calibration counts; default: the host's name")
    parser.add_argument("--keep", type=Path, default=Path(".observatory/faults"))
    options = parser.parse_args()
    chosen: list[Fault | None] = [fault(name) for name in options.names if name != NOTHING]
    chosen = chosen if options.names else [None, *FAULTS]
    if NOTHING in options.names:
        chosen.insert(0, None)
    # A fixed place: the path of a wheel is part of what its environment is known by.
    keep = options.keep.absolute()
    keep.mkdir(parents=True, exist_ok=True)
    rows = []
    for one in chosen:
        rows.append(row(one, options, keep))
        Console(stderr=True).print(f"{rows[-1]}", highlight=False, markup=False)
    Console().print(table(rows))
    return 0 if all(each.good for each in rows) else 1


def row(one: Fault | None, options: argparse.Namespace, keep: Path) -> Row:
    """Compare the subject with itself plus the fault, and check what is said."""
    name = "none" if one is None else one.name
    subject = options.subject
    head = subject if one is None else f"{subject} {build(one.name, keep)}"
    out = keep / f"{name}.json"
    command = [sys.executable, "-m", "observatory", "compare", subject, head]
    command += ["--budget", options.budget]
    command += [w for name in backends_of(one, options.backend) for w in ("--backend", name)]
    command += [word for name in options.scenario for word in ("--scenario", name)]
    command += ["--machine", options.machine] if options.machine else []
    command += ["--json", str(out), "--markdown", str(keep / f"{name}.md")]
    began = time.monotonic()
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in _PASSING:
        raise SystemExit(f"{' '.join(command)} ended with status {done.returncode}")
    told = Comparison.model_validate_json(out.read_bytes())
    return checked(one, told, time.monotonic() - began)


def backends_of(one: Fault | None, wanted: list[str]) -> list[str]:
    """Those asked for; else NUMBA and C, and C_VM too where the fault shows in it alone."""
    if wanted:
        return wanted
    shown = {b for alarms in one.must for b in alarms.backends} if one else set()
    return ["NUMBA", "C", *(["C_VM"] if "C_VM" in shown and "NUMBA" not in shown else [])]


def checked(one: Fault | None, told: Comparison, seconds: float) -> Row:
    """What a comparison says against what it has to say."""
    expected = {id(verdict): _expects(one, verdict) for verdict in told.verdicts}
    missed = [
        verdict
        for verdict in told.verdicts
        if expected[id(verdict)] == "must" and verdict.conclusion != "worse"
    ]
    alarms = {v.metric for v in told.worse if expected[id(v)] == "must"}
    aside = [v for v in told.worse if expected[id(v)] == "never"]
    # A cause that explains nothing but what may follow from the fault is not another one.
    following = {v.cause for v in told.worse if expected[id(v)] == "may"}
    following -= {v.cause for v in told.worse if expected[id(v)] != "may"}
    causes = [cause for cause in told.causes if cause.id not in following]
    kinds = tuple(dict.fromkeys(cause.kind for cause in causes))
    wanted = one.cause if one is not None and one.cause is not None else ""
    named = one is None or one.cause is None or one.cause in kinds
    listed = {change.name for cause in causes for change in cause.functions}
    if one is not None and one.functions:
        named = named and listed == set(one.functions)
    return Row(
        name=NOTHING if one is None else one.name,
        caught=one is None or (named and not missed and bool(alarms)),
        causes=kinds,
        wanted=wanted,
        alarms=tuple(sorted(alarms)),
        aside=tuple(f"{v.metric} of {v.cell}" for v in aside),
        seconds=seconds,
    )


def table(rows: list[Row]) -> Table:
    """The rows for a terminal."""
    drawn = Table(title=f"{sum(r.good for r in rows)} of {len(rows)} as they have to be")
    for header in ("fault", "caught", "cause named", "alarms", "on the side", "seconds"):
        drawn.add_column(header)
    for each in rows:
        drawn.add_row(
            each.name, "yes" if each.caught else "NO", ", ".join(each.causes) or "-",
            ", ".join(each.alarms) or "-", "; ".join(each.aside) or "none",
            f"{each.seconds:.0f}",
        )  # fmt: skip
    return drawn


def _expects(one: Fault | None, verdict: Verdict) -> str:
    return "never" if one is None else one.expects(verdict.cell, verdict.metric)


if __name__ == "__main__":
    raise SystemExit(main())
