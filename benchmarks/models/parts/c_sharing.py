"""What PyTensor's C cache does beside returning modules: each graph counts it.

A cache that reads files again, warns of nothing or forgets too little returns the same numbers,
and slows its users down or leaves them with modules that are gone. Other processes are forks, which
share the directory and know nothing of each other's modules.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .c_cache import (
    cache_of_process,
    counted,
    directory,
    in_another_process,
    locked_elsewhere,
    new_directories,
    remove,
    stored_apart,
    watched,
)
from .ops.case import Case, Cases, difference


class UnexpectedCountsError(Exception):
    """The cache did something else than it should beside returning right modules."""


@dataclass
class _Builds:
    """Compiles functions of one Op in a mode, and counts wrong values."""

    mode: Any
    wrong: int = 0

    def __call__(self, *ops: Any) -> None:
        import numpy as np
        import pytensor
        import pytensor.tensor as pt

        from .small import point

        for op in ops:
            x = pt.vector("x", dtype="float64")
            value = pytensor.function([x], op(x), mode=self.mode)(point())
            self.wrong += not np.array_equal(value, point() * op.factor)

    def elsewhere(self, *ops: Any) -> None:
        """Do so in another process. Raises RuntimeError if that fails or if a value is wrong."""

        def work() -> None:
            self(*ops)
            if self.wrong:
                raise RuntimeError("a value is wrong")

        in_another_process(work)


_Work = Callable[[_Builds], tuple[float, ...]]
"""Builds functions and returns what it counted."""


def _counts(work: _Work, *right: float) -> Case:
    """A graph that returns how many values are wrong, and raises where a count is not right.

    Its `UnexpectedCountsError` says what the numbers are: the first line of the docstring of
    ``work``. No number that a user asked for is wrong then.
    """

    def compiled(mode: Any) -> Callable[[Any], Any]:
        import numpy as np

        def run(_: Any) -> Any:
            build = _Builds(mode)
            found = work(build)
            if not build.wrong and found != right:
                what = (work.__doc__ or "").partition("\n")[0].rstrip(".")
                raise UnexpectedCountsError(f"{_listed(found)} instead of {_listed(right)}: {what}")
            return np.array(float(build.wrong))

        return run

    def rights() -> Any:
        import numpy as np

        return np.array(0.0)

    return Case(compiled, lambda value: difference(value, rights()), right=rights)


def _listed(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{one:g}" for one in numbers)


def _scaled(factor: float, known: object = None, version: tuple[int, ...] = (1,)) -> Any:
    from .c_ops import Scaled

    return Scaled(factor, known, version)


def _unpicklable(factor: float, name: str) -> Any:
    from .c_ops import Unpicklable

    return _scaled(factor, Unpicklable(name))


def _rehashed(factor: float, number: int) -> Any:
    from .c_ops import Rehashed

    return Rehashed(factor, number)


def _warned_of_no_version(build: _Builds) -> tuple[float, ...]:
    """Warnings of an Op without a version: where the flag asks for them, and where it does not."""
    import pytensor

    told = []
    for factor, wanted in ((20.0, True), (21.0, False)):
        with watched() as seen, pytensor.config.change_flags(cmodule__warn_no_version=wanted):
            build(_scaled(factor, factor, ()))
        told.append(seen.warned("c_code_cache_version"))
    return tuple(told)


def _warned_of_no_pickle(build: _Builds) -> tuple[float, ...]:
    """Warnings when an Op that cannot be pickled is compiled, and when it is used again."""
    told = []
    for _ in range(2):
        with watched() as seen:
            build(_unpicklable(22.0, "one"))
        told.append(seen.warned("unpickle-able"))
    return tuple(told)


def _warned_of_another_directory(_: _Builds) -> tuple[float, ...]:
    """Warnings when a process asks for its cache directory, and for another one."""
    told = []
    for asked in (None, "/another"):
        with watched() as seen:
            cache_of_process(asked)
        told.append(seen.warned("different dirname"))
    return tuple(told)


def _read_once(build: _Builds) -> tuple[float, ...]:
    """Keys of other modules that are read: after another process has stored one, and later."""
    build(_scaled(23.0, 23))
    build.elsewhere(_scaled(24.0, 24))
    told = []
    for factor in (25, 26):
        with watched() as seen:
            build(_scaled(float(factor), factor))
        told.append(seen.read_of_others)
    return tuple(told)


def _reused_in_memory(build: _Builds) -> tuple[float, ...]:
    """Modules loaded and compiled when an Op is used again; whether a process has one cache."""
    build(_scaled(27.0, 27))
    with counted() as found:
        build(_scaled(27.0, 27))
    return found.loaded, found.compiled, float(cache_of_process() is cache_of_process())


def _recompiled_for_another_compiler(build: _Builds) -> tuple[float, ...]:
    """Modules that are compiled when an Op is used again, and when g++ has another name."""
    import pytensor

    build(_scaled(28.0, 28))
    with tempfile.TemporaryDirectory() as place:
        other = Path(place) / Path(pytensor.config.cxx).name
        other.symlink_to(pytensor.config.cxx)
        told = []
        for compiler in (pytensor.config.cxx, str(other)):
            with pytensor.config.change_flags(cxx=compiler), counted() as found:
                build(_scaled(28.0, 28))
            told.append(found.compiled)
    return tuple(told)


def _recompiled_for_another_version(build: _Builds) -> tuple[float, ...]:
    """Modules that are compiled for the next version of an Op, whose code includes another file."""
    from .c_ops import Included

    place = str(directory())
    build.elsewhere(Included(39, place))
    with counted() as found:
        build(Included(40, place))
    return (found.compiled,)


def _removed_while_used(build: _Builds) -> tuple[float, ...]:
    """Warnings of modules in use, of keys; modules compiled to use all again, and a kept one.

    Another process deletes modules, of which this one uses three and knows a fourth. Below /tmp,
    PyTensor warns of no keys.
    """
    kept = _scaled(29.0, 29)
    ops = [_scaled(30.0, 30), _scaled(31.0, 31, ()), _unpicklable(32.0, "one")]
    known = _scaled(33.0, 33)
    gone = new_directories(partial(build, *ops))
    gone += new_directories(partial(build.elsewhere, known))
    build(kept)
    remove(gone)
    with watched() as seen:
        build(_scaled(34.0, 34))
    below_tmp = str(directory()).startswith("/tmp")  # noqa: S108 - as PyTensor asks
    keys = seen.warned("Removing key file") - 2 * (not below_tmp)
    with counted() as again:
        build(*ops, known)
    with counted() as left:
        build(kept)
    return seen.warned("can no longer be read"), keys, again.compiled, left.compiled


def _refused_in_the_next_process(build: _Builds) -> tuple[float, ...]:
    """Ops that are refused because they equal one of another process and have another hash."""
    build.elsewhere(_rehashed(35.0, 1))
    try:
        build(_rehashed(36.0, 2))
    except AssertionError:
        return (1,)
    return (0,)


def _unversioned_of_a_killed_process(build: _Builds) -> tuple[float, ...]:
    """Warnings and modules compiled after a process was killed that used Ops without a version."""
    op, equal = (_scaled(37.0, name, ()) for name in ("one", "other"))
    build.elsewhere(op, equal)
    with watched() as seen, counted() as found:
        build(op)
    return seen.warned("unversioned"), found.compiled


def _unpicklable_of_another_process(build: _Builds) -> tuple[float, ...]:
    """Modules compiled after another process has used two Ops of one code without a pickle."""
    op, equal = (_unpicklable(38.0, name) for name in ("one", "other"))
    build.elsewhere(op, equal)
    with counted() as found:
        build(op)
    return (found.compiled,)


def _found_after_waiting(build: _Builds) -> tuple[float, ...]:
    """Modules loaded and compiled which another process stored meanwhile: by key, and by code."""
    cache_of_process()  # which has read the directory before the other process stores something
    told = []
    for factor, theirs, ours in ((41.0, "first", "first"), (42.0, "second", "third")):
        build.elsewhere(_scaled(factor, theirs))
        with counted() as found:
            build(_scaled(factor, ours))
        told += [found.loaded, found.compiled]
    return tuple(told)


def _kept_while_building(build: _Builds) -> tuple[float, ...]:
    """Directories of others after a build (2), and after reading the cache anew (3); warnings.

    One is to be deleted, one is empty, and in one a module is being compiled, which must stay.
    """
    root = directory()
    marked, empty, begun = (root / f"tmp{name}" for name in ("marked", "empty", "begun"))
    for one in (marked, empty, begun):
        one.mkdir()
    (marked / "delete.me").touch()
    (begun / "mod.cpp").touch()
    build(_scaled(43.0, 43))
    told = [one.exists() for one in (marked, empty)]
    with watched() as seen:
        cache_of_process().refresh()
    told += [one.exists() for one in (marked, empty, begun)]
    return (*map(float, told), float(len(seen.warnings)))


def _cleaned(build: _Builds) -> tuple[float, ...]:
    """Directories kept: a broken key, an old format, a copy; a broken key if problems are deleted.

    The flag `nocleanup` is on, which is for other directories than these.
    """
    import pytensor

    root = directory()
    (own,) = new_directories(partial(build, _scaled(48.0, 48)))
    broken, old, copy = (root / f"tmp{name}" for name in ("broken", "old", "copy"))
    for one, key in ((broken, b"no key"), (old, pickle.dumps({}))):
        one.mkdir()
        (one / "key.pkl").write_bytes(key)
        (one / "module.so").touch()
    shutil.copytree(own, copy)
    with pytensor.config.change_flags(nocleanup=True):
        cache_of_process().refresh()
        told = [one.exists() for one in (broken, old, copy)]
        cache_of_process().refresh(delete_if_problem=True)
    return (*told, broken.exists())


def _stored_twice(build: _Builds) -> tuple[float, ...]:
    """Modules compiled, warnings, directories of a module stored twice; these after a clean-up."""
    op = _scaled(44.0, 44)
    added = stored_apart(partial(build.elsewhere, op), partial(build.elsewhere, op))
    with watched() as seen, counted() as found:
        build(op)
        cache_of_process().refresh()
    told = (found.compiled, seen.warned("same cache key"), sum(one.exists() for one in added))
    cache_of_process().refresh(delete_if_problem=True)
    return (*told, sum(one.exists() for one in added))


def _stored_under_one_key(build: _Builds) -> tuple[float, ...]:
    """Warnings where two processes have stored two modules under one key."""
    works = [partial(build.elsewhere, _scaled(factor, "one key")) for factor in (45.0, 46.0)]
    stored_apart(*works)
    with watched() as seen:
        build(_scaled(47.0, 47))
    return (seen.warned("same cache key"),)


def _held_while_others_ask(_: _Builds) -> tuple[float, ...]:
    """Locks that another process must wait for: of two directories that are held, and of one later.

    The process is a fork of the one that holds them, as a worker of a pool is.
    """
    from pytensor.compile.compilelock import lock_ctx

    first = directory()
    with tempfile.TemporaryDirectory() as made:
        second = Path(made)
        with lock_ctx(first), lock_ctx(second):
            told = [locked_elsewhere(place) for place in (first, second)]
    return (*told, locked_elsewhere(first))


GRAPHS: Cases = {
    "warned.no_version": _counts(_warned_of_no_version, 1, 0),
    "warned.no_pickle": _counts(_warned_of_no_pickle, 1, 0),
    "warned.directory": _counts(_warned_of_another_directory, 0, 1),
    "once.read": _counts(_read_once, 1, 0),
    "once.loaded": _counts(_reused_in_memory, 0, 0, 1),
    "once.kept": _counts(_kept_while_building, 1, 1, 0, 0, 1, 0),
    "once.cleaned": _counts(_cleaned, 1, 0, 0, 0),
    "once.locked": _counts(_held_while_others_ask, 1, 1, 0),
    "again.compiler": _counts(_recompiled_for_another_compiler, 0, 1),
    "again.version": _counts(_recompiled_for_another_version, 1),
    "again.removed": _counts(_removed_while_used, 3, 0, 4, 0),
    "next.waited": _counts(_found_after_waiting, 1, 0, 1, 0),
    "next.twice": _counts(_stored_twice, 0, 0, 2, 1),
    "next.one_key": _counts(_stored_under_one_key, 1),
    "next.refused": _counts(_refused_in_the_next_process, 1),
    "next.unversioned": _counts(_unversioned_of_a_killed_process, 0, 1),
    "next.unpicklable": _counts(_unpicklable_of_another_process, 0),
}
