"""What the workflows of a project cost, in minutes of a runner with two cores.

Samples are estimated as `observatory run` does, and then by how much longer those in results/ took,
which were taken while other programs ran: a test computes these factors again. What comes before
the samples was measured once, with nothing cached: docs/nightly.md has that run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from observatory.benchmarks.catalogue import Cell, Measure
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.run.interleave import TRACED, WORKED, matrix
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.schedule import Estimate, wall_seconds

RECORDED: Mapping[Measure, float] = {"counting": 1.7, "tracing": 2.1, "timing": 0.8, "work": 2.2}
"""By pass, how many times as long as estimated the recorded samples took."""
RECORDED_CANARY = 4.4
"""The same of the canary, whose samples start eight processes each."""
SETUP = 75.0
"""Seconds before the first environment: checkouts, Python, valgrind, the tool."""
BUILD = 48.0
"""Seconds to build a commit of PyTensor and to make its environment."""
PUBLISH = 60.0
"""Seconds to add results to the branch, to find alerts and to build pages, in a job of its own."""
SETTINGS = 780.0
"""Seconds of `observatory canary --settings`."""
CONTRACTS = 30.0
"""Seconds of `observatory contracts`."""
SENTINEL = 60.0
"""Seconds of `observatory sentinel`."""
TORTURE = 1200.0
"""Seconds of `observatory torture`, with its environments; a night tries each release once."""
PARTS = 3
"""Jobs that share the samples of each commit of a night, by the input `parts` of its workflow."""
BUDGET = 600.0
"""Seconds that the workflow of pull requests may measure, its input `budget`."""
_WORKERS = 2
_PASSES: tuple[Measure, ...] = ("counting", "work", "tracing")


@dataclass(frozen=True)
class PullRequest:
    """Seconds from the label to a verdict, with nothing cached."""

    first: float
    """Until the log says whether NUMBA's caches still hit, as they did in the stored base."""
    calm: float
    """Until all counts, work and Python calls are as in the stored base: that is the comparison."""
    worse: float
    """If NUMBA's caches got worse: until both sides are counted, or the budget is spent."""
    most: float
    """The same if only work got worse, which is counted last."""


def of_pull_request() -> PullRequest:
    """What the comparison of a pull request takes."""
    cells = matrix(Narrowed(measures=_PASSES))
    counted = _seconds(cells.counted, Rounds(timing=0, counting=1))
    work = _seconds(cells.worked, Rounds(timing=0, counting=0, work=1))
    first = _seconds(cells.groups[0][1], Rounds(timing=0, counting=1))
    traced = _seconds(cells.traced, Rounds(timing=0, counting=0, tracing=1))
    before = SETUP + BUILD
    both = BUILD + min(2 * (counted + WORKED[-1] * work + TRACED * traced), BUDGET)
    return PullRequest(
        first=before + first,
        calm=before + counted + work + traced,
        worse=before + first + both,
        most=before + counted + work + traced + both,
    )


def of_commit() -> float:
    """Seconds that a night takes for each commit."""
    tasks = [*tasks_of(PRESETS["history"], Narrowed()), *tasks_of(PRESETS["work"], Narrowed())]
    return (PARTS + 1) * BUILD + _left(tasks)  # each part, and the job that counts work


def of_night() -> float:
    """Seconds that a night takes beside its commits, the checks of the last one included.

    Searches for what made open alerts are not: a night without any has none. Without a new commit
    there are only the set-ups and the pages.
    """
    canary = Estimate(tasks_of(PRESETS["canary"], Narrowed()), _WORKERS).seconds_left()
    jobs = PARTS + 3  # and those of the checks, of the alerts and of the pages
    checks = RECORDED_CANARY * canary + SETTINGS + CONTRACTS
    return jobs * SETUP + SENTINEL + checks + PUBLISH


def table() -> list[tuple[str, int]]:
    """What costs how many minutes."""
    pull = of_pull_request()
    rows = [
        ("a pull request, until the log says whether NUMBA's caches still hit", pull.first),
        ("a pull request that changes nothing", pull.calm),
        ("a pull request that makes NUMBA's caches worse", pull.worse),
        ("a pull request that only does more work", pull.most),
        ("a night, beside its commits", of_night()),
        ("each new commit of a night", of_commit()),
        ("each new release of a night: its caches under faults", TORTURE),
        ("a push, beside the project's own benchmarks", 2 * SETUP + PUBLISH),
    ]  # fmt: skip
    return [(what, max(1, round(seconds / 60))) for what, seconds in rows]


def costs(parts: Collection[str]) -> list[str]:
    """Sentences on the minutes that each part takes on a runner."""
    said = []
    if "compare" in parts:
        one = of_pull_request()
        said.append(
            f"{_minutes(one.calm)} for a pull request that changes nothing, {_minutes(one.worse)} "
            f"for one that makes caches worse and at most {_minutes(one.most)} for others, each "
            f"time the label is added; the log has the first verdict after {_minutes(one.first)}"
        )
    if "nightly" in parts:
        said.append(
            f"{_minutes(of_night())} a night, and {_minutes(of_commit())} more for each new commit"
        )
    if "benchmarks" in parts:
        said.append(
            f"{_minutes(2 * SETUP + PUBLISH)} for a push, and for each new commit the time of its "
            "installation and of the benchmarks"
        )
    return said


def _seconds(cells: Sequence[Cell], rounds: Rounds) -> float:
    return _left(plan(cells, rounds))


def _left(tasks: Sequence[Task]) -> float:
    return sum(RECORDED[task.measure] * wall_seconds(task, _WORKERS) for task in tasks)


def _minutes(seconds: float) -> str:
    return f"{max(1, round(seconds / 60))} min"
