"""Run `observatory compare` on faults of the kit, and check alarms, causes and main parts.

    .venv/bin/python -m scripts.faults.compared [NAME ...] [--subject 3.3.7] [--budget 5m]
        [--backend NUMBA] [--scenario warm_disk] [--launch spawn] [--pass tracing]
        [--machine NAME] [--keep DIR] [--json FILE]

Without names it tries the faults that a comparison with its default cells can show, and "no fault",
which compares the subject with itself: each alarm of that is false. Exit status 1 if a fault was
missed, has another cause or main part, or raised unrelated alarms. A fault takes four minutes.
The table is Markdown. Each comparison is kept as NAME.json and NAME.md in --keep, by default
.observatory/faults/.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from observatory.store.records.comparison import CauseKind, Comparison, Verdict
from observatory.text.comparison.breakdown import Breakdown
from observatory.text.comparison.phrases import beginning
from observatory.text.document import Name
from observatory.text.titles import title_of
from observatory.text.units import about
from scripts.docs.markdown import cell, code, table, wrapped
from scripts.docs.rows import Row, add_option, keep, measured, now
from scripts.faults.kit import FAULTS, build, fault
from scripts.faults.record import Fault

NOTHING = "no fault"
_PASSING = (0, 5, 7, 8)
"""Exit statuses with a comparison: nothing worse, wrong results, worse, undecided."""


class Outcome(NamedTuple):
    """What became of a fault in a comparison."""

    caught: bool
    """Whether each alarm that must be raised was, with the right cause and the right main part."""
    as_expected: bool
    """Whether it was caught, and nothing else was found."""
    alarms: tuple[str, ...]
    """The metrics that had to raise an alarm and did."""
    causes: tuple[CauseKind, ...]
    said: str
    """What the comparison says first of where the fault is."""
    false_alarms: tuple[str, ...]


class Compared(Row):
    """What a comparison of a release with and without one fault found."""

    subject: str
    fault: str
    options: tuple[str, ...]
    """Of `compare`: the cells and the passes that it was asked for."""
    outcome: Outcome
    seconds: float
    """Wall time of the comparison, without making environments."""


def compared_table(rows: Iterable[Compared]) -> Iterator[str]:
    """Yield the blocks of what was found, by fault; of a fault the newest row counts."""
    newest = {one.fault: one for one in rows}.values()
    header = ("fault", "what it does", "asked for", "found by", "cause",
              "main part, as the comparison says it first", "false alarms",
              "reported after")  # fmt: skip
    yield table(header, map(_line, newest))
    subjects = sorted({one.subject for one in newest})
    yield wrapped(f"PyTensor {', '.join(subjects)}. {measured(newest)}")


def _line(one: Compared) -> tuple[str, ...]:
    nothing, outcome = one.fault == NOTHING, one.outcome
    alone = "a remark" if outcome.said else "nothing"
    found = ", ".join(map(code, outcome.alarms)) or alone
    return (
        NOTHING if nothing else code(one.fault),
        "the release against itself" if nothing else cell(fault(one.fault).meaning),
        code(" ".join(one.options)), found if outcome.caught else "**missed**",
        ", ".join(map(title_of, outcome.causes)) or "none", cell(outcome.said) or "-",
        cell("; ".join(outcome.false_alarms)) or "none", about(one.seconds),
    )  # fmt: skip


def main() -> int:
    """Compare every chosen fault and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: see above")
    parser.add_argument("--subject", default="3.3.7")
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--backend", action="append", default=[])
    parser.add_argument("--scenario", action="append", default=[], help="default: all")
    parser.add_argument("--launch", action="append", default=[], help="default: all")
    parser.add_argument("--pass", dest="passes", action="append", default=[], help="default: all")
    parser.add_argument("--machine", help="machine of the calibration; default: the host's name")
    parser.add_argument("--keep", type=Path, default=Path(".observatory/faults"))
    add_option(parser)
    options = parser.parse_args()
    try:
        chosen: list[Fault | None] = [fault(name) for name in options.names if name != NOTHING]
    except KeyError as unknown:
        parser.error(f"there is no fault {unknown}; `python -m scripts.faults.kit list` names all")
    chosen = chosen if options.names else [None, *FAULTS]
    if NOTHING in options.names:
        chosen.insert(0, None)
    # A fixed directory, because the path of a wheel identifies its environment.
    directory = options.keep.absolute()
    directory.mkdir(parents=True, exist_ok=True)
    rows = []
    for one in chosen:
        row = compared(one, options, directory)
        keep(options.json, row)
        rows.append(row)
        Console(stderr=True).print("; ".join(_line(row)), highlight=False, markup=False)
    good = sum(row.outcome.as_expected for row in rows)
    print(*compared_table(rows), f"{good} of {len(rows)} as expected", sep="\n\n")
    return 0 if good == len(rows) else 1


def compared(one: Fault | None, options: argparse.Namespace, directory: Path) -> Compared:
    """Compare the subject with itself plus the fault. ``directory``: of wheels and comparisons."""
    name = "none" if one is None else one.name
    subject = options.subject
    head = subject if one is None else f"{subject} {build(one.name, directory)}"
    out = directory / f"{name}.json"
    command = [sys.executable, "-m", "observatory", "compare", subject, head]
    command += ["--budget", options.budget]
    own = one.options if one is not None else ()
    wanted = {
        "--backend": backends_of(one, options.backend), "--scenario": options.scenario,
        "--launch": options.launch, "--pass": options.passes,
    }  # fmt: skip
    asked = (*own, *(w for option, words in wanted.items() if option not in own
                     for word in words for w in (option, word)))  # fmt: skip
    command += asked
    command += ["--machine", options.machine] if options.machine else []
    command += ["--json", str(out), "--markdown", str(directory / f"{name}.md")]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in _PASSING:
        raise SystemExit(f"{' '.join(command)} ended with status {done.returncode}")
    comparison = Comparison.model_validate_json(out.read_bytes())
    return Compared(
        taken=now(), subject=subject, fault=NOTHING if one is None else one.name, options=asked,
        outcome=checked(one, comparison), seconds=comparison.seconds,
    )  # fmt: skip


def backends_of(one: Fault | None, wanted: list[str]) -> list[str]:
    """The wanted ones; else NUMBA and C, and C_VM for a fault of C alone."""
    if wanted:
        return wanted
    shown = {b for alarms in one.must for b in alarms.backends} if one else set()
    return ["NUMBA", "C", *(["C_VM"] if "C_VM" in shown and "NUMBA" not in shown else [])]


def checked(one: Fault | None, comparison: Comparison) -> Outcome:
    """What became of a fault (None: there is none) in a comparison with and without it."""

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
    return Outcome(
        caught, caught and not never and {*kinds} <= {*allowed},
        tuple(sorted({v.metric for v in must})), kinds, said,
        tuple(f"{v.metric} of {v.cell}" for v in never),
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
