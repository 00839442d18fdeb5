"""Check what PyTensor relies on in numba: `python -m benchmarks.contracts`.

This runs in the environment under test and prints one JSON record on stdout (docs/schemas/). It
writes only into a sandbox, which it removes. Each area of contracts has a process of its own, which
appends the record of each contract to a file. If that process dies, the contract that it was
checking fails, and a new process checks the rest.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import NoReturn

from .. import process
from ..environment import versions
from ..fillers import new_seed
from ..messages import name_of_signal
from ..parent import end_with_parent
from ..process import Exit
from ..raised import one_line
from ..sandbox import ENDING, Sandbox, end_once
from ..sweeping import sweep
from ..typed_json import MessageError, from_json, to_json
from . import compiling, graphs, locating, names, storing, uids
from .making import (
    SCHEMA,
    Area,
    Broken,
    Contract,
    ContractRecord,
    ContractsRecord,
    Unavailable,
)

EXIT_CHECKED = 0
DEFAULT_TIMEOUT = 300.0
_PACKAGES = ("pytensor", "numba", "llvmlite", "numpy", "scipy")
AREAS: tuple[Area, ...] = (
    uids.AREA, locating.AREA, storing.INDEX, storing.LOADED, compiling.AREA, compiling.WARNINGS,
    graphs.AREA, names.AREA,
)  # fmt: skip
"""In the order in which they are checked and shown."""


def take(wanted: Collection[str], timeout: float) -> ContractsRecord:
    """Check the contracts of these names in a sandbox and return the record.

    ``timeout``: seconds for each area; a contract that has not been checked by then is `failed`.
    Raises OSError if a process cannot start.
    """
    began = time.monotonic()
    started_at = datetime.now(UTC)
    sweep()
    with Sandbox.open() as box:
        contracts = [one for area in AREAS for one in check_area(box, area, wanted, timeout)]
    return ContractsRecord(
        schema=SCHEMA,
        environment=versions(_PACKAGES),
        declared=declared(),
        contracts=tuple(contracts),
        seconds=round(time.monotonic() - began, 3),
        started_at=started_at.isoformat(),
    )


def check_area(
    box: Sandbox, area: Area, wanted: Collection[str], timeout: float
) -> list[ContractRecord]:
    """Return the records of the contracts of an area that have one of these names, in their order.

    ``timeout``: seconds for all of them. Raises OSError if a process cannot start.
    """
    deadline = time.monotonic() + timeout
    contracts = [contract for contract in area.contracts if contract.name in wanted]
    records: list[ContractRecord] = []
    while rest := contracts[len(records) :]:
        report = box.out / f"{area.name}-{len(records)}.jsonl"
        left = max(1.0, deadline - time.monotonic())
        ended = _run(box, report, [contract.name for contract in rest], left)
        records += _read(report)
        # They are checked in order: the process ended in the first one that has no record.
        failed, reason = contracts[len(records) :][:1], _reason(ended)
        if ended.timed_out:
            failed = contracts[len(records) :]
            reason = f"not checked: its area took longer than {timeout:g} s"
        records += [contract.record("failed", reason) for contract in failed]
    return records


def _run(box: Sandbox, report: Path, wanted: Sequence[str], timeout: float) -> Exit:
    only = [word for name in wanted for word in ("--only", name)]
    command = ("benchmarks.contracts", "--append-to", str(report), *only)
    env = box.environment(new_seed(), None)
    output = report.with_suffix(".stderr")
    return process.supervise(command, box.work, env, output, timeout, role="contracts")


def _read(report: Path) -> list[ContractRecord]:
    """The records of all complete lines; the process may have died while it wrote the last one."""
    records = []
    with contextlib.suppress(OSError, MessageError):
        for line in report.read_text(encoding="utf-8", errors="replace").splitlines():
            records.append(from_json(ContractRecord, line))  # noqa: PERF401  it keeps what it read
    return records


def _reason(ended: Exit) -> str:
    if ended.code < 0:
        return f"the process that checked it died of {name_of_signal(-ended.code)}"
    last = ended.stderr[-1][:500] if ended.stderr else "it wrote nothing"
    return f"the process that was to check it left with exit code {ended.code}: {last}"


def append(contracts: Sequence[Contract], report: Path) -> NoReturn:
    """Check contracts, append the record of each to a file, and leave by `os._exit`.

    Raises OSError if the file cannot be written.
    """
    end_with_parent(signal.SIGKILL)
    for contract in contracts:
        with report.open("a", encoding="utf-8") as stream:
            stream.write(to_json(checked(contract)) + "\n")
    sys.stderr.flush()
    # What a contract left in numba may crash an orderly exit after everything has been written.
    os._exit(0)


def checked(contract: Contract) -> ContractRecord:
    """Check one contract and return its record, whatever the check raises."""
    began = time.monotonic()
    try:
        record = contract.record("holds", contract.check())
    except Broken as broken:
        record = contract.record("broken", str(broken))
    except Unavailable as reason:
        record = contract.record("unavailable", str(reason))
    except Exception as error:
        traceback.print_exc()
        record = contract.record("failed", one_line(error))
    return replace(record, seconds=round(time.monotonic() - began, 3))


def declared() -> str | None:
    """Return the versions of numba that PyTensor's metadata allows, as it writes them.

    PyTensor before 2.36 names numba only as an extra. None: it does not name numba.
    """
    try:
        lines = requires("pytensor") or []
    except PackageNotFoundError:
        return None
    found = [line for line in lines if re.match(r"numba\b(?!-)", line)]
    found.sort(key=lambda line: ";" in line)  # a line with a marker belongs to an extra
    return found[0].partition(";")[0].strip() if found else None


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit status, which `--help` lists.

    ``argv``: the arguments; None: those of this process. Raises SystemExit for wrong usage.
    """
    contracts = {contract.name: contract for area in AREAS for contract in area.contracts}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.contracts",
        description="Check what PyTensor relies on in numba and print what holds, as JSON.",
        epilog=f"Exit status: {EXIT_CHECKED} checked, whatever holds; 2 wrong usage.",
    )
    parser.add_argument("--only", action="append", choices=contracts, metavar="NAME",
                        help="check only this contract; repeatable")  # fmt: skip
    parser.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="SECONDS",
                        help="time limit of each area (default %(default)g)")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    parser.add_argument("--end-with-parent", action="store_true",
                        help="clean up and exit when the parent process dies")  # fmt: skip
    parser.add_argument("--append-to", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--pretty", action="store_true", help="indent the record")
    options = parser.parse_args(argv)
    if options.list:
        print("\n".join(contracts))
        return EXIT_CHECKED
    wanted = options.only or list(contracts)
    if options.append_to:
        append([contracts[name] for name in wanted], options.append_to)
    # A terminated process cleans up like an interrupted one.
    for number in ENDING:
        signal.signal(number, end_once)
    if options.end_with_parent:
        end_with_parent(signal.SIGTERM)
    record = take(wanted, options.timeout)
    print(to_json(record, indent=2 if options.pretty else None))
    return EXIT_CHECKED


if __name__ == "__main__":
    sys.exit(main())
