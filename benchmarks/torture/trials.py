"""Carrying out a fault: a copy of the cache, what is done to it, and the processes that use it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatchmethod
from pathlib import Path

from .damage import of_another_numba
from .making import (
    VERDICTS,
    Armed,
    Damage,
    Fault,
    FaultRecord,
    Foreign,
    Held,
    Interleaved,
    Place,
    Start,
    Together,
    Verdict,
    printable,
    spread,
)
from .processes import Starter
from .shim import NoShim, is_loaded
from .verdicts import Case, Ended, grouped, judge, worst
from .workload import GRAPHS, Cache, Seen

_ROUNDS = 3
"""How often several processes store at once: what chance decides may show in one of them."""
_FILLING = 600.0
"""Seconds for a fresh process that fills a cache."""


class Skip(Exception):
    """Raised where a fault cannot be tried here; the message is the reason."""


@dataclass
class Torture:
    """A cache of one kind, its filled copy, and the faults that are put into it."""

    cache: Cache
    starter: Starter
    kept: Path
    """An empty directory for the copies."""
    most: int
    """Steps of a fault, at most."""
    _usual: dict[tuple[str, tuple[str, ...]], Seen] = field(default_factory=dict)
    _targets: tuple[str, str] = ("", "")

    @property
    def live(self) -> Path:
        """The cache that processes use."""
        return self.starter.cache

    def prepare(self) -> None:
        """Fill the cache, and keep copies of it. Raises Skip if that fails without any fault."""
        found: list[set[str]] = [set()]
        for graphs in (("up",), ("down",), GRAPHS):
            ended = self.starter.run(graphs)
            verdict, detail = judge(ended, Seen(misses=10**6, compiled=10**6), self.starter.limit)
            if verdict != "safe":
                raise Skip(f"without any fault, {detail or verdict}")
            found.append(self._entries())
        self._targets = (min(found[1] - found[0]), min(found[2] - found[1]))
        self._copy(self.live, self.kept / "filled")
        for entry in self._entries():
            _remove(self.live / entry)
        for file in self.live.rglob("*.nb[ic]"):
            file.unlink()
        self._copy(self.live, self.kept / "bare")

    def _entries(self) -> set[str]:
        """The paths of what a graph added, within the cache."""
        if self.cache == "numba":
            found = self.live.rglob("*fgraph*.nbi")
        else:
            found = (key.parent for key in self.live.rglob("key.pkl"))
        return {str(path.relative_to(self.live)) for path in found}

    def carry_out(self, fault: Fault) -> FaultRecord:
        """Try a fault and return what became of it; nothing is raised but by what is not a fault.

        Raises OSError if no process can be started.
        """
        began = time.monotonic()
        try:
            cases, skipped = list(self._cases(fault.plan)), ""
            skipped = "" if cases else "there is nothing of the kind in this release"
        except (Skip, NoShim) as reason:
            cases, skipped = [], printable(str(reason))
        verdict, after = worst(cases) if cases else (None, None)
        return FaultRecord(
            fault.name, fault.cache, fault.group, fault.what, fault.certain, verdict, after,
            grouped(cases), skipped, round(time.monotonic() - began, 3),
        )  # fmt: skip

    @singledispatchmethod
    def _cases(self, plan: object) -> Iterator[Case]:
        """Carry out every step of a plan."""
        raise NotImplementedError(plan)

    @_cases.register
    def _(self, plan: Damage) -> Iterator[Case]:
        usual = self._usual_of(plan.start, plan.graphs)
        self._next(plan.graphs)
        place = self._reset(plan.start)
        for step in plan.steps(place, self.most):
            place = self._reset(plan.start)
            try:
                plan.apply(place, step)
            except (OSError, StopIteration) as error:
                raise Skip(f"it cannot be done to this cache: {error}") from error

            def run() -> Ended:
                return self.starter.run(plan.graphs, unprivileged=plan.unprivileged)

            yield self._case(step, run(), usual, plan.graphs, run)

    @_cases.register
    def _(self, plan: Armed) -> Iterator[Case]:
        self._need_shim()
        if plan.start == "stale":
            self._make_stale()
        usual, following = self._usual_of(plan.start, plan.graphs), self._next(plan.graphs)
        place = self._reset(plan.start)
        where = place.file(plan.part) if plan.part else None
        counting = replace(plan.rule, action="count")
        counted = self.starter.run(plan.graphs, counting, where=where).seen
        number = counted.armed if counted else 0
        if plan.rule.kinds and not number:
            return
        for at in [1 + at for at in spread(number, self.most)] if plan.each else [1]:
            self._reset(plan.start)
            rule = plan.rule.at(at, only=plan.only)
            ended = self.starter.run(plan.graphs, rule, where=where)
            step = f"{at} of {number}" if plan.each else ""
            if plan.rule.action == "kill":
                # What matters is what it left for the next one.
                ended, usual = self.starter.run(plan.graphs), following
            yield self._case(step, ended, usual, plan.graphs)

    @_cases.register
    def _(self, plan: Together) -> Iterator[Case]:
        usual = self._usual_of("bare", plan.graphs)
        self._next(plan.graphs)
        for at in range(_ROUNDS):
            self._reset("bare")
            ended = self.starter.together(plan.count, plan.graphs)
            yield self._of_several(f"round {at + 1}", ended, [usual] * len(ended), plan.graphs)

    @_cases.register
    def _(self, plan: Interleaved) -> Iterator[Case]:
        self._need_shim()
        both = tuple(dict.fromkeys((*plan.first, *plan.second)))
        usual = [self._usual_of("bare", graphs) for graphs in (plan.first, plan.second)]
        self._next(both)
        start = self._without_outer(both) if plan.later else "bare"
        self._reset(start)
        counted = self.starter.run(plan.first, replace(plan.rule, action="count")).seen
        number = counted.armed if counted else 0
        for at in spread(number, self.most if plan.later else max(2, self.most // 2)):
            self._reset(start)
            rule = plan.rule.at(at + 1, only=True)
            other = plan.rule.at(at + 1 + plan.later, only=True) if plan.later else None
            ended = self.starter.between(plan.first, plan.second, rule, other)
            yield self._of_several(f"{at + 1} of {number}", ended, usual, both)

    def _make_stale(self) -> None:
        """Keep a cache in which another numba stored the outer function of `up`."""
        of_another_numba(self._reset("filled"), "")
        self._copy(self.live, self.kept / "stale")

    def _without_outer(self, graphs: tuple[str, ...]) -> Start:
        """Keep a cache that lacks only the outer function of `up`; return its name."""
        place = self._reset("bare")
        self._seen(graphs)
        for file in (place.target, *place.data_files()):
            file.unlink()
        self._copy(self.live, self.kept / "without_outer")
        return "without_outer"

    @_cases.register
    def _(self, plan: Held) -> Iterator[Case]:
        usual = self._usual_of("filled", GRAPHS)
        self._next(GRAPHS)
        self._reset("filled")
        number = signal.SIGSTOP if plan.stopped else signal.SIGKILL
        holder = self.starter.start((), first=lambda: _hold_lock(number))
        holder.wait(self.starter.limit)
        try:
            ended = self.starter.run(GRAPHS)
        finally:
            holder.kill()
        yield self._case("", ended, usual, GRAPHS)

    @_cases.register
    def _(self, plan: Foreign) -> Iterator[Case]:
        usual = self._usual_of("filled", GRAPHS)
        self._next(GRAPHS)
        self._reset("bare")
        self._fill(dict(plan.variables))
        yield self._case("", self.starter.run(GRAPHS), usual, GRAPHS)

    def _fill(self, variables: dict[str, str]) -> None:
        """Let a fresh process with other variables fill the live cache. Raises Skip."""
        flags = ",".join(
            filter(None, (os.environ.get("PYTENSOR_FLAGS"), variables.pop("PYTENSOR_FLAGS", "")))
        )
        command = [sys.executable, "-m", "benchmarks.torture", "--fill", "--cache", self.cache]
        environment = {**os.environ, "PYTENSOR_FLAGS": flags, **variables}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_FILLING, check=False
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise Skip(f"no other process could fill the cache: {last[:300]}")

    def _case(
        self, step: str, ended: Ended, usual: Seen, graphs: Sequence[str],
        run_next: Callable[[], Ended] | None = None,
    ) -> Case:  # fmt: skip
        """The verdict on a process that has ended, and on the next one.

        ``run_next``: runs the next one; None: an ordinary one.
        """
        verdict, detail = judge(ended, usual, self.starter.limit)
        after, then = self._after(run_next or (lambda: self.starter.run(tuple(graphs))), graphs)
        return Case(step, verdict, after, self._told(detail or then))

    def _told(self, detail: str) -> str:
        """A detail without the paths of this machine, which are other ones elsewhere."""
        told = detail.replace(str(self.live), "CACHE").replace(sys.prefix, "ENVIRONMENT")
        return printable(told)

    def _after(self, run: Callable[[], Ended], graphs: Sequence[str]) -> tuple[Verdict, str]:
        """The verdict on the processes after a fault.

        The first of them may still compile what the fault kept from being stored.
        """
        usual = self._next(tuple(graphs))
        verdict, detail = judge(run(), usual, self.starter.limit)
        return (
            judge(run(), usual, self.starter.limit)
            if verdict == "recompiles"
            else (verdict, detail)
        )

    def _of_several(
        self, step: str, ended: Sequence[Ended], usual: Sequence[Seen], graphs: tuple[str, ...]
    ) -> Case:
        judged = [judge(*one, self.starter.limit) for one in zip(ended, usual, strict=True)]
        verdict, detail = max(judged, key=lambda one: VERDICTS.index(one[0]))
        after, then = self._after(lambda: self.starter.run(graphs), graphs)
        return Case(step, verdict, after, self._told(detail or then))

    def _usual_of(self, start: Start, graphs: tuple[str, ...]) -> Seen:
        """What a process sees without a fault. Ask before a fault: the live cache is reset."""
        if (start, graphs) not in self._usual:
            self._reset(start)
            self._usual[start, graphs] = self._seen(graphs)
        return self._usual[start, graphs]

    def _next(self, graphs: tuple[str, ...]) -> Seen:
        """What a process sees after another one has built the same graphs; as `_usual_of`."""
        if ("next", graphs) not in self._usual:
            self._reset("filled")
            self._seen(graphs)
            self._usual["next", graphs] = self._seen(graphs)
        return self._usual["next", graphs]

    def _seen(self, graphs: tuple[str, ...]) -> Seen:
        ended = self.starter.run(graphs)
        if ended.seen is None or ended.seen.raised or ended.seen.wrong:
            _, detail = judge(ended, Seen(misses=10**6, compiled=10**6), self.starter.limit)
            raise Skip(f"without any fault, {detail}")
        return ended.seen

    def _reset(self, start: Start) -> Place:
        """Put a copy of the cache in the place of the live one."""
        self._copy(self.kept / start, self.live)
        own, other = (self.live / target for target in self._targets)
        return Place(self.live, own, other)

    def _copy(self, source: Path, target: Path) -> None:
        """Let a directory have the content of another; it stays the same directory."""
        target.mkdir(exist_ok=True)
        target.chmod(0o755)
        for path in target.iterdir():
            _remove(path)
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)

    @staticmethod
    def _need_shim() -> None:
        if not is_loaded():
            raise Skip("the stand-in for a broken disk could not be made here")


def _hold_lock(number: int) -> None:
    """Take the lock of PyTensor's C cache, and stop or die with it."""
    from pytensor.compile.compilelock import lock_ctx

    with lock_ctx():
        os.kill(os.getpid(), number)


def _remove(path: Path) -> None:
    """Remove a file or a directory, whatever its permissions are."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    for directory, _, _ in os.walk(path):
        Path(directory).chmod(0o700)
    shutil.rmtree(path)
