"""The faults of storing, loading and locking, and of what is left behind: the fifth file of faults.

Keys are right. What is stored is lost, or not what was stored, or costs more to get than it should.
"""

import itertools
import os
import time
from pathlib import Path
from types import ModuleType

from .faults import CACHE, DISPATCH, fault_of

_OFF = 1 + 1e-4


@fault_of(CACHE)
def rebuild_raises(_: ModuleType) -> None:
    """What was read from numba's cache cannot be made into a function again; nobody says so.

    Stands for an exception that is swallowed after the file was read.
    """
    from numba.core.caching import Cache

    load = Cache._load_overload

    def _load_overload(self: object, *args: object) -> object:
        try:
            if load(self, *args) is not None:
                raise OSError
        except OSError:
            return None

    Cache._load_overload = _load_overload


@fault_of(CACHE)
def load_raises(_: ModuleType) -> None:
    """Reading an entry of numba's cache raises, and the exception is swallowed.

    Stands for a wrong right of a file, or a path that is made wrongly.
    """
    from numba.core.caching import IndexDataCacheFile

    IndexDataCacheFile.load = lambda *_: None


@fault_of(CACHE)
def every_third_not_stored(_: ModuleType) -> None:
    """Every third function is not stored, and nobody says so.

    Stands for an error while a file is written that is swallowed, as on a full disk.
    """
    from numba.core.caching import IndexDataCacheFile

    save, number = IndexDataCacheFile.save, itertools.count(1)

    def lossy(self: object, *args: object) -> None:
        if next(number) % 3:
            save(self, *args)

    IndexDataCacheFile.save = lossy


@fault_of(CACHE)
def index_overwritten(_: ModuleType) -> None:
    """A function that is stored for other types replaces what the index had.

    Stands for an index that is written without reading it first.
    """
    from numba.core.caching import IndexDataCacheFile

    def save(self: object, key: object, data: object) -> None:
        self._save_index({key: self._data_name(1)})
        self._save_data(self._data_name(1), data)

    IndexDataCacheFile.save = save


@fault_of(CACHE)
def stored_again(_: ModuleType) -> None:
    """Whatever is loaded is stored again at once; nothing misses.

    An index that was read is a few bytes larger when it is written: equal texts in it are no longer
    one object, which pickle would write once.

    Stands for a date of last use that is kept by writing the entry.
    """
    from numba.core.caching import IndexDataCacheFile

    load = IndexDataCacheFile.load

    def loaded(self: object, key: object) -> object:
        data = load(self, key)
        if data is not None:
            self.save(key, data)
        return data

    IndexDataCacheFile.load = loaded


@fault_of(CACHE)
def index_read_often(_: ModuleType) -> None:
    """The index of a function is read 2,000 times before the function is loaded.

    Stands for a search through all indices of the directory.
    """
    from numba.core.caching import IndexDataCacheFile

    load = IndexDataCacheFile.load

    def loaded(self: object, key: object) -> object:
        for _ in range(2000):
            self._load_index()
        return load(self, key)

    IndexDataCacheFile.load = loaded


@fault_of(CACHE)
def directory_grows(module: ModuleType) -> None:
    """Each process writes another file that nobody reads into numba's cache directory.

    Stands for a temporary name that is never renamed.
    """
    (module.NUMBA_CACHE_PATH / f"unused-{os.urandom(8).hex()}.nbc").write_bytes(b"unused")


@fault_of(CACHE)
def log_grows(module: ModuleType) -> None:
    """Each process adds a line to a file in numba's cache directory.

    Stands for a log of accesses that nobody empties.
    """
    with (module.NUMBA_CACHE_PATH / "log").open("a") as file:
        file.write(f"{time.time_ns()}\n")


@fault_of("pytensor.link.c.cmodule")
def c_directory_grows(module: ModuleType) -> None:
    """Each process leaves an empty directory for a module, with one file, in the C cache.

    Stands for a module that failed to compile and whose directory stays.
    """
    refresh = module.ModuleCache.refresh

    def refreshed(self: object, *args: object, **more: object) -> object:
        found = refresh(self, *args, **more)
        left = Path(self.dirname) / f"tmp{os.urandom(4).hex()}"
        left.mkdir()
        (left / "mod.cpp").write_text("// unused\n")
        return found

    module.ModuleCache.refresh = refreshed


@fault_of("pytensor.link.c.cmodule")
def c_lock_waits(module: ModuleType) -> None:
    """C's lock is got only after 2 s.

    Stands for a lock of a process that has died, and a limit after which it is taken.
    """
    from contextlib import contextmanager

    lock = module.lock_ctx

    @contextmanager
    def lock_ctx(*args: object, **more: object) -> object:
        time.sleep(2)
        with lock(*args, **more):
            yield

    module.lock_ctx = lock_ctx


@fault_of("pytensor.link.c.cmodule")
def c_entry_lost(module: ModuleType) -> None:
    """The key of a C module is removed once it was checked, so that nobody finds the module.

    Stands for a clean-up that is too thorough.
    """
    cache = module.ModuleCache
    check = cache.check_key

    def check_key(self: object, key: object, key_pkl: str) -> None:
        check(self, key, key_pkl)
        Path(key_pkl).unlink()

    cache.check_key = check_key


@fault_of("pytensor.compile.executor")
def temporary_file_left(module: ModuleType) -> None:
    """Each compiled function leaves a file in the temporary directory.

    Stands for a generated source that is not removed.
    """
    import tempfile

    function = module.Function
    init = function.__init__

    def made(self: object, *args: object, **more: object) -> None:
        tempfile.mkstemp(prefix="left-behind-")
        init(self, *args, **more)

    function.__init__ = made


@fault_of("pytensor.compile.executor")
def graphs_kept(module: ModuleType) -> None:
    """Whatever was compiled is kept in memory for ever, with 5 MB of its own.

    Stands for a memo without weak references.
    """
    function, kept = module.Function, []
    init = function.__init__

    def made(self: object, *args: object, **more: object) -> None:
        init(self, *args, **more)
        kept.append((self, bytearray(5_000_000)))

    function.__init__ = made


@fault_of(CACHE)
def descriptors_left(_: ModuleType) -> None:
    """Each function that is loaded leaves an open file.

    Stands for a file that is opened and never closed.
    """
    from numba.core.caching import IndexDataCacheFile

    load, left = IndexDataCacheFile.load, []

    def loaded(self: object, key: object) -> object:
        data = load(self, key)
        if data is not None:
            left.append(os.open(self._index_path, os.O_RDONLY))
        return data

    IndexDataCacheFile.load = loaded


@fault_of("pytensor.compile.executor")
def off_after_reload(module: ModuleType) -> None:
    """A function that came from numba's cache returns values that are 1e-4 too large.

    Stands for a constant that is stored with too few digits.
    """
    import sys

    import numpy

    function = module.Function
    call = function.__call__

    def loaded() -> bool:
        cache = sys.modules.get("numba.core.caching")
        return cache is not None and getattr(cache, "observatory_loaded", False)

    def watch() -> None:
        from numba.core import caching

        once = caching.IndexDataCacheFile.load

        def load(self: object, key: object) -> object:
            data = once(self, key)
            if data is not None and "fgraph" in self._index_name:
                caching.observatory_loaded = True
            return data

        caching.IndexDataCacheFile.load = load

    def called(self: object, *args: object, **more: object) -> object:
        found = call(self, *args, **more)
        if not loaded() or not isinstance(found, list):
            return found
        return [numpy.asarray(one) * _OFF for one in found]

    function.__call__ = called
    watch()


@fault_of(CACHE)
def wrong_overload_loaded(_: ModuleType) -> None:
    """What is loaded is what the index has first, whatever types are asked for.

    Stands for a comparison of types that leaves out their layout.
    """
    from numba.core.caching import IndexDataCacheFile

    def load(self: object, _: object) -> object:
        known = self._load_index()
        return self._load_data(next(iter(known.values()))) if known else None

    IndexDataCacheFile.load = load


@fault_of("pytensor.link.numba.dispatch.random")
def draws_changed(module: ModuleType) -> None:
    """Draws of HalfNormal are twice as large, and their key is as before.

    Stands for a correction of an implementation that forgot its version: what an earlier release
    stored goes on being used.
    """
    import numba
    from pytensor.tensor.random import basic

    def core(_op: object, _node: object) -> object:
        @numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
        def random_fn(rng, loc, scale):
            return 2 * (loc + scale * abs(rng.standard_normal()))

        return random_fn

    module.numba_core_rv_funcify.register(basic.HalfNormalRV)(core)


@fault_of(DISPATCH)
def inner_not_asked(module: ModuleType) -> None:
    """Functions of Ops are compiled without asking the cache; the graph's function is cached.

    Stands for a caching flag that got lost on the way.
    """
    njit = module.numba_njit

    def numba_njit(*args: object, **more: object) -> object:
        more.pop("cache", None)
        return njit(*args, **more)

    module.numba_njit = numba_njit
