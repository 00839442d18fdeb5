"""The three messages of a sample: the job, the report and the record.

The primitive (`benchmarks.sample`) writes a `Job` for each process that it starts. The measured
process (`benchmarks.child`) answers with a `Report`. The primitive prints a `SampleRecord`, which
the tool reads; docs/schemas/sample-1.json publishes its form. Times are in seconds, sizes in bytes.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from . import trace
from .catalogue import Cell, Measure
from .models import Size
from .profiles import Profile
from .typed_json import from_json, to_json

Role = Literal["measure", "fill", "siblings", "reader", "upgrade", "each"]
"""A process measures, fills the cache for the measured process, is a sibling or the parent of
siblings, reads what the siblings stored, builds every graph of an upgrade, or is a fork that builds
one graph of many, or the parent of such forks."""
Status = Literal["ok", "unavailable", "raised", "killed", "timeout"]
StepStatus = Literal["ok", "absent", "raised", "died", "limited", "collided", "unstable"]
"""What became of one graph of many. `absent`: the release has no such Op; `limited`: its size, or a
smaller one of its family, takes more CPU time than it may; `collided`: it is right only with a
cache of its own; `unstable`: an equal graph is in the cache, and it was not found."""
LedgerOutcome = Literal["hit", "miss", "uncacheable", "internal"]
OUTER_GRAPH = "outer graph"
"""What ledgers call the function of a whole graph."""

LARGEST_REPORT = 8 * 2**20
"""Characters of a report; what is longer is no report."""
FILLER_FILE = "hash-seed.json"
"""Who filled a kept cache: {"hash_seed": 5}; beside its directories `pytensor` and `numba`."""


@dataclass(frozen=True)
class Counter:
    """What counts the instructions of the measured process."""

    source: Literal["hardware", "callgrind"]
    target: str
    """The CPU that machine code is made for, as LLVM and gcc name it."""
    library: Path | None = None
    """callgrind: the library of client requests."""
    counts: Path | None = None
    """callgrind: the beginning of the names of the files that it writes."""
    steady: bool = False
    """callgrind: whether lookups and allocations are left out, because Python's functions have
    names."""


@dataclass(frozen=True)
class Job:
    """The task of one measured process."""

    role: Role
    cell: Cell
    measure: Measure
    members: tuple[str, ...]
    """The graphs to build, in order, in the roles that build several."""
    data: Path | None
    """A CSV file for the radon models; None: the generated data."""
    report: Path
    """The file to report to."""
    graphs: Path | None = None
    """A JSON file that describes the graphs of the model; None: its own."""
    counter: Counter | None = None
    """Pass work: what counts the instructions."""
    problem: str = ""
    """Why this machine cannot take this pass; empty: it can."""
    limit: float | None = None
    """Role each: the seconds after which the fork of one graph is killed."""
    emptied: Path | None = None
    """Role each: the directory of caches that is emptied after each graph; None: they share it."""
    from_empty: bool = False
    """Role upgrade: the cache is empty; False: another subject has filled it."""

    def for_members(self) -> list[Job]:
        """Return a job for each member, with a report file of its own."""
        # Before the suffix: the files of the job and of its output have other suffixes.
        stem = f"{self.report.stem}-member"
        return [
            replace(self, members=(member,), report=self.report.with_stem(f"{stem}-{index}"))
            for index, member in enumerate(self.members)
        ]


@dataclass(frozen=True)
class Step:
    """One build among several, with the metrics of this build alone."""

    name: str
    metrics: dict[str, float]
    status: StepStatus = "ok"
    note: str | None = None
    """Why the status is not `ok`; of a pair, also what was suspected and not proven."""
    in_python: tuple[str, ...] = ()
    """The Ops of the graph that run in Python, because the backend leaves them to it."""
    compiled: tuple[str, ...] = ()
    """Of a step of the path: who asked for each PyTensor function that was compiled."""
    size: Size | None = None
    """Where graphs grow: its family and size."""


@dataclass(frozen=True)
class Check:
    """The comparison of one evaluation with the reference in NumPy or SciPy."""

    name: str
    """The graph, and the process if several evaluated it."""
    logp_error: float | None
    """Relative error; None: not finite, or of another shape."""
    gradient_error: float | None
    """The largest relative error of the entries; None: not finite, or there is no gradient."""
    wrong: bool
    """Whether an error is above the tolerance."""
    note: str | None = None


@dataclass
class LedgerEntry:
    """One function that was compiled or that a cache returned; the probes fill it in."""

    name: str
    """The Op, or the qualified name of the Python function."""
    kind: str
    """The kind of cache, one of the catalogue."""
    key: str = ""
    """The key in the cache; empty for `internal`."""
    outcome: LedgerOutcome = "internal"
    source: Literal["memory", "disk"] | None = None
    """Where a hit was found."""
    bytes: int | None = None
    """Machine code."""
    seconds: float = 0.0
    """Without the functions that were compiled inside it."""
    step: str | None = None
    """The build that it belongs to."""
    why: str | None = None
    """Outcome `uncacheable`: the reason that the cache gave, in its own words. Outcome `miss`: why
    what the cache has was of no use, where that is known."""


@dataclass(frozen=True)
class KeyPart:
    """A part of a key: a property of an Op, a type, a version, a hash with what was hashed."""

    name: str
    """What the part is, where the key says it; otherwise empty."""
    value: str
    """The part as the key has it, shortened; empty where the parts say all of it."""
    parts: tuple[KeyPart, ...]


@dataclass(frozen=True)
class KeyedFunction:
    """A function that a graph asks a cache for, with what its key is made of."""

    name: str
    key: str
    """Empty: the function has no key, and is not stored."""
    parts: tuple[KeyPart, ...]


KEY_CACHES = ("numba", "c_module")
"""The caches whose keys PyTensor makes, so that they can be taken apart."""


@dataclass(frozen=True)
class KeysRecord:
    """What `python -m benchmarks.key_parts` prints."""

    environment: dict[str, str | None]
    """Versions of packages."""
    problem: str | None
    """Why there are no functions, as a sentence."""
    functions: tuple[KeyedFunction, ...]


@dataclass(frozen=True)
class ChainReport:
    """What a process compiled that the measured one started."""

    ledger: tuple[LedgerEntry, ...]
    functions: tuple[str, ...]
    """For each PyTensor function, who asked for it."""
    logp: float | None = None
    """What a loaded function returned."""
    compiler_runs: int = 0
    bootstrap_runs: int = 0
    """Runs of the C++ compiler: for the model, and for PyTensor's own helpers."""


@dataclass(frozen=True)
class OpCoverage:
    """Which Ops of a release no graph of a sample has. `benchmarks.dispatch` finds them."""

    implemented: dict[str, int]
    """By backend (`c`, `jax`, `numba`), how many Ops it implements."""
    untried: dict[str, tuple[str, ...]]
    """By Op that no graph has, neither as it is made nor after the rewrites: the backends that
    implement it."""


@dataclass(frozen=True)
class Spent:
    """Where a measured process spent its time, in seconds."""

    first_line: float
    """When its first line ran, on the clock `time.monotonic`."""
    reported: float
    """When it reported, on the same clock."""
    imports: float = 0.0
    build: float = 0.0
    warm_up: float = 0.0
    measured: float = 0.0


@dataclass(frozen=True)
class Report:
    """What a measured process found."""

    status: Literal["ok", "unavailable", "raised", "died"]
    """`died`: the parent of a fork reports for a child that did not."""
    message: str | None = None
    """Why the status is not `ok`."""
    exit_code: int | None = None
    """Status `died`: how the child left, negative for the signal that ended it."""
    metrics: dict[str, float] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    checks: tuple[Check, ...] = ()
    values: dict[str, tuple[float | None, ...]] = field(default_factory=dict)
    """Role upgrade: what each graph returned, flattened; None for a number that is not finite."""
    ledger: tuple[LedgerEntry, ...] | None = None
    """Counting pass only."""
    environment: dict[str, str | None] = field(default_factory=dict)
    spent: Spent | None = None
    profile: Profile | None = None
    """Timing and tracing pass, where something was built."""
    suspects: tuple[str, ...] = ()
    """The pairs whose keys are equal and should not be, or are different and should be equal."""
    ops: tuple[str, ...] = ()
    """Role each, counting pass: the classes of the Ops in the graphs."""
    effects: tuple[str, ...] = ()
    """Counting pass: what of the process the measured builds left changed."""


def name_of_signal(number: int) -> str:
    """Return the name of a signal, or its number where it has none, as most real-time signals."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@dataclass(frozen=True)
class Failure:
    """Why a sample failed."""

    message: str
    signal: str | None
    """The name of the signal that ended the process, e.g. SIGSEGV."""
    exit_code: int | None
    stderr: tuple[str, ...]
    """The last lines."""


@dataclass(frozen=True)
class Overhead:
    """Where the wall time of a sample went, in seconds."""

    total: float
    prepare: float
    fill: float
    start: float
    imports: float
    build: float
    warm_up: float
    measured: float
    exit: float
    rest: float


@dataclass(frozen=True)
class SampleRecord:
    """One sample: one cell and one pass. `observatory.store.records` describes the fields."""

    schema: str
    cell: Cell
    measure: Measure
    hash_seed: int
    started_at: str
    """ISO 8601, with the time zone."""
    status: Status
    failure: Failure | None
    metrics: dict[str, float]
    absent: dict[str, str]
    steps: tuple[Step, ...] = ()
    checks: tuple[Check, ...] = ()
    stale: tuple[str, ...] = ()
    ledger: tuple[LedgerEntry, ...] | None = None
    environment: dict[str, str | None] = field(default_factory=dict)
    overhead: Overhead | None = None
    counted_by: str | None = None
    """Pass work: the source of `instructions` and the CPU that machine code was made for."""
    profile: Profile | None = None
    coverage: OpCoverage | None = None
    """Counting pass of a scenario that builds every graph of one Op from an empty cache."""
    leaked: dict[str, int] = field(default_factory=dict)
    """Counting pass: by name, the files that stayed in the temporary directory."""
    effects: tuple[str, ...] = ()
    """Counting pass: what of the process the measured builds left changed."""


def write_report(job: Job, report: Report) -> None:
    """Write the report of a job to the job's file, atomically. Raises OSError."""
    partial = job.report.with_suffix(f"{job.report.suffix}.partial")
    partial.write_text(to_json(report), encoding="utf-8")
    partial.rename(job.report)
    trace.event("reported", role=job.role)


def read_report(path: Path) -> Report | None:
    """Return the report of a process; None if there is none. Raises MessageError."""
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            text = stream.read(LARGEST_REPORT + 1)
    except OSError:
        return None
    return from_json(Report, text)
