"""How long what is left will take: rough expectations, corrected by how long the rest took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.plan import Task

# Seconds on a 2-core machine of 2026 with PyTensor 3.3; only their proportions matter.
_SECONDS = {
    ("cold", "C"): 4.5,
    ("cold", "C_VM"): 12.0,
    ("cold", "NUMBA"): 7.5,
    ("warm", "C"): 1.6,
    ("warm", "C_VM"): 1.8,
    ("warm", "NUMBA"): 2.6,
    ("call", "C"): 2.5,
    ("call", "C_VM"): 2.5,
    ("call", "NUMBA"): 3.0,
    ("variants", "C"): 24.0,
    ("variants", "C_VM"): 22.0,
    ("variants", "NUMBA"): 20.0,
    ("upgrade", "C"): 60.0,
    ("upgrade", "C_VM"): 60.0,
    ("upgrade", "NUMBA"): 60.0,
    ("sampling", "C_VM"): 25.0,
    ("sampling", "NUMBA"): 25.0,
    ("siblings", "C"): 40.0,
    ("siblings", "C_VM"): 40.0,
    ("siblings", "NUMBA"): 35.0,
}
_OF_RADON = {"lookalikes": 0.4, "closures": 0.15}
"""Of what the same takes with radon."""


def expected_seconds(task: Task) -> float:
    """What a task takes on the machine of the table."""
    scenario = task.cell.scenario.partition("_")[0]
    backend = "NUMBA" if task.cell.backend == "DEFAULT" else task.cell.cache_backend
    seconds = _SECONDS[(scenario, backend)] * _OF_RADON.get(task.cell.model, 1.0)
    if task.cell.backend == "NUMBA_NO_CACHE":
        seconds *= 2.5
    return seconds * (1.2 if task.measure == "tracing" else 1.0)


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
