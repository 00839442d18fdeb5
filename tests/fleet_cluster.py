"""A cluster of processes that a test can kill, stop or cut off; and what a run must have left."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client

from observatory.benchmarks.plan import Task
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from tests.fake_sampling import STOPS

ROOT = Path(__file__).parents[1]
TAKEN, SLEEP = "FLEET_TEST_TAKEN", "FLEET_TEST_SLEEP"


class Proxy:
    """Carries connections on loopback to a port, until it cuts all of them."""

    def __init__(self, to: int) -> None:
        self._to, self._pairs = to, list[tuple[socket.socket, socket.socket]]()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                one, _ = self._listening.accept()
                try:
                    other = socket.create_connection(("127.0.0.1", self._to))
                except OSError:  # nobody listens there, yet or any more
                    one.close()
                    continue
                self._pairs.append((one, other))
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), selectors.DefaultSelector() as ready:
            ready.register(one, selectors.EVENT_READ, other)
            ready.register(other, selectors.EVENT_READ, one)
            while True:
                for key, _ in ready.select():
                    data = key.fileobj.recv(65536)  # type: ignore[union-attr]
                    if not data:
                        raise ValueError
                    key.data.sendall(data)
        for end in (one, other):
            end.close()

    def cut(self) -> None:
        """Break every connection that there is; later ones are carried again."""
        pairs, self._pairs = self._pairs, []
        for end in (end for pair in pairs for end in pair):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Cut all, and carry no more."""
        self._listening.close()
        self.cut()


@dataclass
class Cluster:
    """A scheduler and workers, processes each, below one directory."""

    directory: Path
    workers: int = 2
    sleep: float = 0.2
    scheduler: subprocess.Popen[bytes] | None = None
    nannies: list[subprocess.Popen[bytes]] = field(default_factory=list)
    proxies: list[Proxy] = field(default_factory=list)
    """One to each nanny, which its worker shares, and at the end that of all clients."""
    port: int = 0
    elsewhere: dict[int, Path] = field(default_factory=dict)
    """The directories STATE of workers that stand in for other machines, by number."""
    absent: set[int] = field(default_factory=set)
    """Workers that are not started."""
    stops: dict[int, str] = field(default_factory=dict)
    """By worker, the beginning of the names of its samples of which one stops itself."""

    def start(self) -> None:
        """Start what is not running."""
        self.taken.mkdir(parents=True, exist_ok=True)
        if self.scheduler is None or self.scheduler.poll() is not None:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = self.port or free.getsockname()[1]
            self.scheduler = self._start(
                "dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"
            )
            self._until_it_listens()
            if not self.proxies:
                self.proxies = [Proxy(self.port) for _ in range(self.workers + 1)]
        for number, proxy in enumerate(self.proxies[:-1]):
            running = number < len(self.nannies) and self.nannies[number].poll() is None
            if running or number in self.absent:
                continue
            own = {STOPS: self.stops[number]} if number in self.stops else {}
            if number in self.elsewhere:
                preload = str([str(ROOT / "tests" / "fleet_elsewhere.py")])
                own |= {"DASK_DISTRIBUTED__WORKER__PRELOAD": preload,
                        "OBSERVATORY_STATE": str(self.elsewhere[number])}  # fmt: skip
            self.nannies[number : number + 1] = [self._start(
                "dask_worker", f"tcp://127.0.0.1:{proxy.port}", "--nworkers", "1",
                "--nthreads", "1", "--resources", "bench=1", "--no-dashboard", "--memory-limit",
                "0", "--host", "127.0.0.1", "--local-directory", str(self.directory / "dask"),
                "--death-timeout", "60", more=own,
            )]  # fmt: skip

    def make_whole(self) -> None:
        """Start what has died, wait until all workers are idle, and forget what was taken."""
        self.start()
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(len(self.nannies) - len(self.absent), timeout=240)
        while self.taking():
            time.sleep(0.05)
        for file in self.taken.iterdir():
            file.unlink()

    @property
    def taken(self) -> Path:
        """Where each process that takes a sample leaves a file."""
        return self.directory / "taken"

    @property
    def address(self) -> str:
        """The address for clients; it goes through the last proxy."""
        return f"tcp://127.0.0.1:{self.proxies[-1].port}"

    def client(self, where: Path, *options: str) -> subprocess.Popen[bytes]:
        """Start a run of stand-ins into a directory."""
        client = str(ROOT / "tests" / "fleet_client.py")
        return self.started(client, str(where), *options, log=where.parent / f"{where.name}.log")

    def worker_of(self, nanny: int) -> int:
        """The process id of the worker of a nanny, once there is one."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            for child in children(self.nannies[nanny].pid):
                if b"spawn_main" in _read(f"/proc/{child}/cmdline"):
                    return child
            time.sleep(0.05)
        raise AssertionError("the nanny has no worker")

    def busy(self, first: int) -> int:
        """The number of a nanny whose worker takes a sample now, ``first`` if it does."""
        order = sorted(range(len(self.nannies)), key=lambda one: one != first)
        until = time.monotonic() + 10
        while time.monotonic() < until:
            for number in order:
                if any(map(takes_a_sample, children(self.worker_of(number)))):
                    return number
        return first

    def stopped(self) -> tuple[int, list[int]]:
        """Wait for the sample that has stopped itself.

        Returns the number of its nanny, and the processes of nanny, worker and sample.
        """
        until = time.monotonic() + 240
        while time.monotonic() < until:
            for number in {*range(len(self.nannies))} - self.absent:
                worker = self.worker_of(number)
                for sample in filter(takes_a_sample, children(worker)):
                    if _state(sample) == b"T":
                        return number, [self.nannies[number].pid, worker, sample]
            time.sleep(0.02)
        raise AssertionError("no sample has stopped")

    def take_away(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to all processes of the machine whose sample has stopped, for good."""
        nanny, processes = self.stopped()
        self.absent.add(nanny)
        for process in processes:
            kill(process, number)
        kill(processes[-1], signal.SIGCONT)

    def taking(self) -> dict[tuple[int, bytes], bytes]:
        """The processes that take a sample now, by id and begin, with their commands."""
        workers = [one for nanny in self.nannies for one in children(nanny.pid)]
        taking = [one for worker in workers for one in filter(takes_a_sample, children(worker))]
        return {(one, begin_of(one)): command_of(one) for one in taking}

    def stop(self) -> None:
        """End all processes, and the connections."""
        for one in (*self.nannies, *filter(None, [self.scheduler])):
            one.terminate()
        for one in (*self.nannies, *filter(None, [self.scheduler])):
            try:
                one.wait(20)
            except subprocess.TimeoutExpired:
                one.kill()
        for proxy in self.proxies:
            proxy.close()
        self.scheduler, self.nannies, self.proxies, self.port = None, [], [], 0

    def left_running(self) -> list[str]:
        """The commands of processes that this test started and that still run."""
        return left_running(self.taken)

    def orphans(self) -> list[str]:
        """Those of them that are neither a part of this cluster nor below one."""
        own = [one.pid for one in (*self.nannies, *filter(None, [self.scheduler]))]
        for process in own:
            own += children(process)
        return left_running(self.taken, besides=own)

    def _until_it_listens(self) -> None:
        for _ in range(1200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            time.sleep(0.05)
        raise AssertionError("the scheduler does not listen")

    def _start(
        self, program: str, *words: str, more: Mapping[str, str] = {}
    ) -> subprocess.Popen[bytes]:
        log = self.directory / f"{program}.log"
        return self.started("-m", f"distributed.cli.{program}", *words, log=log, more=more)

    def started(
        self, *words: str, log: Path, more: Mapping[str, str] = {}
    ) -> subprocess.Popen[bytes]:
        """Start a program of Python whose processes `left_running` finds."""
        log.parent.mkdir(parents=True, exist_ok=True)
        ours = {TAKEN: str(self.taken), SLEEP: str(self.sleep), "PYTHONPATH": str(ROOT),
                "PYTHONFAULTHANDLER": "1", "OBSERVATORY_LOCK": str(self.directory)}  # fmt: skip
        with log.open("ab") as stream:
            return subprocess.Popen(
                [sys.executable, *words], stdout=stream, stderr=stream,
                env={**os.environ, **ours, **more},
                start_new_session=True,
            )  # fmt: skip


def left_running(taken: Path, besides: Collection[int] = ()) -> list[str]:
    """The commands of processes that were started with this directory for what is taken."""
    mark, found = f"{TAKEN}={taken}".encode(), []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in besides:
            continue
        ours = mark in _read(f"{entry}/environ").split(b"\0")
        if ours and _state(int(entry.name)) not in (b"", b"Z"):
            found.append(command_of(int(entry.name)).decode())
    return found


@contextlib.contextmanager
def cluster(
    directory: Path, workers: int = 2, sleep: float = 0.2, **more: Any
) -> Iterator[Cluster]:
    """A running cluster, until the block ends; ``more``: further fields of it."""
    made = Cluster(directory, workers, sleep, **more)
    made.start()
    try:
        yield made
    finally:
        made.stop()


def wait_for(count: int, where: Path, until: float = 240.0) -> None:
    """Wait until so many processes have ended their sample."""
    end = time.monotonic() + until
    while len(list(where.glob("*.ended"))) < count:
        assert time.monotonic() < end, f"{count} samples were not taken in {until} s"
        time.sleep(0.02)


def missing_and_doubled(results: Path, tasks: list[Task]) -> tuple[Counter[str], Counter[str]]:
    """What the journals lack of a plan, and what they hold beyond it."""
    wanted = Counter(f"{task.cell} {task.measure}" for task in tasks)
    found: Counter[str] = Counter()
    for path in layout.journals(results):
        journal = read_journal(path)
        assert not journal.problems, journal.problems
        failed = [one.sample for one in journal.entries if one.sample.status != "ok"]
        assert not failed, failed[0].failure
        found.update(f"{one.sample.cell} {one.sample.measure}" for one in journal.entries)
    return wanted - found, found - wanted


def _state(process: int) -> bytes:
    """The state of a process, as a letter; empty if it is gone."""
    return b"".join(_read(f"/proc/{process}/stat").rpartition(b")")[2].split()[:1])


def takes_a_sample(process: int) -> bool:
    """Whether a process takes a sample, a stand-in or a real one."""
    return b"-m benchmarks.sample " in command_of(process)


def command_of(process: int) -> bytes:
    """The command of a process; empty if it has ended."""
    return _read(f"/proc/{process}/cmdline").replace(b"\0", b" ")


def begin_of(process: int) -> bytes:
    """When a process began; with its id it names the process, also after its end."""
    return b"".join(_read(f"/proc/{process}/stat").rpartition(b")")[2].split()[19:20])


def children(process: int) -> list[int]:
    """The process ids of the children of a process."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        found += [int(word) for word in _read(str(task)).split()]
    return found


def kill(process: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to one process."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
