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


def write_left(state: Path) -> None:
    """Write the result files of the journals that killed processes have left. Raises OSError."""
    root = state / _NAME
    for place in root.iterdir() if root.is_dir() else ():
        with locked_at_once(place) as ours:
            if not ours:
                continue
            with contextlib.suppress(ObservatoryError, OSError, ValueError, KeyError, TypeError):
                note = json.loads((place / _NOTE).read_text(encoding="utf-8"))
                write(Path(note["results"]), Path(note["journal"]))
            shutil.rmtree(place, ignore_errors=True)


def write(results: Path, journal: Path) -> list[Problem]:
    """Make the result file from the journal; return what it cannot hold. Raises OSError."""
    from observatory.store.asv.files import project, write_benchmarks  # asv takes long to import

    contents = read_journal(journal)
    if contents.header is None:
        return []
    write_benchmarks(results, Path(benchmarks.__file__).parent)
    return project(results, contents)
