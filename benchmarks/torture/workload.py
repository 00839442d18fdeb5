"""What is compiled under a fault: three small graphs, and what a process reports of them.

Their values are compared with NumPy's. `up` and `down` take and return the same types, so that the
entry of one can be put in the place of the other's, which only a comparison of values shows.
"""

from __future__ import annotations

import logging
import resource
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ..probes import c_modules, numba_cache
from ..probes.entries import EntryCounter
from ..probes.ledger import Ledger
from ..raised import one_line

if TYPE_CHECKING:
    import numpy as np

Cache = Literal["numba", "c"]
CACHES: tuple[Cache, ...] = ("numba", "c")
TOLERANCE = 1e-9
"""The largest relative error of a right value."""
GRAPHS = ("up", "down", "total")
"""The names of the graphs, in the order in which they are compiled."""
STRIDED = "up_strided"
"""`up`, called with an array that is not contiguous: another signature with the same key."""
_PROBES = {"numba": numba_cache, "c": c_modules}
_LINKERS = {"numba": "numba", "c": "cvm"}


@dataclass(frozen=True)
class Seen:
    """What one process saw of its graphs, all exact."""

    hits: int = 0
    misses: int = 0
    compiled: int = 0
    """Functions that were compiled, stored or not; for C, runs of the compiler."""
    calls: int | None = None
    """Python functions that were entered; None before Python 3.12."""
    wrong: str = ""
    """The first graph with a wrong value, and how wrong."""
    raised: str = ""
    """The first exception: its type and the first line of its text."""
    armed: int = 0
    """How many calls the rule counted."""
    warned: int = 0
    """Warnings that were given or logged while the graphs were built and called."""


class Workload:
    """Builds the graphs of one cache and observes it. Make one before any fork, and build after."""

    def __init__(self, cache: Cache) -> None:
        """Import PyTensor and the backend and hook what is counted. Raises ImportError."""
        import pytensor.tensor  # noqa: F401

        self.cache = cache
        self._ledger = Ledger()
        _PROBES[cache].install(self._ledger)

    def configure(self, settings: Mapping[str, bool]) -> None:
        """Set flags of PyTensor in this process. Raises AttributeError for an unknown one."""
        import pytensor

        for name, value in settings.items():
            setattr(pytensor.config, name, value)

    def run(self, graphs: Sequence[str]) -> Seen:
        """Build and call graphs, whatever happens to one of them; return what was seen."""
        counts: list[int] = []
        counter = EntryCounter().counting_calls(counts) if _can_count() else nullcontext()
        seen = Seen()
        self._ledger.recording = True
        with counter, counting_warnings() as warned:
            for name in graphs:
                try:
                    problem = wrong(name, *self._value(name))
                except Exception as error:
                    seen = seen if seen.raised else replace(seen, raised=f"{one_line(error)[:300]}")
                else:
                    seen = seen if seen.wrong else replace(seen, wrong=problem)
        counted = self._ledger.counts()
        compiled = int(counted["functions_compiled"])
        if self.cache == "c":
            compiled = self._ledger.compiler_runs + self._ledger.bootstrap_runs
        return replace(
            seen,
            hits=sum(entry.outcome == "hit" for entry in self._ledger.entries),
            misses=int(counted["cache_misses"]),
            compiled=compiled,
            calls=counts[0] if counts else None,
            warned=len(warned),
        )

    def _value(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The value of a graph and its reference."""
        import pytensor
        import pytensor.tensor as pt
        from pytensor.compile.mode import Mode

        x, y = pt.dvector("x"), pt.dvector("y")
        symbolic, _ = _graph(name)
        function = pytensor.function(
            [x, y], symbolic(pt, x, y), mode=Mode(linker=_LINKERS[self.cache], optimizer="fast_run")
        )
        given = arguments(name)
        return function(*given), reference(name, *given)


def arguments(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The arguments with which a graph is called: two vectors of seven numbers."""
    import numpy as np

    x, y = np.linspace(0.25, 1.75, 14), np.linspace(-1.0, 0.5, 7)
    return (x[::2] if name == STRIDED else x[::2].copy()), y


def reference(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The value of a graph as NumPy computes it."""
    import numpy as np

    _, numeric = _graph(name)
    return np.asarray(numeric(np, x, y))


def wrong(name: str, value: Any, expected: np.ndarray) -> str:
    """How wrong a value is, as half a sentence; empty if it is right."""
    import numpy as np

    found = np.asarray(value)
    if found.shape != expected.shape:
        return f"{name} has shape {found.shape} and not {expected.shape}"
    scale = float(np.max(np.abs(expected)))
    error = float(np.max(np.abs(found - expected))) / scale if found.size else 0.0
    return "" if error <= TOLERANCE else f"{name} has a relative error of {error:.2g}"


def _graph(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The graph of that name with PyTensor, and with NumPy."""
    kinds: dict[str, Callable[..., Any]] = {
        "up": lambda m, x, y: m.exp(x) * 2.0 + y,
        "down": lambda m, x, y: m.tanh(x) - y * 3.0,
        "total": lambda m, x, y: (m.sin(x) * y).sum(),
    }
    one = kinds["up" if name == STRIDED else name]
    return one, one


class _Warnings(logging.Handler):
    """Keeps the records that it gets."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[object] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def counting_warnings() -> Iterator[list[object]]:
    """Yield a list that gets what is warned of inside, whether by `warnings` or by PyTensor's log.

    It is complete when the block has ended.
    """
    handler = _Warnings()
    logger = logging.getLogger("pytensor")
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            yield handler.records
    finally:
        logger.removeHandler(handler)
        handler.records += given


def _can_count() -> bool:
    return sys.version_info >= (3, 12)


def no_core_dumps() -> None:
    """Let this process leave no core file behind: a damaged entry may well crash it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
