"""What measuring needs of this machine: interpreters, the package index, a state and a lock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from observatory.run.batches import GivesWay
from observatory.run.environments import (
    NO_PINS,
    Environment,
    EnvironmentMakingError,
    Environments,
)
from observatory.run.history import History
from observatory.run.interpreters import Interpreters, find
from observatory.run.releases import load
from observatory.run.subjects import Subjects
from observatory.run.uv import Index, RealUv
from observatory.store.base.files import check_writable
from observatory.store.base.locking import give_way, holder_of, is_waited_for, locked
from observatory.store.records.subject import Subject, name_of
from observatory.text.plain import begun

STATE = Path(".observatory")
"""The directory, in the checkout, of environments, filled caches and the history of releases."""
LOCK = "OBSERVATORY_LOCK"
"""The environment variable that names the directory that a measuring run locks."""
_LOCKED = "/tmp"  # noqa: S108 - nothing is written there
"""The directory otherwise: every user can open it, and no file is left behind."""

_LASTS = 60.0
"""Seconds that a run measures before it gives way: a night must not hold up a comparison."""


def hidden_from_git(state: Path) -> Path:
    """Create the directory STATE so that git ignores it, also in a clone of PyTensor; return it."""
    state.mkdir(parents=True, exist_ok=True)
    ignored = state / ".gitignore"
    if not ignored.exists():
        ignored.write_text("# Made by the observatory; it can be deleted.\n*\n", encoding="utf-8")
    return state


def local_subjects(state: Path) -> Subjects:
    """Return what reads subjects on this machine. Raises RecordUsageError if STATE is of no use."""
    check_writable(state, "--state")
    found = _installed(os.environ.get("PATH"), os.environ.get("PYENV_ROOT"))
    return Subjects(History(load(), state), Index(RealUv()), found)


@cache
def _installed(_path: str | None, _pyenv: str | None) -> Interpreters:
    """Return the interpreters where these variables lead: to look for them takes a second."""
    return find(RealUv())


def environment_of(
    subject: Subject,
    subjects: Subjects,
    state: Path,
    overrides: tuple[str, ...] = (),
    added: Sequence[str] = (),
    pins: Mapping[str, str] = NO_PINS,
    making: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Environment:
    """Return the environment of a subject; create it if needed.

    ``added`` and ``pins``: what an optional backend needs beside it, and versions of dependencies,
    as `Environments.ensure` takes them. ``making`` is entered while one is made.
    ``overrides`` are requirements that override the metadata of other packages. A numba that the
    subject names becomes one if PyTensor does not allow it: whoever names it wants to see what it
    does. Raises NoInterpreterError and EnvironmentMakingError.
    """
    interpreter = subjects.found.of(subject.python)
    hidden_from_git(state)
    # As it is required, not as results name it: a wheel has no version that the index knows.
    own = any(extra.startswith("numba==") for extra in subject.extras)
    named = tuple(one for one in subject.requirements if own and name_of(one) == "numba")
    asked = subject, interpreter, added, pins
    try:
        return Environments(state / "envs", overrides=overrides, making=making).ensure(*asked)
    except EnvironmentMakingError:
        if overrides or not named:
            raise
        return Environments(state / "envs", overrides=named, making=making).ensure(*asked)


@dataclass
class Turn:
    """The lock for measuring on this machine, while this process holds it."""

    place: Path
    descriptor: int
    say: Callable[[str], None]
    since: float = field(default_factory=time.monotonic)

    def is_over(self) -> bool:
        """Whether it has lasted long enough, and another run waits."""
        return time.monotonic() - self.since > _LASTS and is_waited_for(self.place)

    def give_way(self) -> None:
        """Let whoever waits measure first. No sample may be running."""
        self.say("another run waits for this machine: it measures first, then this one continues")
        give_way(self.place, self.descriptor)
        self.since = time.monotonic()


@dataclass
class Shared:
    """A lock that several subjects hold at once, all in one thread; the last one releases it."""

    _held: ExitStack = field(default_factory=ExitStack)
    _turn: GivesWay | None = None
    _users: int = 0

    @contextmanager
    def __call__(self, lock: AbstractContextManager[GivesWay | None]) -> Iterator[GivesWay | None]:
        """Hold ``lock``, or go on with the one that is held already."""
        if not self._users:
            self._turn = self._held.enter_context(lock)
        self._users += 1
        try:
            yield self._turn
        finally:
            self._users -= 1
            if not self._users:
                self._held.close()


def machine_lock() -> Path:
    """What a measuring run locks on this machine: a directory that is there, or a file."""
    return Path(os.environ.get(LOCK) or _LOCKED)


@contextmanager
def measuring_lock(say: Callable[[str], None]) -> Iterator[Turn]:
    """Hold this machine's lock for measuring: two runs at once would disturb each other's times.

    If another run holds it, this calls ``say`` once with a sentence that names it, and waits. The
    lock ends with the process that holds it, however that ends (see
    `observatory.store.base.locking`). Raises OSError if what the variable `LOCK` names cannot be
    opened.
    """
    place = machine_lock()

    def waiting() -> None:
        say(f"another run is measuring on this machine{_named(place)}; waiting for it to end")

    with locked(place, waiting) as descriptor:
        yield Turn(place, descriptor, say)


def _named(place: Path) -> str:
    """The process that holds a lock and its command, in brackets; empty if it is not known."""
    process = holder_of(place)
    if process is None:
        return ""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        words = []
    # The interpreter and its options say nothing.
    kept = [word for word in words[1:] if word and word != "-m"]
    command = " ".join([Path(kept[0]).name, *kept[1:]]) if kept else "unknown"
    return f" (process {process}: {begun(command, 80)})"
