"""What a comparison must find of the faults of graphs, storing and surroundings.

They were written before the probes were read; the catalogue of causes and the module that finds
them had been read.
"""

from __future__ import annotations

from observatory.benchmarks.catalogue import BACKENDS, LAUNCHES, SCENARIOS
from scripts.faults.record import Alarms, Fault

_ALL = tuple(SCENARIOS), tuple(BACKENDS), tuple(LAUNCHES)
_N, _C = ("NUMBA", "DEFAULT"), ("C", "C_VM")
_DISK, _PROCESS = ("warm_disk",), ("warm_process",)
_WARM = (*_DISK, *_PROCESS)
_CENSUS = ("census_warm",)
_KEYS = ("pairs_second", "pairs_keys")
_SPAWN, _FORK = ("spawn",), ("fork",)
_MISSES = ("cache_misses",)
_COLLIDE = ("key_collisions",)
_WRONG = ("wrong_results", "crashed", "graphs_raised", *_COLLIDE)

COMPILED = Alarms(
    ("cache_misses", "reuse_lost", "uncacheable", "python_calls", "peak_rss", "compile_time",
     "retained_bytes", "key_instabilities", "compiled_again", "compiler_runs"), *_ALL)  # fmt: skip
"""Alarms that may follow where functions are compiled again."""
CONFUSED = Alarms((*_WRONG, "python_fallbacks", "graph_nodes"), *_ALL)
"""Alarms that may follow where a cache returns the code of another graph."""
WORKED = Alarms(("python_calls", "compile_time", "call_time", "instructions"), *_ALL)
_MORE = Alarms(("files_grown", "bytes_grown"), *_ALL)
_COUNTED_AND_TRACED = "--pass", "counting", "--pass", "tracing"


def _unstable(
    name: str, meaning: str, cause: str, scenarios: tuple[str, ...],
    launches: tuple[str, ...] = (*_FORK, *_SPAWN), functions: tuple[str, ...] = (),
) -> Fault:  # fmt: skip
    """A fault that makes functions of numba miss."""
    must = (Alarms(_MISSES, scenarios, _N, launches),)
    return Fault(name, meaning, cause, must, (COMPILED, _MORE), functions)


def _confused(name: str, meaning: str, cause: str = "keys collide") -> Fault:
    """A fault that gives different graphs one key."""
    return Fault(name, meaning, cause, (Alarms(_COLLIDE, _KEYS, _N),), (CONFUSED, COMPILED))


OF_GRAPHS = (
    _unstable("key_has_address", "the keys of Elemwise contain the address of a class",
              "keys differ between processes", _DISK),
    _unstable("key_has_time", "the keys of graphs contain the time", "keys are not repeatable",
              _WARM),
    _unstable("key_has_counter", "the keys of graphs contain a counter of the process",
              "keys are not repeatable", _PROCESS),
    _unstable("key_has_directory", "the keys of graphs contain the temporary directory",
              "keys differ between processes", _DISK),
    _unstable("constants_salted", "the keys of constants differ between processes",
              "keys differ between processes", _DISK),
    _unstable("gradient_graph_unstable", "the key of a graph with several outputs is unstable",
              "keys differ between processes", _DISK),
    _unstable("one_output_unstable", "the key of a graph with one output is unstable",
              "keys differ between processes", _CENSUS),
    _unstable("draws_unstable", "the keys of random variables differ each time",
              "keys differ between processes", _CENSUS),
    Fault("large_graph_not_cached", "a graph of more than 100 nodes has no key", "refused",
          (Alarms(("uncacheable",), _CENSUS, _N),), (COMPILED,)),
    Fault("huge_graph_not_cached", "a graph of more than 500 nodes has no key", "refused",
          (Alarms(("uncacheable",), _CENSUS, _N),), (COMPILED,)),
    _unstable("stamp_of_process", "what says that an entry is fresh differs between processes",
              "stored but not loaded", _DISK),
    _confused("constants_share_a_key", "the key of an array leaves out its numbers"),
    _confused("outputs_dropped", "the key of a graph leaves out which values it returns"),
    _confused("edges_dropped", "the key of a graph leaves out the inputs of its nodes"),
    _confused("keys_truncated", "the keys of Ops are one hexadecimal digit"),
    _confused("scalar_op_dropped", "the key of Elemwise leaves out its scalar Op"),
    _confused("shared_key_in_float32", "with floatX=float32, cumsum and cumprod share a key"),
    _confused("fastmath_dropped", "the key leaves out the flag fastmath"),
    Fault("keys_pickled_twice", "the key of a constant is made three times", "keys cost more",
          (Alarms(("key_calls",), ("key_making",), _N),), (WORKED,),
          options=("--model", "key_cost", "--scenario", "key_making", "--backend", "NUMBA",
                   "--pass", "counting")),
)  # fmt: skip

OF_STORING = (
    Fault("rebuild_raises", "what was read cannot be made into a function, and nobody says so",
          "stored but not loaded", (Alarms(_MISSES, _WARM, _N),), (COMPILED, _MORE)),
    _unstable("load_raises", "reading an entry raises, and the exception is swallowed",
              "stored but not loaded", _WARM),
    Fault("every_third_not_stored", "every third function is not stored", "refused",
          (Alarms(("uncacheable",), ("cold",), _N),), (COMPILED,)),
    Fault("index_overwritten", "storing a function for other types loses the first",
          "not reused", (Alarms(("reuse_lost",), ("census_cold",), _N),), (COMPILED, _MORE)),
    Fault("stored_again", "whatever is loaded is stored again", "stored files grow",
          (Alarms(("bytes_grown",), _WARM, _N),), (WORKED, _MORE)),
    Fault("index_read_often", "the index is read 2,000 times before a function is loaded",
          "more Python work", (Alarms(("python_calls",), _WARM, _N),), (WORKED,),
          main_part="`numba: cache load`",
          options=("--backend", "NUMBA", "--scenario", "warm_disk", "--pass", "tracing")),
    Fault("directory_grows", "each process leaves one more file in the cache", "cache grows",
          (Alarms(("files_grown",), _WARM, _N),), (_MORE,)),
    Fault("log_grows", "each process adds a line to a file in the cache", "stored files grow",
          (Alarms(("bytes_grown",), _WARM, _N),), (_MORE,)),
    Fault("c_directory_grows", "each process leaves a directory in C's cache", "cache grows",
          (Alarms(("files_grown",), _WARM, _C),), (_MORE, WORKED)),
    Fault("c_lock_waits", "C's lock is got after 2 s", "sleeps",
          (Alarms(("seconds_slept",), ("cold",), _C),),
          # Who sleeps waits.
          (WORKED, Alarms(("seconds_slept", "waiting_time"), *_ALL)),
          main_part="`C: module cache`",
          options=("--backend", "C", "--scenario", "cold", "--pass", "counting",
                   "--pass", "timing")),
    Fault("c_entry_lost", "a C module is stored without its key", "not stored",
          (Alarms(_MISSES, _DISK, _C),), (COMPILED, _MORE),
          or_else=("stored but not loaded",)),
    Fault("temporary_file_left", "each function leaves a file in the temporary directory",
          "files leaked", (Alarms(("files_leaked",), _WARM, _N),),
          # What makes the file leaves it open, too.
          (Alarms(("files_leaked", "side_effects"), *_ALL),),
          or_else=("the process is changed",)),
    Fault("graphs_kept", "whatever was compiled is kept in memory, with 5 MB more", None,
          (Alarms(("retained_bytes",), _WARM, _N),), (Alarms(("peak_rss",), *_ALL),)),
    Fault("descriptors_left", "each function that is loaded leaves an open file",
          "the process is changed", (Alarms(("side_effects",), _DISK, _N),),
          (Alarms(("side_effects",), *_ALL),)),
    Fault("off_after_reload", "a function that was loaded returns values 1e-4 too large",
          "wrong results", (Alarms(("wrong_results",), _DISK, _N),), (CONFUSED,)),
    Fault("wrong_overload_loaded", "what is loaded is the first of an index, for any types",
          "graphs no longer work", (Alarms(("graphs_raised",), ("census_cold",), _N),),
          (CONFUSED, COMPILED), or_else=("crashed", "wrong results")),
    Fault("draws_changed", "draws of HalfNormal are changed, their key is not", "wrong results",
          (Alarms(("wrong_results",), ("upgrade",), _N),), (CONFUSED,)),
    Fault("inner_not_asked", "functions are compiled without asking the cache", "not asked",
          (Alarms(("reuse_lost",), _DISK, _N),), (COMPILED,)),
)  # fmt: skip

OF_SURROUNDINGS = (
    Fault("fork_loses_cache", "in forked processes numba's cache is off", "not asked",
          (Alarms(("reuse_lost",), _DISK, _N, _FORK),), (COMPILED,)),
    Fault("spawn_loses_cache", "in processes that were not forked numba's cache is off",
          "not asked", (Alarms(("reuse_lost",), _DISK, _N, _SPAWN),), (COMPILED,)),
    Fault("uid_of_hash_seed", "functions are numbered from the hash seed on", "wrong results",
          (Alarms(("wrong_results",), ("siblings",), _N, _FORK),),
          (Alarms(("collided_symbols", "vulnerable_symbols", "crashed"), *_ALL), CONFUSED)),
    Fault("warns_while_building", "making a key warns", "crashed",
          (Alarms(("crashed",), _DISK, _N),), (COMPILED, Alarms(("crashed",), *_ALL))),
    Fault("optimised_loses_store", "with python -O nothing is stored", "refused",
          (Alarms(("uncacheable",), _DISK, _N),), (COMPILED,)),
    Fault("other_file_system_raises", "entries are renamed from the temporary directory",
          "crashed", (Alarms(("crashed",), ("cold",), _N),),
          (Alarms(("crashed",), *_ALL), COMPILED)),
    Fault("threads_change_keys", "with several threads, keys differ each time",
          "keys differ between processes", (Alarms(_MISSES, _WARM, _N),), (COMPILED, _MORE)),
    Fault("locale_crashes", "with the locale C, converting a graph raises", "crashed",
          (Alarms(("crashed",), ("cold",), _N),), (Alarms(("crashed",), *_ALL),)),
    Fault("call_sleeps", "each call sleeps for a millisecond", "sleeps",
          (Alarms(("seconds_slept",), ("call",), _N),),
          (WORKED, Alarms(("seconds_slept",), *_ALL)),
          main_part="`call_sleeps.",
          options=("--backend", "NUMBA", "--scenario", "call", *_COUNTED_AND_TRACED)),
    Fault("garbage_collected", "each build collects garbage twenty times",
          "collects garbage", (Alarms(("collections_forced",), _PROCESS, _C),),
          (WORKED, Alarms(("collections_forced",), *_ALL)),
          options=("--backend", "C", "--scenario", "warm_process", "--pass", "counting")),
    Fault("memory_for_a_moment", "each build uses 400 MB for a moment", None,
          (Alarms(("peak_rss",), _PROCESS, _C),), (WORKED,)),
    Fault("imports_more", "importing PyTensor imports more modules", None,
          (Alarms(("import_time",), _PROCESS, _C),), (WORKED, COMPILED)),
    Fault("global_seed_set", "making a function sets NumPy's global seed",
          "the process is changed", (Alarms(("side_effects",), _WARM, _N),),
          (Alarms(("side_effects",), *_ALL),)),
    Fault("draws_repeat", "a draw of Normal ignores the generator", "wrong results",
          (Alarms(("wrong_results",), _CENSUS, _N),), (CONFUSED, COMPILED)),
)  # fmt: skip

MORE = (*OF_GRAPHS, *OF_STORING, *OF_SURROUNDINGS)
