"""A stand-in for the benchmarks in an environment under test. FOR TESTS ONLY: nothing is measured.

`python tests/fake_sampling.py -m benchmarks.sample --model ...` takes the options of the real one,
sleeps, keeps a cache if it should, and prints a record whose values follow from the cell alone.
Another module, such as `benchmarks.contracts`, prints the file $FLEET_TEST_PRINTED/MODULE.json.
Each process first writes a file into $FLEET_TEST_TAKEN, so that a test can count what was taken.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

TAKEN, SLEEP, MISSES = "FLEET_TEST_TAKEN", "FLEET_TEST_SLEEP", "FLEET_TEST_MISSES"
KILLS = "FLEET_TEST_KILLS"
"""The beginning of the names of samples that kill whoever started them."""
STOPS = "FLEET_TEST_STOPS"
"""The beginning of the names of samples of which the first one stops itself."""
PRINTED = "FLEET_TEST_PRINTED"


def main() -> None:
    """Take one sample, or print a record."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)
    words = sys.argv[1:]

    def given(option: str) -> str:
        return words[words.index(option) + 1] if option in words else ""

    if given("-m") != "benchmarks.sample":
        printed(given("-m"), given("--journal"))
        return
    cell = {name: given(f"--{name}") for name in ("model", "scenario", "backend", "launch")}
    measure, began = given("--pass"), datetime.now(UTC)
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    name = "-".join([*cell.values(), measure, str(os.getpid())])
    (Path(os.environ[TAKEN]) / name).write_text(f"{time.time()} {cpus} {os.getppid()}")
    if name.startswith(os.environ.get(KILLS, "none")):
        os.kill(os.getppid(), signal.SIGKILL)
    if name.startswith(os.environ.get(STOPS, "none")):
        with contextlib.suppress(FileExistsError), Path(os.environ[TAKEN], "stopped").open("x"):
            os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(float(os.environ.get(SLEEP, "0.05")))
    for option in ("--keep-cache", "--keep-fresh"):
        if given(option):
            Path(given(option)).mkdir(exist_ok=True)  # the real one replaces it
    cold = cell["scenario"] == "cold"
    metrics = {"wrong_results": 0, "crashed": 0}
    misses = 7 * cold + int(os.environ.get(MISSES, "0"))
    metrics |= {"cache_misses": misses} if measure == "counting" else {"compile_time": 1.0 + cold}
    entry = {
        "name": "Elemwise",
        "kind": "numba_index",
        "key": "k",
        "outcome": "miss",
        "seconds": 0.5,
    }
    seal = f"{sys.stdin.readline().strip()} " if "--sealed" in words else ""
    print(seal + json.dumps({
        "schema": "observatory/sample/1", "cell": cell, "measure": measure, "status": "ok",
        "metrics": metrics, "absent": {}, "environment": {"numba": "0.68.0"}, "hash_seed": 7,
        "ledger": [entry | {"seconds": 0.5}] if measure == "counting" else None,
        "started_at": began.isoformat(),
    }))  # fmt: skip
    (Path(os.environ[TAKEN]) / f"{name}.ended").write_text(str(time.time()))


def printed(module: str, journal: str) -> None:
    """Print the record of a module, which leaves something in its journal."""
    place = Path(os.environ[TAKEN], f"{module}-{os.getpid()}")
    place.write_text(f"{time.time()} - {os.getppid()}")
    if journal:
        Path(journal).mkdir(parents=True, exist_ok=True)
        Path(journal, "numba-0.jsonl").touch()
    time.sleep(float(os.environ.get(SLEEP, "0.05")))
    print(Path(os.environ[PRINTED], f"{module}.json").read_text(encoding="utf-8"))
    place.with_name(f"{place.name}.ended").write_text(str(time.time()))


if __name__ == "__main__":
    main()
