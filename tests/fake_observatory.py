"""A stand-in for the commands of a night. FOR TESTS ONLY: nothing is measured.

`run` goes through `observatory.app.session.take_samples` as the real one does, journal and resuming
included; only what takes a sample is a stand-in. Every other command writes down that it was there.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

LOG, PAUSE = "OBSERVATORY_FAKE_LOG", "OBSERVATORY_FAKE_PAUSE"
TASKS = 24


def _value(arguments: list[str], option: str) -> str:
    return arguments[arguments.index(option) + 1]


def _note(line: str) -> None:
    with Path(os.environ[LOG]).open("a") as stream:
        stream.write(f"{line}\n")


def _measure(arguments: list[str]) -> int:
    from observatory.app import session as module
    from observatory.app import unwritten
    from observatory.app.session import Session
    from observatory.app.taking import take_samples
    from observatory.benchmarks.catalogue import cells
    from observatory.benchmarks.plan import Task
    from observatory.store.asv.files import project
    from observatory.store.journal.reader import read_journal
    from observatory.store.records.machine import Machine
    from observatory.store.records.sample import Sample
    from tests.factories import header, sample

    class Executor:
        def __init__(self, *_: object, **__: object) -> None:
            self.caches = Path()

        def holds(self, cache: str) -> bool:
            return (self.caches / cache).is_dir()

        def run(self, task: Task) -> Sample:
            time.sleep(float(os.environ.get(PAUSE, "0")))
            return sample(task.cell, task.measure, {"compile_time": 1.0},
                          started_at=datetime.now(UTC))  # fmt: skip

        def cancel(self) -> None:
            pass

    class Environment:
        versions = header().versions
        key = "fake"

    def renew(results: Path, journal: Path) -> list[Any]:
        return project(results, read_journal(journal))

    names = vars(module)
    names["Executor"] = Executor
    names["measuring_lock"] = lambda *_: nullcontext()
    vars(unwritten)["write"] = renew
    results = Path(_value(arguments, "--results"))
    label = _value(arguments, "--subject")
    session = Session(
        "fake", results, results.parent / "state", Machine(machine="bench"), workers=1,
        resume="--resume" in arguments,
    )  # fmt: skip
    chosen = cells(("radon",), ("warm_disk", "cold", "call"), ("C", "C_VM", "NUMBA"))
    tasks = [Task(cell, measure, 0) for cell in chosen for measure in ("timing", "counting")][
        :TASKS
    ]
    subject = header(label).subject
    tally = take_samples(session, subject, Environment(), tasks)  # type: ignore[arg-type]
    return 3 if tally.failed else 0


def main() -> int:
    """Act one command."""
    command, *arguments = sys.argv[1:]
    _note(f"begins {command}" + (" resumed" if "--resume" in arguments else ""))
    status = int(os.environ.get(f"OBSERVATORY_FAKE_{command.upper()}", "0"))
    if command == "run":
        status = _measure(arguments) or status
    else:
        time.sleep(float(os.environ.get(PAUSE, "0")))
    if command == "dashboard":
        out = Path(_value(arguments, "--out"))
        out.mkdir(exist_ok=True)
        (out / ".observatory-site").write_text("index.html\n")
        (out / "index.html").write_text("<p>")
    _note(f"ends {command} {threading.active_count()}")
    return status


if __name__ == "__main__":
    sys.exit(main())
