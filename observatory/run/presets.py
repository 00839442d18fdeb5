"""Presets: named selections of cells, and how many samples of each a run takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product

from observatory.benchmarks.catalogue import (
    BACKENDS,
    LAUNCHES,
    MAIN_BACKENDS,
    MEASURES,
    METRICS,
    MODELS,
    PATH,
    QUICK_MODELS,
    SAMPLING,
    SCENARIOS,
    SHARING_BACKENDS,
    SIBLINGS,
    Cell,
    backends_of,
    cells,
    launches_of,
    models_of,
    no_such,
    quick_cells,
)
from observatory.benchmarks.plan import Rounds, Task, plan

_COUNTED = Rounds(timing=0, counting=1)


@dataclass(frozen=True)
class Preset:
    """A selection of cells, and the number of samples of each."""

    meaning: str
    cells: tuple[Cell, ...]
    rounds: Callable[[Cell], Rounds] = lambda _: _COUNTED
    optional: bool = False
    """Whether it takes the optional backends that can be installed, even if nobody names them."""

    def takes(self, cell: Cell, named: Sequence[str]) -> bool:
        """Whether it takes a cell, where the user has named these backends."""
        known = BACKENDS[cell.backend]
        return not known.optional or cell.backend in named or bool(self.optional and known.installs)


@dataclass(frozen=True)
class Narrowed:
    """The user's options that narrow a preset; None keeps everything."""

    models: Sequence[str] | None = None
    scenarios: Sequence[str] | None = None
    backends: Sequence[str] | None = None
    launches: Sequence[str] | None = None
    measures: Sequence[str] | None = None
    timing: int | None = None

    def unknown(self) -> str | None:
        """Return a sentence about the first word that the catalogue does not have, or None."""
        for noun, words, known in (
            ("model", self.models, MODELS),
            ("scenario", self.scenarios, SCENARIOS),
            ("backend", self.backends, BACKENDS),
            ("start method", self.launches, LAUNCHES),
            ("pass", self.measures, MEASURES),
        ):
            for word in words or ():
                if word not in known:
                    return no_such(noun, word, known)
        return None

    def keeps(self, cell: Cell) -> bool:
        """Return whether the options for scenario, backend and start method keep a cell."""
        options = (self.scenarios, self.backends, self.launches)
        words = zip(options, (cell.scenario, cell.backend, cell.launch), strict=True)
        return all(wanted is None or word in wanted for wanted, word in words)

    def none_left(self, selection: str) -> str:
        """Return a sentence that no cell of a selection is left.

        It gives the reason if all combinations of the options have the same problem.
        """
        problems = set()
        for scenario in self.scenarios or SCENARIOS:
            given = (self.models, self.backends, self.launches)
            valid = (models_of(scenario), backends_of(scenario), launches_of(scenario))
            pairs = list(zip(given, valid, strict=True))
            if self.scenarios is None and any(set(words or ()) - set(has) for words, has in pairs):
                continue
            models, backends, launches = (words or has for words, has in pairs)
            combinations = product(models, (scenario,), backends, launches)
            problems |= {Cell(*words).problem() for words in combinations}
        why = problems.pop() if len(problems) == 1 else None
        return f"no cell of {selection} matches these options" + (f": {why}" if why else "")


def _has_headline(cell: Cell) -> bool:
    """Whether its scenario gives the time that it is headed by."""
    scenario = SCENARIOS[cell.scenario]
    return scenario.family in METRICS[scenario.headline].families


def _rounds_of_full(cell: Cell) -> Rounds:
    if "full" not in BACKENDS[cell.backend].timed_in:
        return _COUNTED
    return Rounds(timing=3, counting=1, tracing=int(not SCENARIOS[cell.scenario].long))


def compiles_inside(cell: Cell) -> bool:
    """Whether it is a cold build that a compiler inside of the process does.

    The tracing pass counts its Python work, and times the passes of LLVM. One start method is
    enough.
    """
    is_cold = SCENARIOS[cell.scenario].family == "build" and not SCENARIOS[cell.scenario].warm
    backend = BACKENDS[cell.backend]
    return is_cold and backend.main and backend.cache == "numba" and cell.launch == "spawn"


def _rounds_of_history(cell: Cell) -> Rounds:
    scenario = SCENARIOS[cell.scenario]
    if scenario.long or "history" not in BACKENDS[cell.backend].timed_in:
        return _COUNTED
    traced = scenario.warm or compiles_inside(cell)
    return Rounds(3 if scenario.timed else 1, counting=1, tracing=int(traced))


_QUICK = tuple(name for name, one in SCENARIOS.items() if one.quick)
_CENSUS = tuple(name for name, one in SCENARIOS.items() if one.in_census)
_WHOLE = tuple(name for name in MODELS if name not in QUICK_MODELS)
_SHARED = tuple(cells(tuple(MODELS), SIBLINGS, SHARING_BACKENDS, tuple(LAUNCHES)))

PRESETS = {
    "quick": Preset(
        "radon: the build scenarios and call, C, C_VM and NUMBA, one sample of each pass",
        tuple(
            cell
            for cell in cells(scenarios=_QUICK, backends=MAIN_BACKENDS)
            if not (SCENARIOS[cell.scenario].long and BACKENDS[cell.backend].cache == "c_module")
        ),
        lambda _: Rounds(timing=1, counting=1),
    ),
    "history": Preset(
        "radon: every cell counted; C, C_VM and NUMBA timed, three samples of warm builds and "
        "calls, one of cold builds",
        tuple(cells()),
        _rounds_of_history,
    ),
    "full": Preset(
        "radon: every cell, three timed samples, one counting and one tracing",
        tuple(cells()),
        _rounds_of_full,
    ),
    "work": Preset(
        "radon: instructions of warm builds and calls with C, C_VM and NUMBA",
        tuple(
            cells(
                scenarios=tuple(name for name, one in SCENARIOS.items() if one.timed),
                backends=MAIN_BACKENDS,
                launches=("spawn",),
            )
        ),
        lambda _: Rounds(timing=0, counting=0, work=1),
    ),
    "canary": Preset(
        "siblings that share numba's cache: `closures` in every arrangement, `lookalikes` and "
        "`radon` in some; and the quick sets of Ops, pairs and topics",
        tuple(
            cell
            for cell in _SHARED
            if any(
                fnmatchcase(f"{cell.scenario} {cell.launch}", pattern)
                for pattern in MODELS[cell.model].canary
            )
        )
        + quick_cells(SHARING_BACKENDS, ("spawn",)),
    ),
    "canary-full": Preset(
        "siblings that share numba's cache: every model in every arrangement", _SHARED
    ),
    "census": Preset(
        "every Op and every pair of graphs that share a cache, with C_VM and NUMBA, and what keys "
        "cost",
        tuple(
            cell
            for cell in cells(_WHOLE, _CENSUS, tuple(BACKENDS), ("spawn",))
            if BACKENDS[cell.backend].worked
        ),
        lambda cell: replace(_COUNTED, timing=int(_has_headline(cell))),
    ),
    "topics": Preset(
        "topics of PyTensor's design with C_VM and NUMBA, and what frozen inner graphs cost",
        tuple(cells(_WHOLE, ("topics", "freezing"), MAIN_BACKENDS, ("spawn",))),
        lambda cell: replace(_COUNTED, timing=int(_has_headline(cell))),
    ),
    "path": Preset(
        "each step of a user of PyMC, from a model to draws, cold and warm; needs --with pymc",
        tuple(cells(tuple(MODELS), PATH, SHARING_BACKENDS, ("spawn",))),
        lambda _: Rounds(timing=1, counting=1),
    ),
    "growth": Preset(
        "graphs of growing sizes with C_VM and NUMBA: work, times, memory and functions compiled",
        tuple(cell for cell in cells(tuple(MODELS), ("growth",), MAIN_BACKENDS, ("spawn",))),
        lambda _: Rounds(timing=1, counting=1, tracing=1),
    ),
    "sampling": Preset(
        "pm.sample in two processes, cold and warm, under every launch; needs --with pymc",
        tuple(cells(tuple(MODELS), SAMPLING, SHARING_BACKENDS, tuple(LAUNCHES))),
        lambda _: Rounds(timing=3, counting=1),
    ),
}
"""The presets by name. `observatory run --dry-run` says how long each of them takes."""


_ELSEWHERE = frozenset(
    cell.scenario for name in ("canary", "canary-full", "census") for cell in PRESETS[name].cells
) - {cell.scenario for cell in PRESETS["topics"].cells}
"""The scenarios that other steps of a night take, the canary and the census. Of the topics the
canary takes only the quick set."""


def _once() -> Iterator[Cell]:
    """What one subject alone can show and no other step of the night takes, each once.

    A scenario of the matrix is measured with the backends that users choose, another one, which
    builds many graphs, with one backend of each compiler.
    """
    for name, scenario in SCENARIOS.items():
        if scenario.family == "upgrade" or name in _ELSEWHERE:
            continue
        launch = "spawn" if "spawn" in scenario.launches else scenario.launches[0]
        for cell in cells(_WHOLE, (name,), tuple(BACKENDS), (launch,)):
            backend = BACKENDS[cell.backend]
            asked = backend.main or (backend.optional and not backend.only_named)
            wanted = asked if scenario.matrix else backend.worked
            slow = (scenario.matrix and scenario.long) or scenario.walked
            slow = slow and backend.cache == "c_module"
            if wanted and not slow:
                yield cell


def _rounds_of_night(cell: Cell) -> Rounds:
    scenario = SCENARIOS[cell.scenario]
    slow = (scenario.matrix and scenario.long) or scenario.walked
    # Where alarms come from the tracing pass, times only describe.
    traced = any(
        one.measure == "tracing"
        and scenario.family in one.families
        and one.alerts_in(scenario.name)
        for one in METRICS.values()
    )
    timed = _has_headline(cell) and not slow and not traced
    traced |= scenario.matrix and scenario.warm and BACKENDS[cell.backend].main
    traced |= compiles_inside(cell)
    return Rounds(timing=int(timed), counting=1, tracing=int(traced))


PRESETS["night"] = Preset(
    "everything that a subject alone can show, once: quick, and every other model, scenario and "
    "optional backend that no other step of a night takes",
    tuple(dict.fromkeys((*PRESETS["quick"].cells, *_once()))),
    _rounds_of_night,
    optional=True,
)


def tasks_of(preset: Preset, narrowed: Narrowed) -> list[Task]:
    """Return the tasks of a preset, narrowed by the user's options; empty if nothing is left.

    Models that the user names replace those of the preset.
    """
    named = (replace(cell, model=m) for m in narrowed.models or () for cell in preset.cells)
    in_models = dict.fromkeys(preset.cells if narrowed.models is None else named)
    chosen = [
        cell for cell in in_models
        if cell.problem() is None and narrowed.keeps(cell)
        and preset.takes(cell, narrowed.backends or ())
    ]  # fmt: skip
    rounds = {cell: preset.rounds(cell) for cell in chosen}
    if narrowed.timing is not None:
        timing = narrowed.timing
        rounds |= {c: replace(one, timing=timing) for c, one in rounds.items() if one.timing}
    tasks = plan(chosen, Rounds(), rounds)
    wanted = narrowed.measures
    # Tasks that fill caches stay, because the other passes start from them.
    return [t for t in tasks if wanted is None or t.measure in wanted or t.keep is not None]


def presets_with(narrowed: Narrowed) -> list[str]:
    """Return the names of the presets of which the options leave something."""
    return [name for name, preset in PRESETS.items() if tasks_of(preset, narrowed)]
