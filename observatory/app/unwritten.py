"""Result files of asv that a killed process could not write: the next command that measures does.

A result file is made from a journal when the samples of a subject have been taken. Until then a
directory below the state, locked by the process, says which journal that is.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from observatory import benchmarks
from observatory.errors import ObservatoryError
from observatory.store.base.locking import locked_at_once
from observatory.store.base.problems import Problem
from observatory.store.journal.reader import read_journal

_NAME, _NOTE = "unwritten", "journal"


@contextlib.contextmanager
def noted(state: Path, results: Path, journal: Path) -> Iterator[None]:
    """Note, for as long as the block takes samples, that the result file is older than the journal.

    Whoever ends the block has written it. Raises OSError.
    """
    root = state / _NAME
    root.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        ours = False
        while not ours:  # another process may have swept it before it was locked
            place = Path(tempfile.mkdtemp(prefix="of-", dir=root))
            ours = held.enter_context(locked_at_once(place))
        note = {"results": str(results.absolute()), "journal": str(journal.absolute())}
        (place / _NOTE).write_text(json.dumps(note), encoding="utf-8")
        yield
        shutil.rmtree(place, ignore_errors=True)


def write_left(state: Path) -> list[str]:
    """Write the result files of the journals that killed processes have left. Raises OSError.

    Returns what could not be written, as sentences. The note of a file that could not be written
    stays, so that the next command tries it again; one that cannot be followed is dropped.
    """
    root = state / _NAME
    said: list[str] = []
    for place in root.iterdir() if root.is_dir() else ():
        with locked_at_once(place) as ours:
            if ours and (note := _read(place / _NOTE)) is not None:
                try:
                    said += [f"skipped: {problem}" for problem in write(*note)]
                except (ObservatoryError, OSError) as error:
                    said.append(
                        f"{note[1]}: the result file that an earlier command left unwritten cannot "
                        f"be written ({error}); the next command that measures tries it again"
                    )
                    continue
            if ours:
                shutil.rmtree(place, ignore_errors=True)
    return said


def _read(path: Path) -> tuple[Path, Path] | None:
    """The results and the journal of a note; None if it names no journal that is there."""
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        results, journal = Path(note["results"]), Path(note["journal"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (results, journal) if journal.exists() else None


def write(results: Path, journal: Path) -> list[Problem]:
    """Make the result file from the journal, if it is there yet; return what it cannot hold.

    Raises OSError.
    """
    if not journal.exists():
        return []
    from observatory.store.asv.files import project, write_benchmarks  # asv takes long to import

    contents = read_journal(journal)
    if contents.header is None:
        return list(contents.problems)
    write_benchmarks(results, Path(benchmarks.__file__).parent)
    return project(results, contents)
