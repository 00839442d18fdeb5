"""Whether this machine is fit to measure: what is looked at, and what to do about it.

`look` reads the machine; `judge` is pure. Nothing here is measured for the record.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Literal

State = Literal["fine", "attention", "unfit"]

_BUSY = 0.25
"""Load per CPU from which on something else is at work."""
_SPREAD = 0.05
"""Of a fixed loop, the ninth decile over the first, less 1: half of what a test has to find."""
_ROOM = 2 * 2**30
"""Bytes that caches, environments and compilers need, on disk and in memory."""
_STOLEN = 0.02
_LOOPS, _LOOP = 40, 60_000
_CROWDED = 1.3
"""How much longer a loop takes beside another, from which on their CPUs are no two cores."""
_SYSTEM = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Facts:
    """What there is to know of a machine; None: it does not tell."""

    cpus: int
    load: float
    """Processes that wanted a CPU, over the last minute."""
    siblings: int | None
    """Threads of one core that the operating system counts as CPUs."""
    crowding: float | None
    """How many times as long a loop takes while another one runs; None with one CPU."""
    governors: tuple[str, ...]
    turbo: bool | None
    quota: float | None
    """CPUs that a control group allows."""
    memory_limit: int | None
    """Bytes that a control group allows."""
    memory: int
    """Bytes available."""
    swap_used: int
    scratch: Path
    scratch_free: int
    scratch_kind: str
    """File system of the scratch directory."""
    threads: tuple[str, ...]
    """Variables that give BLAS or OpenMP more than one thread."""
    compiler: str | None
    spread: float
    """Of a fixed loop: ninth decile over first, less 1."""
    stolen: float
    """Share of the time in that loop that the hypervisor gave to others."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    what: str
    state: State
    said: str
    do: str = ""
    """Empty where there is nothing to do."""


def judge(facts: Facts) -> list[Check]:
    """What was found, in a fixed order."""
    return list(_judged(facts))


def _judged(facts: Facts) -> Iterator[Check]:
    per_cpu = facts.load / facts.cpus
    busy = per_cpu >= _BUSY
    yield Check(
        "load", "attention" if busy else "fine",
        f"on average {facts.load:.2f} processes used {facts.cpus} CPUs in the last minute",
        "end what else is running, or wait: times are taken strictly alone" * busy,
    )  # fmt: skip
    noisy = facts.spread > _SPREAD
    yield Check(
        "steadiness", "attention" if noisy else "fine",
        f"a fixed loop varies by {facts.spread:.1%} between its first and ninth decile",
        "see the other findings; `observatory calibrate` learns what that means for a comparison"
        * noisy,
    )  # fmt: skip
    if facts.stolen > _STOLEN:
        yield Check(
            "hypervisor", "attention", f"it gave {facts.stolen:.0%} of the CPU to others",
            "take a machine of your own, or more samples",
        )  # fmt: skip
    yield from _processor(facts)
    yield from _limits(facts)
    yield from _room(facts)
    yield Check(
        "compiler", "fine" if facts.compiler else "unfit",
        f"C++: {facts.compiler}" if facts.compiler else "there is no C++ compiler",
        "" if facts.compiler else "install one (Debian and Ubuntu: apt install g++)",
    )  # fmt: skip
    if facts.threads:
        yield Check(
            "threads", "fine",
            f"{', '.join(facts.threads)} allow more than one thread; samples use one",
        )  # fmt: skip


def _processor(facts: Facts) -> Iterator[Check]:
    if facts.siblings and facts.siblings > 1:
        yield Check(
            "cores", "attention",
            f"{facts.siblings} CPUs share one core, so that a process on one slows the other",
            "run nothing else while times are taken, or turn SMT off",
        )  # fmt: skip
    elif facts.crowding and facts.crowding > _CROWDED:
        yield Check(
            "cores", "attention",
            f"a loop takes {facts.crowding:.1f} times as long next to another: one core",
            "run nothing else while times are taken; counting is not affected",
        )  # fmt: skip
    slow = sorted(set(facts.governors) - {"performance"})
    if facts.governors:
        yield Check(
            "frequency", "attention" if slow else "fine",
            f"governor {', '.join(sorted(set(facts.governors)))}",
            "sudo cpupower frequency-set -g performance" if slow else "",
        )  # fmt: skip
    else:
        yield Check("frequency", "fine", "the machine does not tell (a virtual one seldom does)")
    if facts.turbo:
        yield Check(
            "turbo", "attention", "the clock rises while few cores are busy",
            "turn it off for steadier times: echo 1 > .../intel_pstate/no_turbo",
        )  # fmt: skip


def _limits(facts: Facts) -> Iterator[Check]:
    if facts.quota is not None and facts.quota < facts.cpus:
        few = facts.quota < 1
        yield Check(
            "CPU quota", "unfit" if few else "attention",
            f"a control group limits processes to {facts.quota:g} of {facts.cpus} CPUs",
            "give the container whole CPUs (--cpuset-cpus) instead of a share of time",
        )  # fmt: skip
    available = min(facts.memory, facts.memory_limit or facts.memory)
    little = available < _ROOM
    yield Check(
        "memory", "unfit" if little else "fine", f"{available / 2**30:.1f} GiB available",
        "two samples at once need 2 GiB; stop other processes or raise the limit" * little,
    )  # fmt: skip
    swapping = facts.swap_used > 0
    yield Check(
        "swap", "attention" if swapping else "fine",
        f"{facts.swap_used / 2**20:.0f} MiB in use" if swapping else "none in use",
        "swapoff -a, if there is memory enough: pages that come back are in the times" * swapping,
    )  # fmt: skip


def _room(facts: Facts) -> Iterator[Check]:
    full = facts.scratch_free < _ROOM
    far = facts.scratch_kind in ("nfs", "nfs4", "cifs", "9p", "fuse.sshfs")
    yield Check(
        "disk", "unfit" if full else "attention" if far else "fine",
        f"{facts.scratch_free / 2**30:.1f} GiB free in {facts.scratch} ({facts.scratch_kind})",
        "free some room, or set TMPDIR to another disk" if full
        else "set TMPDIR to a local disk: caches are read inside the times" * far,
    )  # fmt: skip


def look() -> Facts:
    """Read the machine: half a second, most of it a fixed loop."""
    scratch = Path(tempfile.gettempdir())
    cpus = len(os.sched_getaffinity(0))
    spread, stolen = _steadiness()
    memory = _memory()
    return Facts(
        cpus=cpus,
        load=os.getloadavg()[0],
        siblings=_siblings(),
        crowding=_crowding() if cpus > 1 else None,
        governors=tuple(_text(path) for path in _SYSTEM.glob("cpu*/cpufreq/scaling_governor")),
        turbo={"0": True, "1": False}.get(_text(_SYSTEM / "intel_pstate" / "no_turbo")),
        quota=_quota(),
        memory_limit=_number(_text(Path("/sys/fs/cgroup/memory.max"))),
        memory=memory["MemAvailable"],
        swap_used=memory["SwapTotal"] - memory["SwapFree"],
        scratch=scratch,
        scratch_free=shutil.disk_usage(scratch).free,
        scratch_kind=_kind_of(scratch),
        threads=tuple(
            name for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
            if os.environ.get(name, "1") != "1"
        ),
        compiler=shutil.which("g++") or shutil.which("c++"),
        spread=spread,
        stolen=stolen,
    )  # fmt: skip


def _steadiness() -> tuple[float, float]:
    """How far apart the times of one loop are, and what was stolen meanwhile."""
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
    """What all CPUs did, in ticks: user, nice, system, idle, iowait, irq, softirq, stolen."""
    return [int(word) for word in _text(Path("/proc/stat")).splitlines()[0].split()[1:9]]


def _memory() -> dict[str, int]:
    """Bytes by the names of /proc/meminfo."""
    lines = (line.split() for line in _text(Path("/proc/meminfo")).splitlines())
    return {words[0].rstrip(":"): 1024 * int(words[1]) for words in lines}


def _crowding() -> float:
    """The time of a loop in another process beside one here, over that without."""
    script = f"import time; b = time.perf_counter(); [n * n for n in range({50 * _LOOP})]; "
    command = [sys.executable, "-c", script + "print(time.perf_counter() - b)"]

    def timed(processes: int) -> float:
        running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(processes)]
        return median(float(one.communicate()[0]) for one in running)

    alone = timed(1)
    return timed(2) / alone


def _siblings() -> int | None:
    text = _text(_SYSTEM / "cpu0" / "topology" / "thread_siblings_list")
    if not text:
        return None
    ranges = (part.partition("-") for part in text.split(","))
    return sum(int(last or first) - int(first) + 1 for first, _, last in ranges)


def _quota() -> float | None:
    words = _text(Path("/sys/fs/cgroup/cpu.max")).split()
    if len(words) != 2 or not words[0].isdigit():
        return None
    return int(words[0]) / int(words[1])


def _kind_of(directory: Path) -> str:
    mounts = [line.split() for line in _text(Path("/proc/self/mounts")).splitlines()]
    points = {words[1].replace(r"\040", " "): words[2] for words in mounts}  # the last one counts
    nearest = max(filter(directory.is_relative_to, points), key=len, default="")
    return points.get(nearest, "unknown")


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
