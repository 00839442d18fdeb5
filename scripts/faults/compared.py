"""Run `observatory compare` on every known fault, and check alarms, causes and main parts.

    .venv/bin/python -m scripts.faults.compared [NAME ...] [--subject 3.3.7] [--budget 5m]
        [--backend NUMBA] [--scenario warm_disk] [--launch spawn] [--pass tracing]
        [--machine NAME] [--keep DIR]

The first row compares the subject with itself; its alarms are false. Exit status 1 if a fault was
missed, has another cause or main part, or raised unrelated alarms. A fault takes four minutes.
The table is Markdown. Each comparison is kept as NAME.json and NAME.md in --keep, by default
.observatory/faults/.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from observatory.store.records.comparison import Comparison, Verdict
from observatory.text.comparison.breakdown import Breakdown
from observatory.text.comparison.phrases import beginning
from observatory.text.document import Name
from scripts.faults.kit import FAULTS, build, fault
from scripts.faults.record import Fault

NOTHING = "no fault"
_PASSING = (0, 5, 7, 8)
"""Exit statuses with a comparison: nothing worse, wrong results, worse, undecided."""
_COLUMNS = ("fault", "caught", "cause", "alarms", "main part, as it is said first",
            "unrelated alarms", "seconds", "of CPU", "load")  # fmt: skip


def main() -> int:
    """Compare every chosen fault and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--subject", default="3.3.7")
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--backend", action="append", default=[])
    parser.add_argument("--scenario", action="append", default=[], help="default: all")
    parser.add_argument("--launch", action="append", default=[], help="default: all")
    parser.add_argument("--pass", dest="passes", action="append", default=[], help="default: all")
    parser.add_argument("--machine", help="machine of the calibration; default: the host's name")
    parser.add_argument("--keep", type=Path, default=Path(".observatory/faults"))
    options = parser.parse_args()
    chosen: list[Fault | None] = [fault(name) for name in options.names if name != NOTHING]
    chosen = chosen if options.names else [None, *FAULTS]
    if NOTHING in options.names:
        chosen.insert(0, None)
    # A fixed directory, because the path of a wheel identifies its environment.
    keep = options.keep.absolute()
    keep.mkdir(parents=True, exist_ok=True)
    lines = [f"| {' | '.join(_COLUMNS)} |", "|" + "---|" * len(_COLUMNS)]
    good = 0
    for one in chosen:
        is_good, row = compared(one, options, keep)
        good += is_good
        lines.append(f"| {' | '.join(row)} |")
        Console(stderr=True).print("; ".join(row), highlight=False, markup=False)
    print("\n".join([*lines, "", f"{good} of {len(chosen)} as expected"]))
    return 0 if good == len(chosen) else 1


def compared(
    one: Fault | None, options: argparse.Namespace, keep: Path
) -> tuple[bool, tuple[str, ...]]:
    """Compare the subject with itself plus the fault; returns what `checked` returns."""
    name = "none" if one is None else one.name
    subject = options.subject
    head = subject if one is None else f"{subject} {build(one.name, keep)}"
    out = keep / f"{name}.json"
    command = [sys.executable, "-m", "observatory", "compare", subject, head]
    command += ["--budget", options.budget]
    own = one.options if one is not None else ()
    wanted = {
        "--backend": backends_of(one, options.backend), "--scenario": options.scenario,
        "--launch": options.launch, "--pass": options.passes,
    }  # fmt: skip
    command += own
    command += [w for option, words in wanted.items() if option not in own
                for word in words for w in (option, word)]  # fmt: skip
    command += ["--machine", options.machine] if options.machine else []
    command += ["--json", str(out), "--markdown", str(keep / f"{name}.md")]
    began, cpu, load = time.monotonic(), _cpu(), os.getloadavg()[0]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in _PASSING:
        raise SystemExit(f"{' '.join(command)} ended with status {done.returncode}")
    comparison = Comparison.model_validate_json(out.read_bytes())
    is_good, row = checked(one, comparison)
    loads = f"{load:.1f} to {os.getloadavg()[0]:.1f}"
    return is_good, (*row, f"{time.monotonic() - began:.0f}", f"{_cpu() - cpu:.0f}", loads)


def _cpu() -> float:
    """CPU seconds of the processes that were run and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def backends_of(one: Fault | None, wanted: list[str]) -> list[str]:
    """The wanted ones; else NUMBA and C, and C_VM for a fault of C alone."""
    if wanted:
        return wanted
    shown = {b for alarms in one.must for b in alarms.backends} if one else set()
    return ["NUMBA", "C", *(["C_VM"] if "C_VM" in shown and "NUMBA" not in shown else [])]


def checked(one: Fault | None, comparison: Comparison) -> tuple[bool, tuple[str, ...]]:
    """Whether the fault was caught, with its cause alone and no unrelated alarm; and a row.

    The row has the first columns of the table, all but the costs.
    """

    def having(expected: str, verdicts: Iterable[Verdict]) -> list[Verdict]:
        return [
            verdict
            for verdict in verdicts
            if (one.expects(verdict.cell, verdict.metric) if one else "never") == expected
        ]

    must, may, never = (having(word, comparison.worse) for word in ("must", "may", "never"))
    missed = len(having("must", comparison.verdicts)) > len(must)
    # A cause that only explains alarms that may follow from the fault is not another cause.
    following = {v.cause for v in may} - {v.cause for v in (*must, *never)}
    causes = [cause for cause in comparison.causes if cause.id not in following]
    kinds = tuple(dict.fromkeys(cause.kind for cause in causes))
    allowed = () if one is None else (*((one.cause,) if one.cause else ()), *one.or_else)
    named = one is None or one.cause is None or bool({*allowed} & {*kinds})
    listed = {change.name for cause in causes for change in cause.functions}
    if one is not None and one.functions:
        named = named and listed == set(one.functions)
    said = first_reason(comparison)
    if one is not None:
        named = named and (one.main_part or one.remark) in said
    caught = one is None or (named and not missed and bool(must or not one.must))
    return caught and not never and {*kinds} <= {*allowed}, (
        NOTHING if one is None else one.name, "yes" if caught else "NO", ", ".join(kinds) or "-",
        ", ".join(sorted({v.metric for v in must})) or "-", said or "-",
        "; ".join(f"{v.metric} of {v.cell}" for v in never) or "none",
    )  # fmt: skip


def first_reason(comparison: Comparison) -> str:
    """What the comparison says first of where the fault is; empty if it says nothing.

    That is the reason with the first cause, as a reader sees it; else the functions of that cause;
    else the first remark.
    """
    by_cause = Breakdown(comparison).by_cause
    for cause in comparison.causes:
        words = beginning(by_cause[cause.id])
        said = "".join(f"`{one.text}`" if isinstance(one, Name) else str(one) for one in words)
        return said or cause.sentence
    return next((v.reason for v in comparison.verdicts if _is_remark(v)), None) or ""


def _is_remark(verdict: Verdict) -> bool:
    calm = verdict.conclusion in ("unaffected", "workload changed")
    return calm and verdict.kind == "near_exact" and bool(verdict.reason)


if __name__ == "__main__":
    raise SystemExit(main())
