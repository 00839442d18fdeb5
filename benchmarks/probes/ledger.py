"""The ledger: what became of each function that a build compiled or asked a cache for."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

_LONGEST_NAME = 160


def shorten(text: str) -> str:
    """Bound a name, keeping different names different."""
    text = " ".join(text.split())
    if len(text) <= _LONGEST_NAME:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[:_LONGEST_NAME]}… #{digest}"


@dataclass
class Entry:
    """One compiled function, or one that a cache returned."""

    name: str
    kind: str
    key: str = ""
    outcome: str = "internal"
    source: str | None = None
    """Where a hit came from: "memory" or "disk"."""
    bytes: int | None = None
    seconds: float = 0.0
    step: str | None = None
    nested: float = field(default=0.0, repr=False)
    """Seconds of the entries inside this one."""


class Ledger:
    """Collects entries while recording; entries nest, and each gets only its own time."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.recording = False
        self.step: str | None = None
        self.compiler_runs = 0
        self.bootstrap_runs = 0
        self._open: list[Entry] = []

    @property
    def current(self) -> Entry | None:
        """The innermost entry being worked on."""
        return self._open[-1] if self._open else None

    @contextmanager
    def entry(self, name: str, kind: str) -> Iterator[Entry]:
        """Time one function. It is kept only if nothing is raised."""
        entry = Entry(shorten(name), kind, step=self.step)
        self._open.append(entry)
        begin = time.perf_counter()
        try:
            yield entry
        finally:
            elapsed = time.perf_counter() - begin
            self._open.pop()
            if self._open:
                self._open[-1].nested += elapsed
        entry.seconds = max(0.0, elapsed - entry.nested)
        if self.recording:
            self.entries.append(entry)

    def counts(self, step: str | None = None) -> dict[str, int]:
        """The exact metrics, of one step or of all entries."""
        chosen = [e for e in self.entries if step is None or e.step == step]
        outcomes = Counter(e.outcome for e in chosen)
        code = {e.key: e.bytes or 0 for e in chosen if e.key}  # a function asked for twice is one
        return {
            "cache_misses": outcomes["miss"],
            "uncacheable": outcomes["uncacheable"],
            "functions_compiled": outcomes.total() - outcomes["hit"],
            "object_code_bytes": sum(code.values()),
        }

    def as_json(self) -> list[dict[str, Any]]:
        """The entries in the form of the sample schema."""
        rows = [asdict(entry) for entry in self.entries]
        for row in rows:
            del row["nested"]
            row["seconds"] = round(row["seconds"], 6)
        return rows
