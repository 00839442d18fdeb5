"""The ledger: what became of each function that a build compiled or that a cache returned."""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ..messages import ChainReport, LedgerEntry

_LONGEST_NAME = 160
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def shorten(text: str) -> str:
    """Return a name in one line of bounded length; different names stay different."""
    text = " ".join(text.split())
    if len(text) <= _LONGEST_NAME:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[:_LONGEST_NAME]}… #{digest}"


class Ledger:
    """Collects entries while recording; entries nest, and each gets only its own time."""

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = []
        self.recording = False
        self.step: str | None = None
        self.compiler_runs = 0
        self.bootstrap_runs = 0
        self.function: str | None = None
        """Who asked for the PyTensor function that is being compiled; None: nobody looks."""
        self.functions: list[str] = []
        """The same of every PyTensor function that was compiled while recording."""
        self.slept: dict[str | None, float] = {}
        """By step, the seconds that were slept while recording."""
        self.collected: Counter[str | None] = Counter()
        """By step, the garbage collections that were asked for while recording."""
        self._open: list[LedgerEntry] = []
        self._nested: list[float] = []
        """For each open entry, the seconds of the entries that were inside it."""

    @property
    def current(self) -> LedgerEntry | None:
        """The innermost entry being worked on; None: outside every entry."""
        return self._open[-1] if self._open else None

    def sleeps(self, seconds: float) -> None:
        """Add what was slept to the current step."""
        self.slept[self.step] = self.slept.get(self.step, 0.0) + seconds

    def collects(self) -> None:
        """Add a garbage collection to the current step."""
        self.collected[self.step] += 1

    @contextmanager
    def entry(self, name: str, kind: str) -> Iterator[LedgerEntry]:
        """Time one function, for the caller to fill in. Nothing is kept if the block raises.

        Addresses are left out of its name: the function has others in each process.
        """
        entry = LedgerEntry(shorten(_ADDRESS.sub(" at 0x…", name)), kind, step=self.step)
        self._open.append(entry)
        self._nested.append(0.0)
        begin = time.perf_counter()
        try:
            yield entry
        finally:
            elapsed = time.perf_counter() - begin
            self._open.pop()
            nested = self._nested.pop()
            if self._nested:
                self._nested[-1] += elapsed
        entry.seconds = round(max(0.0, elapsed - nested), 6)
        if self.recording:
            self.entries.append(entry)

    def report(self, logp: float | None = None) -> ChainReport:
        """Return what was recorded, for the process that started this one."""
        return ChainReport(
            tuple(self.entries), tuple(self.functions), logp,
            self.compiler_runs, self.bootstrap_runs,
        )  # fmt: skip

    def forget(self) -> None:
        """Begin anew, as in a fork, which has inherited what its parent recorded."""
        self.entries.clear()
        self.functions.clear()
        self.slept.clear()
        self.collected.clear()
        self.compiler_runs = self.bootstrap_runs = 0

    def counts(self, step: str | None = None) -> dict[str, float]:
        """Return the exact metrics of one step, or of all entries if ``step`` is None.

        Bytes for `object_code_bytes`, numbers of functions for the others.
        """
        chosen = [e for e in self.entries if step is None or e.step == step]
        outcomes = Counter(e.outcome for e in chosen)
        code = {e.key: e.bytes or 0 for e in chosen if e.key}  # a function asked for twice is one
        return {
            "cache_misses": outcomes["miss"],
            "uncacheable": outcomes["uncacheable"],
            "functions_compiled": outcomes.total() - outcomes["hit"],
            "object_code_bytes": sum(code.values()),
            "seconds_slept": round(
                sum(self.slept.values()) if step is None else self.slept.get(step, 0.0), 6
            ),
            "collections_forced": (
                self.collected.total() if step is None else self.collected[step]
            ),
        }
