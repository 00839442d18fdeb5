"""Look for graphs that caches confuse: generate pairs, measure them, and keep what is found."""

from __future__ import annotations

import json
import re
import resource
import secrets
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.described import DescribedPair, KeptPair
from benchmarks.typed_json import to_json
from observatory.app.progress import Progress, Update, silent
from observatory.app.session import TIMEOUT
from observatory.errors import Exit, SelectionError
from observatory.grow.shrinking import shrink, size
from observatory.run.environments import Environment
from observatory.run.local import STATE, environment_of, local_subjects, measuring_lock
from observatory.run.looking import Found, Looker, LookingError
from observatory.store.base.files import write_atomic

if TYPE_CHECKING:
    from observatory.store.records.subject import Subject

RECORDS = "explored"
"""The directory of the records, below the results."""
KEPT = Path("benchmarks/models/parts/pairs/kept")
"""The directory of kept counterexamples in a checkout; the model `keys` has them for ever."""
BATCH = 24
"""Pairs of one batch, which share a cache."""
MOST_SHRUNK = 5
"""Counterexamples of one run that are made smaller; the others are recorded as they were found."""
_SHRINKING = 240.0
"""Seconds in which a counterexample is made smaller."""
_WRONG = ("wrong", "collided")
_FINE = ("", "absent")


@dataclass(frozen=True)
class Counterexample:
    """A pair with which something is not as it must be."""

    name: str
    finding: str
    note: str
    pair: DescribedPair
    after: int
    """How many pairs had been generated when it was found."""
    shrunk: bool
    """Whether it was made smaller, and is a counterexample on its own."""
    known: bool = False
    """Whether a counterexample of this name is kept already."""


@dataclass
class Explored:
    """What was tried, and what was found."""

    subject: str
    backend: str
    seed: int
    started_at: str
    versions: Mapping[str, str | None] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    """How many pairs were measured, by what their graphs differ in."""
    absent: int = 0
    """Pairs that were not judged: the release has no such graph, or its Python code raises."""
    batches: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    found: list[Counterexample] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """Batches that could not be measured, each with the reason."""

    @property
    def pairs(self) -> int:
        """How many pairs were measured."""
        return sum(self.tried.values())

    @property
    def new(self) -> list[Counterexample]:
        """The counterexamples that were not known."""
        return [one for one in self.found if not one.known]

    @property
    def exit_code(self) -> Exit:
        """The status of the command: only what is new counts."""
        if any(one.finding in _WRONG for one in self.new):
            return Exit.WRONG_RESULTS
        if self.new:
            return Exit.COUNTEREXAMPLES
        return Exit.SAMPLE_FAILED if self.failed else Exit.OK


def explore(
    subject: str = "newest",
    *,
    backend: str = "NUMBA",
    seed: int | None = None,
    budget: float = 600.0,
    pairs: int | None = None,
    keep: Path = KEPT,
    results: Path | str = "results",
    requirements: Sequence[str] = (),
    python: str | None = None,
    timeout: float = TIMEOUT,
    state: Path = STATE,
    progress: Progress = silent,
) -> Explored:
    """Generate pairs of small graphs, measure them, and keep every counterexample.

    Args:
        subject: ``newest``, a release (``3.3.8``) or a wheel; further requirements may follow.
        backend: The backend that builds the graphs.
        seed: The seed of the pairs; a new one if None.
        budget: Seconds after which no batch begins. A batch that has begun is measured, and what it
            finds is made smaller.
        pairs: Number of pairs after which no batch begins; None: only the budget ends it.
        keep: Directory in which counterexamples are filed.
        results: Directory of results, in which ``explored/`` gets a record.
        requirements: Further requirements of the environment.
        python: Version of Python of the environment; the newest that fits if None.
        timeout: Longest time in seconds for one measured process.
        state: Directory of environments.
        progress: A function that is called with every update.

    Returns:
        What was tried and found.

    Raises:
        SubjectError: The subject is unknown.
        SelectionError: The backend is not one that pairs are measured with.
        EnvironmentMakingError: The environment cannot be made.

    """
    from benchmarks.catalogue import Cell

    if problem := Cell("keys", "pairs_second", backend, "spawn").problem():
        raise SelectionError(problem)
    subjects = local_subjects(state)
    (chosen,) = subjects.parse_all([subject], requirements, python)
    environment = environment_of(chosen, subjects, state)
    found = _begun(chosen, environment, backend, seed)
    progress(Update(f"{found.subject}, {backend}: seed {found.seed}"))
    state.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="explore-", dir=state))
    try:
        looker = Looker(environment, backend, scratch, timeout)
        with measuring_lock(lambda text: progress(Update(text))):
            _explore(found, looker, budget, pairs, keep, progress)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        _record(found, Path(results))
    return found


def _begun(subject: Subject, environment: Environment, backend: str, seed: int | None) -> Explored:
    versions = {"numba": environment.versions.numba, "python": environment.versions.python,
                "pytensor": environment.versions.pytensor}  # fmt: skip
    chosen = secrets.randbelow(2**32) if seed is None else seed
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Explored(subject.label, backend, chosen, now, versions)


def _explore(
    found: Explored,
    looker: Looker,
    budget: float,
    most: int | None,
    keep: Path,
    progress: Progress,
) -> None:
    from observatory.grow.strategies import batch  # it imports hypothesis

    began, cpu = time.monotonic(), _cpu()
    while time.monotonic() - began < budget and (most is None or found.pairs < most):
        left = BATCH if most is None else min(BATCH, most - found.pairs)
        drawn = {f"pair.{number}": pair
                 for number, pair in enumerate(batch(found.batches, found.seed, left))}  # fmt: skip
        found.batches += 1
        try:
            examine(drawn, found, looker, keep, progress)
        except LookingError as error:
            found.failed.append(str(error))
            progress(Update(str(error), "error"))
        found.seconds, found.cpu_seconds = time.monotonic() - began, _cpu() - cpu
        progress(Update(f"{found.pairs} pairs, {len(found.found)} counterexamples"))


def examine(
    drawn: Mapping[str, DescribedPair],
    found: Explored,
    looker: Looker,
    keep: Path,
    progress: Progress = silent,
) -> None:
    """Measure one batch, and add what it finds. Raises LookingError and Cancelled."""
    looked = looker.look(drawn)
    found.tried = dict(Counter(found.tried) + Counter(pair.kind for pair in drawn.values()))
    found.absent += sum(one.finding == "absent" for one in looked.seconds.values())
    for name, one in (*looked.seconds.items(), *looked.firsts.items()):
        if one.finding in _FINE:
            continue
        pair = drawn[name]
        if one is looked.firsts.get(name):
            if looked.seconds[name].finding == one.finding:
                continue  # most likely the same again, of the part that both graphs share
            # Whether it is so alone, or beside another graph of the batch, is seen next.
            pair = replace(pair, second=pair.first, kind="batch", treatment="")
        found.found.append(_filed(name, pair, one, drawn, found, looker, keep, progress))


def _filed(
    name: str,
    pair: DescribedPair,
    one: Found,
    drawn: Mapping[str, DescribedPair],
    found: Explored,
    looker: Looker,
    keep: Path,
    progress: Progress,
) -> Counterexample:
    """The counterexample, made smaller, and filed unless one of its name is known."""
    progress(Update(f"{name} {one.finding}: {one.note}", "error"))
    shrunk = len(found.found) < MOST_SHRUNK
    small = None
    if shrunk:
        small, one = _shrunk(pair, one, drawn, looker)
    named = _name(small or pair, one.finding)
    path = keep / f"{named}.json"
    known = path.exists()
    if small is not None and not known:
        kept = KeptPair(
            small, one.finding, found.subject, found.backend, found.seed, one.note[:1000]
        )
        keep.mkdir(parents=True, exist_ok=True)
        write_atomic(path, f"{to_json(kept, indent=1)}\n".encode())
    progress(Update(f"{name}: {'known' if known else 'new'}, {named}, size {size(small or pair)}"))
    after = found.pairs
    return Counterexample(named, one.finding, one.note, small or pair, after, bool(small), known)


def _shrunk(
    pair: DescribedPair, one: Found, drawn: Mapping[str, DescribedPair], looker: Looker
) -> tuple[DescribedPair | None, Found]:
    """The smallest pair found that is a counterexample alone; None if it is none alone."""

    def alone(other: DescribedPair) -> Found:
        try:
            return looker.look({"pair": other}).seconds["pair"]
        except LookingError:
            return Found("")

    last = alone(pair)
    if last.finding in _FINE:
        partner = _partner(pair, drawn, looker)
        if partner is None or (last := alone(partner)).finding in _FINE:
            return None, one
        pair = partner

    def still(other: DescribedPair) -> bool:
        nonlocal last
        seen = alone(other)
        if seen.finding != last.finding:  # whatever else is wrong is another counterexample
            return False
        last = seen
        return True

    end = time.monotonic() + _SHRINKING
    small = shrink(pair, still, lambda: time.monotonic() < end)
    return small, last


def _partner(
    pair: DescribedPair, drawn: Mapping[str, DescribedPair], looker: Looker
) -> DescribedPair | None:
    """The pair of the second graph and of that first graph of the batch which it is confused with.

    The graphs of a batch share a cache. Halves of them are tried until one is left.
    """

    def guilty(names: Sequence[str]) -> bool:
        try:
            looked = looker.look({"pair": pair}, {name: drawn[name] for name in names})
        except LookingError:
            return False
        return looked.seconds["pair"].finding not in _FINE

    name = bisected(list(drawn), guilty)
    return None if name is None else replace(pair, first=drawn[name].first)


def bisected(names: Sequence[str], guilty: Callable[[Sequence[str]], bool]) -> str | None:
    """Return one name of those that are guilty together, by halves; None if no half is guilty."""
    while len(names) > 1:
        middle = len(names) // 2
        half = next((h for h in (names[:middle], names[middle:]) if guilty(h)), None)
        if half is None:
            return None
        names = half
    return names[0] if names else None


def _name(pair: DescribedPair, finding: str) -> str:
    """The name of a counterexample: what is wrong, with which operations.

    It says nothing of numbers, so that one defect is not filed each night.
    """
    ops = dict.fromkeys(node.op for graph in (pair.first, pair.second) for node in graph.nodes)
    words = [finding, *ops, *([pair.treatment] if pair.equal else [])]
    return re.sub(r"[^A-Za-z0-9_]", "_", "_".join(words))[:60].rstrip("_")


def _cpu() -> float:
    """The seconds of CPU of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _record(found: Explored, results: Path) -> None:
    """Write what was tried and found as a file of its own."""
    when = re.sub(r"[^0-9T]", "", found.started_at.partition("+")[0])
    subject = re.sub(r"[^A-Za-z0-9.]+", "-", found.subject)[:60]
    path = results / RECORDS / f"{when}-{subject}-{found.backend}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"schema": "observatory/explored/1", **asdict(found)}
    write_atomic(path, f"{json.dumps(record, indent=1)}\n".encode())
