"""Whether a change between two subjects depends on what surrounds a process: its conditions.

Each condition is one setting other than a sample usually has. What is measured so gets into no
journal, because the record of a sample does not name its settings.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from observatory.app.probing import OutOfTimeError, Prober
from observatory.benchmarks.catalogue import LAUNCHES, Cell
from observatory.run.batches import carry_out
from observatory.run.filled import filled_caches
from observatory.run.local import measuring_lock
from observatory.run.schedule import batches_of
from observatory.store.base.scratch import temporary
from observatory.store.records.crossings import UnderCondition
from observatory.store.records.sample import Sample
from observatory.store.records.settings import AND
from observatory.store.records.subject import Subject
from observatory.text.units import human

_AS_ERRORS = "error::FutureWarning,error::DeprecationWarning,error::SyntaxWarning"
"""What says that something will stop working; numba and NumPy warn of other things as usual."""
_MEMORY = Path("/dev/shm")  # noqa: S108 - only a private directory below it is used


@dataclass(frozen=True)
class Condition:
    """A setting other than usual."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    flags: str | None = None
    """PYTENSOR_FLAGS."""
    launch: str | None = None
    """Another start method."""

    def beside(self, other: Condition) -> Condition:
        """Both at once. A start method, or the value of a variable, is that of the second one."""
        flags = ",".join(filter(None, (self.flags, other.flags))) or None
        return Condition(
            AND.join(filter(None, (self.name, other.name))),
            {**self.variables, **other.variables}, flags, other.launch or self.launch,
        )  # fmt: skip

    def cell(self, usual: Cell) -> Cell:
        """The cell that is measured: the usual one where it has no such start method."""
        other = usual if self.launch is None else replace(usual, launch=self.launch)
        return usual if other.problem() else other


@contextmanager
def conditions(cell: Cell) -> Iterator[list[Condition]]:
    """The conditions under which a change of a cell is looked at, valid in this block."""
    found = [
        Condition("PYTHONHASHSEED=0", {"PYTHONHASHSEED": "0"}),
        Condition(
            "NUMBA_CPU_NAME=generic", {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
        ),
        Condition("NUMBA_NUM_THREADS=2", {"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}),
        Condition("floatX=float32", flags="floatX=float32"),
        Condition("cxx=", flags="cxx="),
        Condition("LC_ALL=C", {"LC_ALL": "C"}),
        Condition("numba__fastmath=False", flags="numba__fastmath=False"),
        Condition("NUMBA_BOUNDSCHECK=1", {"NUMBA_BOUNDSCHECK": "1"}),
        Condition("python -O", {"PYTHONOPTIMIZE": "1"}),
        Condition("warnings as errors", {"PYTHONWARNINGS": _AS_ERRORS}),
    ]
    found += [Condition(one, launch=one) for one in LAUNCHES if _is_other(one, cell)]
    with temporary("observatory-home-", _elsewhere()) as home:
        place = {"HOME": str(home), "TMPDIR": str(home)}
        yield [*found, Condition("HOME in another place", place)]


def _is_other(launch: str, cell: Cell) -> bool:
    return launch != cell.launch and replace(cell, launch=launch).problem() is None


def _elsewhere() -> Path | None:
    """A place on another file system than that of temporary files; None: there is none here."""
    if not (_MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)):
        return None
    usual = Path(tempfile.gettempdir())
    return None if _MEMORY.stat().st_dev == usual.stat().st_dev else _MEMORY


def under_each(prober: Prober, old: Subject, new: Subject, high: float) -> Iterator[UnderCondition]:
    """Measure the new subject under each condition, and the old one where its value is another.

    ``high``: the value of the new one as usual. Raises OutOfTimeError, and what making an
    environment raises.
    """
    with conditions(prober.cell) as every:
        for condition in every:
            after = value_under(prober, new, condition)
            before = None
            if after is not None and not prober.same(after, high):
                before = value_under(prober, old, condition)
            told = "no value" if after is None else human(after, prober.metric.unit)
            prober.session.say(f"{new.label} with {condition.name}: {told}")
            yield UnderCondition(name=condition.name, low=before, high=after)


def value_under(prober: Prober, subject: Subject, condition: Condition) -> float | None:
    """The value of a subject under a condition; None: it has none. Raises OutOfTimeError."""
    session, cell = prober.session, condition.cell(prober.cell)
    if time.monotonic() > session.deadline:
        raise OutOfTimeError
    own = replace(prober, cell=cell)
    environment = session.environment(subject, cell.installs)
    taken: list[Sample] = []
    with filled_caches(session.state, "condition") as caches:
        executor = session.executor(
            environment, caches, flags=condition.flags, variables=condition.variables
        )
        with measuring_lock(session.say) as turn:
            line = batches_of(
                own.tasks, executor, lambda _: None, lambda _, sample: taken.append(sample),
                session.workers, session.deadline, turn,
            )  # fmt: skip
            carry_out([line], session.workers)
    prober.samples += len(taken)
    return own.median(taken)
