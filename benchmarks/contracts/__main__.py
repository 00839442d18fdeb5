"""Check what PyTensor relies on in numba: `python -m benchmarks.contracts`.

This runs in the environment under test and prints one JSON record on stdout (docs/schemas/). It
writes only into a sandbox, which it removes.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires

from benchmarks.contracts.contract import SCHEMA, ContractRecord, ContractsRecord
from benchmarks.contracts.running import DEFAULT_TIMEOUT, verdicts
from benchmarks.contracts.suite import AREAS
from benchmarks.environment import versions
from benchmarks.parent import end_with_parent
from benchmarks.typed_json import to_json

EXIT_CHECKED = 0
_PACKAGES = ("pytensor", "numba", "llvmlite", "numpy", "scipy")


def take(names: list[str], timeout: float) -> ContractsRecord:
    """Check the contracts of these names and return the record.

    ``timeout``: seconds for each area of contracts. Raises OSError if a process cannot start.
    """
    began = time.monotonic()
    started_at = datetime.now(UTC)
    found = verdicts(names, timeout)
    contracts = tuple(
        ContractRecord(area=area.name, holds=one.holds, needed=one.needed, **vars(found[one.name]))
        for area in AREAS
        for one in area.contracts
        if one.name in found
    )
    return ContractsRecord(
        schema=SCHEMA,
        environment=versions(_PACKAGES),
        declared=declared(),
        contracts=contracts,
        seconds=round(time.monotonic() - began, 3),
        started_at=started_at.isoformat(),
    )


def declared() -> str | None:
    """Return the versions of numba that PyTensor's metadata allows, as it writes them.

    PyTensor before 2.36 names numba only as an extra. None: it does not name numba.
    """
    try:
        lines = requires("pytensor") or []
    except PackageNotFoundError:
        return None
    found = [line for line in lines if re.match(r"numba\b(?!-)", line)]
    plain = [line for line in found if ";" not in line]
    return next((line.partition(";")[0].strip() for line in [*plain, *found]), None)


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit status, which `--help` lists.

    ``argv``: the arguments; None: those of this process. Raises SystemExit for wrong usage.
    """
    known = [one.name for area in AREAS for one in area.contracts]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.contracts",
        description="Check what PyTensor relies on in numba and print what holds, as JSON.",
        epilog=f"Exit status: {EXIT_CHECKED} checked, whatever holds; 2 wrong usage.",
    )
    parser.add_argument("--only", action="append", choices=known, metavar="NAME",
                        help="check only this contract; repeatable")  # fmt: skip
    parser.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="SECONDS",
                        help="time limit of each area (default %(default)g)")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    parser.add_argument("--end-with-parent", action="store_true",
                        help="clean up and exit when the parent process dies")  # fmt: skip
    parser.add_argument("--pretty", action="store_true", help="indent the record")
    options = parser.parse_args(argv)
    if options.list:
        print("\n".join(known))
        return EXIT_CHECKED
    # A terminated process cleans up like an interrupted one.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda signum, _: sys.exit(128 + signum))
    if options.end_with_parent:
        end_with_parent(signal.SIGTERM)
    try:
        record = take(options.only or known, options.timeout)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    print(to_json(record, indent=2 if options.pretty else None))
    return EXIT_CHECKED


if __name__ == "__main__":
    sys.exit(main())
