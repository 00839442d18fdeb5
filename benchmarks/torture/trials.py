"""Carrying out a fault: a copy of the cache, what is done to it, and the processes that use it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import singledispatchmethod

from .copies import Copies, Skip
from .making import (
    Armed,
    Commanded,
    Damage,
    Fault,
    FaultRecord,
    Foreign,
    Held,
    Hindered,
    Interleaved,
    Other,
    Start,
    Together,
    Verdict,
    printable,
    spread,
)
from .processes import Starter
from .shim import NoShim, is_loaded
from .verdicts import Case, Ended, grouped, judge, judge_several, or_failure, warnings_of, worst
from .workload import GRAPHS, Seen

_ROUNDS = 3
"""How often several processes store at once: what chance decides may show in one of them."""
_FILLING = 600.0
"""Seconds for a fresh process that fills a cache."""


@dataclass(frozen=True)
class _Later:
    """What is usual, without a fault, of the processes that come after it."""

    graphs: tuple[str, ...]
    """The graphs that they build."""
    seen: Seen
    """What each of them sees."""
    paths: int
    """Files and directories in the cache when they have ended."""


@dataclass
class Torture:
    """The faults that are put into a cache of one kind."""

    copies: Copies
    most: int
    """Steps of a fault, at most."""
    others: Mapping[Other, str] = field(default_factory=dict)
    """The interpreter of an environment that has another version of something."""

    @property
    def starter(self) -> Starter:
        """What starts processes."""
        return self.copies.starter

    def carry_out(self, fault: Fault) -> FaultRecord:
        """Try a fault and return what became of it; nothing is raised but by what is not a fault.

        Raises OSError if no process can be started.
        """
        began = time.monotonic()
        cases: list[Case] = []
        skipped = "there is nothing of the kind in this release"
        try:
            for case in self._cases(fault.plan):
                cases.append(case)  # noqa: PERF402 - a later step that cannot be tried costs none
        except (Skip, NoShim) as reason:
            skipped = printable(str(reason))
        skipped = "" if cases else skipped
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
        usual = self.copies.usual_of(plan.start, plan.graphs)
        usually = self._later(plan.start, plan.graphs)
        place = self.copies.reset(plan.start)
        for step in plan.steps(place, self.most):
            place = self.copies.reset(plan.start)
            with _possible():
                plan.apply(place, step)

            def run() -> Ended:
                return self.starter.run(
                    plan.graphs, unprivileged=plan.unprivileged, settings=dict(plan.settings)
                )

            yield self._case(step, run(), usual, usually, run)

    @_cases.register
    def _(self, plan: Commanded) -> Iterator[Case]:
        usual = self.copies.usual_of("filled", GRAPHS)
        usually = self._later("filled", GRAPHS)
        place = self.copies.reset("filled")
        if plan.damage is not None:
            with _possible():
                plan.damage(place, "")
        failed = self._ask("-m", "pytensor.bin.pytensor_cache", plan.word)
        ended = self.starter.run(GRAPHS)
        judged = or_failure(judge(ended, usual, self.starter.limit), failed)
        yield self._judged("", judged, warnings_of([ended]), usually)

    @_cases.register
    def _(self, plan: Hindered) -> Iterator[Case]:
        usual = self.copies.usual_of(plan.start, plan.graphs)
        usually = self._later(plan.start, plan.graphs)
        with _possible():
            variables = plan.variables(self.copies.reset(plan.start))
        ended = self.starter.run(plan.graphs, variables=variables)
        yield self._case("", ended, usual, usually)

    @_cases.register
    def _(self, plan: Armed) -> Iterator[Case]:
        self._need_shim()
        if plan.start == "stale":
            self.copies.make_stale()
        usual = self.copies.usual_of(plan.start, plan.graphs)
        usually = self._later(plan.start, plan.graphs)
        self.copies.reset(plan.start)
        counting = replace(plan.rule, action="count")
        counted = self.starter.run(plan.graphs, counting).seen
        number = counted.armed if counted else 0
        if plan.rule.kinds and not number:
            return
        for at in [1 + at for at in spread(number, self.most)] if plan.each else [1]:
            self.copies.reset(plan.start)
            rule = plan.rule.at(at, only=plan.only)
            ended = self.starter.run(plan.graphs, rule)
            step = f"{at} of {number}" if plan.each else ""
            if plan.rule.action == "kill":
                # What matters is what it left for the next one.
                ended, usual = self.starter.run(plan.graphs), usually.seen
            yield self._case(step, ended, usual, usually)

    @_cases.register
    def _(self, plan: Together) -> Iterator[Case]:
        usual = self.copies.usual_of("bare", plan.graphs)
        usually = self._later("bare", plan.graphs)
        for at in range(_ROUNDS):
            self.copies.reset("bare")
            ended = self.starter.together(plan.count, plan.graphs)
            yield self._of_several(
                f"round {at + 1}", ended, [usual] * len(ended), usually, once=plan.once
            )

    @_cases.register
    def _(self, plan: Interleaved) -> Iterator[Case]:
        self._need_shim()
        both = tuple(dict.fromkeys((*plan.first, *plan.second)))
        usual = [self.copies.usual_of("bare", graphs) for graphs in (plan.first, plan.second)]
        start = self.copies.without_outer(both) if plan.later else "bare"
        usually = self._later(start, both)
        self.copies.reset(start)
        counted = self.starter.run(plan.first, replace(plan.rule, action="count")).seen
        number = counted.armed if counted else 0
        for at in spread(number, self.most):
            self.copies.reset(start)
            rule = plan.rule.at(at + 1, only=True)
            other = plan.rule.at(at + 1 + plan.later, only=True) if plan.later else None
            ended = self.starter.between(plan.first, plan.second, rule, other)
            yield self._of_several(f"{at + 1} of {number}", ended, usual, usually)

    @_cases.register
    def _(self, plan: Held) -> Iterator[Case]:
        usual = self.copies.usual_of("filled", GRAPHS)
        usually = self._later("filled", GRAPHS)
        self.copies.reset("filled")
        number = signal.SIGSTOP if plan.stopped else signal.SIGKILL
        holder = self.starter.start((), first=lambda: _hold_lock(number))
        holder.wait(self.starter.limit)
        try:
            ended = self.starter.run(GRAPHS)
        finally:
            holder.kill()
        yield self._case("", ended, usual, usually)

    @_cases.register
    def _(self, plan: Foreign) -> Iterator[Case]:
        usual = self.copies.usual_of("filled", GRAPHS)
        usually = self._later("filled", GRAPHS)
        python = sys.executable if plan.other is None else self.others.get(plan.other)
        if python is not None:
            self.copies.reset("bare")
            self._fill(python, dict(plan.variables))
        elif plan.imitated is not None:
            with _possible():
                plan.imitated(self.copies.reset("filled"), "")
        else:
            raise Skip(f"there is no environment with another version of {plan.other}")
        yield self._case("", self.starter.run(GRAPHS), usual, usually)

    def _fill(self, python: str, variables: dict[str, str]) -> None:
        """Let a fresh process with other variables fill the live cache. Raises Skip."""
        flags = ",".join(
            filter(None, (os.environ.get("PYTENSOR_FLAGS"), variables.pop("PYTENSOR_FLAGS", "")))
        )
        variables["PYTENSOR_FLAGS"] = flags
        arguments = ("-m", "benchmarks.torture", "--fill", "--cache", self.copies.cache)
        if failed := self._ask(*arguments, python=python, **variables):
            raise Skip(f"no other process could fill the cache: {failed}")

    def _ask(self, *arguments: str, python: str = sys.executable, **variables: str) -> str:
        """Let a fresh Python do something with the live cache; why it failed, or nothing."""
        done = subprocess.run(
            [python, *arguments], env={**os.environ, **variables}, capture_output=True,
            text=True, timeout=_FILLING, check=False,
        )  # fmt: skip
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return last[:300] if done.returncode else ""

    def _case(
        self, step: str, ended: Ended, usual: Seen, usually: _Later,
        run_next: Callable[[], Ended] | None = None,
    ) -> Case:  # fmt: skip
        """The verdict on a process that has ended, and on the next one.

        ``run_next``: runs the next one; None: an ordinary one.
        """
        judged = judge(ended, usual, self.starter.limit)
        return self._judged(step, judged, warnings_of([ended]), usually, run_next)

    def _told(self, detail: str) -> str:
        """A detail without the paths of this machine, which are other ones elsewhere."""
        told = detail.replace(str(self.copies.live), "CACHE").replace(sys.prefix, "ENVIRONMENT")
        return printable(told)

    def _of_several(
        self, step: str, ended: Sequence[Ended], usual: Sequence[Seen], usually: _Later,
        *, once: bool = False,
    ) -> Case:  # fmt: skip
        judged = judge_several(ended, usual, self.starter.limit, once=once)
        return self._judged(step, judged, warnings_of(ended), usually)

    def _judged(
        self, step: str, judged: tuple[Verdict, str], warned: int, usually: _Later,
        run_next: Callable[[], Ended] | None = None,
    ) -> Case:  # fmt: skip
        """Add the verdict on the next processes to one, and what is left when they have ended.

        The first of them may still compile what the fault kept from being stored.
        """
        verdict, detail = judged
        run = run_next or (lambda: self.starter.run(usually.graphs))
        after, then = judge(run(), usually.seen, self.starter.limit)
        if after == "recompiles":
            after, then = judge(run(), usually.seen, self.starter.limit)
        left = self.copies.paths() - usually.paths
        return Case(step, verdict, after, self._told(detail or then), left, warned)

    def _later(self, start: Start, graphs: tuple[str, ...]) -> _Later:
        """What is usual of the processes after a fault. Ask before it: the live cache is reset."""
        return _Later(graphs, self.copies.next_of(graphs), self.copies.paths_of(start, graphs))

    @staticmethod
    def _need_shim() -> None:
        if not is_loaded():
            raise Skip("the stand-in for a broken disk could not be made here")


@contextmanager
def _possible() -> Iterator[None]:
    """Raise Skip where a fault cannot be made."""
    try:
        yield
    except (OSError, StopIteration) as error:
        raise Skip(f"it cannot be done to this cache: {error}") from error


def _hold_lock(number: int) -> None:
    """Take the lock of PyTensor's C cache, and stop or die with it."""
    from pytensor.compile.compilelock import lock_ctx

    with lock_ctx():
        os.kill(os.getpid(), number)
