"""Build some graphs of the census with subjects, and learn what becomes of each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from observatory.analyze.comparison.evidence import message_of
from observatory.app.measurement import chosen_tasks
from observatory.app.session import Session
from observatory.benchmarks.catalogue import MEMBERS, SCENARIOS, Cell, backends_of, no_such
from observatory.benchmarks.plan import Task
from observatory.errors import Exit, SelectionError
from observatory.run.execute import Executor
from observatory.run.filled import filled_caches
from observatory.run.local import measuring_lock
from observatory.run.presets import PRESETS as EVERY_PRESET
from observatory.run.presets import Narrowed
from observatory.store.base.patterns import chosen
from observatory.store.reading.fates import Fate, fates_in
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject

PRESETS = ("census", "topics")
"""The presets whose graphs it can build."""
_CELLS = {name: EVERY_PRESET[name].cells for name in PRESETS}
MODELS = tuple(dict.fromkeys(cell.model for cells in _CELLS.values() for cell in cells))
"""The models of the census."""
BACKENDS = backends_of("census_warm")
"""The backends of the census."""
_BAD = ("wrong", "collided")
_NAMED = 8
"""Graphs that a message names, of hundreds."""


@dataclass(frozen=True)
class Census:
    """What became of the graphs of one subject with one backend."""

    label: str
    backend: str
    fates: Mapping[str, Fate]
    """By graph."""
    compiling: Mapping[str, float]
    """The seconds in which a graph of one Op was compiled into an empty cache, by graph."""
    failures: tuple[str, ...] = ()
    """Sentences about samples that gave nothing."""

    @property
    def exit_code(self) -> Exit:
        """The status with which `observatory census` ends; wrong numbers come first."""
        if any(one.fate in _BAD for one in self.fates.values()):
            return Exit.WRONG_RESULTS
        return Exit.SAMPLE_FAILED if self.failures else Exit.OK


def graphs_like(patterns: Sequence[str]) -> dict[str, str]:
    """Return the graphs of the census that match any of the patterns, each with its model.

    A pattern is a name, in which * stands for any text: ``differ.size.*``. Raises SelectionError
    for a pattern that matches no graph.
    """
    every = {graph: model for model in MODELS for graph in MEMBERS[model]}
    for pattern in patterns:
        if not chosen(every, [pattern]):
            raise SelectionError(
                f"{no_such('graph', pattern, every, _NAMED)}; `observatory census --list` names all"
            )
    return {graph: every[graph] for graph in chosen(every, patterns)}


def census(
    session: Session,
    subjects: Sequence[Subject],
    graphs: Mapping[str, str],
    backends: Sequence[str],
    flags: str | None = None,
) -> Iterator[Census]:
    """Build graphs with each subject, and yield what became of them. Nothing is recorded.

    ``graphs``: as `graphs_like` returns them. ``flags``: further PYTENSOR_FLAGS, as a user would
    set them. Raises SelectionError for a backend that the census does not have, and as
    `Session.environment` does.
    """
    if lacking := [name for name in backends if name not in BACKENDS]:
        raise SelectionError(f"in the census {no_such('backend', lacking[0], BACKENDS)}")
    tasks = _tasks(tuple(dict.fromkeys(graphs.values())), backends)
    for subject in subjects:
        environment = session.environment(subject)
        with filled_caches(session.state, "census") as caches:
            only = tuple(graphs)
            executor = Executor(environment, caches, session.timeout, flags=flags, only=only)
            with measuring_lock(session.say):
                samples = [_taken(session, subject.label, executor, task) for task in tasks]
        for backend in dict.fromkeys(task.cell.backend for task in tasks):
            own = [one for one in samples if one.cell.backend == backend]
            yield _census(subject.label, backend, own)


def _tasks(models: Sequence[str], backends: Sequence[str]) -> list[Task]:
    """What counts these models with these backends. Raises SelectionError if nothing does."""
    found = []
    for name, known in _CELLS.items():
        own = [one for one in models if any(cell.model == one for cell in known)]
        if own:
            narrowed = Narrowed(models=own, backends=backends, measures=["counting"])
            found += chosen_tasks(name, narrowed)
    return found


def _taken(session: Session, label: str, executor: Executor, task: Task) -> Sample:
    session.say(f"{label}: {task.cell.model} {task.cell.scenario} {task.cell.backend}")
    return executor.run(task)


def _census(label: str, backend: str, samples: Sequence[Sample]) -> Census:
    fates: dict[str, Fate] = {}
    compiling: dict[str, float] = defaultdict(float)
    failures: dict[Cell, str] = {}
    for sample in samples:
        if sample.status != "ok":
            failures[sample.cell] = f"{sample.cell}: {message_of(sample)}"
        elif SCENARIOS[sample.cell.scenario].told:
            fates |= {one.name: one for one in fates_in(sample, sample.ledger or ())}
        elif not SCENARIOS[sample.cell.scenario].of_pair:
            for entry in sample.ledger or ():
                if entry.step is not None:
                    compiling[entry.step] += entry.seconds
    return Census(label, backend, fates, compiling, tuple(failures.values()))
