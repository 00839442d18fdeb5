"""Synthetic comparisons. FOR TESTS ONLY: values near those of real runs, none of them measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from statistics import median
from typing import Any

from observatory.benchmarks.catalogue import METRICS, Cell, cells, metrics_of
from observatory.store.records.comparison import (
    Cause,
    Comparison,
    Difference,
    FunctionChange,
    Missing,
    Ratio,
    Side,
    Values,
    Verdict,
    Workload,
)
from observatory.store.records.machine import Machine
from observatory.store.records.subject import Versions
from tests.factories import NOON, subject

BACKENDS = ("C", "C_VM", "NUMBA")
SCENARIOS = ("cold", "warm_disk", "warm_process", "variants", "siblings", "call")
"""Named here, so that one more in the catalogue changes no text that the tests expect."""
CELLS = [
    cell
    for cell in cells(scenarios=SCENARIOS, backends=BACKENDS, launches=("fork", "spawn"))
    if cell.scenario not in ("variants", "siblings")
    or (cell.backend == "NUMBA" and (cell.scenario == "variants" or cell.launch == "fork"))
]
NOISY = ("compile_time", "call_time", "import_time", "peak_rss")
NOT_CALIBRATED = (
    "this machine is not calibrated, so a change counts only from 5 % on; `observatory "
    "calibrate` measures its noise"
)
FLOORS = {"compile_time": 0.05, "call_time": 0.1, "import_time": 0.05, "peak_rss": 0.03}
_TYPICAL = {
    "cold": 4.2, "warm_disk": 0.39, "warm_process": 0.251, "variants": 9.1,
    "import_time": 1.2, "peak_rss": 412e6, "call_time": 4.9e-6,
}  # fmt: skip
_COUNTS = {
    ("cold", "cache_misses"): 35, ("cold", "functions_compiled"): 114,
    ("variants", "cache_misses"): 22, ("variants", "functions_compiled"): 61,
    ("warm_disk", "files_leaked"): 16, ("cold", "files_leaked"): 16,
}  # fmt: skip


def cell(words: str) -> Cell:
    """`warm_disk NUMBA fork` of the model radon."""
    scenario, backend, launch = words.split()
    return Cell(model="radon", scenario=scenario, backend=backend, launch=launch)


def where(**axes: str | tuple[str, ...]) -> list[Cell]:
    """Cells of the factory that have these words."""
    allowed = {axis: (word,) if isinstance(word, str) else word for axis, word in axes.items()}
    return [
        each for each in CELLS if all(getattr(each, axis) in ok for axis, ok in allowed.items())
    ]


def exact(
    place: Cell, metric: str, base: float, head: float, conclusion: str = "worse", **more: Any
) -> Verdict:
    """An exact verdict of one value a side."""
    unit = METRICS[metric].unit if metric in METRICS else "functions"
    fields = {"cell": place, "metric": metric, "unit": unit, "kind": "exact",
              "conclusion": conclusion, "base": Values(values=[base]),
              "head": Values(values=[head])}  # fmt: skip
    return Verdict.model_validate(fields | more)


def noisy(
    place: Cell, metric: str, factor: float = 1.0, conclusion: str = "unaffected", **more: Any
) -> Verdict:
    """A noisy verdict of nine values a side, HEAD's ``factor`` times those of BASE."""
    words = " ".join(f"{axis}={word!r}" for axis, word in vars(place).items())
    random = Random(f"{words}{metric}")
    typical = _TYPICAL.get(metric) or _TYPICAL.get(place.scenario, 1.0)
    base = [round(typical * random.uniform(0.985, 1.015), 12) for _ in range(9)]
    head = [round(typical * factor * random.uniform(0.985, 1.015), 12) for _ in range(9)]
    estimate = median(head) / median(base)
    ratio = Ratio(estimate=estimate, low=estimate * 0.98, high=estimate * 1.025, confidence=0.95)
    fields = {"cell": place, "metric": metric, "unit": METRICS[metric].unit, "kind": "noisy",
              "conclusion": conclusion, "base": Values(values=base), "head": Values(values=head),
              "ratio": ratio, "p_value": 0.0001, "q_value": 0.0006,
              "minimum_effect": FLOORS[metric]}  # fmt: skip
    return Verdict.model_validate(fields | more)


def calls(place: Cell, factor: float, conclusion: str, **more: Any) -> Verdict:
    """A near-exact verdict on `python_calls`."""
    base, head = [597_703.0, 597_743.0], [597_703.0 * factor, 597_743.0 * factor]
    ratio = Ratio(estimate=factor, low=factor * 0.9999, high=factor * 1.0001, confidence=None)
    fields = {"cell": place, "metric": "python_calls", "unit": "calls", "kind": "near_exact",
              "conclusion": conclusion, "base": Values(values=base), "head": Values(values=head),
              "ratio": ratio, "minimum_effect": 0.02, "noise": 0.002}  # fmt: skip
    return Verdict.model_validate(fields | more)


def verdicts(changed: Iterable[Verdict] = (), without: Iterable[Cell] = ()) -> list[Verdict]:
    """Every verdict of the factory's cells, all unaffected but those that are given."""
    given = {(each.cell, each.metric): each for each in changed}
    left_out = set(without)
    made = []
    for place in CELLS:
        if place in left_out:
            continue
        for metric in metrics_of(place.scenario, place.launch):
            if (place, metric.name) in given:
                continue
            if metric.kind == "exact":
                value = _COUNTS.get((place.scenario, metric.name), 0)
                made.append(exact(place, metric.name, value, value, "unaffected"))
            elif metric.name in NOISY:
                made.append(noisy(place, metric.name))
    return [*made, *given.values()]


def comparison(changed: Iterable[Verdict] = (), **changes: Any) -> Comparison:
    """A comparison of 3.3.6 and 3.3.7 in which only the given verdicts are not unaffected."""
    fields: dict[str, Any] = {
        "schema": "observatory/comparison/1",
        "observatory": "0.1.0",
        "base": side("3.3.6"),
        "head": side("3.3.7"),
        "started_at": NOON,
        "seconds": 552.0,
        "interleaved": True,
        "seed": 7,
        "verdicts": verdicts(changed),
        "reproduce": "observatory compare 3.3.6 3.3.7 --python 3.13 --seed 7",
    }
    return Comparison.model_validate(fields | changes)


def side(label: str, numba: str = "0.68.0") -> Side:
    """What one side was."""
    return Side(
        subject=subject(label),
        versions=Versions(pytensor=label, numba=numba, python="3.13.0", packages={"numba": numba}),
        machine=Machine(machine="bench", os="Linux", arch="x86_64", cpu="Some CPU", num_cpu="2"),
    )


def functions(*names: str, base: str = "hit", head: str = "miss") -> list[FunctionChange]:
    """Changes of functions, each a little cheaper than the one before."""
    return [
        FunctionChange(name=name, count=1 + index % 4 + (index in (1, 2)), base=base, head=head,
                       seconds=round(0.9 / (index + 1), 3))
        for index, name in enumerate(names)
    ]  # fmt: skip


def nothing_changed() -> Comparison:
    """All of it unaffected."""
    return comparison()


def cache_regression() -> Comparison:
    """NUMBA misses 35 functions where it hit them all, and is 18 times slower for it."""
    hurt = where(scenario=("warm_disk", "warm_process"), backend="NUMBA")
    names = ("outer graph", "Elemwise", "CAReduce", "Subtensor", "Dot", "Gemv", "Cholesky",
             "SolveTriangular", "DimShuffle", "Alloc", "AdvancedSubtensor1", "Join", "Reshape",
             "Scan")  # fmt: skip
    found = functions(*names)
    cause = Cause(
        id="cause-1", kind="keys differ between processes",
        sentence="35 functions miss because their keys differ between processes: the outer graph, "
        "Elemwise, CAReduce and 11 more",
        cells=hurt, functions=found, seconds_lost=4.1,
    )  # fmt: skip
    changed = []
    for place in hurt:
        factor = 18.0 if place.scenario == "warm_process" else 11.5
        changed += [
            exact(place, "cache_misses", 0, 35, cause="cause-1"),
            noisy(place, "compile_time", factor, "worse", cause="cause-1"),
            exact(place, "functions_compiled", 1, 114, "workload changed"),
        ]
    return comparison(changed, causes=[cause])


def slower() -> Comparison:
    """Two cells compile 8 % slower and one calls 12 % slower; no cause is known."""
    return comparison([
        noisy(cell("warm_disk NUMBA fork"), "compile_time", 1.08, "worse"),
        noisy(cell("warm_disk NUMBA spawn"), "compile_time", 1.083, "worse"),
        noisy(cell("call C fork"), "call_time", 1.12, "worse"),
    ])  # fmt: skip


def faster() -> Comparison:
    """The C backend finds its modules again, and so compiles 2.1 times faster; less memory."""
    again = where(scenario="warm_disk", backend=("C", "C_VM"))
    changed = [exact(place, "cache_misses", 2, 0, "better") for place in again]
    changed += [noisy(place, "compile_time", 0.475, "better") for place in again]
    changed.append(noisy(cell("call NUMBA spawn"), "peak_rss", 0.93, "better"))
    return comparison(changed)


def mixed() -> Comparison:
    """A function is refused, calls are slower, cold builds faster, the workload another."""
    hurt = where(scenario=("warm_disk", "warm_process"), backend="NUMBA", launch="spawn")
    causes = [
        Cause(id="cause-1", kind="refused", cells=hurt, seconds_lost=0.61,
              sentence="1 function is compiled every time because the cache refuses to store it: "
              "the outer graph",
              functions=functions("outer graph", head="uncacheable")),
        Cause(id="cause-2", kind="more Python work", cells=[cell("warm_disk C spawn")],
              sentence="building calls more Python functions"),
    ]  # fmt: skip
    changed = [exact(place, "uncacheable", 0, 1, cause="cause-1") for place in hurt]
    changed += [noisy(place, "compile_time", 1.9, "worse", cause="cause-1") for place in hurt]
    changed += [
        calls(cell("warm_disk C spawn"), 1.051, "worse", cause="cause-2"),
        noisy(cell("call NUMBA fork"), "call_time", 1.15, "worse"),
        noisy(cell("call NUMBA spawn"), "call_time", 1.14, "worse"),
    ]
    for place in where(scenario="cold", backend="NUMBA"):
        changed += [
            noisy(place, "compile_time", 0.82, "better"),
            exact(place, "cache_misses", 35, 33, "workload changed"),
            exact(place, "functions_compiled", 114, 109, "workload changed"),
        ]
    undecided = (
        "HEAD takes between {} more than BASE: this range is too wide to tell a change of 5 % from "
        "none"
    )
    for place, span in zip(where(scenario="cold", backend="C"), ("1.9 % less and 7.1 %",
                           "3 % less and 8 %"), strict=True):  # fmt: skip
        changed.append(
            noisy(place, "compile_time", 1.02, "undecided", reason=undecided.format(span))
        )
    return comparison(
        changed,
        causes=causes,
        head=side("3.3.7", numba="0.68.1"),
        differences=[Difference(what="llvmlite", base="0.48.0", head="0.48.1"),
                     Difference(what="numba", base="0.68.0", head="0.68.1",
                                because="pytensor==3.3.6 requires numba<0.68.1"),
                     Difference(what="etuples", base="0.3.10", head=None),
                     Difference(what="cons", base="0.4.7", head=None)],
        workload=[Workload(model="radon", backend="NUMBA", appeared=[("FusedElemwise", 3)],
                           vanished=[("Elemwise", 4), ("Alloc", 1), ("Second", 3)])],
    )  # fmt: skip


def wrong_results() -> Comparison:
    """Siblings under fork read another variant's numbers."""
    hurt = cell("siblings NUMBA fork")
    cause = Cause(
        id="cause-1", kind="wrong results", cells=[hurt],
        sentence="7 of 16 values that HEAD computes are wrong, e.g. centered-lognormal-halfnormal "
        "read by a fresh process: these are the numbers of centered-normal-halfnormal",
    )  # fmt: skip
    changed = [exact(hurt, "wrong_results", 0, 7, cause="cause-1"),
               noisy(cell("warm_disk C fork"), "compile_time", 1.07, "worse")]  # fmt: skip
    return comparison(changed, causes=[cause])


def failed_run() -> Comparison:
    """HEAD crashed in every cell of NUMBA."""
    hurt = where(backend="NUMBA")
    message = (
        "the measured process raised FileNotFoundError: [Errno 2] No such file or directory: "
        "'/tmp/sandbox/numba/index_1.tmp'"
    )
    cause = Cause(id="cause-1", kind="crashed", cells=hurt, sentence=f"HEAD fails: {message}")
    changed = [exact(place, "crashed", 0, 1, cause="cause-1") for place in hurt]
    return comparison(
        verdicts=[*verdicts(without=hurt), *changed],
        causes=[cause],
        missing=[
            Missing(cell=place, side="head", reason=f"{1 + index % 2} of 2 samples failed: "
                    f"{message}")
            for index, place in enumerate(hurt)
        ],
    )  # fmt: skip


def half_missing() -> Comparison:
    """The budget was spent when half of the cells had been measured."""
    lost = CELLS[: len(CELLS) // 2]
    reason = "no sample was taken: the budget of 5 min was spent"
    return comparison(
        verdicts=verdicts(without=lost),
        missing=[Missing(cell=place, side="both", reason=reason) for place in lost],
        warnings=[NOT_CALIBRATED],
    )  # fmt: skip


SCENES: dict[str, Callable[[], Comparison]] = {
    "nothing-changed": nothing_changed,
    "cache-regression": cache_regression,
    "slower": slower,
    "faster": faster,
    "mixed": mixed,
    "wrong-results": wrong_results,
    "failed-run": failed_run,
    "half-missing": half_missing,
}
"""The comparisons whose comments are kept as golden files, by name."""
