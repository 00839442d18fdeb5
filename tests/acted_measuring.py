"""A stand-in for the commands that measure. FOR TESTS ONLY: nothing is measured.

`sitecustomize` in a directory on PYTHONPATH starts it instead of `observatory run`, `canary`,
`contracts`, `torture`, `compare` and `sentinel`. It records synthetic samples of the commit, as the
real commands would, or writes a synthetic comparison. Each command is noted in the file that
ACTED_LOG names.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

MEASURING = ("run", "canary", "contracts", "torture", "compare", "sentinel")
LOG = "ACTED_LOG"


def install(where: Path) -> Path:
    """Write a sitecustomize module into a new directory, for PYTHONPATH; returns it."""
    where.mkdir()
    (where / "sitecustomize.py").write_text(f"""
import os, sys
words = sys.orig_argv[1:]
first = next((i for i, word in enumerate(words) if word.rpartition("/")[2] == "observatory"), None)
if words[-1:] == ["observatory.benchmarks.pinning"]:
    sys.exit("nothing counts instructions in this test")
if first is not None and words[first + 1 : first + 2] and words[first + 1] in {MEASURING}:
    os.execv(sys.executable, [sys.executable, {str(Path(__file__))!r}, *words[first + 1 :]])
""")
    return where


def _value(arguments: list[str], option: str) -> str:
    return arguments[arguments.index(option) + 1]


def _run(arguments: list[str]) -> int:
    from observatory.app.measurement import chosen_tasks
    from observatory.run.incomplete import lacking, recorded
    from observatory.run.placing import shard_of
    from observatory.run.presets import Narrowed
    from observatory.run.sources import from_url
    from observatory.store.asv.files import project
    from observatory.store.journal.models import new_run
    from observatory.store.records.machine import Machine
    from tests.factories import header, journal, sample

    core = from_url(_value(arguments, "--subject").partition(" @ ")[2])
    label = core.label
    measured = header(label, commit=core.commit, date=core.date, requirements=core.requirements)
    machine = Machine(machine=_value(arguments, "--machine"), os="Linux", arch="x86_64",
                      cpu="Some CPU", num_cpu="2")  # fmt: skip
    measured = measured.model_copy(update={"machine": machine})
    plan = _value(arguments, "--preset") if "--preset" in arguments else "quick"
    tasks = chosen_tasks(plan, Narrowed(None, None, None, None))
    if "--shard" in arguments:
        tasks = shard_of(_value(arguments, "--shard")).tasks(tasks)
    if "--stored" in arguments:
        there = recorded(Path(_value(arguments, "--stored")), machine, measured.subject, tasks)
        tasks = lacking(tasks, there)
    counted = {"cache_misses": 0, "uncacheable": 0}
    now = datetime.now(UTC)
    taken = [
        sample(
            task.cell, task.measure, started_at=now + timedelta(milliseconds=number),
            metrics=counted if task.measure == "counting" else {"compile_time": 0.4},
        )
        for number, task in enumerate(tasks)
    ]  # fmt: skip
    if not taken:
        return 0
    results = Path(_value(arguments, "--results"))
    made = journal(results, taken, new_run(plan), measured)
    project(results, made.read())
    return 0


def _compare(arguments: list[str]) -> int:
    from observatory.text.comment import comment
    from tests import factories_comparison as factory

    found = factory.cache_regression()
    Path(_value(arguments, "--json")).write_text(found.model_dump_json(by_alias=True))
    Path(_value(arguments, "--markdown")).write_text(comment(found))
    return 7


def main() -> int:
    """Act one command."""
    command, *arguments = sys.argv[1:]
    with Path(os.environ[LOG]).open("a") as stream:
        stream.write(" ".join([command, *arguments]) + "\n")
    return {"run": _run, "compare": _compare}.get(command, lambda _: 0)(arguments)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    sys.exit(main())
