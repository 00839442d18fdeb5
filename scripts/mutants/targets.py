"""Which of PyTensor's functions are changed for mutants, and in which cells that is looked for."""

from __future__ import annotations

from dataclasses import dataclass

from observatory.benchmarks.catalogue import MODELS, Cell
from observatory.benchmarks.plan import Rounds
from scripts.faults.looks import GRAPHS

_KEY_FUNCTIONS = (
    "default_hash_key_from_props", "numba_funcify_and_cache_key", "numba_funcify_ensure_cache",
    "cache_key_for_constant", "numba_funcify_FunctionGraph", "register_funcify_and_cache_key",
    "register_funcify_default_op_cache_key",
)  # fmt: skip
_C_FUNCTIONS = (
    "get_module_hash", "get_safe_part", "KeyData", "ModuleCache.refresh",
    "ModuleCache._get_from_key", "ModuleCache._get_from_hash", "ModuleCache._update_mappings",
    "ModuleCache._add_to_cache", "ModuleCache.module_from_key", "ModuleCache.check_key",
    "get_module_cache",
)  # fmt: skip
_DISPATCH = (
    "blockwise", "compile_ops", "elemwise", "extra_ops", "linalg.constructors",
    "linalg.decomposition.dispatch", "linalg.inverse", "linalg.products", "linalg.solvers.dispatch",
    "linalg.solvers.tridiagonal", "linalg.summary", "random", "scalar", "scan",
    "signal.conv", "sparse.math", "subtensor", "tensor_basic", "typed_list",
)  # fmt: skip
"""The modules with the implementations of Ops, whose keys they make or give a version to."""
TARGETS = {
    "pytensor.link.numba.cache": ("numba", ("",)),
    "pytensor.link.numba.dispatch.basic": ("numba", _KEY_FUNCTIONS),
    "pytensor.link.c.cmodule": ("c", _C_FUNCTIONS),
    "pytensor.compile.compilelock": ("c", ("lock_ctx", "ThreadFileLocks")),
    **{f"pytensor.link.numba.dispatch.{name}": ("dispatch", ("",)) for name in _DISPATCH},
}
"""The modules, the cache that they belong to, and the functions that are changed; "": all.

Of the modules of Ops, `dispatch`, only the statements that name a key are changed.
"""


COUNTED, TRACED = Rounds(timing=0), Rounds(timing=0, counting=0, tracing=1)


@dataclass(frozen=True)
class Try:
    """A cell that a mutant is looked at in, and the graphs of it that are built; empty: all."""

    cell: Cell
    only: tuple[str, ...] = GRAPHS
    rounds: Rounds = COUNTED


_BUILT = (
    "differ.props.Choose.mode", "differ.props.Convolve2d.mode", "differ.props.TensorInv.ind",
    "differ.inputs.past_limit",
)  # fmt: skip
"""Pairs that show something only when they are built: three without keys, and one Op of more inputs
than numba takes as a tuple."""
_OF_C = (
    "differ.modules.arguments", "differ.modules.version", "differ.modules.unversioned",
    "equal.modules.one_code",
)  # fmt: skip
_NIGHTLY = (
    "sparse.dot", "sparse.dot_sparse", "sparse.structured_dot", "sparse.slope_csc",
    "sparse.slope_csr", "sparse.add_vector", "linalg.det", "linalg.eig", "linalg.inv",
    "elementwise.sign", "special.sigmoid", "special.log1mexp", "blas.dot_matrices",
)  # fmt: skip
"""Graphs of Ops that only the whole census has, which nights build."""
_KEYS = Cell("keys_quick", "pairs_keys", "NUMBA", "spawn")
_OF_OPS = tuple(
    name for name in MODELS["keys_quick"].members
    if name.startswith(
        ("differ.broadcast.", "differ.layout.", "differ.unkeyed.", "differ.inner.loop_",
         "differ.props.Alloc.", "differ.props.Elemwise.scalar_op", "equal.alloc_")
    )
)  # fmt: skip
"""Pairs whose Ops make keys of their own, of what their implementation depends on."""
TRIES: dict[str, tuple[Try, ...]] = {
    "numba": (
        Try(_KEYS),
        Try(Cell("radon", "warm_disk", "NUMBA", "spawn")),
        Try(Cell("key_cost", "key_making", "NUMBA", "spawn"), ("graphs.20",)),
        Try(Cell("closures", "siblings", "NUMBA", "fork")),
        Try(Cell("ops_quick", "census_warm", "NUMBA", "spawn")),
        Try(Cell("radon", "cold", "NUMBA", "spawn")),
        Try(_KEYS, ()),
        Try(Cell("keys", "pairs_second", "NUMBA", "spawn"), _BUILT),
        Try(Cell("radon", "warm_process", "NUMBA_NO_CACHE", "spawn")),
    ),
    "dispatch": (
        Try(_KEYS, _OF_OPS),
        Try(Cell("key_cost", "key_making", "NUMBA", "spawn"), ("graphs.20", "graphs.shared")),
        Try(_KEYS),
        Try(_KEYS, ()),
        Try(Cell("ops_quick", "census_warm", "NUMBA", "spawn")),
        Try(Cell("radon", "warm_disk", "NUMBA", "spawn")),
        Try(Cell("ops", "census_warm", "NUMBA", "spawn"), _NIGHTLY),
    ),
    "c": (
        Try(Cell("radon", "warm_disk", "C", "spawn")),
        Try(Cell("ops_quick", "census_warm", "C_VM", "spawn")),
        Try(Cell("radon", "cold", "C", "spawn")),
        Try(Cell("keys", "pairs_second", "C_VM", "spawn"), _OF_C),
        Try(Cell("c_ops", "topics", "C_VM", "spawn"), MODELS["c_ops"].members),
        Try(Cell("radon", "warm_process", "C_VM", "spawn"), rounds=TRACED),
        Try(Cell("radon", "warm_disk", "C_VM", "spawn"), rounds=TRACED),
    ),
}
"""Where a mutant is looked at, one place after the other."""

TORTURES: dict[str, tuple[str, ...]] = {
    "numba": (),
    "dispatch": (),
    "c": (
        "two_store", "lock_holder_dead", "lock_holder_stopped", "key_empty", "key_unreadable",
        "key_exchanged", "module_missing", "of_class", "of_flag", "of_compiler", "files_old",
        "removed", "marked", "copied", "compiler_fails", "cleared", "cleared_unloadable",
        "cleaned_old", "kept_old", "kept_marked", "kept_empty", "kept_key_empty",
        "kept_module_missing", "leftovers", "leftovers_empty", "full",
    ),
}  # fmt: skip
"""Faults of `observatory torture` for a mutant that no sample has found, by cache."""
