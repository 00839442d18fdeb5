"""Check what PyTensor relies on in numba: `python -m benchmarks.contracts`.

Runs in the environment under test and prints one JSON record on stdout (docs/schemas/). Nothing
is written outside of a sandbox, and that is removed.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import signal
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from benchmarks.contracts.contract import SCHEMA
from benchmarks.contracts.running import DEFAULT_TIMEOUT, verdicts
from benchmarks.contracts.suite import AREAS
from benchmarks.parent import end_with_parent

EXIT_CHECKED = 0
_PACKAGES = ("pytensor", "numba", "llvmlite", "numpy", "scipy")


def take(names: list[str], timeout: float) -> dict[str, Any]:
    """Check the contracts of these names and return the record."""
    began = time.monotonic()
    started_at = datetime.now(UTC)
    found = verdicts(names, timeout)
    contracts = [
        {"area": area.name, "holds": one.holds, "needed": one.needed, **asdict(found[one.name])}
        for area in AREAS
        for one in area.contracts
        if one.name in found
    ]
    return {
        "schema": SCHEMA,
        "environment": environment(),
        "declared": declared(),
        "contracts": contracts,
        "seconds": round(time.monotonic() - began, 3),
        "started_at": started_at.isoformat(),
    }


def environment() -> dict[str, str | None]:
    """Versions that the answers depend on; None: not there."""
    facts: dict[str, str | None] = {}
    for package in _PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = None
    facts["python"] = platform.python_version()
    facts["platform"] = platform.platform()
    facts["machine"] = platform.machine()
    return facts


def declared() -> str | None:
    """The numbas that PyTensor's metadata allows, as it writes them; None: it names none.

    PyTensor before 2.36 names numba as an extra only.
    """
    try:
        lines = requires("pytensor") or []
    except PackageNotFoundError:
        return None
    found = [line for line in lines if re.match(r"numba\b(?!-)", line)]
    plain = [line for line in found if ";" not in line]
    return next((line.partition(";")[0].strip() for line in [*plain, *found]), None)


def main(argv: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    known = [one.name for area in AREAS for one in area.contracts]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.contracts",
        description="Check what PyTensor relies on in numba and print what holds, as JSON.",
        epilog=f"Exit status: {EXIT_CHECKED} checked, whatever holds; 2 wrong usage.",
    )
    parser.add_argument("--only", action="append", choices=known, metavar="NAME",
                        help="check this contract alone; repeatable")  # fmt: skip
    parser.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="SECONDS",
                        help="for each area of contracts (default %(default)g)")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print the names and leave")
    parser.add_argument("--end-with-parent", action="store_true",
                        help="clean up and leave when the parent process dies")  # fmt: skip
    parser.add_argument("--pretty", action="store_true", help="indent the record")
    options = parser.parse_args(argv)
    if options.list:
        print("\n".join(known))
        return EXIT_CHECKED
    # One that is terminated cleans up like an interrupted one.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda signum, _: sys.exit(128 + signum))
    if options.end_with_parent:
        end_with_parent(signal.SIGTERM)
    try:
        record = take(options.only or known, options.timeout)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    print(json.dumps(record, indent=2 if options.pretty else None))
    return EXIT_CHECKED


if __name__ == "__main__":
    sys.exit(main())
