"""The faults of the keys of whole graphs, constants and draws: the fourth file of faults.

Some of them make keys unstable, so that everything is compiled again; others make them equal for
different graphs, so that a cache returns the code of another graph.
"""

import itertools
import os
import re
import time
from collections.abc import Callable
from types import ModuleType

from .faults import CACHE, DISPATCH, change_op_keys, fault_of

_LARGE, _HUGE = 100, 500
"""Nodes from which on a graph counts as large."""


def _change_graph_keys(module: ModuleType, changed: Callable[[str, object], object]) -> None:
    """Change the keys of graphs: ``changed(key, graph)`` returns the new key."""

    def of_op(key: str, op: object, _: object) -> object:
        return changed(key, op) if isinstance(op, module.AbstractFunctionGraph) else key

    change_op_keys(module, of_op)


def _change_what_is_hashed(module: ModuleType, changed: Callable[[str], str]) -> None:
    """Change the text from which the key of a graph is made, before it is hashed."""
    hashed = module.sha256

    def sha256(text: bytes) -> object:
        if text.startswith((b"(<class 'pytensor.graph.fg.", b"(<class 'pytensor.graph.basic.")):
            text = changed(text.decode()).encode()
        return hashed(text)

    module.sha256 = sha256


@fault_of(DISPATCH)
def key_has_address(module: ModuleType) -> None:
    """The keys of Elemwise contain the address of a class.

    Stands for the default `repr` of an object in a key, or for `id()`.
    """
    change_op_keys(
        module,
        lambda key, op, _: f"{key}-{id(type(op))}" if "Elemwise" in type(op).__name__ else key,
    )


@fault_of(DISPATCH)
def key_has_time(module: ModuleType) -> None:
    """The keys of graphs contain the time at which they are made.

    Stands for a date of a generated file in a key.
    """
    _change_graph_keys(module, lambda key, _: f"{key}-{time.time_ns()}")


@fault_of(DISPATCH)
def key_has_counter(module: ModuleType) -> None:
    """The keys of graphs contain how many graphs this process has converted before.

    Stands for a name with a number in it, such as those of variables without a name.
    """
    numbers = itertools.count()
    _change_graph_keys(module, lambda key, _: f"{key}-{next(numbers)}")


@fault_of(DISPATCH)
def key_has_directory(module: ModuleType) -> None:
    """The keys of graphs contain the directory of temporary files.

    Stands for the path of a generated source in a key.
    """
    _change_graph_keys(module, lambda key, _: f"{key}-{os.environ['TMPDIR'].replace('/', '-')}")


@fault_of(DISPATCH)
def constants_salted(module: ModuleType) -> None:
    """The keys of constants differ between processes; those of Ops are right.

    Stands for a constant that is hashed with something of the process.
    """
    stable = module.cache_key_for_constant
    module.cache_key_for_constant = lambda data: f"{stable(data)}-{os.getpid()}"


@fault_of(DISPATCH)
def gradient_graph_unstable(module: ModuleType) -> None:
    """The key of a graph with several outputs differs between processes.

    Stands for the order of a set of outputs in a key.
    """

    def changed(key: str, graph: object) -> str:
        return f"{key}-{os.getpid()}" if len(graph.outputs) > 1 else key

    _change_graph_keys(module, changed)


@fault_of(DISPATCH)
def one_output_unstable(module: ModuleType) -> None:
    """The key of a graph with one output differs between processes; radon has two outputs.

    Stands for a branch of its own for graphs that return no tuple.
    """

    def changed(key: str, graph: object) -> str:
        return f"{key}-{os.getpid()}" if len(graph.outputs) == 1 else key

    _change_graph_keys(module, changed)


@fault_of(DISPATCH)
def draws_unstable(module: ModuleType) -> None:
    """The keys of random variables differ each time; radon has none.

    Stands for the state of a generator in a key.
    """

    def changed(key: str, op: object, _: object) -> str:
        named = "RandomVariable" in type(op).__name__
        return f"{key}-{os.urandom(8).hex()}" if named else key

    change_op_keys(module, changed)


@fault_of(DISPATCH)
def large_graph_not_cached(module: ModuleType) -> None:
    """A graph of more than 100 nodes has no key; radon has fewer.

    Stands for a limit that was set too low.
    """
    _limit_graphs(module, _LARGE)


@fault_of(DISPATCH)
def huge_graph_not_cached(module: ModuleType) -> None:
    """A graph of more than 500 nodes has no key; what every comparison builds has fewer.

    Stands for a limit that was set too low, and high enough to be seen by few.
    """
    _limit_graphs(module, _HUGE)


def _limit_graphs(module: ModuleType, most: int) -> None:
    def changed(key: str, graph: object) -> object:
        return None if len(graph.apply_nodes) > most else key

    _change_graph_keys(module, changed)


@fault_of(DISPATCH)
def constants_share_a_key(module: ModuleType) -> None:
    """The key of an array says its type and its length, and not its numbers.

    Stands for a hash of a large array that leaves out its bytes because that is quicker.
    """
    stable = module.cache_key_for_constant

    def cache_key_for_constant(data: object) -> str:
        shape, dtype = getattr(data, "shape", ()), getattr(data, "dtype", None)
        return f"{dtype}{shape}" if shape else stable(data)

    module.cache_key_for_constant = cache_key_for_constant


@fault_of(DISPATCH)
def outputs_dropped(module: ModuleType) -> None:
    """The key of a graph leaves out which of its values it returns.

    Stands for a key that is made of the nodes alone.
    """

    def changed(text: str) -> str:
        return re.sub(r", \((?:\(-?\d+, [^()]*\),? ?)+\)\)$", ")", text)

    _change_what_is_hashed(module, changed)


@fault_of(DISPATCH)
def edges_dropped(module: ModuleType) -> None:
    """The key of a graph leaves out which inputs its nodes have.

    Stands for a key that is made of the Ops in their order.
    """
    _change_what_is_hashed(module, lambda text: re.sub(r"\((\d+), \d+\)", r"(\1)", text))


@fault_of(DISPATCH)
def keys_truncated(module: ModuleType) -> None:
    """The keys of Ops have one hexadecimal digit: some of a hundred Ops share one.

    Stands for a hash that was shortened too much.
    """
    whole = module.default_hash_key_from_props
    module.default_hash_key_from_props = lambda op, **more: whole(op, **more)[:1]


@fault_of(DISPATCH)
def scalar_op_dropped(module: ModuleType) -> None:
    """The key of Elemwise leaves out what is done with each element.

    Stands for a key that is made of the outer Op alone.
    """
    change_op_keys(
        module, lambda key, op, _: "elemwise" if type(op).__name__ == "Elemwise" else key
    )


@fault_of(DISPATCH)
def shared_key_in_float32(module: ModuleType) -> None:
    """With floatX=float32, the key of CumOp leaves out its axis.

    Stands for a branch of the key that only a setting reaches.
    """
    if module.config.floatX == "float32":
        change_op_keys(
            module, lambda key, op, _: "cumulative" if type(op).__name__ == "CumOp" else key
        )


@fault_of(DISPATCH)
def fastmath_dropped(module: ModuleType) -> None:
    """The key does not say whether a function was compiled with the flag fastmath.

    Stands for a flag that was added to the compiler and not to the key.
    """
    make = module.compile_numba_function_src

    def compile_numba_function_src(*args: object, cache_key: str | None, **more: object) -> object:
        key = None if cache_key is None else cache_key.partition("_fastmath")[0]
        return make(*args, cache_key=key, **more)

    module.compile_numba_function_src = compile_numba_function_src


@fault_of(DISPATCH)
def keys_pickled_twice(module: ModuleType) -> None:
    """The key of each constant is made three times.

    Stands for a hash that is not kept.
    """
    once = module.cache_key_for_constant

    def cache_key_for_constant(data: object) -> str:
        once(data)
        once(data)
        return once(data)

    module.cache_key_for_constant = cache_key_for_constant


@fault_of(CACHE)
def stamp_of_process(module: ModuleType) -> None:
    """What says that an entry is fresh differs between processes.

    Stands for the start of the process, in place of the version of the package.
    """
    module.NumbaPyTensorCacheLocator.get_source_stamp = lambda _: os.getpid()
