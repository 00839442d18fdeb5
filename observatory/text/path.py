"""The steps of the path as a table: a row for each step, two columns for each subject. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from observatory.benchmarks.catalogue import MEMBERS, METRICS, MODELS, PATH, SCENARIOS, Cell
from observatory.store.reading.walks import StepTaken, Walks
from observatory.text.plain import clean, shorten
from observatory.text.tables import Table
from observatory.text.units import MISSING, seconds
from observatory.text.words import known_first

COUNTS = ("graphs_compiled", "functions_compiled", "cache_misses")
"""The counts of a step that are shown, in this order."""
_NOTE = 200


@dataclass(frozen=True)
class Walked:
    """The steps of one subject on one machine, by cell."""

    label: str
    place: str
    """The Python and the machine, in words: numbers of two of them are not compared."""
    cells: Walks


@dataclass(frozen=True)
class Walk:
    """The steps of one subject from one cache."""

    label: str
    scenario: str
    steps: Mapping[str, StepTaken]

    @property
    def start(self) -> str:
        """What its cache is, in a word."""
        return "warm" if SCENARIOS[self.scenario].warm else "cold"


def by_model(subjects: Iterable[Walked]) -> dict[tuple[str, str, str], list[Walk]]:
    """The walks of subjects by model, backend and place; the start method is always the same."""
    found: dict[tuple[str, str, str], list[Walk]] = {}
    for one in subjects:
        for words, steps in sorted(one.cells.items(), key=lambda cell: _order(cell[0])):
            cell = Cell(*words.split())
            walk = Walk(one.label, cell.scenario, {step.name: step for step in steps})
            found.setdefault((cell.model, cell.backend, one.place), []).append(walk)
    models = known_first((model for model, *_ in found), MODELS)
    return {
        table: found[table]
        for table in sorted(found, key=lambda table: (models.index(table[0]), table[1:]))
    }


def path_table(model: str, backend: str, walks: Sequence[Walk], place: str = "") -> Table:
    """The table of one model and backend. The footnotes begin with what is wrong.

    ``place``: the Python and the machine, if there are tables of several.
    """
    names = steps_of(model, walks)
    rows = [(name, *(cell_of(walk.steps.get(name)) for walk in walks)) for name in names]
    rows.append(("all steps", *(cell_of(one) for one in totals_of(walks))))
    header = ("step", *(f"{walk.label} {walk.start}" for walk in walks))
    title = ", ".join(filter(None, (f"{model} with {backend}", place)))
    return Table(title, header, tuple(rows), (*_notes(walks), meaning_of_cells()))


def steps_of(model: str, walks: Iterable[Walk]) -> list[str]:
    """The steps that any of the walks has, in the order in which they are taken."""
    return known_first({name for walk in walks for name in walk.steps}, MEMBERS.get(model, ()))


def cell_of(step: StepTaken | None) -> str:
    """A step in one line: its counts, and its seconds if they were measured."""
    if step is None:
        return MISSING
    if step.status != "ok":
        return step.status if step.status == "absent" else step.status.upper()
    metrics = step.metrics or {}
    counts = [f"{metrics[name]:,.0f}" if name in metrics else MISSING for name in COUNTS]
    time = metrics.get("step_time")
    shown = "  ".join([*counts, seconds(time) if time is not None else MISSING])
    return f"WRONG  {shown}" if step.wrong else shown


def totals_of(walks: Sequence[Walk]) -> list[StepTaken | None]:
    """The sum of all steps of each walk; None where one failed, or is absent that another has.

    A sum of fewer steps is smaller, which would look like less work. So would one to which a step
    adds no time: a metric is summed if every step has it.
    """
    every = {name for walk in walks for name, one in walk.steps.items() if one.status != "absent"}
    taken = [[one for one in walk.steps.values() if one.status == "ok"] for walk in walks]
    return [_total(steps) if len(steps) == len(every) else None for steps in taken]


def _total(steps: Sequence[StepTaken]) -> StepTaken:
    metrics = [step.metrics or {} for step in steps]
    sums = {
        name: sum(own[name] for own in metrics)
        for name in (*COUNTS, "step_time")
        if all(name in own for own in metrics)
    }
    return StepTaken("all steps", metrics=sums)


def callers(step: StepTaken) -> str:
    """Who asked for the PyTensor functions of a step, each with how many."""
    found = Counter(map(clean, step.compiled))
    return ", ".join(name if n == 1 else f"{name} ({n})" for name, n in found.items())


def who_asked(model: str, walks: Sequence[Walk]) -> Iterator[str]:
    """A line for each step: who asked for its functions. Walks with other functions have their own.

    Steps that compile nothing have none.
    """
    for name in steps_of(model, walks):
        asked: dict[str, list[str]] = {}
        for walk in walks:
            if name in walk.steps and walk.steps[name].compiled:
                asked.setdefault(callers(walk.steps[name]), []).append(f"{walk.label} {walk.start}")
        for who, labels in asked.items():
            yield f"{name}: {who}" if len(asked) == 1 else f"{name}, {'; '.join(labels)}: {who}"


def meaning_of_cells() -> str:
    """What the numbers of `cell_of` are."""
    first, second, third = (METRICS[name].meaning for name in COUNTS)
    return f"the numbers of a step: {first}; {second}; {third}; the time of the step"


def _order(words: str) -> tuple[str, int]:
    model, scenario, *_ = words.split()
    return model, PATH.index(scenario) if scenario in PATH else len(PATH)


def _notes(walks: Iterable[Walk]) -> Iterator[str]:
    found = [(walk, step) for walk in walks for step in walk.steps.values()]
    for walk, step in found:
        if step.wrong:
            yield f"{walk.label} {walk.start}, {step.name}: its numbers are wrong"
    for walk, step in found:
        if step.note:
            yield f"{walk.label} {walk.start}, {step.name}: {shorten(step.note, _NOTE)}"
