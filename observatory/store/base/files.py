"""Files of ours: read within bounds; written so that, killed at any instant, they are whole."""

from __future__ import annotations

import fnmatch
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from observatory.store.base.problems import RecordError, RecordUsageError


def read_bounded(path: Path, most: int, advice: str) -> bytes | None:
    """Read a file of at most ``most`` bytes; None if there is no such file.

    Raises RecordError if it cannot be read or is larger; ``advice`` then ends the message.
    """
    try:
        with path.open("rb") as stream:
            # Memory for all that it might be takes longer to get than most files take to read.
            size = os.fstat(stream.fileno()).st_size
            content = stream.read(min(size, most) + 1)
            if len(content) > size:  # it has grown, or tells no size
                content += stream.read(most + 1 - len(content))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > most:
        raise RecordError(f"{path} is larger than {most:,} bytes; {advice}")
    return content


def files_below(directory: Path, pattern: str) -> list[Path]:
    """The files below a directory whose names match a pattern, sorted; links are not followed.

    A directory that vanishes meanwhile, or that may not be read, is passed over.
    """
    return sorted(
        Path(here, name)
        for here, _, names in os.walk(directory)
        for name in fnmatch.filter(names, pattern)
    )


def cache_directory() -> Path | None:
    """Where what can be made again is kept: ``observatory`` in ``$XDG_CACHE_HOME`` or ``~/.cache``.

    Nobody who sends results can put anything there. None on a system without a home.
    """
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return None
    return base / "observatory" if base.is_absolute() else None


def check_writable(directory: Path, option: str) -> None:
    """Raise RecordUsageError if a directory can be neither written nor made; it leaves nothing.

    ``option``: the one that names it.
    """
    whole = place = directory.absolute()
    while not os.path.lexists(place):
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        verb = "written" if place == whole else "made"
        raise RecordUsageError(
            f"{option} {directory} cannot be {verb}: {error.strerror}; give another directory"
        ) from error


def write_atomic(
    path: Path, content: bytes | memoryview | Iterable[bytes], like: os.stat_result | None = None
) -> None:
    """Replace a file as a whole, so that a reader or a crash never sees half of it.

    The content, or each piece of it, goes to a temporary file beside ``path``, which is synced and
    renamed; missing directories are made. The mode is 0644, or mode and owner are those of
    ``like``. What is there and no file, such as /dev/stdout or a pipe, is written to: root would
    replace /dev/null. Raises OSError, which names ``path``, and leaves no temporary file behind
    then.
    """
    pieces = (content,) if isinstance(content, bytes | memoryview) else content
    try:
        _write_atomic(path, pieces, like)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write_atomic(
    path: Path, pieces: Iterable[bytes | memoryview], like: os.stat_result | None
) -> None:
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as stream:
            stream.writelines(pieces)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(pieces)
            stream.flush()
            if like is not None:
                with suppress(PermissionError):
                    os.fchown(stream.fileno(), like.st_uid, like.st_gid)
            # mkstemp's 0600 would hide results from others.
            os.fchmod(stream.fileno(), 0o644 if like is None else like.st_mode & 0o7777)
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def write_changed(path: Path, content: bytes) -> bool:
    """Write a file as `write_atomic` does, unless it has this content; whether it was written."""
    if path.is_file() and path.read_bytes() == content:
        return False
    write_atomic(path, content)
    return True


def write_new(path: Path, content: bytes) -> bool:
    """Write a file that is not there yet; False, and nothing is written, if there is one already.

    Of several processes that write at once, one gets True. The file appears as a whole, synced.
    Raises OSError; FileNotFoundError if the directory is missing.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            os.fchmod(stream.fileno(), 0o644)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(name, path)  # unlike a rename, it never replaces
    except FileExistsError:
        return False
    finally:
        Path(name).unlink(missing_ok=True)
    sync_directory(path.parent)
    return True


def sync_directory(directory: Path) -> None:
    """Sync a directory's list of names, so that a rename survives a power cut. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
