"""What a fault and its outcome are: the catalogue's words, and the record that is printed.

docs/schemas/torture-1.json publishes the form of `TortureRecord`, which the tool reads.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from .shim import EVERY_CHANGE, Rule
from .workload import GRAPHS, Cache

SCHEMA = "observatory/torture/1"
Verdict = Literal["safe", "recompiles", "slower", "raises", "hangs", "dies", "WRONG"]
VERDICTS: tuple[Verdict, ...] = (
    "safe", "recompiles", "slower", "raises", "hangs", "dies", "WRONG"
)  # fmt: skip
"""From the best to the worst; `dies`: a signal ended the process."""
Group = Literal[
    "files", "foreign", "disk", "processes", "clock", "place", "commands", "kept", "control"
]
Start = Literal["filled", "bare", "without_outer", "stale"]
"""A copy of the filled cache; of one with nothing but PyTensor's own C helpers; of one that lacks
only the outer function of `up`; of one in which another numba stored that."""


@dataclass(frozen=True)
class Place:
    """A live cache in which a fault is to be put."""

    cache: Path
    """What `base_compiledir` names."""
    target: Path
    """For numba, the index file of the graph `up`; for C, the directory of its module."""
    other: Path
    """The same of the graph `down`."""

    @property
    def compiledir(self) -> Path:
        """The directory that holds all entries of this cache."""
        return self.target.parent

    def file(self, part: str) -> Path:
        """The file of `up` that is `index` or `data` (numba), `key` or `module` (C)."""
        return _file(self.target, part)

    def data_files(self) -> list[Path]:
        """The data files of the index of `up`, one for each signature."""
        name = self.target.name.removesuffix(".nbi")
        return sorted(self.target.parent.glob(f"{name}.*.nbc"))

    def other_file(self, part: str) -> Path:
        """The same of `down`."""
        return _file(self.other, part)


def _file(target: Path, part: str) -> Path:
    if part == "index":
        return target
    if part == "key":
        return target / "key.pkl"
    if part == "data":
        return next(iter(sorted(target.parent.glob(f"{target.name.removesuffix('.nbi')}.*.nbc"))))
    return next(iter(sorted(target.glob("*.so"))))


Other = Literal["python", "numba", "pytensor"]
OTHERS: tuple[Other, ...] = get_args(Other)
"""What an environment that fills a cache may have another version of."""
Apply = Callable[[Place, str], None]
"""Puts one step of a fault into a live cache. Raises OSError."""
Steps = Callable[[Place, int], Sequence[str]]
"""The steps of a fault in this cache, at most so many."""


def once(place: Place, most: int) -> Sequence[str]:  # noqa: ARG001 - the form of Steps
    """The steps of a fault that has only one."""
    return ("",)


@dataclass(frozen=True)
class Damage:
    """Something is done to a filled cache; then a process reads it."""

    apply: Apply
    steps: Steps = once
    unprivileged: bool = False
    """Whether the process must not be above permissions, as root is."""
    start: Start = "filled"
    graphs: tuple[str, ...] = GRAPHS
    settings: tuple[tuple[str, bool], ...] = ()
    """Flags of PyTensor that processes have from then on."""


@dataclass(frozen=True)
class Commanded:
    """Somebody runs `pytensor-cache` with a word; then a process reads."""

    word: str
    damage: Apply | None = None
    """What is done to the cache before."""


@dataclass(frozen=True)
class Hindered:
    """A process has other variables, and the next one has not."""

    variables: Callable[[Place], dict[str, str]]
    """Makes what the variables name, if it has to be made. Raises OSError."""
    start: Start = "bare"
    graphs: tuple[str, ...] = ("up",)


@dataclass(frozen=True)
class Armed:
    """Calls of a process on its files fail, or it is killed there; then another one reads."""

    rule: Rule
    start: Start
    graphs: tuple[str, ...] = ("up",)
    each: bool = True
    """Whether each call is a step of its own; else the rule holds for all calls at once."""
    only: bool = False
    """Whether only the call of the step is hit; else every one from it on."""


@dataclass(frozen=True)
class Together:
    """Several processes store the same at once; then another one reads."""

    count: int
    graphs: tuple[str, ...] = ("up",)
    once: bool = False
    """Whether the cache promises that only one of them compiles and the others wait."""


@dataclass(frozen=True)
class Interleaved:
    """A process stops at a call of its store, a second one runs; then the first goes on."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    later: int = 0
    """If not 0, the second one stops so many calls later, and goes on when the first has ended."""
    rule: Rule = field(default_factory=lambda: Rule(EVERY_CHANGE, "stop"))


@dataclass(frozen=True)
class Held:
    """A process that holds the lock of the C cache is stopped, or was killed; another one runs."""

    stopped: bool


@dataclass(frozen=True)
class Foreign:
    """The cache was filled by a process with other variables, or of another environment."""

    variables: tuple[tuple[str, str], ...] = ()
    """Names and values; PYTENSOR_FLAGS are added to those of the reader."""
    other: Other | None = None
    """What that environment has another version of; None: it is the reader's own."""
    imitated: Apply | None = None
    """What is done to a filled cache instead where there is no such environment."""


Plan = Damage | Commanded | Hindered | Armed | Together | Interleaved | Held | Foreign


@dataclass(frozen=True)
class Fault:
    """One fault of the catalogue."""

    name: str
    cache: Cache
    group: Group
    what: str
    """What is done, as a sentence without its end."""
    plan: Plan
    certain: bool = True
    """Whether the worst verdict is the same in each run: no, where chance decides what is hit."""


@dataclass(frozen=True)
class OutcomeRecord:
    """Steps of a fault that came out alike."""

    verdict: Verdict
    after: Verdict
    """The verdict of the next process, when the fault is over but not what it left."""
    detail: str
    """What the process saw, or the next one: an exception, a wrong value, counts."""
    cases: int
    steps: str
    """The first and the last of the steps."""
    left: int
    """Files and directories in the cache after the next processes, beyond those that are there
    without the fault; the most of all steps. Negative: some are missing."""
    warned: int
    """Warnings of the processes that met the fault, the most of all steps."""


@dataclass(frozen=True)
class FaultRecord:
    """One fault and what became of it."""

    name: str
    cache: Cache
    group: Group
    what: str
    certain: bool
    verdict: Verdict | None
    """The worst of the steps; None: it was not tried."""
    after: Verdict | None
    outcomes: tuple[OutcomeRecord, ...]
    skipped: str
    """Why it was not tried; empty if it was."""
    seconds: float


@dataclass(frozen=True)
class TortureRecord:
    """The matrix of one environment; `observatory.store.records` describes the fields."""

    schema: str
    environment: dict[str, str | None]
    steps: int
    faults: tuple[FaultRecord, ...]
    seconds: float
    cpu_seconds: float
    load: float
    started_at: str
    """ISO 8601, with the time zone."""
    left: int = 0
    """How many faults are left for a later run, because the time was over."""


def spread(size: int, most: int) -> list[int]:
    """At most so many whole numbers from 0 to size - 1, both ends among them, evenly spread.

    >>> spread(5, 9), spread(101, 3)
    ([0, 1, 2, 3, 4], [0, 50, 100])
    """
    if size <= most:
        return list(range(size))
    return sorted({round(at * (size - 1) / max(1, most - 1)) for at in range(most)})


def flips(size: int, most: int, seed: str) -> list[int]:
    """The numbers of bits to flip in a file of so many bytes: one in each of ``most`` parts."""
    chance = random.Random(seed)  # noqa: S311 - a choice that must be repeatable
    bits = size * 8
    parts = min(most, bits)
    return [chance.randrange(bits * at // parts, bits * (at + 1) // parts) for at in range(parts)]


def printable(text: str) -> str:
    r"""The text with what is no text escaped: what a flipped bit made of a name is quoted, too.

    >>> printable("num\udc80a")
    'num\\udc80a'
    """
    return text.encode(errors="backslashreplace").decode()


def severest(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts; `safe` if there are none."""
    return max(verdicts, key=VERDICTS.index, default="safe")
