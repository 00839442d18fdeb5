"""Kills, stops and cuts off parts of a small cluster while it takes stand-in samples, and counts.

`.venv/bin/python -m scripts.fleet_kills [--kills 20] [--stopped 60]`. Each line says what was done,
how the run ended, and what was repeated. It ends with status 1 if a sample was lost or doubled, or
if a process was left behind. Nothing is measured; it takes about ten minutes.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fleet_client import tasks
from tests.fleet_cluster import Cluster, cluster, kill, missing_and_doubled, wait_for

KINDS = ("worker", "nanny", "client", "scheduler", "stopped worker", "worker cut", "client cut")
ROUNDS = 1


def strike(kind: str, made: Cluster, client: int, seconds: float, chance: random.Random) -> None:
    """Do one thing to a running cluster."""
    number = made.busy(chance.randrange(made.workers))
    if kind == "worker":
        kill(made.worker_of(number))
    elif kind == "nanny":
        kill(made.nannies[number].pid)
        made.nannies[number].wait()
        made.start()
    elif kind == "client":
        kill(client)
    elif kind == "scheduler":
        assert made.scheduler is not None
        kill(made.scheduler.pid)
        made.scheduler.wait()
    elif kind == "stopped worker":
        process = made.worker_of(number)
        kill(process, signal.SIGSTOP)
        time.sleep(seconds)
        kill(process, signal.SIGCONT)
    elif kind == "worker cut":  # Dask's workers end when they lose their scheduler
        made.proxies[0].cut()
        for nanny in made.nannies:
            nanny.wait(60)
        made.start()
    else:
        made.proxies[1].cut()


def one(kind: str, made: Cluster, where: Path, seconds: float, chance: random.Random) -> bool:
    """Strike once during a run, resume it until it ends well, and say what is in its journal."""
    made.start()
    shutil.rmtree(made.taken)
    made.taken.mkdir()
    began = time.monotonic()
    run = made.client(where, "--cluster", made.address, "--rounds", str(ROUNDS))
    try:
        wait_for(chance.randrange(1, len(tasks(ROUNDS)) * 2 // 3), made.taken)
        strike(kind, made, run.pid, seconds, chance)
        statuses = [run.wait(300)]
        while statuses[-1] and len(statuses) < 4:
            made.start()
            again = ("--cluster", made.address, "--resume", "--rounds", str(ROUNDS))
            run = made.client(where, *again)
            statuses.append(run.wait(300))
    except (AssertionError, subprocess.TimeoutExpired):
        kill(run.pid, signal.SIGABRT)  # its log then says where each thread was
        run.wait(20)
        print((where.parent / f"{where.name}.log").read_text())
        raise
    finally:
        kill(run.pid)
    lost, doubled = missing_and_doubled(where / "results", tasks(ROUNDS))
    begun = len([path for path in made.taken.iterdir() if path.suffix != ".ended"])
    log = where.parent / f"{where.name}.log"
    said = [line for line in log.read_text().splitlines() if "were lost:" in line]
    print(
        f"{kind:15} statuses {statuses}, {begun - len(tasks(ROUNDS)):2} begun again, "
        f"{sum(lost.values())} lost, {sum(doubled.values())} doubled, "
        f"{time.monotonic() - began:.0f} s{'; ' + said[-1] if said else ''}",
        flush=True,
    )
    return not lost and not doubled and statuses[-1] == 0


def main() -> int:
    """Strike as often as asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--stopped", type=float, default=60.0, help="seconds that a worker stops")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS)
    given = parser.parse_args()
    chance, good = random.Random(given.seed), True  # noqa: S311
    with tempfile.TemporaryDirectory(prefix="fleet-kills-") as directory:
        with cluster(Path(directory) / "cluster") as made:
            for number in range(given.kills):
                kind = given.kind or KINDS[number % len(KINDS)]
                where = Path(directory) / f"run-{number}"
                good = one(kind, made, where, given.stopped, chance) and good
        deadline = time.monotonic() + 15
        while (left := made.left_running()) and time.monotonic() < deadline:
            time.sleep(0.2)
        print(f"{len(left)} processes left behind", *left, sep="\n")
        if not good and sys.stdout.isatty():
            input(f"see {directory}; Enter removes it")
        elif not good:
            shutil.copytree(directory, f"{directory}-kept", dirs_exist_ok=True)
            print(f"kept: {directory}-kept")
    return int(not good or bool(left))


if __name__ == "__main__":
    sys.exit(main())
