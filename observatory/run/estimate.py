"""How long what is left will take: rough expectations, corrected by how long the rest took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.catalogue import BACKENDS, MODELS, SCENARIOS
from benchmarks.plan import Task

_TRACED = 1.2
"""How much longer a build takes while its Python calls are counted."""


def expected_seconds(task: Task) -> float:
    """How long a task takes on the machine of which the catalogue tells, in seconds."""
    cell = task.cell
    backend = BACKENDS[cell.backend]
    seconds = SCENARIOS[cell.scenario].seconds_with(backend.expected_as) * MODELS[cell.model].size
    return seconds * backend.slower * (_TRACED if task.measure == "tracing" else 1.0)


@dataclass
class Estimate:
    """Remaining wall time of a plan, in seconds."""

    tasks: Sequence[Task]
    workers: int
    _spent: float = 0.0
    _expected_of_spent: float = 0.0
    _done: set[int] = field(default_factory=set)

    def finished(self, task: Task, seconds: float) -> None:
        """Learn from a task that took `seconds`."""
        self._spent += seconds
        self._expected_of_spent += expected_seconds(task)
        self._done.add(id(task))

    def seconds_left(self) -> float:
        """From now to the end of the plan."""
        # Three samples' worth of doubt, so that one slow start does not frighten anybody.
        doubt = 15.0
        pace = (self._spent + doubt) / (self._expected_of_spent + doubt)
        left = 0.0
        for task in self.tasks:
            if id(task) not in self._done:
                side_by_side = 1 if task.measure == "timing" else self.workers
                left += expected_seconds(task) / side_by_side
        return left * pace
