"""What single passes of LLVM take: from the reports that numba asks LLVM for.

numba has a switch for them, `NUMBA_LLVM_PASS_TIMINGS`: LLVM then reports each run of a pass manager
on one function or module. With these reports a cold build takes 1.3 times the CPU time. Only the
tracing pass asks for them, whose times nobody judges, and leaves the functions that asking enters
out of its counts.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..profiles import KEPT_PASS_SHARE, OTHER, LlvmPass
from .ledger import shorten

_REPORTS = "numba.misc.llvm_pass_timings"
_CONFIG = "numba.core.config"
_TIMERS = "llvmlite.binding.newpassmanagers"
_READERS = ("RecordLLVMPassTimings", "RecordLLVMPassTimingsLegacy", "ProcessedPassTimings")
"""The classes of `_REPORTS` that nothing calls unless the switch is on."""
_OF_MACHINE_CODE = "Finalize object"
"""What numba calls the reports on passes that make machine code."""
_PASSES, _MACHINE_CODE = "LLVM: passes", "LLVM: machine code"
_ANALYSES = "Analysis execution timing report"
"""The title of a second table: the seconds of analyses are also those of the passes that asked."""
_TOTAL = re.compile(r"Total Execution Time: (\d+\.\d+) seconds")
_HEADING = re.compile(r"-{2,}([A-Za-z+ ]+?)-{2,}")
_VALUE = re.compile(r"(\d+\.\d+) \( *(\d+\.\d+)%\)|-----")
_RULE = "==="
"""How the lines around a title begin, which have dashes as an empty value has them."""
_CPU = "User+System"
_PRINTED = 0.00005
"""Seconds by which a rounded number of a report is wrong, at most."""


class Row(NamedTuple):
    """One row of a report."""

    name: str
    number: int | None
    """Of several rows with one name: which one it is."""
    seconds: float
    """Of the CPU."""


class PassTimer:
    """What each pass of LLVM takes while it is on, added up over several builds."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], LlvmPass] | None = None
        self.codes: frozenset[int] = frozenset()
        """The ids of the code of the functions that nothing calls unless it is on."""
        self.runs: int | None = None
        """How often a pass ran on a function, a loop or a module in the last block: the sum of all
        passes but those that make machine code. None where numba or LLVM cannot tell."""

    def passes(self) -> tuple[LlvmPass, ...] | None:
        """Return the passes whose runs are known, and the longest others; the rest is `OTHER`.

        Passes that take next to no time are kept as well, because otherwise one that both sides ran
        could be known of one side alone. None where numba cannot tell.
        """
        if self._found is None:
            return None
        least = KEPT_PASS_SHARE * sum(one.seconds for one in self._found.values())
        kept: dict[tuple[str, str], LlvmPass] = {}
        for one in sorted(self._found.values(), key=lambda one: -one.seconds):
            alone = one.runs is not None or one.seconds >= least
            _add(kept, one if alone else LlvmPass(OTHER, one.phase, one.seconds))
        return tuple(
            LlvmPass(one.name, one.phase, round(one.seconds, 6), one.runs) for one in kept.values()
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Read what LLVM reports of the builds inside the block."""
        self.runs = None
        reports: Any = sys.modules.get(_REPORTS)
        config: Any = sys.modules.get(_CONFIG)
        collection = getattr(reports, "PassTimingsCollection", None)
        # Before numba 0.62 a report can hold passes of both phases.
        known = hasattr(collection, "_append") and hasattr(collection, "record_legacy")
        if not known or not hasattr(config, "LLVM_PASS_TIMINGS"):
            yield
            return
        texts: list[tuple[str, str]] = []

        def keep(_: Any, name: str, timings: Any) -> None:
            texts.append((name, timings.get_raw_data()))

        _start_afresh()
        readers = [getattr(reports, name) for name in _READERS if hasattr(reports, name)]
        functions = [keep, *(one for each in readers for one in vars(each).values())]
        self.codes = frozenset(id(one.__code__) for one in functions if hasattr(one, "__code__"))
        with (
            _set(collection, "_append", keep),
            _set(config, "LLVM_PASS_TIMINGS", 1),
            self._leaving_out_deleted_timers(),
        ):
            yield
        self._found = {} if self._found is None else self._found
        ran: list[int | None] = []
        for name, text in texts:
            machine_code = name == _OF_MACHINE_CODE
            phase = _MACHINE_CODE if machine_code else _PASSES
            read = by_numbered_pass if machine_code else by_pass
            for of, (seconds, runs) in read(text).items():
                _add(self._found, LlvmPass(shorten(of), phase, seconds, runs))
                ran += [] if machine_code else [runs]
        numbered = [runs for runs in ran if runs is not None]
        self.runs = sum(numbered) if len(numbered) == len(ran) else None

    @contextmanager
    def _leaving_out_deleted_timers(self) -> Iterator[None]:
        """Give the timers that are made inside the block a finalizer that `codes` has."""
        timer = getattr(sys.modules.get(_TIMERS), "TimePassesHandler", None)
        if timer is None:
            yield
            return
        inherited = timer.__del__

        def delete(one: Any) -> None:
            inherited(one)

        self.codes |= {id(delete.__code__)}
        with _set(timer, "__del__", delete):
            yield


@contextmanager
def _set(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute inside the block; the owner may have inherited it."""
    own = vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own is None:
            delattr(owner, name)
        else:
            setattr(owner, name, own)


def _start_afresh() -> None:
    """Let LLVM list each run of a pass by itself, where it can, and forget what it has timed.

    After a first report, LLVM also times what is compiled while nobody asks for one, and lists that
    in the next report.
    """
    from llvmlite import binding  # type: ignore[import-not-found]

    _number_the_runs()
    binding.set_time_passes(False)  # the option switches it on
    binding.report_and_reset_timings()


@functools.cache
def _number_the_runs() -> None:
    """Set LLVM's option for it, which holds until the process ends."""
    from llvmlite import binding

    binding.set_option("", "-time-passes-per-run")


def _add(found: dict[tuple[str, str], LlvmPass], one: LlvmPass) -> None:
    so_far = found.get((one.phase, one.name))
    if so_far is not None:
        runs = None if so_far.runs is None or one.runs is None else so_far.runs + one.runs
        one = LlvmPass(one.name, one.phase, so_far.seconds + one.seconds, runs)
    found[one.phase, one.name] = one


def by_pass(report: str) -> Mapping[str, tuple[float, int | None]]:
    """Return the seconds of each pass, and its runs where the report lists them.

    Since llvmlite 0.48 two timers report: that of numba, and one inside it that numbers the runs.
    The seconds are those of numba's, as its rows are longer, and rounded less.
    """
    found: dict[str, tuple[float, int | None]] = {}
    for name, number, seconds in rows(report):
        most, runs = found.get(name, (0.0, None))
        if number is None:
            found[name] = max(most, seconds), runs
        else:
            found[name] = most, (runs or 0) + 1
    return found


def by_numbered_pass(report: str) -> Mapping[str, tuple[float, None]]:
    """The same where a number says which of several equal passes a row is of, as in machine code.

    Such a report does not say how often a pass ran.
    """
    found: dict[str, tuple[float, None]] = {}
    for name, _, seconds in rows(report):
        found[name] = found.get(name, (0.0, None))[0] + seconds, None
    return found


def rows(report: str) -> Iterator[Row]:
    """Return the passes in a report of LLVM.

    A row has the seconds in four places and their share in one. The share is more precise in the
    small reports that are usual.
    """
    passes, _, _ = report.partition(_ANALYSES)
    total = _TOTAL.search(passes)
    columns: list[str] = []
    for line in passes.splitlines():
        if line.endswith("- Name ---"):
            columns = [heading.strip() for heading in _HEADING.findall(line)]
            continue
        values = list(_VALUE.finditer(line)) if columns else []
        if total is None or not values or line.startswith(_RULE):
            continue
        # After them are columns of whole numbers, where LLVM counts instructions.
        name = line[values[-1].end() :].lstrip(" 0123456789")
        if name == "Total":
            continue
        name, _, number = name.partition(" #")
        seconds = 0.0
        if _CPU in columns and (value := values[columns.index(_CPU)])[1]:
            printed, share = float(value[1]), float(value[2]) / 100
            precise = share * float(total[1])
            seconds = max(0.0, printed - _PRINTED, min(printed + _PRINTED, precise))
        yield Row(name, int(number) if number.isdigit() else None, seconds)
