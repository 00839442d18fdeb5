"""Where the table of faults looks for each fault: its class, its cells and its passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from observatory.benchmarks.catalogue import SCENARIOS, Cell
from observatory.benchmarks.plan import Rounds
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from scripts.faults.record import Class

_NIGHTLY = Rounds(timing=0, counting=1, tracing=1)
COUNTED, TRACED = Rounds(timing=0, counting=1), Rounds(timing=0, counting=1, tracing=2)
TIMED = Rounds(timing=10, counting=1, tracing=1)
WORKED = Rounds(timing=0, counting=0, tracing=1, work=1)


@dataclass(frozen=True)
class Look:
    """How the table looks for one fault."""

    of: Class
    cells: tuple[str, ...]
    rounds: Rounds = COUNTED
    under: str = ""
    """The setting, other than usual, of both sides: see SETTINGS."""
    blind: bool = True
    """Whether fault and expectation were written before the probes were read."""

    whole: bool = False
    """Whether all graphs of each model are built, and not only `GRAPHS`."""
    nightly: bool = False
    """Whether warm builds are also traced, as in a night."""

    def places(self) -> tuple[Cell, ...]:
        """The cells."""
        return tuple(Cell(*text.split()) for text in self.cells)

    def rounds_of(self) -> Mapping[Cell, Rounds]:
        """The cells that have other rounds."""
        every = self.places() if self.nightly else ()
        return {cell: _NIGHTLY for cell in every
                if SCENARIOS[cell.scenario].matrix and SCENARIOS[cell.scenario].warm}  # fmt: skip


@dataclass(frozen=True)
class Under:
    """Flags and variables of a process."""

    flags: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


SETTINGS = {
    "": Under(),
    "floatX=float32": Under("floatX=float32"),
    "PYTHONWARNINGS=error": Under(variables={"PYTHONWARNINGS": "error::FutureWarning"}),
    "PYTHONOPTIMIZE=1": Under(variables={"PYTHONOPTIMIZE": "1"}),
    "TMPDIR elsewhere": Under(variables={"TMPDIR": "/dev/shm"}),  # noqa: S108
    "NUMBA_NUM_THREADS=2": Under(variables={"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}),
    "LC_ALL=C": Under(variables={"LC_ALL": "C"}),
}

DISK, DISK_FORK = "radon warm_disk NUMBA spawn", "radon warm_disk NUMBA fork"
PROCESS = "radon warm_process NUMBA spawn"
COLD, CALL = "radon cold NUMBA spawn", "radon call NUMBA spawn"
C_COLD, C_DISK = "radon cold C spawn", "radon warm_disk C spawn"
C_PROCESS = "radon warm_process C spawn"
VARIANTS = "radon variants NUMBA spawn"
CANARY = "closures siblings NUMBA fork"
CENSUS, KEYS = "ops_quick census_warm NUMBA spawn", "keys_quick pairs_keys NUMBA spawn"
MAKING, UPGRADE = "key_cost key_making NUMBA spawn", "randoms upgrade NUMBA spawn"
_SEEN = {"blind": False}
_BOTH_CENSUSES = (CENSUS, "ops_quick census_cold NUMBA spawn")
_BOTH_LAUNCHES = (DISK, DISK_FORK, PROCESS)

_PAIRS = (
    "differ.broadcast.elemwise", "differ.edges.operands", "differ.edges.chain",
    "differ.edges.input_or_output", "differ.inputs.number", "differ.outputs.order",
    "differ.outputs.chain_order", "differ.version.none", "differ.version.pickled",
    "differ.constant.value", "differ.constant.dtype", "differ.constant.scalar",
    "differ.constant.integer", "differ.constant.shape", "differ.constant.slice",
    "differ.flags.fastmath", "differ.props.Elemwise.scalar_op", "differ.props.CumOp.axis",
    "differ.props.Cholesky.lower", "differ.props.normal.dtype", "differ.inner.from_graph_op",
    "differ.inner.scan_constant", "differ.props.Subtensor.idx_list", "equal.again",
    "equal.pickled", "equal.again_solve", "equal.constant", "equal.names",
)  # fmt: skip
GRAPHS = (
    *_PAIRS, "elementwise.composite", "wide.chain_120", "wide.chain_600",
    "reduction.cumsum_two_layouts", "linalg.cholesky", "times_2", "times_3",
    "blas.dot_matrix_vector", "random.normal.symbolic_size", "nested.op_from_graph",
)  # fmt: skip
"""The members of the quick sets and of the siblings that are built: the same for all faults."""

LOOKS: Mapping[str, Look] = {
    "key_salted": Look("stability", _BOTH_LAUNCHES, **_SEEN),
    "key_hash_seed": Look("stability", (DISK, DISK_FORK), **_SEEN),
    "outer_not_cached": Look("storing", (DISK,), **_SEEN),
    "op_key_unstable": Look("stability", (DISK, PROCESS), **_SEEN),
    "cache_dir_removed": Look("storing", (COLD,), **_SEEN),
    "saved_never_loaded": Look("loading", (DISK, PROCESS), **_SEEN),
    "variable_names_in_keys": Look("stability", (VARIANTS,), **_SEEN),
    "uid_counter": Look("start methods", (CANARY,), **_SEEN),
    "c_key_salted": Look("stability", (C_DISK,), **_SEEN),
    "rewriting_slower": Look("work", (DISK, C_DISK), TRACED, **_SEEN),
    "rewriter_twice": Look("work", (PROCESS,), TRACED, **_SEEN),
    "heavy_import": Look("imports", (DISK, PROCESS), TRACED, **_SEEN),
    "numba_pass_twice": Look("work", (COLD,), TRACED, **_SEEN),
    "llvm_pass_twice": Look("work", (COLD,), TRACED, **_SEEN),
    "small_rewriter_twice": Look("work", (PROCESS,), TRACED, **_SEEN),
    "small_llvm_pass_twice": Look("work", (COLD,), TRACED, **_SEEN),
    "compiler_once_more": Look("time", (C_DISK,), **_SEEN),
    "lock_held": Look("locking", (PROCESS,), TIMED, **_SEEN),
    "call_slower": Look("time", ("radon call C spawn",), WORKED, **_SEEN),
    "call_slower_under_spawn": Look("start methods", ("radon call C spawn",), WORKED, **_SEEN),
    "broadcast_pattern_dropped": Look("uniqueness", (KEYS,), **_SEEN),
    "keys_made_twice": Look("work", (MAKING,), **_SEEN),
    "key_has_address": Look("stability", (DISK,)),
    "key_has_time": Look("stability", (DISK, PROCESS)),
    "key_has_counter": Look("stability", (DISK, PROCESS)),
    "key_has_directory": Look("stability", (DISK,)),
    "constants_salted": Look("stability", (DISK,)),
    "gradient_graph_unstable": Look("stability", (DISK,)),
    "one_output_unstable": Look("stability", (CENSUS,)),
    "draws_unstable": Look("randomness", (CENSUS,)),
    "large_graph_not_cached": Look("storing", (CENSUS,)),
    "huge_graph_not_cached": Look("storing", ("ops census_warm NUMBA spawn",), **_SEEN),
    "stamp_of_process": Look("stability", (DISK,)),
    "constants_share_a_key": Look("uniqueness", (KEYS,)),
    "outputs_dropped": Look("uniqueness", (KEYS,)),
    "edges_dropped": Look("uniqueness", (KEYS,)),
    "keys_truncated": Look("uniqueness", (KEYS,), whole=True),
    "scalar_op_dropped": Look("uniqueness", (KEYS,)),
    "shared_key_in_float32": Look("flags", (KEYS,), under="floatX=float32"),
    "fastmath_dropped": Look("flags", (KEYS,)),
    "keys_pickled_twice": Look("work", (MAKING,)),
    "rebuild_raises": Look("loading", (DISK, PROCESS)),
    "load_raises": Look("loading", (DISK,)),
    "every_third_not_stored": Look("storing", (COLD, DISK)),
    "index_overwritten": Look("storing", _BOTH_CENSUSES),
    "stored_again": Look("storing", (DISK,), **_SEEN),
    "index_read_often": Look("loading", (DISK,), TRACED),
    "directory_grows": Look("leaking", (DISK, PROCESS)),
    "log_grows": Look("leaking", (DISK,)),
    "c_directory_grows": Look("leaking", (C_DISK,)),
    "c_lock_waits": Look("locking", (C_COLD,)),
    "c_entry_lost": Look("storing", (C_DISK,)),
    "temporary_file_left": Look("leaking", (DISK,)),
    "graphs_kept": Look("memory", (DISK,)),
    "descriptors_left": Look("leaking", (DISK,)),
    "off_after_reload": Look("correctness after reload", (DISK,)),
    "wrong_overload_loaded": Look("correctness after reload", _BOTH_CENSUSES),
    "draws_changed": Look("staleness", (UPGRADE,)),
    "inner_not_asked": Look("storing", (DISK,)),
    "fork_loses_cache": Look("start methods", (DISK, DISK_FORK)),
    "spawn_loses_cache": Look("start methods", (DISK, DISK_FORK)),
    "uid_of_hash_seed": Look("start methods", (CANARY,)),
    "warns_while_building": Look("flags", (DISK,), under="PYTHONWARNINGS=error"),
    "optimised_loses_store": Look("flags", (DISK,), under="PYTHONOPTIMIZE=1"),
    "other_file_system_raises": Look("flags", (COLD,), under="TMPDIR elsewhere"),
    "threads_change_keys": Look("flags", (DISK,), under="NUMBA_NUM_THREADS=2"),
    "locale_crashes": Look("flags", (COLD,), under="LC_ALL=C"),
    "call_sleeps": Look("time", (CALL,)),
    "garbage_collected": Look("time", (C_PROCESS,), **_SEEN),
    "memory_for_a_moment": Look("memory", (C_PROCESS,), TIMED),
    "imports_more": Look("imports", (C_PROCESS,), TIMED),
    "global_seed_set": Look("randomness", (DISK,)),
    "draws_repeat": Look("randomness", (CENSUS,)),
}


def night(narrowed: Narrowed) -> Look:
    """What a night looks at in any case: its presets `quick` and `canary`, narrowed by options."""
    tasks = [task for name in ("quick", "canary") for task in tasks_of(PRESETS[name], narrowed)]
    cells = dict.fromkeys(str(task.cell) for task in tasks)
    return Look("time", tuple(cells), nightly=True)
