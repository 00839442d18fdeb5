"""The metrics, one record each. Higher is always worse, because asv reads them that way.

`benchmarks.scenarios` and the probes take them in the measured process, `benchmarks.sample` takes
them from the sandbox, and the tool from a kept cache.
"""

from __future__ import annotations

from collections.abc import Mapping

from .counts import COUNTS
from .metric import BUILDS, COMPILES, EVERYWHERE, GROWS, Metric

_WORK, _BUILD_TIME, _CALL_TIME = "Work", "Compile time", "Call time"
_REST = "Import time and memory"
_ALL = (
    *COUNTS,
    # Near exact.
    Metric("python_calls", "calls", "near_exact", "tracing",
           "calls of Python functions during the build and the first call, or during 1,000 calls",
           (*GROWS, "call"), by_size=True, sourced=True, material=0.002, spread=0.002, shown=True,
           section=_WORK, phrase="the number of Python calls is {}",
           trend=("more work", "less work")),
    Metric("instructions", "instructions", "near_exact", "work",
           "instructions of the build and the first call, or of 1,000 calls, in user space",
           (*BUILDS, "call"), sourced=True, material=0.002, spread=0.004, steady=0.0005,
           of_cpu=True, shown=True, section=_WORK, phrase="the number of instructions is {}",
           trend=("more work", "less work")),
    Metric("llvm_pass_runs", "runs", "near_exact", "tracing",
           "how often LLVM ran a pass on a function, a loop or a module that numba compiles",
           ("build",), material=0.002, spread=0.001, told_by_numba=True, of_cpu=True,
           section=_WORK, phrase="the number of runs of LLVM passes is {}",
           trend=("more work", "less work")),
    Metric("object_code_bytes", "bytes", "near_exact", "counting",
           "size of the machine code that a cache returned or stored",
           COMPILES, of_cpu=True, section=_REST, phrase="machine code is {}"),
    Metric("cache_bytes", "bytes", "near_exact", "counting",
           "size of the cache directory after the process ended",
           EVERYWHERE, of_cpu=True, section=_REST, phrase="the cache on disk is {}"),
    Metric("retained_bytes", "bytes", "near_exact", "counting",
           "memory that a build leaves in use after its function was deleted and garbage was "
           "collected",
           BUILDS, of_cpu=True, material=0.05, spread=0.02, resolution=100_000, section=_REST,
           phrase="the memory that a build leaves in use is {}",
           trend=("more memory left", "less memory left")),
    Metric("bytes_per_node", "bytes", "near_exact", "counting",
           "memory that a compiled function holds, for each node of its graph",
           BUILDS, of_cpu=True, section=_REST, phrase="the memory of a node is {}"),
    Metric("modules_imported", "modules", "near_exact", "timing",
           "modules imported during compile_time, including those that the subject compiled",
           BUILDS, section=_REST, phrase="the number of modules imported by the build is {}"),
    Metric("waiting_time", "seconds", "near_exact", "timing",
           "time during compile_time in which the build waited for a lock, a disk, another thread "
           "or the end of a sleep, but not for a CPU or a compiler",
           BUILDS, material=0.25, spread=0.2, resolution=0.1, all_of=5, section=_BUILD_TIME,
           phrase="what a build waits for is {}", trend=("longer waits", "shorter waits")),
    # Noisy.
    Metric("compile_time", "seconds", "noisy", "timing",
           "time from the start of pytensor.function(...) to the end of the first call",
           BUILDS, judged=True, shown=True, section=_BUILD_TIME, phrase="compiling is {}",
           trend=("slower to build", "faster to build"),
           advice="The counts do not explain it. Run `observatory profile` on the samples of "
                  "both sides: it shows which phase of the build takes longer."),
    Metric("function_time", "seconds", "noisy", "timing",
           "time of pytensor.function(...) alone",
           BUILDS, section=_BUILD_TIME, phrase="pytensor.function is {}"),
    Metric("first_call_time", "seconds", "noisy", "timing",
           "time of the first call alone",
           BUILDS, section=_BUILD_TIME, phrase="the first call is {}"),
    Metric("cpu_time", "seconds", "noisy", "timing",
           "CPU time during compile_time, including that of the compilers",
           GROWS, by_size=True, section=_BUILD_TIME, phrase="the CPU time of compiling is {}"),
    Metric("import_time", "seconds", "noisy", "timing",
           "time to import pytensor and numba in a fresh interpreter",
           (*BUILDS, "call"), launches=("spawn",), judged=True, once=True, section=_REST,
           phrase="importing is {}", trend=("slower to import", "faster to import")),
    Metric("call_time", "seconds", "noisy", "timing",
           "time of one evaluation of logp and gradient, in the shortest of 15 repeats",
           ("call",), by_size=True, judged=True, shown=True, section=_CALL_TIME,
           phrase="calling is {}",
           trend=("slower to call", "faster to call"),
           advice="Compare the compiled graphs with `pytensor.dprint`. The usual reason is a "
                  "rewrite that no longer applies."),
    Metric("call_cpu_time", "seconds", "noisy", "timing",
           "CPU time of one evaluation of logp and gradient, in the shortest of 15 repeats",
           ("call",), section=_CALL_TIME, phrase="the CPU time of a call is {}"),
    Metric("first_draw_time", "seconds", "noisy", "timing",
           "time from building the step method to the first draw of any chain; on the "
           "path: the sum over its steps, each from its own start",
           ("sampling", "path")),
    Metric("step_time", "seconds", "noisy", "timing",
           "time of a step of the path, or of all of them",
           ("path",)),
    Metric("key_time", "seconds", "noisy", "timing",
           "CPU time of the functions that make numba's keys, while graphs are converted",
           ("key_making",)),
    Metric("frozen_time", "seconds", "noisy", "timing",
           "CPU time in which inner graphs are frozen, hashed or compared",
           ("freezing",)),
    Metric("build_memory", "bytes", "noisy", "timing",
           "by how much a build and its first call raise the largest resident memory (VmHWM)",
           ("growth",), by_size=True),
    Metric("peak_rss", "bytes", "noisy", "timing",
           "largest resident memory (VmHWM) of any process: the measured one or a child",
           (*BUILDS, "sampling", "call"), judged=True, section=_REST, phrase="peak memory is {}",
           trend=("more memory", "less memory")),
)  # fmt: skip
METRICS: Mapping[str, Metric] = {one.name: one for one in _ALL}

REUSE_LOST = Metric(
    "reuse_lost",
    "functions",
    "exact",
    "counting",
    "functions that a cache gave BASE and that HEAD compiles again",
    (),
    alerting="everywhere",
    rose=(
        "1 function that BASE reused is compiled again",
        "{} functions that BASE reused are compiled again",
    ),
)
"""Only a comparison has it: it follows from two ledgers, not from one sample."""
COMPARED: Mapping[str, Metric] = {**METRICS, REUSE_LOST.name: REUSE_LOST}
"""Everything in which two subjects can differ."""

CORRECTNESS = tuple(one.name for one in _ALL if one.every_pass)
"""The metrics that every pass gives and that come first: wrong results and crashes."""
TOLD_BY_NUMBA = tuple(one.name for one in _ALL if one.told_by_numba)
"""The metrics that another version of numba may not give."""
OF_PAIRS = ("key_collisions", "key_instabilities")
"""The metrics of pairs of graphs that share a cache."""
WRONG_VALUES = tuple(one.name for one in _ALL if one.wrong_values)
"""The metrics that count values that are wrong, the worst first."""
SYMBOLS = ("collided_symbols", "vulnerable_symbols")
"""The tool reads these from the cache that siblings left; a sample reads no object code."""
SECTIONS = (_WORK, _BUILD_TIME, _CALL_TIME, _REST)
"""The sections of a comment for measured changes, in this order: work decides, time describes."""
