"""Whether this machine is fit to measure: `look` reads facts, and `judge` says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Literal

from observatory.run import counter

State = Literal["fine", "attention", "unfit"]

_BUSY = 0.25
"""The load per CPU from which something else is running."""
_SPREAD = 0.05
"""The accepted spread of a fixed loop: half of the effect that a comparison has to find."""
_ROOM = 2 * 2**30
"""Bytes that caches, environments and compilers need, on disk and in memory."""
_STOLEN = 0.02
_LOOPS, _LOOP = 40, 60_000
_CROWDED = 1.3
"""If a loop takes this many times as long beside another, their CPUs share a core."""
_MOST_WORKERS = 3
"""How many times as many samples of work are taken at a time where others compete for the CPUs."""
_SAMPLE_MEMORY = 2**30
"""Bytes that a sample may need: a build with numba under valgrind takes three quarters of it."""
_NETWORK = ("nfs", "nfs4", "cifs", "9p", "fuse.sshfs")
_ONLY_TROUBLE = {"hypervisor", "cores", "turbo", "CPU quota"}
"""Checks that are left out where they find nothing."""
_SYSTEM = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Facts:
    """What is known of a machine; None where the machine does not say."""

    cpus: int
    load: float
    """The mean number of processes that wanted a CPU in the last minute."""
    siblings: int | None
    """Threads of one core that the operating system counts as CPUs."""
    crowding: float | None
    """How many times as long a loop takes beside another one; None with one CPU."""
    governors: tuple[str, ...]
    turbo: bool | None
    quota: float | None
    """CPUs that the control group allows."""
    memory_limit: int | None
    """Bytes that the control group allows."""
    memory: int
    """Bytes available."""
    swap_used: int
    scratch: Path
    scratch_free: int
    scratch_kind: str
    """The file system of the scratch directory."""
    threads: tuple[str, ...]
    """Variables that give BLAS or OpenMP more than one thread."""
    compiler: str | None
    instructions: str
    """What counts them for the pass `work`; empty if nothing does."""
    spread: float
    """Of the times of a fixed loop: (ninth decile - first decile) / median."""
    stolen: float
    """The share of that loop's time that the hypervisor gave to others."""

    @property
    def available(self) -> int:
        """Bytes of memory that the control group lets a process have."""
        return min(self.memory, self.memory_limit or self.memory)


@dataclass(frozen=True)
class Check:
    """The judgement of one property of the machine."""

    subject: str
    state: State
    finding: str
    advice: str = ""
    """Empty if nothing needs to be done."""


def judge(facts: Facts) -> list[Check]:
    """Return the checks in a fixed order; some only if there is trouble."""
    governors = sorted(set(facts.governors))
    smt = (facts.siblings or 1) > 1
    quota = facts.cpus if facts.quota is None else facts.quota
    available = facts.available
    full, remote = facts.scratch_free < _ROOM, facts.scratch_kind in _NETWORK
    rows: list[tuple[str, State | Literal[False], str, str]] = [
        ("load", facts.load / facts.cpus >= _BUSY and "attention",
         f"on average {facts.load:.2f} processes competed for {facts.cpus} CPUs in the last minute",
         "stop other programs, or wait: times need a quiet machine"),
        ("steadiness", facts.spread > _SPREAD and "attention",
         f"a fixed loop varies by {facts.spread:.1%} between its first and ninth decile",
         "see the other findings; `observatory calibrate` measures what it means for comparisons"),
        ("hypervisor", facts.stolen > _STOLEN and "attention",
         f"it gave {facts.stolen:.0%} of the CPU to others",
         "use a machine of your own, or take more samples"),
        ("cores", smt and "attention",
         f"{facts.siblings} CPUs share one core, so a process on one slows the other",
         "run nothing else while times are taken, or turn SMT off"),
        ("cores", not smt and (facts.crowding or 1) > _CROWDED and "attention",
         f"a loop takes {facts.crowding or 1:.1f} times as long next to another: they share a core",
         "run nothing else while times are taken; counting is not affected"),
        ("frequency", bool(set(governors) - {"performance"}) and "attention",
         f"governor {', '.join(governors)}" if governors
         else "unknown, as on most virtual machines",
         "run `sudo cpupower frequency-set -g performance`"),
        ("turbo", bool(facts.turbo) and "attention",
         "the clock rises while few cores are busy",
         f"for steadier times: `echo 1 | sudo tee {_SYSTEM}/intel_pstate/no_turbo` turns it off"),
        ("CPU quota", "unfit" if quota < 1 else quota < facts.cpus and "attention",
         f"a control group limits processes to {quota:g} of {facts.cpus} CPUs",
         "give the container whole CPUs (--cpuset-cpus) instead of a share of time"),
        ("memory", available < _ROOM and "unfit", f"{available / 2**30:.1f} GiB available",
         "two samples at once need 2 GiB; stop other processes or raise the limit"),
        ("swap", facts.swap_used > 0 and "attention",
         f"{facts.swap_used / 2**20:.0f} MiB in use" if facts.swap_used else "none in use",
         "run `swapoff -a` if there is enough memory: reading swapped pages back takes time"),
        ("disk", "unfit" if full else remote and "attention",
         f"{facts.scratch_free / 2**30:.1f} GiB free in {facts.scratch} ({facts.scratch_kind})",
         "free some room, or set TMPDIR to another disk" if full
         else "set TMPDIR to a local disk: caches are read inside the times"),
        ("compiler", not facts.compiler and "unfit",
         f"C++: {facts.compiler}" if facts.compiler else "there is no C++ compiler",
         "install one (Debian and Ubuntu: apt install g++)"),
        ("instructions", not facts.instructions and "attention",
         f"counted by {facts.instructions}" if facts.instructions
         else "neither the processor nor valgrind counts them here",
         "install valgrind (Debian and Ubuntu: apt install valgrind): noise does not change work"),
    ]  # fmt: skip
    checks = [
        Check(subject, state or "fine", finding, advice if state else "")
        for subject, state, finding, advice in rows
        if state or subject not in _ONLY_TROUBLE
    ]
    if facts.threads:
        names = ", ".join(facts.threads)
        finding = f"{names} allow more than one thread; samples use one"
        checks.append(Check("threads", "fine", finding))
    return checks


def busy() -> str:
    """What to say before times are taken, if other work keeps this machine busy; else empty."""
    load, cpus = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load < cpus:
        return ""
    return (
        f"this machine is busy: on average {load:.1f} processes competed for {cpus} CPUs in the "
        "last minute, so times will be too long; counts will be right"
    )


def at_a_time(workers: int, facts: Facts) -> int:
    """How many samples of work to take at a time: ``workers``, or more where others compete.

    As many processes as the others have get half of the CPU time, and no count depends on who gets
    it. They are at most `_MOST_WORKERS` times as many, and never more than fit into memory.
    """
    wanted = min(round(facts.load), _MOST_WORKERS * workers)
    return max(workers, min(wanted, facts.available // _SAMPLE_MEMORY))


def unfit() -> str:
    """Why nothing may be measured on this machine, as half a sentence; empty if it may."""
    found = [one.finding for one in judge(look(timed=False)) if one.state == "unfit"]
    return "; ".join(found)


def look(*, timed: bool = True) -> Facts:
    """Read the machine: half a second; without ``timed``, a fixed loop is left out, so a tenth."""
    scratch = Path(tempfile.gettempdir())
    cpus = len(os.sched_getaffinity(0))
    spread, stolen = _steadiness() if timed else (0.0, 0.0)
    words = (line.split() for line in _text(Path("/proc/meminfo")).splitlines())
    memory = {name.rstrip(":"): 1024 * int(kibibytes) for name, kibibytes, *_ in words}
    share, _, period = _text(Path("/sys/fs/cgroup/cpu.max")).partition(" ")
    limit = _text(Path("/sys/fs/cgroup/memory.max"))
    return Facts(
        cpus=cpus,
        load=os.getloadavg()[0],
        siblings=_siblings(),
        crowding=_crowding() if timed and cpus > 1 else None,
        governors=tuple(_text(path) for path in _SYSTEM.glob("cpu*/cpufreq/scaling_governor")),
        turbo={"0": True, "1": False}.get(_text(_SYSTEM / "intel_pstate" / "no_turbo")),
        quota=int(share) / int(period) if share.isdigit() else None,
        memory_limit=int(limit) if limit.isdigit() else None,
        memory=memory["MemAvailable"],
        swap_used=memory["SwapTotal"] - memory["SwapFree"],
        scratch=scratch,
        scratch_free=shutil.disk_usage(scratch).free,
        scratch_kind=_file_system(scratch),
        threads=tuple(
            name for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
            if os.environ.get(name, "1") != "1"
        ),
        compiler=shutil.which("g++") or shutil.which("c++"),
        instructions=counter.find().source,
        spread=spread,
        stolen=stolen,
    )  # fmt: skip


def _steadiness() -> tuple[float, float]:
    """The spread of the times of one loop, and the share that was stolen meanwhile."""
    before = _ticks()
    seconds = []
    for _ in range(_LOOPS):
        begin = time.perf_counter()
        for number in range(_LOOP):
            number * number
        seconds.append(time.perf_counter() - begin)
    after = _ticks()
    deciles = quantiles(seconds, n=10)
    stolen, elapsed = after[-1] - before[-1], max(sum(after) - sum(before), 1)
    return (deciles[-1] - deciles[0]) / median(seconds), stolen / elapsed


def _ticks() -> list[int]:
    """Ticks of all CPUs: user, nice, system, idle, iowait, irq, softirq, stolen."""
    return [int(word) for word in _text(Path("/proc/stat")).splitlines()[0].split()[1:9]]


def _crowding() -> float | None:
    """The time of a loop in a process beside another one, over its time without.

    None if one of them fails.
    """
    script = f"import time; b = time.perf_counter(); [n * n for n in range({50 * _LOOP})]; "
    command = [sys.executable, "-c", script + "print(time.perf_counter() - b)"]

    def timed(processes: int) -> float:
        running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(processes)]
        return median(float(one.communicate()[0]) for one in running)

    try:
        single = timed(1)
        return timed(2) / single
    except ValueError:  # it was killed, or found no memory, and printed nothing
        return None


def _siblings() -> int | None:
    text = _text(_SYSTEM / "cpu0" / "topology" / "thread_siblings_list")
    if not text:
        return None
    ranges = (part.partition("-") for part in text.split(","))
    return sum(int(last or first) - int(first) + 1 for first, _, last in ranges)


def _file_system(directory: Path) -> str:
    mounts = [line.split() for line in _text(Path("/proc/self/mounts")).splitlines()]
    points = {words[1].replace(r"\040", " "): words[2] for words in mounts}  # the last one counts
    nearest = max(filter(directory.is_relative_to, points), key=len, default="")
    return points.get(nearest, "unknown")


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
