"""The catalogue of faults. One entry here is all that a further fault needs.

numba's cache has an index (`.nbi`) and a data file (`.nbc`) for each function; that of C modules
has a directory with `key.pkl` and a shared library for each. Faults of files strike the entry of
the graph `up`; the other graphs of the workload are its neighbours.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator

from . import damage
from .making import (
    OTHERS,
    Apply,
    Armed,
    Commanded,
    Damage,
    Fault,
    Foreign,
    Held,
    Hindered,
    Interleaved,
    Other,
    Together,
)
from .shim import CHANGES, EVERY_CHANGE, LOCKS, OPENS, OVER, READS, RENAMES, WRITES, Rule
from .workload import CACHES, GRAPHS, STRIDED, Cache

PARTS: dict[Cache, tuple[str, str]] = {"numba": ("index", "data"), "c": ("key", "module")}
"""The files of an entry."""
_NAMES: dict[Other, str] = {"python": "Python", "numba": "numba", "pytensor": "PyTensor"}


def _files(cache: Cache, part: str) -> Iterator[Fault]:
    def fault(name: str, what: str, plan: Damage, certain: bool = True) -> Fault:
        return Fault(f"{part}_{name}", cache, "files", f"the {part} file {what}", plan, certain)

    yield fault(
        "truncated", "is cut short, to lengths from 0 to one byte less than its own",
        Damage(damage.truncated(part), damage.lengths(part)),
    )  # fmt: skip
    yield fault(
        "flipped", "has one flipped bit", Damage(damage.flipped(part), damage.bits(part)),
        certain=False,
    )  # fmt: skip
    yield fault("empty", "is empty", Damage(damage.emptied(part)))
    yield fault("missing", "is missing", Damage(damage.removed(part)))
    # Of two modules with one key, PyTensor takes that whose random name comes last.
    certain = part != "module"
    yield fault("directory", "is a directory", Damage(damage.made_directory(part)), certain)
    yield fault(
        "unreadable", "cannot be read", Damage(damage.forbidden(part), unprivileged=True), certain
    )
    if part == "key":
        yield fault(
            "exchanged", "is that of another module, which is gone", Damage(damage.key_of_another)
        )


def _commands() -> Iterator[Fault]:
    def fault(name: str, word: str, what: str = "", apply: Apply | None = None) -> Fault:
        told = f"somebody runs `pytensor-cache {word}`{what}"
        return Fault(name, "c", "commands", told, Commanded(word, apply))

    yield fault("listed", "list")
    yield fault("cleared", "clear")
    unknown = " over a key that names an unknown class"
    yield fault("cleared_unloadable", "clear", unknown, damage.of_another_class)
    yield fault("cleaned", "cleanup")
    old = " over files that are ten years old"
    yield fault("cleaned_old", "cleanup", old, damage.times(-damage.YEARS))
    yield fault("purged", "purge")


def _kept() -> Iterator[Fault]:
    """What PyTensor removes, and has to remove although the flag nocleanup is set."""

    def fault(name: str, what: str, apply: Apply) -> Fault:
        told = f"{what}, and the flag nocleanup is set"
        plan = Damage(apply, settings=(("nocleanup", True),))
        return Fault(f"kept_{name}", "c", "kept", told, plan)

    yield fault("old", "all files are ten years old", damage.times(-damage.YEARS))
    yield fault("marked", "the module is marked as one to be deleted", damage.marked)
    yield fault("empty", "the directory of the module is empty", damage.without_files)
    yield fault("key_empty", "the key file is empty", damage.emptied("key"))
    yield fault("module_missing", "the module file is missing", damage.removed("module"))


def _foreign() -> Iterator[Fault]:
    def fault(name: str, cache: Cache, what: str, plan: Damage | Foreign) -> Fault:
        return Fault(f"of_{name}", cache, "foreign", what, plan)

    imitated = {"numba": damage.of_another_numba, "python": damage.of_another_python}
    for cache in CACHES:
        for name in OTHERS:
            instead = imitated.get(name) if cache == "numba" else None
            yield fault(
                name, cache, f"another version of {_NAMES[name]} filled the cache",
                Foreign(other=name, imitated=instead),
            )  # fmt: skip
    cpu = (("NUMBA_CPU_NAME", "generic"), ("NUMBA_CPU_FEATURES", ""))
    yield fault("cpu", "numba", "another CPU filled the cache", Foreign(cpu))
    flag = (("PYTENSOR_FLAGS", "numba__fastmath=False"),)
    yield fault("flag", "numba", "a process without fastmath filled the cache", Foreign(flag))
    yield fault(
        "class", "c", "the key names a class that this PyTensor does not have",
        Damage(damage.of_another_class),
    )  # fmt: skip
    other = (("PYTENSOR_FLAGS", "gcc__cxxflags=-march=x86-64"),)
    yield fault("cpu", "c", "a compiler for another CPU filled the cache", Foreign(other))
    named = (("PYTENSOR_FLAGS", "cxx=c++"),)
    yield fault("compiler", "c", "a compiler of another name filled the cache", Foreign(named))
    flag = (("PYTENSOR_FLAGS", "gcc__cxxflags=-fno-inline"),)
    yield fault("flag", "c", "a compiler with another flag filled the cache", Foreign(flag))


def _disk(cache: Cache) -> Iterator[Fault]:
    def fault(name: str, what: str, plan: Armed | Damage) -> Fault:
        return Fault(name, cache, "disk", what, plan)

    full = Rule(CHANGES, "fail", errno.ENOSPC)
    part = Rule(WRITES, "part", errno.ENOSPC)
    yield fault(
        "full", "the disk becomes full at one step of storing an entry", Armed(full, "bare")
    )
    yield fault(
        "full_in_a_write", "the disk becomes full in the middle of a write, and has room for "
        "nothing but new and empty files",
        Armed(part, "bare"),
    )  # fmt: skip
    yield fault(
        "killed", "the process is killed at one step of storing an entry",
        Armed(Rule(EVERY_CHANGE, "kill"), "bare"),
    )  # fmt: skip
    yield fault(
        "read_fails", "one read fails (EIO)",
        Armed(Rule(READS, "fail", errno.EIO), "filled", GRAPHS, only=True),
    )  # fmt: skip
    yield fault(
        "stale_handle", "one read finds its file replaced, as on NFS (ESTALE)",
        Armed(Rule(READS, "fail", errno.ESTALE), "filled", GRAPHS, only=True),
    )  # fmt: skip
    yield fault(
        "not_yet_visible", "one file that another machine has stored is not visible yet, as on NFS",
        Armed(Rule(OPENS, "fail", errno.ENOENT), "filled", GRAPHS, only=True),
    )  # fmt: skip
    yield fault(
        "rename_refused", "no file can be renamed (EACCES)",
        Armed(Rule(RENAMES, "fail", errno.EACCES), "bare", each=False),
    )  # fmt: skip
    yield fault(
        "rename_over_refused", "no file can replace another one by renaming, as with open files on "
        "some network disks (EBUSY)",
        Armed(Rule(OVER, "fail", errno.EBUSY), "filled", (STRIDED,), each=False),
    )  # fmt: skip
    yield fault(
        "locks_refused", "the disk supports no locks (ENOLCK)",
        Armed(Rule(LOCKS, "fail", errno.ENOLCK), "bare", each=False),
    )  # fmt: skip
    yield fault(
        "read_only", "the cache is filled and cannot be written to",
        Damage(damage.read_only, unprivileged=True),
    )  # fmt: skip
    yield fault(
        "read_only_bare", "the cache is empty and cannot be written to",
        Damage(damage.read_only, unprivileged=True, start="bare", graphs=("up",)),
    )  # fmt: skip


def _processes(cache: Cache) -> Iterator[Fault]:
    def fault(name: str, what: str, plan: Together | Interleaved | Held) -> Fault:
        return Fault(name, cache, "processes", what, plan)

    locked = cache == "c"
    for count, name in (2, "two"), (8, "eight"):
        yield fault(
            f"{name}_store", f"{name} processes store the same entries at once",
            Together(count, once=locked),
        )  # fmt: skip
    yield fault(
        "read_while_stored", "a second process runs while the first one is stopped at one step of "
        "storing an entry", Interleaved(("up",), ("up",)),
    )  # fmt: skip
    yield fault(
        "two_signatures", "a second process stores another signature of the same function while "
        "the first one is stopped at one step of storing an entry",
        Interleaved((STRIDED,), ("up",)),
    )  # fmt: skip
    if cache == "numba":
        for name, what, rule in (
            ("killed", "the process is killed", Rule(EVERY_CHANGE, "kill")),
            ("full", "the disk is full", Rule(CHANGES, "fail", errno.ENOSPC)),
        ):
            yield Fault(
                f"{name}_while_replacing", cache, "disk", f"{what} at one step of replacing "
                "an entry that another numba stored with another signature",
                Armed(rule, "stale", (STRIDED,)),
            )  # fmt: skip
        # Writing an index takes three changes, and so does writing the data after it.
        yield fault(
            "two_signatures_crossed",
            "two processes store different signatures of one "
            "function: both have read the index before either writes it, and the second writes "
            "its data last",
            Interleaved((STRIDED,), ("up",), later=3),
        )
    if cache == "c":
        yield fault(
            "lock_holder_dead", "the process that held the lock was killed", Held(stopped=False)
        )
        yield fault(
            "lock_holder_stopped", "the process that holds the lock is stopped", Held(stopped=True)
        )


def _clock_and_place(cache: Cache) -> Iterator[Fault]:
    years = damage.YEARS
    yield Fault("files_old", cache, "clock", "all files are ten years old",
                Damage(damage.times(-years)))  # fmt: skip
    yield Fault("files_of_tomorrow", cache, "clock", "all files are dated ten years ahead",
                Damage(damage.times(years)))  # fmt: skip
    for name, clock in (("clock_back", -years), ("clock_forward", years)):
        way = "back" if clock < 0 else "forward"
        plan = Armed(Rule(0, clock=clock), "filled", GRAPHS, each=False)
        yield Fault(name, cache, "clock", f"the clock was set {way} by ten years", plan)
    yield Fault("linked", cache, "place", "the cache directory is a symbolic link",
                Damage(damage.linked))  # fmt: skip
    yield Fault("removed", cache, "place", "somebody removes the cache directory after PyTensor is "
                "imported", Damage(damage.gone, graphs=("up",)))  # fmt: skip
    yield Fault("leftovers", cache, "place", "a hundred killed processes left unfinished files",
                Damage(damage.leftovers))  # fmt: skip
    if cache == "c":
        yield Fault(
            "leftovers_empty",
            cache,
            "place",
            "a hundred killed processes left empty directories",
            Damage(damage.empty_directories),
        )
        yield Fault("copied", cache, "place", "the cache was copied from another directory",
                    Damage(damage.copied))  # fmt: skip
        yield Fault("compiler_fails", cache, "place", "the C compiler of the process fails",
                    Hindered(damage.broken_header))  # fmt: skip
        yield Fault("marked", cache, "place", "the module is marked as one to be deleted",
                    Damage(damage.marked))  # fmt: skip
    yield Fault("crowded", cache, "place", f"the cache has {damage.MANY:,} other entries",
                Damage(damage.crowded))  # fmt: skip


def _all() -> Iterator[Fault]:
    for cache in CACHES:
        for part in PARTS[cache]:
            yield from _files(cache, part)
    yield from _foreign()
    yield from _commands()
    yield from _kept()
    for cache in CACHES:
        yield from _disk(cache)
        yield from _processes(cache)
        yield from _clock_and_place(cache)
        swap = damage.exchanged("data") if cache == "numba" else damage.exchanged_module
        yield Fault(
            "exchanged", cache, "control", "the key leads to the code of another function, which "
            "must come out as WRONG", Damage(swap),
        )  # fmt: skip


FAULTS: tuple[Fault, ...] = tuple(_all())
