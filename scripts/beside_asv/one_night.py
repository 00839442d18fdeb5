"""What one more night costs: CPU time of reading the results, and of finding levels and alerts.

    python -m scripts.beside_asv.one_night RESULTS... [--rounds 5] [--json FILE]

RESULTS is a directory of asv results; it is copied, and stays as it is. `observatory alerts` looks
at the copy without the newest file of each machine. With these files, another process then finds
the alerts again, and prints the CPU time of each of the two steps. Values that it does not look at
are not read from disk, so the levels of series without a new value cost nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree

from observatory.analyze.history.alerts import STALE_AFTER, AlertContext
from observatory.app.history import acknowledgements_of, alerts_in
from observatory.garbage import collect_little
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import read_results
from observatory.store.records import alerts
from scripts.beside_asv.building import RESTED, ROOT, child_variables, newest_file, size_of
from scripts.beside_asv.tables import Night, nights
from scripts.docs.rows import add_option, keep, now


def analysed(results: Path) -> tuple[float, float]:
    """Seconds of CPU time for reading results, and for finding levels and alerts in them."""
    triage, _ = acknowledgements_of(results)
    moment = AlertContext(datetime.now(UTC), STALE_AFTER, triage, alerts.load(results))
    began = time.process_time()
    read = read_results(results, directory_for(results))
    reading = time.process_time() - began
    alerts_in(results, read, moment, [])
    return reading, time.process_time() - began - reading


def one_more(results: Path, home: Path) -> tuple[float, float]:
    """The same for the newest file of each machine, in a process of its own."""
    copy = home / "results"
    copytree(results, copy)
    newest = [newest_file(place.parent) for place in copy.glob("*/machine.json")]
    kept = {path: path.read_bytes() for path in newest}
    for path in newest:
        path.unlink()
    _ran(home, "observatory", "alerts", "--results", str(copy))
    for path, content in kept.items():
        path.write_bytes(content)
    time.sleep(RESTED)
    reading, analysis = map(float, _ran(home, __spec__.name, "--once", str(copy)).split())
    return reading, analysis


def _ran(home: Path, module: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, env=child_variables(home),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def main() -> None:
    """Print the table of all collections."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    add_option(parser)
    given = parser.parse_args()
    if given.once:
        collect_little()
        print(*analysed(given.results[0]))
        return
    rows = []
    for results in given.results:
        size = size_of(results)
        for number in range(1, given.rounds + 1):
            with tempfile.TemporaryDirectory() as home:
                reading, analysis = one_more(results.resolve(), Path(home))
            row = Night(
                taken=now(), series=int(size["series"]), values=int(size["values"]), round=number,
                reading=reading, analysis=analysis,
            )  # fmt: skip
            keep(given.json, row)
            rows.append(row)
    print(*nights(rows), sep="\n\n")


if __name__ == "__main__":
    main()
