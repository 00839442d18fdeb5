"""Strikes parts of a small cluster at random moments while it takes real samples, and counts.

    python -m scripts.scale.fleet_kills [--strikes 22] [--stopped 60] [--seed N] [--json FILE]

Each strike hits one process (worker, scheduler, client or nanny): it is killed, stopped for a
minute, or loses its connections, which go through proxies on loopback; a nanny shares those of its
worker. It does so while `observatory run` takes single samples, and while `observatory compare`
takes pairs. What has ended is started again, as a service manager would; a run is resumed, a
comparison begun anew.

Each line says what was struck, how the command ended and what was repeated, and at the end there is
the table of docs/fleet.md. The status is 1 if a sample was lost, doubled or separated from the
other one of its pair, if an exact count differs from that of a command that nothing struck (such a
sample is counted as lost and as doubled), or if a process or a sample of a worker was left behind.
"""

from __future__ import annotations

import argparse
import random
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from scripts.docs.rows import add_option, keep, now
from scripts.scale.struck import Kind, found_in
from scripts.scale.tables import Strike, kills
from tests.fleet_cluster import Cluster, cluster, kill

BLOWS, TARGETS = ("SIGKILL", "SIGSTOP", "cut"), ("worker", "scheduler", "client", "nanny")
_LONGEST = 900.0
"""Seconds in which a command must end."""
_TRIES, _MISSED = 4, 3
"""Tries of a command to end well, and how often it may end before it is struck."""
_MOMENTS = {"run": range(1, 8), "compare": range(1, 5)}
"""After the begin of which sample it may strike: of eight, or of those of the first two pairs."""


@contextmanager
def watched(made: Cluster) -> Iterator[dict[tuple[int, bytes], bytes]]:
    """Every process that takes a sample within the block, as `Cluster.taking` names it."""
    seen, over = dict[tuple[int, bytes], bytes](), threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            seen.update(made.taking())

    looking = threading.Thread(target=watch)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()


def strike(blow: str, target: str, made: Cluster, client: int, stopped: float, first: int) -> None:
    """Do one thing to one process of a running cluster, or to its connections."""
    assert made.scheduler is not None
    number = made.busy(first) if target in ("worker", "nanny") else 0
    if blow == "cut":
        ours = {"worker": made.proxies[number:][:1], "client": made.proxies[-1:]}
        for proxy in ours.get(target, made.proxies):
            proxy.cut()
        return
    process = {
        "worker": lambda: made.worker_of(number), "nanny": lambda: made.nannies[number].pid,
        "scheduler": lambda: made.scheduler.pid, "client": lambda: client,
    }[target]()  # fmt: skip
    if blow == "SIGKILL":
        kill(process)
    else:
        kill(process, signal.SIGSTOP)
        time.sleep(stopped)
        kill(process, signal.SIGCONT)


_REPEATED = {
    "paired": "taken again with the other one of their pair",
    "returned": "recorded already and not taken again",
}
"""What a command says of samples that were repeated, in `DaskFleet.report`."""


def repeated(log: str) -> dict[str, int]:
    """How many samples the tries of a command repeated in each way, by what they say."""
    return {
        name: sum(
            int(number.replace(",", ""))
            for number in re.findall(rf"([\d,]+) samples? {re.escape(said)}", log)
        )
        for name, said in _REPEATED.items()
    }


@dataclass
class Strikes:
    """Commands on one cluster, with one directory STATE, each struck once."""

    made: Cluster
    directory: Path
    stopped: float
    seed: int
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311

    def start(self, kind: Kind, where: Path, number: int) -> subprocess.Popen[bytes]:
        """Start a try of a command."""
        self.made.start()
        where.mkdir(parents=True, exist_ok=True)
        own = ("--cluster", self.made.address, "--state", str(self.directory / "state"))
        words = ("-m", "observatory", *kind.command(where, number), *own)
        return self.made.started(*words, log=where / "log")

    def ended(self, run: subprocess.Popen[bytes]) -> int:
        """Wait for the end of a command, and start again what ends of its cluster."""
        until = time.monotonic() + _LONGEST
        while (status := run.poll()) is None:
            if time.monotonic() > until:
                kill(run.pid, signal.SIGABRT)  # its log then says where each thread was
                run.wait(20)
                raise AssertionError(f"a command did not end in {_LONGEST:g} s")
            self.made.start()
            time.sleep(0.5)
        return status

    def untouched(self, kind: Kind) -> list[Counter[str]]:
        """What a command records if nothing strikes it."""
        where = self.directory / f"untouched-{kind.name}"
        began = time.monotonic()
        assert kind.is_over(where, 0, self.ended(self.start(kind, where, 0))), where
        sides = kind.recorded(where)[0]
        taken, seconds = sum(map(len, sides)), time.monotonic() - began
        print(f"{kind.name}, not struck: {taken} samples, {seconds:.0f} s", flush=True)
        return [kind.counts(side) for side in sides]

    def one(
        self, kind: Kind, blow: str, target: str, wanted: Sequence[Counter[str]], where: Path
    ) -> Strike | None:
        """Strike once during a command, go on until it ends well, and say what is left.

        None if the command ended before the moment that was drawn.
        """
        began, first = time.monotonic(), self.chance.randrange(self.made.workers)
        moment, late = self.chance.choice(_MOMENTS[kind.name]), self.chance.random()
        with watched(self.made) as seen:
            run = self.start(kind, where, 0)
            before = moment
            while before > 0 and run.poll() is None:
                time.sleep(0.05)
                counted = [c for c in list(seen.values()) if not kind.paired or b" timing " in c]
                before = moment - len(counted)
            time.sleep(late)
            if run.poll() is not None:
                return None
            when = f"{late:.1f} s after sample {moment} began, {datetime.now(UTC):%H:%M:%S}"
            strike(blow, target, self.made, run.pid, self.stopped, first)
            statuses = [self.ended(run)]
            while not kind.is_over(where, len(statuses) - 1, statuses[-1]):
                assert len(statuses) < _TRIES, f"it does not end well: {where / 'log'}"
                statuses.append(self.ended(self.start(kind, where, len(statuses))))
            begun = len(seen)
        left = self.left()
        found = found_in(kind, where, wanted)
        log = (where / "log").read_text()
        print(
            f"{kind.name:8}{blow:8}{target:10} {when}: statuses {statuses}, {begun} begun, "
            f"{found.recorded} recorded, {found.lost} lost, {found.doubled} doubled, "
            f"{found.split} split, longest gap {found.gap.total_seconds():.1f} s, "
            f"{len(left)} left, {time.monotonic() - began:.0f} s",
            *(line for line in log.splitlines() if "were lost:" in line), *left,
            sep="\n    ", flush=True,
        )  # fmt: skip
        return Strike(
            taken=now(), subject=kind.subject, seed=self.seed, command=kind.name, blow=blow,
            target=target, stopped=self.stopped, again=begun - found.recorded,
            tries=len(statuses) - 1, lost=found.lost, doubled=found.doubled, split=found.split,
            gap=found.gap.total_seconds(), left=len(left), **repeated(log),
        )  # fmt: skip

    def left(self) -> list[str]:
        """The processes and the spools of ended commands that are still there."""
        fleet = self.directory / "state" / "fleet"
        until = time.monotonic() + 30
        while (found := self.made.orphans()) and time.monotonic() < until:
            time.sleep(0.2)
        spools = [one for name in ("spool", "owners") for one in (fleet / name).glob("*")]
        return [*found, *map(str, spools)]


def main() -> int:
    """Strike as often as asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subject", default="3.3.8")
    parser.add_argument("--strikes", type=int, default=22, help="22 are each kind once")
    parser.add_argument("--stopped", type=float, default=60.0, help="seconds of a SIGSTOP")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--command", choices=("run", "compare"), action="append")
    parser.add_argument("--blow", choices=BLOWS, action="append")
    parser.add_argument("--target", choices=TARGETS, action="append")
    add_option(parser)
    given = parser.parse_args()
    # Whoever ends it also ends the cluster: without this, no `finally` would run.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"seed {given.seed}", flush=True)
    kinds = [Kind(one, given.subject) for one in given.command or ("run", "compare")]
    chosen = [
        one
        for one in product(kinds, given.blow or BLOWS, given.target or TARGETS)
        if one[1:] != ("cut", "nanny")
    ]
    rows: list[Strike] = []
    directory = Path(tempfile.mkdtemp(prefix="fleet-kills-"))
    try:
        with cluster(directory / "cluster") as made:
            strikes = Strikes(made, directory, given.stopped, given.seed)
            wanted = {kind: strikes.untouched(kind) for kind in kinds}
            for number in range(given.strikes):
                kind, blow, target = chosen[number % len(chosen)]
                for missed in range(_MISSED):
                    where = directory / f"{number}-{missed}-{kind.name}-{blow}-{target}"
                    if row := strikes.one(kind, blow, target, wanted[kind], where):
                        break
                else:
                    raise AssertionError(f"it always ends before it is struck: {where}")
                rows.append(row)
                keep(given.json, row)
        deadline = time.monotonic() + 30
        while (left := made.left_running()) and time.monotonic() < deadline:
            time.sleep(0.2)
    finally:
        print(*kills(rows) if rows else (), sep="\n\n")
    print(f"{len(left)} processes left behind after the end of the cluster", *left, sep="\n")
    good = not left and not any(one.lost + one.doubled + one.split + one.left for one in rows)
    if good:
        shutil.rmtree(directory)
    else:
        print(f"kept: {directory}")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
