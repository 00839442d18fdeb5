"""Check contracts, one after another: `python -m benchmarks.contracts.child REPORT NAME ...`.

The process writes a line of JSON to the file REPORT before and after each contract: however it
ends, the report names the contract that it was checking and keeps the verdicts before it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from pathlib import Path

from benchmarks.contracts.contract import Broken, Contract, Progress, Status, Unavailable, Verdict
from benchmarks.contracts.suite import AREAS
from benchmarks.parent import end_with_parent
from benchmarks.typed_json import to_json
from benchmarks.workers import one_line

_LONGEST = 3000
"""Characters of a detail; the record takes no more than 4000."""


def verdict(contract: Contract) -> Verdict:
    """Check one contract and return what became of it, whatever the check raises."""
    began = time.monotonic()
    status: Status
    try:
        status, detail = "holds", contract.check()
    except Broken as broken:
        status, detail = "broken", str(broken)
    except Unavailable as reason:
        status, detail = "unavailable", str(reason)
    except Exception as error:
        traceback.print_exc()
        status, detail = "failed", one_line(error)
    seconds = round(time.monotonic() - began, 3)
    return Verdict(contract.name, status, detail[:_LONGEST], seconds)


def main() -> None:
    """Check the contracts that the arguments name, and leave by `os._exit`.

    Raises KeyError for a name that is no contract, OSError if the report cannot be written.
    """
    end_with_parent(signal.SIGKILL)
    report, names = Path(sys.argv[1]), sys.argv[2:]
    known = {contract.name: contract for area in AREAS for contract in area.contracts}
    for name in names:
        _write(report, Progress(name))
        _write(report, Progress(name, verdict(known[name])))
    sys.stderr.flush()
    # What a contract left in numba may crash an orderly exit, when everything is written.
    os._exit(0)


def _write(report: Path, progress: Progress) -> None:
    with report.open("a", encoding="utf-8") as stream:
        stream.write(to_json(progress) + "\n")


if __name__ == "__main__":
    main()
