"""The words of an inspected cache: entries, what wrote them, and the states that they can be in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

StateName: TypeAlias = Literal[
    "collided", "vulnerable", "broken", "unreadable", "missing", "unreachable", "leftover", "old",
    "other", "unknown", "usable", "new",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class State:
    """What a state means, and whether an entry in it may be deleted."""

    meaning: str
    deletable: bool


STATES: Final[dict[StateName, State]] = {
    "collided": State("it shares a symbol with a different function: results can be wrong", True),
    "vulnerable": State("another function may get its symbol: results can become wrong", True),
    "broken": State("it is truncated, or no file that numba or PyTensor writes", True),
    "unreadable": State("it cannot be read; it may be somebody else's", False),
    "missing": State("an index refers to a file that does not exist: it is compiled again", False),
    "unreachable": State("no index refers to it, so no process loads it", True),
    "leftover": State("an interrupted build left it", True),
    "old": State("nothing has loaded it for 24 days: PyTensor ignores it", True),
    "other": State("none of the Pythons that were asked can load it", True),
    "unknown": State("no Python was asked", False),
    "usable": State("a Python that was asked can load it", False),
    "new": State("it is less than an hour old: a build may be writing it", False),
}
"""The worst state comes first: an entry that fits several is in the first of them."""


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """What an entry was compiled for, as far as its files say. None names PyTensor's version."""

    kind: Literal["numba", "C"]
    python: str
    """``3.13`` for numba, ``3.13.0`` for C; empty where the files do not say."""
    numba: str = ""
    machine: tuple[str, ...] = ()
    """For numba: the triple, the processor and its features. For C: the target of the compiler."""
    numpy_abi: str = ""
    """For C, e.g. ``0x2000000``."""

    @property
    def processor(self) -> str:
        """The name of the processor, e.g. ``znver4``; empty where the files do not say."""
        return self.machine[1] if len(self.machine) > 1 else "".join(self.machine)


@dataclass(frozen=True, slots=True)
class Entry:
    """A compiled function of numba's, or a C module."""

    name: str
    origin: Origin
    paths: tuple[Path, ...]
    """Files, or the directory of a C module, that are deleted together."""
    size: int
    """Bytes."""
    written: float
    """Seconds since 1970; of the newest file."""
    index: Path | None = None
    """numba's index file that refers to it."""
    state: StateName = "unknown"
    reason: str = ""
    """Why it is in its state, as a sentence without a full stop; may be empty."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A Python that may load the cache, and what decides whether it can."""

    executable: str
    python: str
    """Such as ``3.13.0``."""
    pytensor: str = ""
    """Empty if it is not installed; the same for numba and NumPy."""
    numba: str = ""
    machine: tuple[str, ...] = ()
    numpy_abi: str = ""

    def obstacle(self, origin: Origin) -> str:
        """Why this Python does not accept an entry; empty if it does."""
        numba = origin.kind == "numba"
        python = self.python.rpartition(".")[0] if numba else self.python
        if not (self.numba if numba else self.pytensor):
            return f"{self.executable} has no {'numba' if numba else 'PyTensor'}"
        if origin.python and python != origin.python:
            return f"not for Python {python}"
        if not numba:
            known = origin.numpy_abi in ("", self.numpy_abi)
            return "" if known else f"not for NumPy's ABI {self.numpy_abi}"
        if self.numba != origin.numba:
            return f"not for numba {self.numba}"
        return "" if self.machine == origin.machine else f"not for processor {self.machine[1]}"
