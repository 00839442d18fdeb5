"""The faults of caches that scripts/faults/kit.py puts into PyTensor; see also faults_of_time.py.

Each is a function of one of PyTensor's modules. A wheel contains this file and runs one of the
functions when its module has been imported. Nothing else may be imported at the top: it would be
imported at the start of every process.
"""

import itertools
import os
import time
from collections.abc import Callable
from types import ModuleType

PutInto = Callable[[ModuleType], None]
FAULTS: dict[str, tuple[str, PutInto]] = {}
"""Name -> the module of PyTensor, and what to do with it."""
CACHE = "pytensor.link.numba.cache"
DISPATCH = "pytensor.link.numba.dispatch.basic"


def fault_of(module: str) -> Callable[[PutInto], PutInto]:
    """Register a function under its name as a fault of a module."""

    def register(put_into: PutInto) -> PutInto:
        FAULTS[put_into.__name__] = module, put_into
        return put_into

    return register


def change_numba_keys(module: ModuleType, changed: Callable[[str], str]) -> None:
    """Change every key under which numba stores a function."""
    locator = module.NumbaPyTensorCacheLocator
    stable = locator.get_disambiguator
    locator.get_disambiguator = lambda self: changed(stable(self))


def change_op_keys(module: ModuleType, changed: Callable[..., object]) -> None:
    """Change the keys of Ops: ``changed(key, op, options)`` returns the new key."""
    from functools import wraps

    funcify = module.numba_funcify_and_cache_key

    @wraps(funcify)  # keeps the attributes of the dispatcher, such as `register`
    def numba_funcify_and_cache_key(op: object, *args: object, **options: object) -> tuple:
        function, key = funcify(op, *args, **options)
        return function, None if key is None else changed(key, op, options)

    module.numba_funcify_and_cache_key = numba_funcify_and_cache_key


@fault_of(CACHE)
def key_salted(module: ModuleType) -> None:
    """Every key of the numba cache differs between processes.

    Stands for a key that is made from something of the process, such as the default `repr` of an
    object, which contains its address, or the name of a temporary file.
    """
    change_numba_keys(module, lambda key: f"{key}-{os.getpid()}")


@fault_of(CACHE)
def key_hash_seed(module: ModuleType) -> None:
    """Every key of the numba cache depends on the seed of string hashes.

    Stands for a key that is made from `hash()` of a string, or from the order of a set of strings.
    Forked siblings share the seed, and so their keys.
    """
    change_numba_keys(module, lambda key: f"{key}-{hash(key)}")


@fault_of(DISPATCH)
def outer_not_cached(module: ModuleType) -> None:
    """The outer graph is never cached; the functions of its Ops are.

    Stands for an Op or a constant without a key: the graph around it then has no key either, and
    numba is told not to store it.
    """

    def changed(key: object, op: object, options: dict[str, object]) -> object:
        # Every graph passes the names of its variables on to the graphs in it.
        outer = isinstance(op, module.AbstractFunctionGraph) and "unique_name" not in options
        return None if outer else key

    change_op_keys(module, changed)


@fault_of(DISPATCH)
def op_key_unstable(module: ModuleType) -> None:
    """The key of one Op, Split, differs each time.

    Stands for a property in the key that has no stable text, such as a function or a random
    generator. The key of a graph with this Op changes too.
    """

    def changed(key: object, op: object, _: object) -> object:
        return f"{key}-{os.urandom(8).hex()}" if type(op).__name__ == "Split" else key

    change_op_keys(module, changed)


@fault_of(CACHE)
def cache_dir_removed(module: ModuleType) -> None:
    """The directory of the numba cache is removed after PyTensor was imported.

    Stands for a clean-up at start, or for a temporary directory that somebody else empties:
    PyTensor makes the directory when it is imported and never checks it again.
    """
    import shutil

    shutil.rmtree(module.NUMBA_CACHE_PATH)


@fault_of(CACHE)
def saved_never_loaded(module: ModuleType) -> None:
    """Functions are stored in the numba cache and never loaded, although the keys are right.

    Stands for a stamp that is always newer than the stored function, such as the date of a source
    file that each process writes anew: numba then considers the entry out of date.
    """
    module.NumbaPyTensorCacheLocator.get_source_stamp = lambda _: time.time_ns()


@fault_of(DISPATCH)
def variable_names_in_keys(module: ModuleType) -> None:
    """Keys of Ops in the numba cache contain the names of their inputs in the generated code.

    Stands for a key that is made from generated source. A graph that is built again has the same
    names and hits; other graphs, and parts of one graph, share almost nothing.
    """

    def changed(key: object, _: object, options: dict) -> object:
        from hashlib import sha256

        node, name_of = options.get("node"), options.get("unique_name")
        if node is None or name_of is None:
            return key
        return sha256(f"{key} {[name_of(each) for each in node.inputs]}".encode()).hexdigest()

    change_op_keys(module, changed)


@fault_of(CACHE)
def uid_counter(module: ModuleType) -> None:
    """Compiled functions are numbered 1, 2, 3 again, so forked siblings use the same numbers.

    Stands for the loss of the protection in PyTensor 2.38.3 (random numbers of 128 bits). Siblings
    store functions of one name under one symbol, and a process that loads both calls the wrong one:
    https://github.com/numba/numba/issues/10486
    """
    module.FunctionIdentity._unique_ids = itertools.count(1)


@fault_of("pymc.sampling.forward")
def predicts_twice(module: ModuleType) -> None:
    """Each posterior predictive compiles one more PyTensor function, which nobody calls.

    Stands for a function that is compiled again where one that exists would do.
    """
    make = module.compile_forward_sampling_function

    def compile_forward_sampling_function(*args: object, **options: object) -> object:
        import pytensor

        x = pytensor.tensor.dscalar("x")
        pytensor.function([x], x + 1)
        return make(*args, **options)

    module.compile_forward_sampling_function = compile_forward_sampling_function


@fault_of("pytensor.tensor.type")
def c_key_salted(module: ModuleType) -> None:
    """Every key of the C module cache differs between processes.

    Stands for a version of an Op or a type that is made from something of the process. The version
    is part of the hash of the source; with another part of the key, PyTensor would find the same
    source under another key and compile nothing.
    """
    stable = module.TensorType.c_code_cache_version

    def c_code_cache_version(self: object) -> tuple[int, ...]:
        version = stable(self)
        return (*version, os.getpid()) if version else version

    module.TensorType.c_code_cache_version = c_code_cache_version


@fault_of("numba.core.caching")
def numba_index_of_process(module: ModuleType) -> None:
    """What numba finds in its own index of stored functions differs between processes.

    Stands for a release of numba with something of the process in its key, such as an address.
    PyTensor's keys are as before: no release of PyTensor is to blame.
    """
    stable = module.Cache._index_key
    module.Cache._index_key = lambda self, *args: (*stable(self, *args), os.getpid())
