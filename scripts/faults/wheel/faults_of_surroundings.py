"""The faults that need something around the process: a setting, a start method, a second process.

The sixth file of faults. A sample as usual need not show them.
"""

import itertools
import os
import sys
import time
from types import ModuleType

from .faults import CACHE, DISPATCH, change_op_keys, fault_of


@fault_of("pytensor.configdefaults")
def fork_loses_cache(module: ModuleType) -> None:
    """In a process that was forked, numba's cache is off.

    Stands for a protection against forks that does too much.
    """

    def off() -> None:
        module.config.numba__cache = False

    os.register_at_fork(after_in_child=off)


@fault_of(CACHE)
def uid_of_hash_seed(module: ModuleType) -> None:
    """Compiled functions are numbered from the seed of string hashes on, which forks share.

    Stands for random numbers whose seed is not random.
    """
    module.FunctionIdentity._unique_ids = itertools.count(hash("seed") % 1000 + 1)


@fault_of(CACHE)
def spawn_loses_cache(module: ModuleType) -> None:
    """In a process that was not forked, numba's cache is off.

    Stands for a setting that only a parent hands on.
    """
    module.config.numba__cache = False

    def on() -> None:
        module.config.numba__cache = True

    os.register_at_fork(after_in_child=on)


@fault_of(CACHE)
def warns_while_building(module: ModuleType) -> None:
    """Making the key of a function warns of something that is deprecated.

    Stands for an old name that is still used: with -W error, nothing can be built.
    """
    import warnings

    locator = module.NumbaPyTensorCacheLocator
    once = locator.get_disambiguator

    def get_disambiguator(self: object) -> str:
        warnings.warn("an old name", FutureWarning, stacklevel=1)
        return once(self)

    locator.get_disambiguator = get_disambiguator


@fault_of(CACHE)
def optimised_loses_store(_: ModuleType) -> None:
    """With python -O, nothing is stored.

    Stands for a call inside of an assertion, which -O leaves out.
    """
    if sys.flags.optimize:
        from numba.core.caching import IndexDataCacheFile

        IndexDataCacheFile.save = lambda *_: None


@fault_of(CACHE)
def other_file_system_raises(_: ModuleType) -> None:
    """An entry is written to the temporary directory and renamed into the cache.

    Stands for a rename between file systems, which no system allows.
    """
    import contextlib
    import tempfile

    from numba.core.caching import IndexDataCacheFile

    @contextlib.contextmanager
    def _open_for_write(_: object, path: str) -> object:
        with tempfile.NamedTemporaryFile("wb", delete=False) as file:
            yield file
        os.rename(file.name, path)  # noqa: PTH104 - as numba does

    IndexDataCacheFile._open_for_write = _open_for_write


@fault_of(DISPATCH)
def threads_change_keys(module: ModuleType) -> None:
    """With several threads, the key of each Op differs each time.

    Stands for a pool of threads whose order gets into a key.
    """
    if os.environ.get("NUMBA_NUM_THREADS", "1") != "1":
        change_op_keys(module, lambda key, _, __: f"{key}-{os.urandom(8).hex()}")


@fault_of(DISPATCH)
def locale_crashes(_: ModuleType) -> None:
    """With the locale C, converting a graph raises.

    Stands for a file that is opened without saying its encoding.
    """
    if os.environ.get("LC_ALL") == "C":
        raise UnicodeDecodeError("ascii", b"\xc3", 0, 1, "ordinal not in range(128)")


@fault_of("pytensor.compile.executor")
def call_sleeps(module: ModuleType) -> None:
    """Each call of a compiled function sleeps for a millisecond.

    Stands for a wait for another thread.
    """
    function = module.Function
    call = function.__call__

    def __call__(self: object, *args: object, **more: object) -> object:  # noqa: N807
        time.sleep(0.001)
        return call(self, *args, **more)

    function.__call__ = __call__


@fault_of("pytensor.compile.maker")
def garbage_collected(module: ModuleType) -> None:
    """Each build collects garbage twenty times.

    Stands for a call that somebody added while looking for a leak.
    """
    import gc

    maker = module.FunctionMaker
    create = maker.create

    def created(self: object, *args: object, **more: object) -> object:
        for _ in range(20):
            gc.collect()
        return create(self, *args, **more)

    maker.create = created


@fault_of("pytensor.compile.maker")
def memory_for_a_moment(module: ModuleType) -> None:
    """Each build uses 400 MB for a moment.

    Stands for a copy of everything.
    """
    maker = module.FunctionMaker
    create = maker.create

    def created(self: object, *args: object, **more: object) -> object:
        del (taken := bytearray(400_000_000))[:]
        del taken
        return create(self, *args, **more)

    maker.create = created


@fault_of("pytensor.configdefaults")
def imports_more(_: ModuleType) -> None:
    """Importing PyTensor imports scipy.stats and http.server.

    Stands for an import at the top of a module that only a few functions need.
    """
    import http.server  # noqa: F401

    import scipy.stats  # noqa: F401


@fault_of("pytensor.compile.executor")
def global_seed_set(module: ModuleType) -> None:
    """Making a function sets the seed of NumPy's global generator.

    Stands for a test that was left in: the draws of a user repeat.
    """
    import numpy

    function = module.Function
    init = function.__init__

    def made(self: object, *args: object, **more: object) -> None:
        init(self, *args, **more)
        numpy.random.seed(0)

    function.__init__ = made


@fault_of("pytensor.link.numba.dispatch.random")
def draws_repeat(module: ModuleType) -> None:
    """A draw of Normal ignores the generator.

    Stands for a generator that is copied and not updated.
    """
    import numba
    from pytensor.tensor.random import basic

    def core(_op: object, _node: object) -> object:
        @numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
        def random_fn(rng, mu, sigma):  # noqa: ARG001 - numba compiles it
            return mu + 0.5 * sigma

        return random_fn

    module.numba_core_rv_funcify.register(basic.NormalRV)(core)
