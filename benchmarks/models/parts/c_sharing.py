"""What PyTensor's C cache does beside returning modules: each graph counts it.

A cache that reads files again, warns of nothing or forgets too little returns the same numbers,
and slows its users down or leaves them with modules that are gone. Other processes are forks, which
share the directory and know nothing of each other's modules.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .c_cache import (
    cache_of_process,
    counted,
    directory,
    in_another_process,
    keys,
    locked_elsewhere,
    new_directories,
    stored_apart,
    watched,
)
from .ops.case import Case, Cases, difference

_WRONG = 98
"""The exit status of a process that has seen a wrong value."""


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
        """Do so in another process. Raises RuntimeError if that fails."""

        def work() -> int:
            own = _Builds(self.mode)
            own(*ops)
            return _WRONG if own.wrong else 0

        self.wrong += in_another_process(work) == _WRONG


_Work = Callable[[_Builds], tuple[float, ...]]
"""Builds functions and returns what it counted."""


def _counts(work: _Work, **right: float) -> Case:
    """A graph that returns the number of wrong values, negative, and raises for wrong counts.

    ``right``: the right counts in the order in which ``work`` returns them, by a name. No number
    that a user asked for is wrong where one of them is.
    """

    def compiled(mode: Any) -> Callable[[Any], Any]:
        import numpy as np

        def run(_: Any) -> Any:
            build = _Builds(mode)
            found = dict(zip(right, work(build), strict=True))
            if not build.wrong and found != right:
                raise UnexpectedCountsError(_difference(found, right))
            return np.array(float(-build.wrong))

        return run

    def rights() -> Any:
        import numpy as np

        return np.array(0.0)

    return Case(compiled, lambda value: difference(value, rights()), right=rights)


def _difference(found: Mapping[str, float], right: Mapping[str, float]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')}: {found[name]:g} instead of {number:g}"
        for name, number in right.items()
        if found[name] != number
    )


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
    """Ops without a version, where the flag asks for a warning, and where it does not."""
    import pytensor

    told = []
    for factor, wanted in ((20.0, True), (21.0, False)):
        with watched() as seen, pytensor.config.change_flags(cmodule__warn_no_version=wanted):
            build(_scaled(factor, factor, ()))
        told.append(seen.warned("c_code_cache_version"))
    return tuple(told)


def _warned_of_no_pickle(build: _Builds) -> tuple[float, ...]:
    """An Op that cannot be pickled is compiled, and used again."""
    told = []
    for _ in range(2):
        with watched() as seen:
            build(_unpicklable(22.0, "one"))
        told.append(seen.warned("unpickle-able"))
    return tuple(told)


def _warned_of_another_directory(_: _Builds) -> tuple[float, ...]:
    """A process asks for its cache directory, and for another one that it cannot have."""
    told = []
    for asked in (None, "/another"):
        with watched() as seen:
            cache_of_process(asked)
        told.append(seen.warned("different dirname"))
    return tuple(told)


def _read_once(build: _Builds) -> tuple[float, ...]:
    """The key that another process has stored is read once."""
    build(_scaled(23.0, 23))
    build.elsewhere(_scaled(24.0, 24))
    told = []
    for factor in (25, 26):
        others = keys()
        with watched() as seen:
            build(_scaled(float(factor), factor))
        told.append(seen.opened_of(others))
    return tuple(told)


def _reused_in_memory(build: _Builds) -> tuple[float, ...]:
    """An Op is used twice in one process, which has one cache."""
    with counted() as first:
        build(_scaled(27.0, 27))
    with counted() as again:
        build(_scaled(27.0, 27))
    one = cache_of_process() is cache_of_process()
    return first.compiled, again.loaded, again.compiled, one


def _recompiled_for_another_compiler(build: _Builds) -> tuple[float, ...]:
    """An Op is used again, with the same g++ and with one that has another path."""
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
    """The next version of an Op has the same code, which includes another file."""
    from .c_ops import Included

    place = str(directory())
    build.elsewhere(Included(39, place))
    with counted() as found:
        build(Included(40, place))
    return (found.compiled,)


def _removed_while_used(build: _Builds) -> tuple[float, ...]:
    """Modules are deleted while a process uses them, which then uses all of them again.

    Somebody deletes modules, of which this process uses three and knows a fourth. PyTensor warns of
    the keys of the two with a version and a pickle, but of none below /tmp.
    """
    kept = _scaled(29.0, 29)
    ops = [_scaled(30.0, 30), _scaled(31.0, 31, ()), _unpicklable(32.0, "one")]
    known = _scaled(33.0, 33)
    gone = new_directories(partial(build, *ops))
    gone += new_directories(partial(build.elsewhere, known))
    build(kept)
    for one in gone:
        shutil.rmtree(one)
    with watched() as seen:
        build(_scaled(34.0, 34))
    below_tmp = str(directory()).startswith("/tmp")  # noqa: S108 - as PyTensor asks
    of_keys = seen.warned("Removing key file") == (0 if below_tmp else 2)
    with counted() as again:
        build(*ops, known)
    with counted() as left:
        build(kept)
    return seen.warned("can no longer be read"), of_keys, again.compiled, left.compiled


def _refused_in_the_next_process(build: _Builds) -> tuple[float, ...]:
    """An Op equals one of another process, and has another hash."""
    build.elsewhere(_rehashed(35.0, 1))
    try:
        build(_rehashed(36.0, 2))
    except AssertionError as error:
        return ("different hash" in str(error),)
    return (0,)


def _unversioned_of_another_process(build: _Builds) -> tuple[float, ...]:
    """Another process has used Ops without a version.

    It has left without deleting their modules, as one that is killed does.
    """
    op, equal = (_scaled(37.0, name, ()) for name in ("one", "other"))
    build.elsewhere(op, equal)
    with watched() as seen, counted() as found:
        build(op)
    return seen.warned("unversioned"), found.compiled


def _unpicklable_of_another_process(build: _Builds) -> tuple[float, ...]:
    """Another process has used two Ops of one code that cannot be pickled."""
    op, equal = (_unpicklable(38.0, name) for name in ("one", "other"))
    build.elsewhere(op, equal)
    with counted() as found:
        build(op)
    return found.loaded, found.compiled


def _found_in_the_lock(build: _Builds) -> tuple[float, ...]:
    """What another process has just stored is found in the lock: by its key, and by its code."""
    cache_of_process()  # which has read the directory before the other process stores something
    told = []
    for factor, theirs, ours in ((41.0, "first", "first"), (42.0, "second", "third")):
        build.elsewhere(_scaled(factor, theirs))
        with counted() as found:
            build(_scaled(factor, ours))
        told += [found.loaded, found.compiled]
    return tuple(told)


def _kept_while_building(build: _Builds) -> tuple[float, ...]:
    """What others have left is not deleted by a build, but when the cache is read anew.

    One directory is marked to be deleted, and in one a module is being compiled, which must stay.
    """
    marked, empty, begun = (Path(tempfile.mkdtemp(dir=directory())) for _ in range(3))
    (marked / "delete.me").touch()
    (begun / "mod.cpp").touch()
    build(_scaled(43.0, 43))
    told = [one.exists() for one in (marked, empty)]
    with watched() as seen:
        cache_of_process().refresh()
    told += [one.exists() for one in (marked, empty, begun)]
    return (*map(float, told), float(len(seen.warnings)))


def _cleaned(build: _Builds) -> tuple[float, ...]:
    """What is deleted when the cache is read anew, without and with the request to delete problems.

    The flag `nocleanup` is on, which is for other directories than these.
    """
    import pytensor

    (own,) = new_directories(partial(build, _scaled(48.0, 48)))
    broken, old, copy = (Path(tempfile.mkdtemp(dir=directory())) for _ in range(3))
    for one, key in ((broken, b"no key"), (old, pickle.dumps({}))):
        (one / "key.pkl").write_bytes(key)
        (one / "module.so").touch()
    shutil.copytree(own, copy, dirs_exist_ok=True)
    with pytensor.config.change_flags(nocleanup=True):
        cache_of_process().refresh()
        told = [one.exists() for one in (broken, old, copy)]
        cache_of_process().refresh(delete_if_problem=True)
    return (*told, broken.exists())


def _stored_twice(build: _Builds) -> tuple[float, ...]:
    """Two processes have stored one module at the same time."""
    op = _scaled(44.0, 44)
    added = stored_apart(partial(build.elsewhere, op), partial(build.elsewhere, op))
    with watched() as seen, counted() as found:
        build(op)
        cache_of_process().refresh()
    told = found.loaded, found.compiled, seen.warned("same cache key")
    there = sum(one.exists() for one in added)
    cache_of_process().refresh(delete_if_problem=True)
    return (*told, there, sum(one.exists() for one in added))


def _stored_under_one_key(build: _Builds) -> tuple[float, ...]:
    """Two processes have stored two modules under one key."""
    works = [partial(build.elsewhere, _scaled(factor, "one key")) for factor in (45.0, 46.0)]
    stored_apart(*works)
    with watched() as seen:
        build(_scaled(47.0, 47))
    return (seen.warned("same cache key"),)


def _held_while_others_ask(_: _Builds) -> tuple[float, ...]:
    """A fork, as a worker of a pool is, asks for the locks that its parent holds."""
    from pytensor.compile.compilelock import lock_ctx

    first = directory()
    with tempfile.TemporaryDirectory() as made:
        second = Path(made)
        with lock_ctx(first), lock_ctx(second):
            told = [locked_elsewhere(place) for place in (first, second)]
    return (*told, locked_elsewhere(first))


GRAPHS: Cases = {
    "warned.no_version": _counts(
        _warned_of_no_version, warnings_where_wanted=1, warnings_elsewhere=0
    ),
    "warned.no_pickle": _counts(_warned_of_no_pickle, warnings_at_first=1, warnings_later=0),
    "warned.directory": _counts(
        _warned_of_another_directory, warnings_of_its_own=0, warnings_of_another=1
    ),
    "once.read": _counts(_read_once, keys_read_at_first=1, keys_read_later=0),
    "once.loaded": _counts(
        _reused_in_memory, compiled_at_first=1, loaded_later=0, compiled_later=0, one_cache=1
    ),
    "once.kept": _counts(
        _kept_while_building,
        marked_after_a_build=1,
        empty_after_a_build=1,
        marked_after_a_refresh=0,
        empty_after_a_refresh=0,
        begun_after_a_refresh=1,
        warnings=0,
    ),
    "once.cleaned": _counts(
        _cleaned, broken_keys=1, old_formats=0, copies=0, broken_keys_that_are_to_be_deleted=0
    ),
    "once.locked": _counts(
        _held_while_others_ask, first_is_locked=1, second_is_locked=1, first_is_locked_later=0
    ),
    "again.compiler": _counts(
        _recompiled_for_another_compiler, compiled_with_the_same=0, compiled_with_another=1
    ),
    "again.version": _counts(_recompiled_for_another_version, compiled=1),
    "again.removed": _counts(
        _removed_while_used,
        warnings_of_lost_modules=3,
        right_warnings_of_keys=1,
        lost_modules_that_are_compiled=4,
        other_modules_that_are_compiled=0,
    ),
    "next.in_lock": _counts(
        _found_in_the_lock,
        loaded_by_key=1,
        compiled_for_the_key=0,
        loaded_by_code=1,
        compiled_for_the_code=0,
    ),
    "next.twice": _counts(
        _stored_twice, loaded=1, compiled=0, warnings=0, directories=2, after_a_clean_up=1
    ),
    "next.one_key": _counts(_stored_under_one_key, warnings=1),
    "next.refused": _counts(_refused_in_the_next_process, refused_for_its_hash=1),
    "next.unversioned": _counts(_unversioned_of_another_process, warnings=0, compiled=1),
    "next.unpicklable": _counts(_unpicklable_of_another_process, loaded=1, compiled=0),
}
