"""All contracts, and the process that checks some: `python -m benchmarks.contracts.suite`.

Its arguments are a file and the names of contracts. It appends the record of each contract to the
file as a line of JSON: if the process dies, the file keeps the records of all earlier contracts.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

from benchmarks.contracts import compiling, graphs, locating, names, storing, uids
from benchmarks.contracts.contract import Area, Broken, Contract, ContractRecord, Unavailable
from benchmarks.parent import end_with_parent
from benchmarks.typed_json import to_json
from benchmarks.workers import one_line

AREAS: tuple[Area, ...] = (
    uids.AREA, locating.AREA, storing.INDEX, storing.LOADED, compiling.AREA, compiling.WARNINGS,
    graphs.AREA, names.AREA,
)  # fmt: skip
"""In the order in which they are checked and shown."""


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


def main() -> None:
    """Check the contracts that the arguments name, and leave by `os._exit`.

    Raises OSError if the file cannot be written.
    """
    end_with_parent(signal.SIGKILL)
    report, names = Path(sys.argv[1]), sys.argv[2:]
    for contract in (one for area in AREAS for one in area.contracts if one.name in names):
        with report.open("a", encoding="utf-8") as stream:
            stream.write(to_json(checked(contract)) + "\n")
    sys.stderr.flush()
    # What a contract left in numba may crash an orderly exit after everything has been written.
    os._exit(0)


if __name__ == "__main__":
    main()
