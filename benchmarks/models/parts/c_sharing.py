"""What PyTensor's C cache does beside returning modules: each graph returns what was counted.

A cache that reads files again, warns of nothing or forgets too little returns the same numbers,
and slows its users down or leaves them with modules that are gone. Other processes are forks, which
share the directory and know nothing of each other's modules.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .c_cache import (
    cache_of_process,
    counted,
    directory_of,
    in_another_process,
    new_directories,
    remove,
    stored_apart,
    watched,
)
from .ops.case import Case, Cases, difference

_Work = Callable[[Any], tuple[float, ...]]
"""Takes the mode and returns what was counted."""


def _counts(work: _Work, *right: float) -> Case:
    def compiled(mode: Any) -> Callable[[Any], Any]:
        import numpy as np

        return lambda _: np.array(work(mode), dtype="float64")

    def rights() -> Any:
        import numpy as np

        return np.array(right, dtype="float64")

    return Case(compiled, lambda value: difference(value, rights()), right=rights)


def _built(op: Any, mode: Any) -> Any:
    """Compile a function of an Op; return its value at the point."""
    import pytensor
    import pytensor.tensor as pt

    from .small import point

    x = pt.vector("x", dtype="float64")
    return pytensor.function([x], op(x), mode=mode)(point())


def _scaled(factor: float, known: object = None, version: tuple[int, ...] = (1,)) -> Any:
    from .c_ops import Scaled

    return Scaled(factor, known, version)


def _unpicklable(factor: float, name: str) -> Any:
    from .c_ops import Unpicklable

    return _scaled(factor, Unpicklable(name))


def _rehashed(factor: float, number: int) -> Any:
    from .c_ops import Rehashed

    return Rehashed(factor, number)


def _warned_of_no_version(mode: Any) -> tuple[float, ...]:
    """Warnings of an Op without a version: where the flag asks for them, and where it does not."""
    import pytensor

    told = []
    for factor, wanted in ((20.0, True), (21.0, False)):
        with watched() as seen, pytensor.config.change_flags(cmodule__warn_no_version=wanted):
            _built(_scaled(factor, factor, ()), mode)
        told.append(seen.warned("c_code_cache_version"))
    return tuple(told)


def _warned_of_no_pickle(mode: Any) -> tuple[float, ...]:
    """Warnings when an Op that cannot be pickled is compiled, and when it is used again."""
    told = []
    for _ in range(2):
        with watched() as seen:
            _built(_unpicklable(22.0, "one"), mode)
        told.append(seen.warned("unpickle-able"))
    return tuple(told)


def _warned_of_another_directory(_: Any) -> tuple[float, ...]:
    """Warnings when the process asks for its directory, and for another one that it cannot have."""
    told = []
    for directory in (None, "/another"):
        with watched() as seen:
            cache_of_process(directory)
        told.append(seen.warned("different dirname"))
    return tuple(told)


def _read_once(mode: Any) -> tuple[float, ...]:
    """Keys of other modules that are read: first after another process has stored one, then not."""
    _built(_scaled(23.0, 23), mode)
    in_another_process(lambda: _built(_scaled(24.0, 24), mode))
    told = []
    for factor in (25, 26):
        with watched() as seen:
            _built(_scaled(float(factor), factor), mode)
        told.append(seen.read_of_others)
    return tuple(told)


def _reused_in_memory(mode: Any) -> tuple[float, ...]:
    """Modules that are loaded and compiled when an Op is used again; the caches of one process."""
    _built(_scaled(27.0, 27), mode)
    with counted() as found:
        _built(_scaled(27.0, 27), mode)
    return found.loaded, found.compiled, float(cache_of_process() is cache_of_process())


def _recompiled_for_another_compiler(mode: Any) -> tuple[float, ...]:
    """Modules that are compiled when an Op is used again, and when g++ has another name."""
    import pytensor

    _built(_scaled(28.0, 28), mode)
    with tempfile.TemporaryDirectory() as place:
        other = Path(place) / Path(pytensor.config.cxx).name
        other.symlink_to(pytensor.config.cxx)
        told = []
        for compiler in (pytensor.config.cxx, str(other)):
            with pytensor.config.change_flags(cxx=compiler), counted() as found:
                _built(_scaled(28.0, 28), mode)
            told.append(found.compiled)
    return tuple(told)


def _recompiled_for_another_version(mode: Any) -> tuple[float, ...]:
    """The factors of an Op whose code includes a file, which differs between two versions."""
    from .c_ops import Included, defined

    place = directory_of(cache_of_process())

    def included(factor: int) -> float:
        defined(factor, place)
        return float(_built(Included(factor, place), mode)[0] / 0.75)

    in_another_process(lambda: included(39))
    return (included(40),)


def _removed_while_used(mode: Any) -> tuple[float, ...]:
    """Another process deletes modules, of which this one uses three and knows a fourth.

    Returned are its warnings of modules in use and of keys (which it leaves out below /tmp), the
    modules that it compiles to use all four again, and those for one that nobody has deleted.
    """
    kept = _scaled(29.0, 29)
    ops = [_scaled(30.0, 30), _scaled(31.0, 31, ()), _unpicklable(32.0, "one")]
    known = _scaled(33.0, 33)
    gone = new_directories(lambda: [_built(op, mode) for op in ops])
    gone += new_directories(lambda: in_another_process(lambda: _built(known, mode)))
    _built(kept, mode)
    remove(gone)
    with watched() as seen:
        _built(_scaled(34.0, 34), mode)
    below_tmp = directory_of(cache_of_process()).startswith("/tmp")  # noqa: S108 - as PyTensor asks
    keys = seen.warned("Removing key file") - 2 * (not below_tmp)
    with counted() as again:
        values = [_built(op, mode) for op in (*ops, known)]
    with counted() as left:
        values.append(_built(kept, mode))
    factors = [float(value[0] / 0.75) for value in values]
    return seen.warned("can no longer be read"), keys, again.compiled, left.compiled, *factors


def _refused_in_the_next_process(mode: Any) -> tuple[float, ...]:
    """An Op is refused that equals one of another process and has another hash."""
    in_another_process(lambda: _built(_rehashed(35.0, 1), mode))
    try:
        _built(_rehashed(36.0, 2), mode)
    except AssertionError:
        return (1.0,)
    return (0.0,)


def _unversioned_of_a_killed_process(mode: Any) -> tuple[float, ...]:
    """What a process finds after one that was killed: no key without a version, and no module."""
    op, equal = (_scaled(37.0, name, ()) for name in ("one", "other"))
    in_another_process(lambda: (_built(op, mode), _built(equal, mode)))
    with watched() as seen, counted() as found:
        _built(op, mode)
    return seen.warned("unversioned"), found.compiled


def _unpicklable_of_another_process(mode: Any) -> tuple[float, ...]:
    """Modules that the next process compiles after two Ops of one code that cannot be pickled."""
    op, equal = (_unpicklable(38.0, name) for name in ("one", "other"))
    in_another_process(lambda: (_built(op, mode), _built(equal, mode)))
    with counted() as found:
        _built(op, mode)
    return (found.compiled,)


def _found_after_waiting(mode: Any) -> tuple[float, ...]:
    """Modules that are loaded and compiled which another process stored meanwhile.

    The first is found by its key, and the second by its code: its key is another one.
    """
    cache_of_process()  # which has read the directory before the other process stores something
    told = []
    for factor, theirs, ours in ((41.0, "first", "first"), (42.0, "second", "third")):
        stored = _scaled(factor, theirs)
        in_another_process(partial(_built, stored, mode))
        with counted() as found:
            _built(_scaled(factor, ours), mode)
        told += [found.loaded, found.compiled]
    return tuple(told)


def _kept_while_building(mode: Any) -> tuple[float, ...]:
    """What a build leaves alone that others have left, and what reading the directory anew does.

    There are a directory that is to be deleted, an empty one, and one in which a module is being
    compiled. The last of them must stay.
    """
    root = Path(directory_of(cache_of_process()))
    marked, empty, begun = (root / f"tmp{name}" for name in ("marked", "empty", "begun"))
    for one in (marked, empty, begun):
        one.mkdir()
    (marked / "delete.me").touch()
    (begun / "mod.cpp").touch()
    _built(_scaled(43.0, 43), mode)
    told = [float(one.exists()) for one in (marked, empty)]
    with watched() as seen:
        cache_of_process().refresh()
    told += [float(one.exists()) for one in (marked, empty, begun)]
    return (*told, float(len(seen.warnings)))


def _stored_twice(mode: Any) -> tuple[float, ...]:
    """What is compiled and warned of where two processes have stored one module, and what stays."""

    def build() -> Any:
        return _built(_scaled(44.0, 44), mode)

    added = stored_apart(build, build)
    with watched() as seen, counted() as found:
        build()
        cache_of_process().refresh()
    return found.compiled, seen.warned("same cache key"), sum(one.exists() for one in added)


def _stored_under_one_key(mode: Any) -> tuple[float, ...]:
    """Warnings where two processes have stored two modules under one key."""
    ops = [_scaled(factor, "one key") for factor in (45.0, 46.0)]
    stored_apart(*(partial(_built, op, mode) for op in ops))
    with watched() as seen:
        _built(ops[0], mode)
    return (seen.warned("same cache key"),)


GRAPHS: Cases = {
    "warned.no_version": _counts(_warned_of_no_version, 1, 0),
    "warned.no_pickle": _counts(_warned_of_no_pickle, 1, 0),
    "warned.directory": _counts(_warned_of_another_directory, 0, 1),
    "once.read": _counts(_read_once, 1, 0),
    "once.loaded": _counts(_reused_in_memory, 0, 0, 1),
    "again.compiler": _counts(_recompiled_for_another_compiler, 0, 1),
    "again.version": _counts(_recompiled_for_another_version, 40),
    "again.removed": _counts(_removed_while_used, 3, 0, 4, 0, 30, 31, 32, 33, 29),
    "once.kept": _counts(_kept_while_building, 1, 1, 0, 0, 1, 0),
    "next.waited": _counts(_found_after_waiting, 1, 0, 1, 0),
    "next.twice": _counts(_stored_twice, 0, 0, 2),
    "next.one_key": _counts(_stored_under_one_key, 1),
    "next.refused": _counts(_refused_in_the_next_process, 1),
    "next.unversioned": _counts(_unversioned_of_a_killed_process, 0, 1),
    "next.unpicklable": _counts(_unpicklable_of_another_process, 0),
}
