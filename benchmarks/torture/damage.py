"""What is done to the files of a cache: functions that the catalogue names."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from .making import Apply, Place, Steps, flips, spread

YEARS = 10 * 365 * 86400
"""Ten years in seconds."""
_MOST = 24
"""Steps of a file, at most: its bytes are many, and those beside each other alike."""
MANY = 100_000
"""Entries of a large cache."""


def lengths(part: str) -> Steps:
    """The lengths to which a file is cut: its ends and steps between them."""

    def steps(place: Place, most: int) -> Sequence[str]:
        return [str(length) for length in spread(place.file(part).stat().st_size, min(_MOST, most))]

    return steps


def truncated(part: str) -> Apply:
    """Cut a file to the length of the step."""

    def apply(place: Place, step: str) -> None:
        os.truncate(place.file(part), int(step))

    return apply


def bits(part: str) -> Steps:
    """The bits of a file to flip, chosen by a fixed seed."""

    def steps(place: Place, most: int) -> Sequence[str]:
        return [str(bit) for bit in flips(place.file(part).stat().st_size, min(_MOST, most), part)]

    return steps


def flipped(part: str) -> Apply:
    """Flip the bit of the step."""

    def apply(place: Place, step: str) -> None:
        file, bit = place.file(part), int(step)
        content = bytearray(file.read_bytes())
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)

    return apply


def emptied(part: str) -> Apply:
    """Leave a file without content."""
    return lambda place, _: os.truncate(place.file(part), 0)


def removed(part: str) -> Apply:
    """Remove a file."""
    return lambda place, _: place.file(part).unlink()


def made_directory(part: str) -> Apply:
    """Put a directory in the place of a file."""

    def apply(place: Place, _: str) -> None:
        file = place.file(part)
        file.unlink()
        file.mkdir()

    return apply


def forbidden(part: str) -> Apply:
    """Take all permissions from a file."""
    return lambda place, _: place.file(part).chmod(0)


def exchanged(part: str) -> Apply:
    """Put the file of another graph in the place of this one's."""

    def apply(place: Place, _: str) -> None:
        content = place.other_file(part).read_bytes()
        target = place.file(part)
        target.unlink()  # hard links are not followed
        target.write_bytes(content)

    return apply


def exchanged_module(place: Place, _: str) -> None:
    """Let the key of `up` lead to the module of `down`.

    The name of a module is part of its code, so that its file alone cannot be exchanged.
    """
    own, other = place.file("module"), place.other_file("module")
    names = [one.name.partition(".")[0].encode()[1:] for one in (own, other)]
    _replace(place.file("key"), *names)
    own.unlink()
    shutil.copy2(other, own.with_name(other.name))
    shutil.rmtree(place.other)


def key_of_another(place: Place, _: str) -> None:
    """Put the key of `down`, whose module is gone, in the place of that of `up`."""
    own, other = place.file("key"), place.other_file("key")
    own.unlink()
    other.rename(own)
    shutil.rmtree(place.other)


def copied(place: Place, _: str) -> None:
    """Let all keys name the directory of another machine, as in a cache that was copied."""
    here = os.fsencode(place.compiledir)
    for key in place.compiledir.glob("*/key.pkl"):
        _replace(key, here, b"/" + b"x" * (len(here) - 1))


def broken_header(place: Place) -> dict[str, str]:
    """Variables of a process whose C compiler finds a broken header first."""
    directory = place.cache.parent / "broken"
    directory.mkdir(exist_ok=True)
    (directory / "math.h").write_text("#error this header is broken\n", encoding="utf-8")
    return {"CPATH": str(directory)}


def read_only(place: Place, _: str) -> None:
    """Let nobody write into any directory of the cache."""
    for directory in [place.cache, *(one for one in place.cache.rglob("*") if one.is_dir())]:
        directory.chmod(0o555)


def of_another_numba(place: Place, _: str) -> None:
    """Let the index of `up` say that another numba wrote it."""
    import numba

    own = numba.__version__.encode()
    other = own[:-1] + (b"8" if own.endswith(b"9") else b"9")
    _replace(place.target, own, other)


def of_another_python(place: Place, _: str) -> None:
    """Give all files of numba's cache the names that another Python would have given them."""
    for file in sorted(place.compiledir.glob("*.nb[ic]")):
        file.rename(file.with_name(re.sub(r"\.py\d+", ".py399", file.name)))


def of_another_class(place: Place, _: str) -> None:
    """Let the key of `up` name a module of PyTensor that this one does not have."""
    _replace(place.file("key"), b"pytensor.link.c.cmodule", b"pytensor.link.c.cmodulx")


def _replace(file: Path, old: bytes, new: bytes) -> None:
    content = file.read_bytes()
    if old not in content:
        raise OSError(f"{old.decode()} is not in {file.name}")
    file.write_bytes(content.replace(old, new))


def times(seconds: int) -> Apply:
    """Move the times of all files by so many seconds."""

    def apply(place: Place, _: str) -> None:
        for path in [place.cache, *place.cache.rglob("*")]:
            found = path.stat()
            os.utime(path, (found.st_atime + seconds, found.st_mtime + seconds))

    return apply


def linked(place: Place, _: str) -> None:
    """Let the cache directory be a link to where it is now."""
    real = place.compiledir.with_name(f"{place.compiledir.name}-moved")
    place.compiledir.rename(real)
    place.compiledir.symlink_to(real, target_is_directory=True)


def gone(place: Place, _: str) -> None:
    """Remove the cache directory that PyTensor made when it was imported."""
    shutil.rmtree(place.compiledir)


def marked(place: Place, _: str) -> None:
    """Mark the module of `up` as PyTensor marks one that it could not delete."""
    (place.target / "delete.me").touch()


def without_files(place: Place, _: str) -> None:
    """Remove all files of the module of `up`."""
    shutil.rmtree(place.target)
    place.target.mkdir()


def leftovers(place: Place, _: str) -> None:
    """Leave what killed processes leave: unfinished files and directories of modules."""
    for number in range(100):
        unfinished = f"{place.target.name}.tmp.{number:016x}"
        if place.target.is_dir():
            directory = place.compiledir / f"tmp{number:08x}"
            directory.mkdir()
            (directory / "mod.cpp").write_text("int main", encoding="utf-8")
        else:
            (place.compiledir / unfinished).write_bytes(b"\x80\x04")


def empty_directories(place: Place, _: str) -> None:
    """Leave what processes leave that are killed before they write the first file of a module."""
    for number in range(100):
        (place.compiledir / f"tmp{number:08x}").mkdir()


def crowded(place: Place, _: str) -> None:
    """Add MANY entries of other functions."""
    if not place.target.is_dir():
        for at in range(MANY):
            name = re.sub(r"[0-9a-f]{64}", f"{at:064x}", place.target.name)
            (place.compiledir / name).touch()
        return
    key, module = place.file("key").read_bytes(), place.file("module")
    for at in range(MANY):
        _copy_of_module(place, f"{at:07x}", key, module)


def _copy_of_module(place: Place, number: str, key: bytes, module: Path) -> None:
    """A directory like that of `up`, with another key and other hashes; all names are as long."""
    directory = place.compiledir / f"{place.target.name[:-7]}{number}"
    directory.mkdir()
    changed = re.sub(rb"(m[0-9a-f]{57})[0-9a-f]{7}", rb"\g<1>" + number.encode(), key)
    changed = changed.replace(place.target.name.encode(), directory.name.encode())
    flag = next(one for one in (b"-fno-math-errno", b"-Wno-write-strings") if one in changed)
    changed = changed.replace(flag, (b"-f" + number.encode()).ljust(len(flag), b"x"))
    (directory / "key.pkl").write_bytes(changed)
    stem = module.name.partition(".")[0]
    (directory / module.name.replace(stem, f"{stem[:-7]}{number}")).symlink_to(module)
