"""Whether a change between two subjects depends on what surrounds a process: its conditions.

Each condition is one setting other than a sample usually has. What is measured so gets into no
journal, because the record of a sample does not name its settings.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from observatory.app.probing import OutOfTimeError, Prober
from observatory.app.session import Session
from observatory.benchmarks.catalogue import LAUNCHES, Cell
from observatory.run.batches import carry_out
from observatory.run.environments import Environment
from observatory.run.execute import Executor
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
ELSEWHERE = "HOME and caches on another file system"
BESIDE = "HOME and caches in another place of the same file system"
"""Where there is no other file system, or it cannot be written to, or it has little room."""
_MEMORY = Path("/dev/shm")  # noqa: S108 - only a private directory below it is used
_ROOM = 2**31
"""Bytes that have to be free there: a container's has 64 MB, which the caches of one row fill."""


@dataclass(frozen=True)
class Condition:
    """A setting other than usual."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    flags: str | None = None
    """PYTENSOR_FLAGS."""
    launches: tuple[str, ...] = ()
    """Other start methods; a cell is measured with the last one that it has."""
    place: Path | None = None
    """Where compile directory and caches are; None: where they usually are."""

    def beside(self, other: Condition) -> Condition:
        """Both at once. The value of a variable is that of the second one."""
        flags = ",".join(filter(None, (self.flags, other.flags))) or None
        return Condition(
            AND.join(filter(None, (self.name, other.name))),
            {**self.variables, **other.variables}, flags, self.launches + other.launches,
            other.place or self.place,
        )  # fmt: skip

    def cell(self, usual: Cell) -> Cell:
        """The cell that is measured: the usual one where it has no such start method."""
        others = (replace(usual, launch=one) for one in reversed(self.launches))
        return next((one for one in others if not one.problem()), usual)

    def executor(self, session: Session, environment: Environment, caches: Path) -> Executor:
        """What takes samples under it. ``caches``: where filled caches are kept."""
        return session.executor(
            environment, caches, flags=self.flags, variables=self.variables, place=self.place
        )


@contextmanager
def conditions(*cells: Cell) -> Iterator[list[Condition]]:
    """The conditions under which a change of cells is looked at, valid in this block.

    The start methods are those that any of the cells can have besides its own.
    """
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
    launches = [one for one in LAUNCHES if any(_is_other(one, cell) for cell in cells)]
    found += [Condition(one, launches=(one,)) for one in launches]
    elsewhere = _elsewhere()
    with temporary("observatory-home-", elsewhere) as home, temporary("observatory-tmp-") as tmp:
        # The cache of many users is on another file system than their temporary directory, and a
        # file cannot be renamed from one to the other.
        apart = {"HOME": str(home), "TMPDIR": str(tmp)}
        yield [*found, Condition(ELSEWHERE if elsewhere else BESIDE, apart, place=home)]


def _is_other(launch: str, cell: Cell) -> bool:
    return launch != cell.launch and replace(cell, launch=launch).problem() is None


def _elsewhere() -> Path | None:
    """A place on another file system than that of temporary files; None: there is none here."""
    if not (_MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)):
        return None
    if shutil.disk_usage(_MEMORY).free < _ROOM:
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
        executor = condition.executor(session, environment, caches)
        with measuring_lock(session.say) as turn:
            line = batches_of(
                own.tasks, executor, lambda _: None, lambda _, sample: taken.append(sample),
                session.workers, session.deadline, turn,
            )  # fmt: skip
            carry_out([line], session.workers)
    prober.samples += len(taken)
    return own.median(taken)
