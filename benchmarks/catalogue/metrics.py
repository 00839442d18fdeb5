"""The metrics, one record each. Higher is always worse, because asv reads them that way.

`benchmarks.scenarios` and the probes take them in the measured process, `benchmarks.sample` takes
them from the sandbox, and the tool from a kept cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchmarks.catalogue.scenarios import SCENARIOS, WARM_SCENARIOS
from benchmarks.catalogue.words import Kind, Measure

Where = Literal["nowhere", "warm", "everywhere"]
"""In which scenarios something holds: `warm` means WARM_SCENARIOS."""
_EVERYWHERE = (
    "build", "variants", "siblings", "upgrade", "sampling", "path", "census", "pairs", "key_making",
    "growth", "call",
)  # fmt: skip
_BUILDS = ("build", "variants")
_GROWS = (*_BUILDS, "growth")
_COMPILES = ("build", "variants", "siblings", "upgrade", "path", "census")


@dataclass(frozen=True)
class Metric:
    """One metric."""

    name: str
    unit: str
    kind: Kind
    measure: Measure
    """The pass that gives it."""
    meaning: str
    families: tuple[str, ...]
    """The families of scenarios in which it makes sense. A value that a subject cannot give is
    recorded as absent, with a reason."""
    launches: tuple[str, ...] = ()
    """The start methods under which it makes sense; empty: all."""
    alerting: Where = "nowhere"
    """Exact metrics: where a worsening is an alarm and not a description of the workload."""
    zero: Where = "nowhere"
    """Where 0 is the only good value."""
    every_pass: bool = False
    """Whether every pass gives it, and the worst of them is recorded."""
    even_if_same: str = ""
    """What both sides have, as a text begins that says so of an equal value above 0."""
    wrong_values: bool = False
    """Whether it counts values that are wrong: HEAD must not be merged where it rises."""
    judged: bool = False
    """Noisy metrics: whether a test judges it; parts of another metric are only evidence."""
    once: bool = False
    """Whether it is the same in every cell, and therefore judged once per model."""
    material: float | None = None
    """The relative change from which it is worse or better. Near-exact metrics; None: it is not
    judged. Exact metrics that are counted graph by graph, each for itself; None: any change is."""
    derived: bool = False
    """Whether the tool derives it from the builds of a sample, which does not give it."""
    by_size: bool = False
    """Whether the page of growth shows its curve over the sizes of a family."""
    spread: float = 0.01
    """Near-exact metrics: the relative range between processes of one subject on a machine
    without calibration."""
    of_cpu: bool = False
    """Whether it depends on the CPU that machine code is made for, not only on versions."""
    shown: bool = False
    """Whether the matrix, the summary and the glossary of the pages show it."""
    section: str = ""
    """The section of a comment for its changes; empty: "Other measurements"."""
    phrase: str = ""
    """A claim with room for its direction: "compiling is {}" and "slower"."""
    rose: tuple[str, str] | None = None
    """A claim about a count that rose by 1, and by several."""
    fell: tuple[str, str] | None = None
    """The same of one that fell."""
    trend: tuple[str, str] | None = None
    """The names of a worsening and of an improvement in a history."""
    advice: str = ""
    """What to do about a change that no cause explains, in sentences."""

    def alerts_in(self, scenario: str) -> bool:
        """Whether a worsening in this scenario is an alarm.

        Misses in a cold or variants build change with every rewrite and only describe the
        workload. A miss in a cache that was filled for the same function is an alarm.
        """
        return _holds(self.alerting, scenario)

    def zero_in(self, scenario: str) -> bool:
        """Whether 0 is the only good value in this scenario.

        Of many Ops there are always some that a cache cannot store: to lose one is worse.
        """
        known = SCENARIOS.get(scenario)
        counted = self.zero == "everywhere" or known is None or not known.apart
        return counted and _holds(self.zero, scenario)


def _holds(where: Where, scenario: str) -> bool:
    return where == "everywhere" or (where == "warm" and scenario in WARM_SCENARIOS)


_WORK, _BUILD_TIME, _CALL_TIME = "Work", "Compile time", "Call time"
_REST = "Import time and memory"
_ALL = (
    # Correctness first.
    Metric("wrong_results", "values", "exact", "counting",
           "evaluated models whose logp or gradient has a relative error above 1e-8",
           _EVERYWHERE, alerting="everywhere", zero="everywhere", every_pass=True, shown=True,
           wrong_values=True, even_if_same="Wrong values",
           rose=("1 wrong value", "{} wrong values"),
           fell=("1 value is right again", "{} values are right again")),
    Metric("stale_results", "values", "exact", "counting",
           "values that differ from those that the same subject computes with an empty cache",
           ("upgrade",), alerting="everywhere"),
    Metric("crashed", "samples", "exact", "counting",
           "1 if the measured process raised an exception, died of a signal or hung",
           _EVERYWHERE, alerting="everywhere", zero="everywhere", every_pass=True, shown=True,
           even_if_same="Crashes",
           rose=("HEAD crashes", "HEAD crashes"),
           fell=("HEAD no longer crashes", "HEAD no longer crashes")),
    Metric("key_collisions", "pairs", "exact", "counting",
           "pairs of different graphs of which one returns another value where they share a cache",
           ("pairs",), alerting="everywhere", zero="everywhere", wrong_values=True,
           even_if_same="Colliding keys",
           rose=("the cache confuses 1 graph with another one",
                 "the cache confuses {} graphs with others"),
           fell=("the cache no longer confuses 1 graph with another one",
                 "the cache no longer confuses {} graphs with others")),
    Metric("key_instabilities", "pairs", "exact", "counting",
           "pairs of equal graphs of which the second is not found in the cache",
           ("pairs",), alerting="everywhere", zero="everywhere",
           rose=("1 equal graph is compiled again", "{} equal graphs are compiled again"),
           fell=("1 more equal graph is found in the cache",
                 "{} more equal graphs are found in the cache")),
    Metric("graphs_raised", "graphs", "exact", "counting",
           "graphs, or steps, of a model that raise an exception or end their process",
           ("path", "census", "pairs", "key_making", "growth"), alerting="everywhere",
           rose=("1 graph no longer works", "{} graphs no longer work"),
           fell=("1 more graph works", "{} more graphs work")),
    # Exact, from the ledger.
    Metric("cache_misses", "functions", "exact", "counting",
           "functions that were not found in a disk cache and were compiled",
           _COMPILES, alerting="warm", zero="warm", shown=True,
           rose=("1 function stopped hitting the cache", "{} functions stopped hitting the cache"),
           fell=("1 more function hits the cache", "{} more functions hit the cache")),
    Metric("collided_symbols", "symbols", "exact", "counting",
           "symbols in numba's cache that stand for several different functions",
           ("siblings",), alerting="everywhere"),
    Metric("vulnerable_symbols", "symbols", "exact", "counting",
           "symbols in numba's cache that another process may give to another function",
           ("siblings",), alerting="everywhere"),
    Metric("uncacheable", "functions", "exact", "counting",
           "functions that a cache refused to store",
           _COMPILES, alerting="everywhere", zero="warm", shown=True,
           rose=("1 function is refused by the cache", "{} functions are refused by the cache"),
           fell=("1 more function can be stored", "{} more functions can be stored")),
    Metric("graphs_compiled", "functions", "exact", "counting",
           "PyTensor functions that are compiled, with or without a cache, in all processes",
           ("path",), alerting="everywhere",
           rose=("1 more PyTensor function is compiled", "{} more PyTensor functions are compiled"),
           fell=("1 PyTensor function fewer is compiled",
                 "{} PyTensor functions fewer are compiled")),
    Metric("python_fallbacks", "Ops", "exact", "counting",
           "Ops that run in Python: in numba's object mode, or because they have no C code",
           ("census",), alerting="warm",
           rose=("1 more Op runs in Python", "{} more Ops run in Python"),
           fell=("1 Op fewer runs in Python", "{} Ops fewer run in Python")),
    Metric("key_calls", "calls", "exact", "counting",
           "calls of Python functions that make numba's keys, while graphs are converted",
           ("key_making",), alerting="everywhere", material=0.1,
           rose=("making keys takes 1 more call", "making keys takes {} more calls"),
           fell=("making keys takes 1 call fewer", "making keys takes {} calls fewer")),
    Metric("files_leaked", "files", "exact", "counting",
           "files left in the temporary directory after the process ended",
           _EVERYWHERE, alerting="everywhere",
           rose=("1 more file is left behind", "{} more files are left behind"),
           fell=("1 file fewer is left behind", "{} files fewer are left behind")),
    Metric("functions_compiled", "functions", "exact", "counting",
           "functions compiled, with or without a cache",
           (*_COMPILES, "growth", "call"), by_size=True),
    Metric("compiler_runs", "runs", "exact", "counting",
           "runs of the C++ compiler for the modules of the model",
           _COMPILES),
    Metric("bootstrap_runs", "runs", "exact", "counting",
           "runs of the C++ compiler for PyTensor's own helpers (cutils_ext, lazylinker_ext)",
           _COMPILES),
    Metric("work_exponent", "exponents", "exact", "tracing",
           "power of the size with which the Python calls of a build grow, in each family",
           ("growth",), alerting="everywhere", material=0.1, derived=True,
           rose=("work grows with a power of the size that is 1 higher",
                 "work grows with a power of the size that is {} higher"),
           fell=("work grows with a power of the size that is 1 lower",
                 "work grows with a power of the size that is {} lower")),
    Metric("work_cliffs", "cliffs", "exact", "tracing",
           "sizes at which the Python calls of a build rise at once, in each family",
           ("growth",), alerting="everywhere", derived=True,
           rose=("work rises at once at 1 more size", "work rises at once at {} more sizes"),
           fell=("work rises at once at 1 size fewer", "work rises at once at {} sizes fewer")),
    Metric("functions_added", "functions", "exact", "counting",
           "functions that long chains of equal layers compile beyond those of the second shortest",
           ("growth",), alerting="everywhere", derived=True,
           rose=("a chain of equal layers compiles 1 more function",
                 "chains of equal layers compile {} more functions"),
           fell=("a chain of equal layers compiles 1 function fewer",
                 "chains of equal layers compile {} functions fewer")),
    # Near exact.
    Metric("python_calls", "calls", "near_exact", "tracing",
           "calls of Python functions during the build and the first call",
           _GROWS, by_size=True, material=0.002, spread=0.002, shown=True, section=_WORK,
           phrase="the number of Python calls is {}", trend=("more work", "less work")),
    Metric("instructions", "instructions", "near_exact", "work",
           "instructions of the build and the first call, or of 1,000 calls, in user space",
           (*_BUILDS, "call"), material=0.002, spread=0.001, of_cpu=True, shown=True,
           section=_WORK, phrase="the number of instructions is {}",
           trend=("more work", "less work")),
    Metric("object_code_bytes", "bytes", "near_exact", "counting",
           "size of the machine code that a cache returned or stored",
           _COMPILES, of_cpu=True, section=_REST, phrase="machine code is {}"),
    Metric("cache_bytes", "bytes", "near_exact", "counting",
           "size of the cache directory after the process ended",
           _EVERYWHERE, of_cpu=True, section=_REST, phrase="the cache on disk is {}"),
    Metric("retained_bytes", "bytes", "near_exact", "counting",
           "memory that a build leaves in use after its function was deleted and garbage was "
           "collected",
           _BUILDS, of_cpu=True, material=0.05, spread=0.02, section=_REST,
           phrase="the memory that a build leaves in use is {}",
           trend=("more memory left", "less memory left")),
    Metric("bytes_per_node", "bytes", "near_exact", "counting",
           "memory that a compiled function holds, for each node of its graph",
           _BUILDS, of_cpu=True, section=_REST, phrase="the memory of a node is {}"),
    Metric("modules_imported", "modules", "near_exact", "timing",
           "modules imported during compile_time, including those that the subject compiled",
           _BUILDS, section=_REST, phrase="the number of modules imported by the build is {}"),
    # Noisy.
    Metric("compile_time", "seconds", "noisy", "timing",
           "time from the start of pytensor.function(...) to the end of the first call",
           _BUILDS, judged=True, shown=True, section=_BUILD_TIME, phrase="compiling is {}",
           trend=("slower to build", "faster to build"),
           advice="The counts do not explain it. Run `observatory profile` on the samples of "
                  "both sides: it shows which phase of the build takes longer."),
    Metric("function_time", "seconds", "noisy", "timing",
           "time of pytensor.function(...) alone",
           _BUILDS, section=_BUILD_TIME, phrase="pytensor.function is {}"),
    Metric("first_call_time", "seconds", "noisy", "timing",
           "time of the first call alone",
           _BUILDS, section=_BUILD_TIME, phrase="the first call is {}"),
    Metric("cpu_time", "seconds", "noisy", "timing",
           "CPU time during compile_time, including that of the compilers",
           _GROWS, by_size=True, section=_BUILD_TIME, phrase="the CPU time of compiling is {}"),
    Metric("import_time", "seconds", "noisy", "timing",
           "time to import pytensor and numba in a fresh interpreter",
           (*_BUILDS, "call"), launches=("spawn",), judged=True, once=True, section=_REST,
           phrase="importing is {}", trend=("slower to import", "faster to import")),
    Metric("call_time", "seconds", "noisy", "timing",
           "time of one evaluation of logp and gradient, in the shortest of 15 repeats",
           ("call",), by_size=True, judged=True, shown=True, section=_CALL_TIME,
           phrase="calling is {}",
           trend=("slower to call", "faster to call"),
           advice="Compare the compiled graphs with `pytensor.dprint`. The usual reason is a "
                  "rewrite that no longer applies."),
    Metric("first_draw_time", "seconds", "noisy", "timing",
           "time from building the step method to the first draw of any chain; on the path, sums "
           "over its steps from their begin",
           ("sampling", "path")),
    Metric("step_time", "seconds", "noisy", "timing",
           "time of a step of the path, or of all of them",
           ("path",)),
    Metric("key_time", "seconds", "noisy", "timing",
           "CPU time of the functions that make numba's keys, while graphs are converted",
           ("key_making",)),
    Metric("build_memory", "bytes", "noisy", "timing",
           "by how much a build and its first call raise the largest resident memory (VmHWM)",
           ("growth",), by_size=True),
    Metric("peak_rss", "bytes", "noisy", "timing",
           "largest resident memory (VmHWM) of any process: the measured one or a child",
           (*_BUILDS, "sampling", "call"), judged=True, section=_REST, phrase="peak memory is {}",
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

CORRECTNESS = tuple(one.name for one in _ALL if one.every_pass)
"""The metrics that every pass gives and that come first: wrong results and crashes."""
OF_PAIRS = ("key_collisions", "key_instabilities")
"""The metrics of pairs of graphs that share a cache."""
WRONG_VALUES = tuple(one.name for one in _ALL if one.wrong_values)
"""The metrics that count values that are wrong, the worst first."""
SYMBOLS = ("collided_symbols", "vulnerable_symbols")
"""The tool reads these from the cache that siblings left; a sample reads no object code."""
SECTIONS = (_WORK, _BUILD_TIME, _CALL_TIME, _REST)
"""The sections of a comment for measured changes, in this order: work decides, time describes."""
