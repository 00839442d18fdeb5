"""Take a pool of counts of one subject: how much they differ when nothing has changed.

With `--only waiting_time`, it is a pool of how long builds wait, for `wait_rates`.

    .venv/bin/python -m scripts.accuracy.work_pool FILE.jsonl --subject 3.3.7 --until 14:25
    .venv/bin/python -m scripts.accuracy.work_rates FILE.jsonl --keep FILE.parquet

The samples go through all cells again and again, and each is appended as one line: the pool is
balanced whenever this ends, and continues when it is started again. A sample of work takes ten
times as long as a trace: one cell is traced after each. Every round has another hash seed.

Two processes at once take a pool in half the time, each into a file, a state directory and hash
seeds of its own (`--first-seed`): counts with one seed repeat exactly and say nothing new.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from pathlib import Path

from observatory.benchmarks import pinning
from observatory.benchmarks.catalogue import METRICS, Cell, cells, metrics_of
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.run.execute import Executor
from observatory.run.local import STATE, environment_of, local_subjects

CELLS = tuple(
    cells(("radon",), ("warm_disk", "warm_process", "call"), ("NUMBA", "C_VM"), ("spawn",))
)
COUNTS = {METRICS[name].measure: name for name in ("instructions", "python_calls", "waiting_time")}
_FACTS = ("pytensor", "numba", "python", "cpu")


def rounds(
    first_seed: int, only: str | None = None, of: Collection[Cell] = CELLS
) -> Iterator[Task]:
    """The tasks of the cells, without an end; those that fill the caches come first.

    `only` is the metric whose samples are taken; None takes those of work.
    """
    waits = only == "waiting_time"
    once = plan(of, Rounds(timing=int(waits), counting=0, tracing=not waits, work=not waits))
    yield from (task for task in once if task.keep is not None)
    tasks = {(t.cell, t.measure): replace(t, imports=False) for t in once if t.keep is None}
    traced = cycle(task for (_, measure), task in tasks.items() if measure == "tracing")
    for number in count(first_seed - pinning.SEED):
        for cell in of:
            if waits:
                yield replace(tasks[cell, "timing"], round=number)
                continue
            if only != "python_calls":
                yield replace(tasks[cell, "work"], round=number)
            if only != "instructions":
                yield next(traced)


def taken(executor: Executor, task: Task) -> dict[str, object]:
    """Take one sample; its line of the pool."""
    load = os.getloadavg()[0]
    sample = executor.run(task)
    metric = COUNTS[task.measure]
    return {
        **asdict(task.cell), "metric": metric, "value": sample.metrics.get(metric),
        "status": sample.status, "hash_seed": sample.hash_seed, "load": round(load, 2),
        "started_at": sample.started_at.isoformat(timespec="seconds"),
        "source": sample.counted_by, **{name: sample.environment.get(name) for name in _FACTS},
    }  # fmt: skip


def next_at(text: str) -> datetime:
    """The next moment at which it is HH:MM in UTC. Raises ValueError."""
    now = datetime.now(UTC)
    wanted = datetime.strptime(text, "%H:%M").replace(tzinfo=UTC)
    found = datetime.combine(now.date(), wanted.timetz())
    return found if found > now else found + timedelta(days=1)


def main() -> int:
    """Take samples until the time is over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--subject", default="newest")
    parser.add_argument("--until", required=True, type=next_at, metavar="HH:MM",
                        help="UTC: no sample begins after it")  # fmt: skip
    parser.add_argument("--first-seed", type=int, default=pinning.SEED)
    parser.add_argument("--only", choices=sorted(COUNTS.values()), help="take no other samples")
    parser.add_argument(
        "--scenario", choices=sorted({cell.scenario for cell in CELLS}), help="take no others"
    )
    parser.add_argument("--pause", type=Path, help="wait while this file exists")
    parser.add_argument("--state", type=Path, default=STATE)
    options = parser.parse_args()
    subjects = local_subjects(options.state)
    environment = environment_of(subjects.parse(options.subject), subjects, options.state)
    caches = options.state.absolute() / "caches" / "work-pool" / environment.key
    caches.mkdir(parents=True, exist_ok=True)
    executor = Executor(environment, caches, timeout=1800)
    lines = options.file.read_text().splitlines() if options.file.exists() else ()
    known = [json.loads(line) for line in lines]
    done = Counter((Cell(*(one[a] for a in Cell.__annotations__)), one["metric"]) for one in known)
    wanted = [
        cell
        for cell in CELLS
        if options.scenario in (None, cell.scenario)
        and (
            options.only is None or METRICS[options.only] in metrics_of(cell.scenario, cell.launch)
        )
    ]
    for task in rounds(options.first_seed, options.only, wanted):
        if task.keep is not None:
            if not (caches / task.keep).is_dir():
                executor.run(task)
            continue
        if done[place := (task.cell, COUNTS[task.measure])]:
            done[place] -= 1
            continue
        while options.pause is not None and options.pause.exists():
            time.sleep(5)
        if datetime.now(UTC) >= options.until:
            break
        line = json.dumps(taken(executor, task))
        with options.file.open("a") as file:
            file.write(line + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
