"""Checks contracts, one after another: `python -m benchmarks.contracts.child REPORT NAME ...`.

Writes to the file REPORT a line of JSON before and after each: however this process ends, what it
was checking can be told, and what it had checked is kept.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from benchmarks.contracts.contract import (
    BROKEN,
    FAILED,
    HOLDS,
    UNAVAILABLE,
    Broken,
    Contract,
    Unavailable,
    told,
)
from benchmarks.contracts.suite import AREAS
from benchmarks.parent import end_with_parent

_LONGEST = 3000
"""Characters of a detail; the record takes no more than 4000."""


def verdict(contract: Contract) -> tuple[str, str]:
    """Check one contract; returns its status and a sentence."""
    try:
        return HOLDS, contract.check()
    except Broken as broken:
        return BROKEN, str(broken)
    except Unavailable as reason:
        return UNAVAILABLE, str(reason)
    except Exception as error:
        traceback.print_exc()
        return FAILED, told(error)


def main() -> None:
    """Check the contracts that are named."""
    end_with_parent(signal.SIGKILL)
    report, names = Path(sys.argv[1]), sys.argv[2:]
    known = {contract.name: contract for area in AREAS for contract in area.contracts}
    for name in names:
        _write(report, {"begun": name})
        began = time.monotonic()
        status, detail = verdict(known[name])
        seconds = round(time.monotonic() - began, 3)
        said = {"status": status, "detail": detail[:_LONGEST], "seconds": seconds}
        _write(report, {"done": name, **said})
    sys.stderr.flush()
    # What a contract left in numba may crash an orderly end, after all is said.
    os._exit(0)


def _write(report: Path, event: dict[str, Any]) -> None:
    with report.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(event) + "\n")


if __name__ == "__main__":
    main()
