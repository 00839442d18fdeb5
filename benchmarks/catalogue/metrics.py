"""The metrics, a record each. Higher is worse, always: asv reads them that way.

Where a metric is taken: in the measured process by `benchmarks.scenarios` and by the probes, of the
sandbox by `benchmarks.sample`, of a kept cache by the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchmarks.catalogue.scenarios import WARM_SCENARIOS
from benchmarks.catalogue.words import Kind, Measure

Where = Literal["nowhere", "warm", "everywhere"]
"""In which scenarios something holds: `warm` means WARM_SCENARIOS."""
_EVERYWHERE = ("build", "variants", "siblings", "upgrade", "sampling", "call")
_BUILDS = ("build", "variants")
_COMPILES = ("build", "variants", "siblings", "upgrade")


@dataclass(frozen=True)
class Metric:
    """What is said of a metric."""

    name: str
    unit: str
    kind: Kind
    measure: Measure
    """The pass that gives it."""
    meaning: str
    families: tuple[str, ...]
    """The families of scenarios that have it: elsewhere it makes no sense. What is asked for and
    cannot be given is recorded as absent, with a reason."""
    launches: tuple[str, ...] = ()
    """The start methods under which it makes sense; empty: all."""
    alerting: Where = "nowhere"
    """Exact metrics: where a worsening is an alarm and not a description of the workload."""
    zero: Where = "nowhere"
    """Where 0 is the only good value."""
    every_pass: bool = False
    """Whether every pass gives it, and the worst of them is recorded."""
    judged: bool = False
    """Noisy metrics: whether it is tested; the parts of another metric are its evidence only."""
    once: bool = False
    """Whether it is the same thing in every cell, so that it is judged once for a model."""
    material: float | None = None
    """Near-exact metrics: the relative change from which it is worse or better. None: it
    describes."""
    spread: float = 0.01
    """Near-exact metrics: the relative range between processes of one subject, on a machine that
    was not calibrated."""
    of_cpu: bool = False
    """Whether it follows from the CPU that machine code is made for, not from versions alone."""
    shown: bool = False
    """Whether pages have it beside the series: in the matrix, the summary and the glossary."""
    section: str = ""
    """The title in a comment under which a change is told; empty: "Other measurements"."""
    phrase: str = ""
    """A claim with room for its size: "compiling is {}" and "8 % slower"."""
    rose: tuple[str, str] | None = None
    """A claim about a count that rose by 1, and by several."""
    fell: tuple[str, str] | None = None
    """The same of one that fell."""
    trend: tuple[str, str] | None = None
    """What a step for the worse and one for the better are called in a history."""
    advice: str = ""
    """What to do about a change that no cause explains."""

    def alerts_in(self, scenario: str) -> bool:
        """Whether a worsening in this scenario is an alarm.

        Misses of a cold or variants build follow every change of the rewrites: they describe the
        workload. The same function missing in a cache that was filled for it is an alarm.
        """
        return _holds(self.alerting, scenario)

    def zero_in(self, scenario: str) -> bool:
        """Whether 0 is the only good value in this scenario."""
        return _holds(self.zero, scenario)


def _holds(where: Where, scenario: str) -> bool:
    return where == "everywhere" or (where == "warm" and scenario in WARM_SCENARIOS)


_BUILD_TIME, _CALL_TIME, _REST = "Compile time", "Call time", "Import time and memory"
_ALL = (
    # Correctness first.
    Metric("wrong_results", "values", "exact", "counting",
           "models evaluated whose logp or gradient is off the reference by more than 1e-8",
           _EVERYWHERE, alerting="everywhere", zero="everywhere", every_pass=True, shown=True,
           rose=("1 wrong value", "{} wrong values"),
           fell=("1 value is right again", "{} values are right again")),
    Metric("stale_results", "values", "exact", "counting",
           "values that differ from those that the same subject gives from an empty cache",
           ("upgrade",), alerting="everywhere"),
    Metric("crashed", "samples", "exact", "counting",
           "1 if the measured process raised, died of a signal or hung",
           _EVERYWHERE, alerting="everywhere", zero="everywhere", every_pass=True, shown=True,
           rose=("HEAD crashes", "HEAD crashes"),
           fell=("HEAD no longer crashes", "HEAD no longer crashes")),
    # Exact, from the ledger.
    Metric("cache_misses", "functions", "exact", "counting",
           "functions that asked a disk cache and had to be compiled",
           _COMPILES, alerting="warm", zero="warm", shown=True,
           rose=("1 function stopped hitting the cache", "{} functions stopped hitting the cache"),
           fell=("1 more function hits the cache", "{} more functions hit the cache")),
    Metric("collided_symbols", "symbols", "exact", "counting",
           "symbols in numba's cache that stand for different functions",
           ("siblings",), alerting="everywhere"),
    Metric("vulnerable_symbols", "symbols", "exact", "counting",
           "symbols in numba's cache that another process may use for another function",
           ("siblings",), alerting="everywhere"),
    Metric("uncacheable", "functions", "exact", "counting",
           "functions that a cache refused to store",
           _COMPILES, alerting="everywhere", zero="warm", shown=True,
           rose=("1 function is refused by the cache", "{} functions are refused by the cache"),
           fell=("1 more function can be stored", "{} more functions can be stored")),
    Metric("files_leaked", "files", "exact", "counting",
           "files left in the temporary directory after the process ended",
           _EVERYWHERE, alerting="everywhere",
           rose=("1 more file is left behind", "{} more files are left behind"),
           fell=("1 file fewer is left behind", "{} files fewer are left behind")),
    Metric("functions_compiled", "functions", "exact", "counting",
           "functions compiled, with or without a cache",
           (*_COMPILES, "call")),
    Metric("compiler_runs", "runs", "exact", "counting",
           "runs of the C++ compiler for modules of the model",
           _COMPILES),
    Metric("bootstrap_runs", "runs", "exact", "counting",
           "runs of the C++ compiler for PyTensor's own helpers (cutils_ext, lazylinker_ext)",
           _COMPILES),
    # Near exact.
    Metric("python_calls", "calls", "near_exact", "tracing",
           "Python functions entered while building and calling once",
           _BUILDS, material=0.02, spread=0.002, section=_BUILD_TIME,
           phrase="the number of Python calls while building is {}"),
    Metric("object_code_bytes", "bytes", "near_exact", "counting",
           "machine code of the functions that a cache returned or stored",
           _COMPILES, of_cpu=True, section=_REST, phrase="machine code is {}"),
    Metric("cache_bytes", "bytes", "near_exact", "counting",
           "size of the cache directory after the process ended",
           _EVERYWHERE, of_cpu=True, section=_REST, phrase="the cache on disk is {}"),
    Metric("modules_imported", "modules", "near_exact", "timing",
           "modules imported inside the clock, those that the subject compiled included",
           _BUILDS, section=_REST, phrase="the number of modules imported inside the clock is {}"),
    # Noisy.
    Metric("compile_time", "seconds", "noisy", "timing",
           "from pytensor.function(...) until the first call returned",
           _BUILDS, judged=True, shown=True, section=_BUILD_TIME, phrase="compiling is {}",
           trend=("slower to build", "faster to build"),
           advice="the counts do not tell why: profile the build under BASE and HEAD, "
                  "e.g. with `cProfile`."),
    Metric("function_time", "seconds", "noisy", "timing",
           "pytensor.function(...) alone",
           _BUILDS, section=_BUILD_TIME, phrase="the call of pytensor.function is {}"),
    Metric("first_call_time", "seconds", "noisy", "timing",
           "the first call alone",
           _BUILDS, section=_BUILD_TIME, phrase="the first call is {}"),
    Metric("cpu_time", "seconds", "noisy", "timing",
           "CPU time of compile_time's span, compilers started in it included",
           _BUILDS, section=_BUILD_TIME, phrase="the CPU time of compiling is {}"),
    Metric("import_time", "seconds", "noisy", "timing",
           "import of pytensor and numba in a fresh interpreter",
           (*_BUILDS, "call"), launches=("spawn",), judged=True, once=True, section=_REST,
           phrase="importing is {}", trend=("slower to import", "faster to import")),
    Metric("call_time", "seconds", "noisy", "timing",
           "one evaluation of logp and gradient, in the shortest of 15 repeats",
           ("call",), judged=True, shown=True, section=_CALL_TIME, phrase="calling is {}",
           trend=("slower to call", "faster to call"),
           advice="set the compiled graphs side by side with `pytensor.dprint`: a rewrite that no "
                  "longer applies is the usual reason."),
    Metric("first_draw_time", "seconds", "noisy", "timing",
           "from building the step method until the first draw of any chain",
           ("sampling",)),
    Metric("peak_rss", "bytes", "noisy", "timing",
           "largest resident memory (VmHWM) of the process and of its largest child",
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
"""What only a comparison has: it follows from two ledgers, and no sample gives it."""

CORRECTNESS = tuple(one.name for one in _ALL if one.every_pass)
"""What every pass gives, and what comes before all else: wrong results and crashes."""
SYMBOLS = ("collided_symbols", "vulnerable_symbols")
"""Read from the cache that siblings left, by the tool: the primitive knows no object code."""
SECTIONS = tuple(dict.fromkeys((_BUILD_TIME, _CALL_TIME, _REST)))
"""The titles under which measured changes are told, in this order."""
