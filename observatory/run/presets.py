"""Named selections of the matrix: how much of it a run takes, and how often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product

from benchmarks.catalogue import (
    BACKENDS,
    LAUNCHES,
    MAIN_BACKENDS,
    MEASURES,
    MODELS,
    SAMPLING,
    SCENARIOS,
    SHARING_BACKENDS,
    SIBLINGS,
    Cell,
    backends_of,
    cells,
    launches_of,
    models_of,
)
from benchmarks.plan import Rounds, Task, plan


@dataclass(frozen=True)
class Preset:
    """A selection of cells and the rounds of each."""

    name: str
    meaning: str
    cells: tuple[Cell, ...]
    rounds: Callable[[Cell], Rounds]


@dataclass(frozen=True)
class Narrowed:
    """What the user's options leave of a preset; None: everything."""

    models: Sequence[str] | None = None
    scenarios: Sequence[str] | None = None
    backends: Sequence[str] | None = None
    launches: Sequence[str] | None = None
    measures: Sequence[str] | None = None
    timing: int | None = None

    def unknown(self) -> str | None:
        """A sentence on the first word that the vocabulary does not have; None if all are known."""
        for noun, words, known in (
            ("model", self.models, MODELS),
            ("scenario", self.scenarios, SCENARIOS),
            ("backend", self.backends, BACKENDS),
            ("start method", self.launches, LAUNCHES),
            ("pass", self.measures, MEASURES),
        ):
            for word in words or ():
                if word not in known:
                    return f"there is no {noun} {word!r}; choose from {', '.join(known)}"
        return None

    def keeps(self, cell: Cell) -> bool:
        """Whether a cell is left."""
        pairs = (
            (cell.scenario, self.scenarios),
            (cell.backend, self.backends),
            (cell.launch, self.launches),
        )
        return all(chosen is None or word in chosen for word, chosen in pairs)

    def none_left(self, of: str) -> str:
        """Say that the options leave no cell of ``of``, and why if their words exclude each other.

        Words that were not named take every value that goes with a scenario, and a scenario that
        was not named is one that has all words that were. Where all that can be made of them has
        one and the same problem, it is the reason.
        """
        problems = set()
        for scenario in self.scenarios or SCENARIOS:
            named = (self.models, self.backends, self.launches)
            there = (models_of(scenario), backends_of(scenario), launches_of(scenario))
            pairs = list(zip(named, there, strict=True))
            if self.scenarios is None and any(set(words or ()) - set(has) for words, has in pairs):
                continue
            models, backends, launches = (words or has for words, has in pairs)
            of_scenario = product(models, (scenario,), backends, launches)
            problems |= {Cell(*words).problem() for words in of_scenario}
        why = problems.pop() if len(problems) == 1 else None
        return f"no cell of {of} matches these options" + (f": {why}" if why else "")


def quick() -> Preset:
    """One timed and one counting sample of what matters most: about four minutes."""
    scenarios = tuple(name for name, one in SCENARIOS.items() if one.quick)
    chosen = [
        cell
        for cell in cells(scenarios=scenarios, backends=MAIN_BACKENDS)
        if not (SCENARIOS[cell.scenario].long and BACKENDS[cell.backend].cache == "c_module")
    ]
    return Preset(
        "quick",
        "radon: the build scenarios and call, C, C_VM and NUMBA, one sample of each pass",
        tuple(chosen),
        lambda _: Rounds(timing=1, counting=1),
    )


def full() -> Preset:
    """Every cell, three timed samples, one counting, one tracing: about forty minutes."""

    def rounds(cell: Cell) -> Rounds:
        if "full" not in BACKENDS[cell.backend].timed_in:
            return Rounds(timing=0, counting=1)
        return Rounds(timing=3, counting=1, tracing=int(not SCENARIOS[cell.scenario].long))

    return Preset(
        "full",
        "radon: every cell, three timed samples, one counting and one tracing",
        tuple(cells()),
        rounds,
    )


def history() -> Preset:
    """What is taken of every release: counters everywhere, times where they mean most."""

    def rounds(cell: Cell) -> Rounds:
        scenario = SCENARIOS[cell.scenario]
        if scenario.long or "history" not in BACKENDS[cell.backend].timed_in:
            return Rounds(timing=0, counting=1)
        return Rounds(3 if scenario.timed else 1, counting=1, tracing=int(scenario.warm))

    return Preset(
        "history",
        "radon: every cell counted; C, C_VM and NUMBA timed, three samples of warm builds and "
        "calls, one of cold builds",
        tuple(cells()),
        rounds,
    )


def canary() -> Preset:
    """Do siblings that share a cache return each other's numbers? A minute or two.

    The smallest graphs, which have been wrong wherever larger ones were, are in every arrangement.
    Of PyTensor's own the look-alikes are taken by their two ways of having seeds, and all at once.
    """
    chosen = [
        cell
        for model in MODELS
        for cell in cells((model,), SIBLINGS, SHARING_BACKENDS, tuple(LAUNCHES))
        if _matches(MODELS[model].canary, f"{cell.scenario} {cell.launch}")
    ]
    return Preset(
        "canary",
        "siblings that share numba's cache: the smallest graphs in every arrangement, look-alikes "
        "and radon in few",
        tuple(chosen),
        lambda _: Rounds(timing=0, counting=1),
    )


def _matches(patterns: Sequence[str], words: str) -> bool:
    return any(fnmatchcase(words, pattern) for pattern in patterns)


def canary_full() -> Preset:
    """The same with every model in every arrangement."""
    return Preset(
        "canary-full",
        "siblings that share numba's cache: every model in every arrangement",
        tuple(cells(tuple(MODELS), SIBLINGS, SHARING_BACKENDS, tuple(LAUNCHES))),
        lambda _: Rounds(timing=0, counting=1),
    )


def sampling() -> Preset:
    """What a PyMC user waits for, and whether every chain begins where it should."""
    return Preset(
        "sampling",
        "pm.sample in two processes, cold and warm, under every launch; needs --with pymc",
        tuple(cells(tuple(MODELS), SAMPLING, SHARING_BACKENDS, tuple(LAUNCHES))),
        lambda _: Rounds(timing=3, counting=1),
    )


PRESETS: dict[str, Callable[[], Preset]] = {
    "quick": quick,
    "history": history,
    "full": full,
    "canary": canary,
    "canary-full": canary_full,
    "sampling": sampling,
}


def tasks_of(preset: Preset, narrowed: Narrowed) -> list[Task]:
    """The plan of a preset, narrowed by the user's options; empty if nothing is left.

    Models that the user names take the place of the preset's own.
    """
    named = (replace(cell, model=m) for m in narrowed.models or () for cell in preset.cells)
    in_models = dict.fromkeys(preset.cells if narrowed.models is None else named)
    chosen = [cell for cell in in_models if cell.problem() is None and narrowed.keeps(cell)]
    overrides = {cell: _rounds(preset, narrowed, cell) for cell in chosen}
    tasks = plan(chosen, Rounds(), overrides)
    wanted = narrowed.measures
    # Fillers stay: without them no other pass could start from a filled cache.
    return [t for t in tasks if wanted is None or t.measure in wanted or t.keep is not None]


def presets_with(narrowed: Narrowed) -> list[str]:
    """The names of the presets of which the options leave something."""
    return [name for name, preset in PRESETS.items() if tasks_of(preset(), narrowed)]


def _rounds(preset: Preset, narrowed: Narrowed, cell: Cell) -> Rounds:
    rounds = preset.rounds(cell)
    if narrowed.timing is None or rounds.timing == 0:
        return rounds
    return Rounds(narrowed.timing, rounds.counting, rounds.tracing)
