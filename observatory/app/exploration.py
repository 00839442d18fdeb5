"""Look for graphs that caches confuse: generate pairs and measure them, until the time is over."""

from __future__ import annotations

import resource
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from observatory.app.counterexamples import examine
from observatory.app.explored import Explored, record
from observatory.app.progress import Progress, Update, silent
from observatory.app.session import TIMEOUT
from observatory.errors import SelectionError
from observatory.extras import extra
from observatory.run.environments import Environment
from observatory.run.filled import filled_caches
from observatory.run.local import STATE, environment_of, local_subjects, measuring_lock
from observatory.run.looking import Looker, LookingError, cannot_look
from observatory.store.base.files import check_writable

if TYPE_CHECKING:
    from observatory.benchmarks.described import DescribedPair
    from observatory.store.records.subject import Subject

KEPT = Path("benchmarks/models/parts/pairs/kept")
"""The directory of kept counterexamples in a checkout; the model `keys` has them for ever."""
Batches: TypeAlias = "Callable[[int, int, int], Iterable[DescribedPair]]"
"""Makes the pairs of a batch: of its number, a seed, and how many."""
BATCH = 24
"""Pairs of one batch, which share a cache."""


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
        MissingLibraryError: The extra ``explore`` is not installed.
        EnvironmentMakingError: The environment cannot be made.

    """
    if problem := cannot_look(backend):
        raise SelectionError(problem)
    with extra("explore"):  # before anything is recorded
        from observatory.grow.strategies import batch
    check_writable(Path(results), "--results")
    subjects = local_subjects(state)
    chosen = subjects.parse(subject, requirements, python)
    environment = environment_of(chosen, subjects, state)
    found = _begun(chosen, environment, backend, seed)
    progress(Update(f"{found.subject}, {backend}: seed {found.seed}"))
    try:
        with filled_caches(state, "explore") as scratch:
            looker = Looker(environment, backend, scratch, timeout)
            with measuring_lock(lambda text: progress(Update(text))):
                _explore(batch, found, looker, budget, pairs, keep, Path(results), progress)
    finally:
        record(found, Path(results))
    return found


def _begun(subject: Subject, environment: Environment, backend: str, seed: int | None) -> Explored:
    versions = {"numba": environment.versions.numba, "python": environment.versions.python,
                "pytensor": environment.versions.pytensor}  # fmt: skip
    chosen = secrets.randbelow(2**32) if seed is None else seed
    now = datetime.now(UTC).replace(microsecond=0)
    return Explored(subject.label, backend, chosen, now, versions)


def _explore(
    batch: Batches,
    found: Explored,
    looker: Looker,
    budget: float,
    most: int | None,
    keep: Path,
    results: Path,
    progress: Progress,
) -> None:
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
        record(found, results)  # a kill loses one batch, and not hours
        progress(Update(f"{found.pairs} pairs, {len(found.found)} counterexamples"))


def _cpu() -> float:
    """The seconds of CPU of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
