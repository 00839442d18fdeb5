"""The words of the observatory as data: models, scenarios, backends, launches, metrics, cells.

Standard library only. It is the one module of ``benchmarks`` that the host side imports, so that
both sides of a process boundary speak of the same cells.

asv looks for benchmarks in every module of this folder: no public function here may begin with
``time_``, ``timeraw_``, ``mem_``, ``peakmem_`` or ``track_``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

Kind = Literal["exact", "near_exact", "noisy"]
Measure = Literal["timing", "counting", "tracing"]

MODELS = {
    "radon": "hierarchical regression of 919 radon measurements in 85 counties, plain PyTensor",
    "radon_pymc": "the same posterior written with pm.Model, compiled the way pm.sample does",
    "lookalikes": "eight small graphs of one name: Elemwise, Scan, indexing; same and other types",
    "closures": "overloads of numba's own users: one name, different numbers closed over",
    "randoms": "draws of a random variable each, against its distribution function",
    "linalg": "linear algebra, an operation each",
}
SCENARIOS = {
    "cold": "empty disk cache, fresh process",
    "warm_disk": "fresh process, copy of a filled cache",
    "warm_process": "copy of a filled cache, second build in one process",
    "variants": "one process builds the base from empty, then the eight variants in fixed order",
    "siblings": "siblings fill one cache with a graph each, in turn; a fresh process reads all",
    "siblings_at_once": "siblings, all at the same time",
    "siblings_nested": "siblings, each of which has forked another before it builds",
    "siblings_after_build": "siblings of a parent that has built a graph before it forks",
    "siblings_threads": "siblings of a parent whose threads work while it forks",
    "siblings_reseeded": "siblings with other seeds than the launch gives: forked, the reader has "
    "another; spawned, all have one",
    "upgrade": "fresh process, copy of the cache that another subject left",
    "sampling_cold": "pm.sample of a small radon in two processes, empty disk cache",
    "sampling_warm": "the same on a copy of a filled cache",
    "call": "evaluate a compiled function",
}
SIBLINGS = tuple(name for name in SCENARIOS if name.startswith("siblings"))
"""The scenarios in which several processes fill one cache: those of the canary."""
SAMPLING = ("sampling_cold", "sampling_warm")
BACKENDS = {
    "C": "the whole graph as one C module",
    "C_VM": "a C module per Op, run by the C virtual machine",
    "C_VM_NOGC": "C_VM that keeps its intermediate storage between calls",
    "NUMBA": "numba, all caches on",
    "NUMBA_OPS_ONLY": "numba, every function cached but the outer graph",
    "NUMBA_NO_CACHE": "numba, PyTensor's numba cache off",
    "DEFAULT": "whatever the subject chooses when the user says nothing",
}
LAUNCHES = {
    "fork": "a parent imports pytensor and numba, builds nothing, forks once; the child measures",
    "spawn": "a fresh interpreter with a hash seed of its own",
    "forkserver": "a server that has imported nothing forks each sibling: one hash seed for all",
}
MEASURES: dict[Measure, str] = {
    "timing": "clocks only: no probe is installed",
    "counting": "probes on the caches and compilers: ledger and exact counts, no times",
    "tracing": "counts the Python functions entered (sys.monitoring, Python >= 3.12)",
}

BASE_VARIANT = "noncentered-normal-halfnormal"
VARIANTS: tuple[str, ...] = tuple(
    f"{centering}-{intercept}-{sigma}"
    for centering, intercept, sigma in product(
        ("centered", "noncentered"), ("normal", "lognormal"), ("halfnormal", "lognormal")
    )
)

MEMBERS: dict[str, tuple[str, ...]] = {
    "radon": VARIANTS,
    "lookalikes": ("double", "triple", "count", "outer", "total", "product", "gather", "put"),
    "closures": ("times_2", "times_3", "plus_2", "plus_3"),
    "randoms": (
        "uniform",
        "normal",
        "halfnormal",
        "lognormal",
        "gamma",
        "invgamma",
        "beta",
        "exponential",
        "weibull",
        "pareto",
        "laplace",
        "logistic",
        "gumbel",
        "cauchy",
        "halfcauchy",
        "t",
        "vonmises",
        "wald",
        "triangular",
        "poisson",
        "geometric",
        "bernoulli",
        "binomial",
        "nbinom",
    ),
    "linalg": (
        "cholesky",
        "solve",
        "solve_triangular",
        "determinant",
        "inverse",
        "eigenvalues",
        "singular_values",
        "qr",
    ),
}
"""The graphs of a model, in the order in which siblings, variants and upgrades build them."""

_BUILD_BACKENDS = ("C", "C_VM", "NUMBA", "DEFAULT")
_ABLATIONS = ("NUMBA_OPS_ONLY", "NUMBA_NO_CACHE")
_BACKENDS_OF_SCENARIO: dict[str, tuple[str, ...]] = {
    "cold": _BUILD_BACKENDS,
    "warm_disk": _BUILD_BACKENDS,
    "warm_process": _BUILD_BACKENDS + _ABLATIONS,
    "variants": _BUILD_BACKENDS + _ABLATIONS,
    **dict.fromkeys(SIBLINGS, _BUILD_BACKENDS),
    "upgrade": ("C", "C_VM", "NUMBA"),
    **dict.fromkeys(SAMPLING, ("C_VM", "NUMBA")),
    "call": ("C", "C_VM", "C_VM_NOGC", "NUMBA", "DEFAULT"),
}
WITHOUT: dict[str, tuple[tuple[str, ...], str]] = {
    "closures": (
        tuple(name for name in BACKENDS if name != "NUMBA"),
        "its functions are compiled by numba itself",
    ),
    **dict.fromkeys(
        ("lookalikes", "randoms", "linalg"),
        (("C",), "C alone has no code for some of its operations; C_VM leaves those to Python"),
    ),
}
"""The backends that a model does not have, of those of its scenarios, and why."""

_MODELS_OF_SCENARIO: dict[str, tuple[str, ...]] = {
    "variants": ("radon",),
    **dict.fromkeys(SIBLINGS, ("radon", "lookalikes", "closures")),
    "upgrade": ("radon", "randoms", "linalg"),
    **dict.fromkeys(SAMPLING, ("radon_pymc",)),
}
_LAUNCHES_OF_SCENARIO: dict[str, tuple[str, ...]] = {
    "siblings": tuple(LAUNCHES),
    "siblings_at_once": tuple(LAUNCHES),
    "siblings_nested": ("fork",),
    "siblings_after_build": ("fork",),
    "siblings_threads": ("fork",),
    "siblings_reseeded": tuple(LAUNCHES),
    "upgrade": ("spawn",),
    **dict.fromkeys(SAMPLING, tuple(LAUNCHES)),
}
WARM_SCENARIOS = ("warm_disk", "warm_process")
MATRIX_SCENARIOS = tuple(
    name for name in SCENARIOS if name not in (*SIBLINGS[1:], "upgrade", *SAMPLING)
)
MATRIX_LAUNCHES = ("fork", "spawn")
"""What is measured of every subject alone; other siblings are the canary's."""


def models_of(scenario: str) -> tuple[str, ...]:
    """The models that a scenario is measured with."""
    return _MODELS_OF_SCENARIO.get(scenario, ("radon", "radon_pymc"))


def backends_of(scenario: str) -> tuple[str, ...]:
    """The backends that a scenario is measured with, in the order of the vocabulary."""
    return tuple(name for name in BACKENDS if name in _BACKENDS_OF_SCENARIO[scenario])


def launches_of(scenario: str) -> tuple[str, ...]:
    """The launches that a scenario is measured with."""
    return _LAUNCHES_OF_SCENARIO.get(scenario, MATRIX_LAUNCHES)


@dataclass(frozen=True, order=True)
class Cell:
    """One place of the matrix: model x scenario x backend x launch."""

    model: str
    scenario: str
    backend: str
    launch: str

    def __str__(self) -> str:
        return f"{self.model} {self.scenario} {self.backend} {self.launch}"

    def problem(self) -> str | None:
        """Say in a sentence why this combination is not one that is measured; None if it is."""
        for word, known, noun in (
            (self.model, MODELS, "model"),
            (self.scenario, SCENARIOS, "scenario"),
            (self.backend, BACKENDS, "backend"),
            (self.launch, LAUNCHES, "launch"),
        ):
            if word not in known:
                return f"there is no {noun} {word!r}; choose from {', '.join(known)}"
        for word, possible, noun in (
            (self.model, models_of(self.scenario), "model"),
            (self.backend, backends_of(self.scenario), "backend"),
            (self.launch, launches_of(self.scenario), "launch"),
        ):
            if word not in possible:
                return (
                    f"scenario {self.scenario} is not measured with {noun} {word}; "
                    f"choose from {', '.join(possible)}"
                )
        backends, why = WITHOUT.get(self.model, ((), ""))
        if self.backend in backends:
            return f"model {self.model} is not measured with backend {self.backend}: {why}"
        return None

    @property
    def cache_backend(self) -> str:
        """The backend that fills the cache this cell starts from: the ablations' parent."""
        if self.backend.startswith("NUMBA"):
            return "NUMBA"
        return "C_VM" if self.backend == "C_VM_NOGC" else self.backend


def cells(
    models: tuple[str, ...] = ("radon",),
    scenarios: tuple[str, ...] = MATRIX_SCENARIOS,
    backends: tuple[str, ...] = tuple(BACKENDS),
    launches: tuple[str, ...] = MATRIX_LAUNCHES,
) -> Iterator[Cell]:
    """Every measured cell of the product, in the order in which the words are given."""
    for model, scenario, backend, launch in product(models, scenarios, backends, launches):
        cell = Cell(model, scenario, backend, launch)
        if cell.problem() is None:
            yield cell


@dataclass(frozen=True)
class Metric:
    """A named number. Higher is worse, always: asv reads it that way."""

    name: str
    unit: str
    kind: Kind
    measure: Measure
    meaning: str
    alerting: bool = False
    """Whether a worsening of this (exact) metric can be an alarm, not just a description."""
    of_cpu: bool = False
    """Whether a count follows from the CPU that machine code is made for, not from versions."""

    def alerts_in(self, scenario: str) -> bool:
        """Whether a worsening in this scenario is an alarm.

        Misses of a cold or variants build follow every change of the rewrites: they describe the
        workload. The same function missing in a cache that was filled for it is an alarm.
        """
        return self.alerting and (self.name != "cache_misses" or scenario in WARM_SCENARIOS)


_ALL = (
    # Correctness first: every pass gives these two, and the worst of the passes is recorded.
    Metric("wrong_results", "values", "exact", "counting",
           "models evaluated whose logp or gradient is off the reference by more than 1e-8", True),
    Metric("stale_results", "values", "exact", "counting",
           "values that differ from those that the same subject gives from an empty cache", True),
    Metric("crashed", "samples", "exact", "counting",
           "1 if the measured process raised, died of a signal or hung", True),
    # Exact, from the ledger.
    Metric("cache_misses", "functions", "exact", "counting",
           "functions that asked a disk cache and had to be compiled", True),
    Metric("collided_symbols", "symbols", "exact", "counting",
           "symbols in numba's cache that stand for different functions", True),
    Metric("vulnerable_symbols", "symbols", "exact", "counting",
           "symbols in numba's cache that another process may use for another function", True),
    Metric("uncacheable", "functions", "exact", "counting",
           "functions that a cache refused to store", True),
    Metric("files_leaked", "files", "exact", "counting",
           "files left in the temporary directory after the process ended", True),
    Metric("functions_compiled", "functions", "exact", "counting",
           "functions compiled, with or without a cache"),
    Metric("compiler_runs", "runs", "exact", "counting",
           "runs of the C++ compiler for modules of the model"),
    Metric("bootstrap_runs", "runs", "exact", "counting",
           "runs of the C++ compiler for PyTensor's own helpers (cutils_ext, lazylinker_ext)"),
    # Near exact.
    Metric("python_calls", "calls", "near_exact", "tracing",
           "Python functions entered while building and calling once"),
    Metric("object_code_bytes", "bytes", "near_exact", "counting",
           "machine code of the functions that a cache returned or stored", of_cpu=True),
    Metric("cache_bytes", "bytes", "near_exact", "counting",
           "size of the cache directory after the process ended", of_cpu=True),
    Metric("modules_imported", "modules", "near_exact", "timing",
           "modules imported inside the clock, those that the subject compiled included"),
    # Noisy.
    Metric("compile_time", "seconds", "noisy", "timing",
           "from pytensor.function(...) until the first call returned"),
    Metric("function_time", "seconds", "noisy", "timing", "pytensor.function(...) alone"),
    Metric("first_call_time", "seconds", "noisy", "timing", "the first call alone"),
    Metric("cpu_time", "seconds", "noisy", "timing",
           "CPU time of compile_time's span, compilers started in it included"),
    Metric("import_time", "seconds", "noisy", "timing",
           "import of pytensor and numba in a fresh interpreter"),
    Metric("call_time", "seconds", "noisy", "timing",
           "one evaluation of logp and gradient, in the shortest of 15 repeats"),
    Metric("first_draw_time", "seconds", "noisy", "timing",
           "from building the step method until the first draw of any chain"),
    Metric("peak_rss", "bytes", "noisy", "timing",
           "largest resident memory (VmHWM) of the process and of its largest child"),
)  # fmt: skip
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}

SYMBOLS = ("collided_symbols", "vulnerable_symbols")
"""Read from the cache that siblings left, by the tool: the primitive knows no object code."""
_OF_A_BUILD = (
    "cache_misses",
    "uncacheable",
    "compiler_runs",
    "bootstrap_runs",
    "object_code_bytes",
)
_BUILD_ONLY_TIMES = ("compile_time", "function_time", "first_call_time", "cpu_time")


def metrics_of(scenario: str, launch: str) -> tuple[Metric, ...]:
    """The metrics that a cell of this scenario and launch is asked for.

    A metric that is left out here makes no sense for the cell; one that is asked for and that a
    version cannot give is recorded as absent with a reason.
    """
    left_out: set[str] = set()
    if scenario == "call":
        # The span holds no build: of its counts only "nothing was compiled by calling" says much.
        left_out.update(_BUILD_ONLY_TIMES, ("python_calls", "modules_imported"), _OF_A_BUILD)
    else:
        left_out.add("call_time")
    if launch != "spawn" or scenario in SAMPLING:
        left_out.add("import_time")
    if scenario != "upgrade":
        left_out.add("stale_results")
    if scenario not in SIBLINGS:
        left_out.update(SYMBOLS)
    if scenario in SAMPLING:
        # Its processes compile, and nobody looks into them: they would not be as a user's are.
        left_out.update(_BUILD_ONLY_TIMES, _OF_A_BUILD)
        left_out.update(("functions_compiled", "python_calls", "modules_imported"))
    else:
        left_out.add("first_draw_time")
    if scenario in SIBLINGS or scenario == "upgrade":
        left_out.update(_BUILD_ONLY_TIMES)
        left_out.update(("import_time", "peak_rss", "modules_imported", "python_calls"))
    return tuple(metric for metric in _ALL if metric.name not in left_out)


def headline_time(scenario: str) -> str:
    """Return the metric that says how long a user waits in a scenario that is timed."""
    if scenario == "call":
        return "call_time"
    return "first_draw_time" if scenario in SAMPLING else "compile_time"


SAMPLE_SCHEMA = "observatory/sample/1"
"""Name and version of the record that one sample prints; published in docs/schemas/."""

OUTCOMES = {
    "hit": "a disk cache returned it",
    "miss": "it asked a disk cache, was compiled and stored",
    "uncacheable": "a cache refused to store it",
    "internal": "compiled without ever asking a cache",
}
STATUSES = {
    "ok": "measured",
    "unavailable": "this subject cannot give the cell; the reason says why",
    "raised": "the measured process raised an exception",
    "killed": "the measured process died of a signal",
    "timeout": "the measured process was ended after its time limit",
}
TOLERANCE = 1e-8
"""Largest relative error of logp and gradient against the reference that counts as right."""
