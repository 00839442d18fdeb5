"""Files of ours: read within bounds; written so that, killed at any instant, they are whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from observatory.record.problems import RecordError


def read_bounded(path: Path, most: int, advice: str) -> bytes | None:
    """The content of a file of at most ``most`` bytes; None if there is no such file.

    Raises RecordError for one that is larger, with the advice, and for one that cannot be read.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > most:
        raise RecordError(f"{path} is larger than {most} bytes; {advice}")
    return content


def write_atomic(path: Path, content: bytes) -> None:
    """Write ``content`` to a temporary name beside ``path``, sync it, rename it to ``path``.

    Makes the directories that are missing. Raises OSError; nothing is left behind then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(stream.fileno(), 0o644)  # mkstemp's 0600 would hide results from others
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make a rename or a new name in ``directory`` survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
