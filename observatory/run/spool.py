"""Where a worker records a sample before its task ends, and how a session fetches what it left.

A session is one client of a cluster that takes samples into one results directory. It has a name
and an *owner file*, which it holds locked as long as it lives. Each of its samples is one file,
``STATE/fleet/spool/SESSION/KEY.json``, on the disk of the machine that took it. The file is synced
and gets its name in one step, which fails if the name is taken: of two processes that take the
sample of one key, the first one to end records it.

What a dead session left is merged into the results directory that its owner file names.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from observatory.store.base.files import write_atomic, write_new
from observatory.store.base.problems import RecordError
from observatory.store.base.record import Record
from observatory.store.base.scratch import temporary
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.journal.models import JournalHeader, RunId
from observatory.store.journal.writer import Journal
from observatory.store.merging.directories import unite
from observatory.store.records.sample import Sample
from observatory.text.words import several


class Spooled(Record):
    """One sample as it was recorded where it was taken."""

    run: RunId
    header: JournalHeader
    sample: Sample


class Owner(Record):
    """What is known of a session without asking it."""

    results: Path | None = Field(
        description="the directory that its samples belong to, absolute; null: to none alone"
    )
    elsewhere: list[str] = Field([], description="addresses of machines that may hold samples")
    given_up: list[str] = Field(
        [], description="keys of samples that are taken again elsewhere, or are of no use"
    )


@dataclass(frozen=True)
class Spool:
    """The samples that one session recorded on this machine."""

    directory: Path

    @classmethod
    def of(cls, state: Path, session: str) -> Spool:
        """The spool of a session below the directory STATE of this machine."""
        return cls(state / "fleet" / "spool" / session)

    def begin(self, key: str) -> int:
        """Note that a process begins to take the sample of a key; return how many have begun."""
        self.directory.mkdir(parents=True, exist_ok=True)
        begun = self.directory / f"{key}.begun"
        with begun.open("ab") as stream:
            stream.write(b".")
        return begun.stat().st_size

    def find(self, key: str) -> bytes | None:
        """What is recorded under a key; None if nothing is."""
        with contextlib.suppress(FileNotFoundError):
            return (self.directory / f"{key}.json").read_bytes()
        return None

    def record(self, key: str, content: bytes) -> bytes:
        """Record a sample, and return what is recorded under its key: the first one that came.

        It is on disk when this returns. Raises OSError; FileNotFoundError if the session is over
        and its samples have been fetched.
        """
        path = self.directory / f"{key}.json"
        return content if write_new(path, content) else path.read_bytes()

    def records(self) -> dict[str, bytes]:
        """All that is recorded, by key."""
        return {path.stem: path.read_bytes() for path in sorted(self.directory.glob("*.json"))}

    def remove(self) -> None:
        """Remove it: its samples are in a journal. What still runs for it can record nothing."""
        shutil.rmtree(self.directory, ignore_errors=True)


@dataclass
class Session:
    """A living session: it holds the lock of its owner file."""

    state: Path
    results: Path | None
    name: str = field(default_factory=lambda: secrets.token_hex(6))
    _elsewhere: set[str] = field(default_factory=set)
    _given_up: set[str] = field(default_factory=set)
    _lock: int = -1
    _over: bool = False
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        path = _owner_file(self.state, self.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._note()

    def uses(self, elsewhere: Iterable[str]) -> None:
        """Note the addresses of further machines that may hold samples of this session."""
        self._note(elsewhere=elsewhere)

    def gives_up(self, key: str) -> None:
        """Note that what a machine may record under a key is never fetched.

        Its sample is taken again under another one, which may begin when this returns.
        """
        self._note(given_up=[key])

    def end(self, *, fetched: bool) -> None:
        """End it; ``fetched``: every sample is in a journal, so that nothing needs to be kept."""
        with self._guard:
            self._over = True
            if fetched:
                forget(self.state, self.name)
            os.close(self._lock)

    def _note(self, elsewhere: Iterable[str] = (), given_up: Iterable[str] = ()) -> None:
        with self._guard:
            if self._over:  # a machine that has joined too late
                return
            self._elsewhere.update(elsewhere)
            self._given_up.update(given_up)
            owner = Owner(
                results=self.results and self.results.absolute(),
                elsewhere=sorted(self._elsewhere),
                given_up=sorted(self._given_up),
            )
            write_atomic(_owner_file(self.state, self.name), owner.model_dump_json().encode())


def left_behind(state: Path) -> Iterator[tuple[str, Owner]]:
    """The sessions whose process has ended without fetching all samples, by name."""
    for path in sorted((state / "fleet" / "owners").glob("*.json")):
        try:
            descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            owner = read_json(Owner, path.read_bytes())
        except (BlockingIOError, OSError, InvalidError):
            continue
        else:
            yield path.stem, owner
        finally:
            os.close(descriptor)


def forget(state: Path, name: str) -> None:
    """Remove what this machine keeps of a session whose samples are all in a journal."""
    Spool.of(state, name).remove()
    path = _owner_file(state, name)
    path.unlink(missing_ok=True)
    path.with_suffix(".lock").unlink(missing_ok=True)


def merge(records: Sequence[bytes], results: Path | None) -> tuple[int, list[str]]:
    """Add recorded samples to a results directory; those that are there already change nothing.

    Without a directory they are dropped: of a pair, one sample alone is of no use. Returns how many
    came in, and a sentence for each that did not. Raises OSError and RecordError.
    """
    if not records or results is None:
        return 0, []
    problems = []
    results.mkdir(parents=True, exist_ok=True)
    with temporary(".fleet-", results.parent) as made:
        for content in records:
            try:
                one = read_json(Spooled, content)
            except InvalidError as error:
                problems.append(f"a sample that a worker recorded cannot be read: {error}"[:300])
                continue
            try:
                Journal.of(Path(made), one.header).append(one.run, one.sample)
            except RecordError as error:
                problems.append(f"no journal takes a sample that a worker recorded: {error}"[:300])
        united = unite(results, [Path(made)])
    return united.samples, [*problems, *map(str, united.problems)]


def fetch_left(state: Path) -> Iterator[str]:
    """Merge what dead sessions left on this machine; yield a sentence for each that left a sample.

    A session that may have samples on other machines is kept: a run with `--cluster` fetches them.
    """
    for name, owner in left_behind(state):
        try:
            check(owner)
            found = Spool.of(state, name).records()
            records = [content for key, content in found.items() if key not in owner.given_up]
            count, problems = merge(records, owner.results)
        except (OSError, RecordError) as error:  # it stays: the directory may come back
            yield not_fetched(state, name, owner, error)
            continue
        if count:
            yield f"fetched into {owner.results}: {several(count, 'sample')} of an interrupted run"
        yield from problems
        if problems:
            continue  # it stays: a later version may read it
        if owner.elsewhere:
            Spool.of(state, name).remove()
        else:
            forget(state, name)


def check(owner: Owner) -> None:
    """Raise FileNotFoundError if the place of the results of a dead session is gone."""
    if owner.results is not None and not owner.results.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {owner.results.parent}")


def not_fetched(state: Path, name: str, owner: Owner, error: Exception) -> str:
    """A sentence that says why the samples of a dead session are not fetched, and what to do."""
    return (
        f"samples of an interrupted run cannot be written to {owner.results}: {error}; make it "
        f"writable, or remove {_owner_file(state, name)} to give them up"
    )


def _owner_file(state: Path, name: str) -> Path:
    return state / "fleet" / "owners" / f"{name}.json"
