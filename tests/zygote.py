"""Runs commands of the observatory that can be killed, with a stand-in for what they measure.

FOR TESTS ONLY: nothing is measured. A line of JSON, ``{"words": [...], "place": "...", "variables":
{...}}``, begins a command in a process and a session of its own, in that directory; the answer is
its process id. The next line, which is empty, waits for it; the answer is its exit status. Until
then nobody else has that process id. Forking saves each command the import of a thousand modules.
What it prints is added to the file `log` there.

Every environment is a script that runs `tests/fake_sampling.py`. From 3.3.5 on, a subject misses
four times more. The index has a pre-release of numba, and the steps of a night are forked here.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from packaging.version import Version

from observatory.app import comparison, crossing, searching  # noqa: F401 - loaded before the fork
from observatory.cli.commands import (  # noqa: F401 - loaded before the fork
    bisect,
    canary,
    census,
    compare,
    contracts,
    cross,
    explore,
    publish,
    run,
    sentinel,
    tomorrow,
    torture,
    upgrade,
)
from observatory.cli.main import main as command
from observatory.run import local
from observatory.run.environments import NO_PINS, Environment, Environments
from observatory.run.interpreters import Interpreter
from observatory.run.subjects import Subjects
from observatory.run.tomorrow import Tomorrow
from observatory.store.base.record import Record
from observatory.store.records.sentinels import FixedWork
from observatory.store.records.subject import Subject
from tests.factories import header
from tests.factories_contracts import contracts as contracts_of
from tests.factories_torture import torture as torture_of

SAMPLING = Path(__file__).with_name("fake_sampling.py")
CHANGES = Version("3.3.5")
MISSES, PRINTED = "FLEET_TEST_MISSES", "FLEET_TEST_PRINTED"
RECORDS: Mapping[str, Record] = {
    "benchmarks.contracts": contracts_of(),
    "benchmarks.sentinel": FixedWork(system={"kernel": "6.1"}, times={"arrays": [0.5, 0.25]}),
    "benchmarks.torture": torture_of(tried=None),
}
"""What the modules print that take no sample."""


def ensure(
    self: Environments, subject: Subject, interpreter: Interpreter,
    added: Sequence[str] = (), pins: Mapping[str, str] = NO_PINS,
) -> Environment:  # fmt: skip
    """The stand-in's environment of a subject."""
    del interpreter, added, pins
    version = subject.label.partition(" ")[0]
    misses = 4 if Version(version) >= CHANGES else 0
    where = self.root.absolute() / version
    where.mkdir(parents=True, exist_ok=True)
    python = where / "python"
    text = f"#!/bin/sh\nexport {MISSES}={misses} {PRINTED}={where}\n"
    text += f'exec {sys.executable} -I -S {SAMPLING} "$@"\n'
    for name, record in RECORDS.items():
        _put(
            where / f"{name}.json",
            record.model_dump_json(by_alias=True, exclude={"tried", "checked"}),
        )
    _put(python, text)
    versions = header().versions.model_copy(update={"pytensor": version})
    return Environment(python, versions, version, where)


def _put(path: Path, text: str) -> None:
    made = path.with_name(f"{path.name}-{os.getpid()}")
    made.write_text(text)
    made.chmod(0o755)
    made.replace(path)


def step(words: Sequence[str], lock: int) -> int:
    """Carry out a step of a night in a child process, which holds the lock, too; its status."""
    del lock  # inherited
    child = os.fork()
    if child == 0:
        os.setsid()
        os._exit(carried_out(["observatory", *words]))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def act(words: list[str], place: str, variables: dict[str, str]) -> int:
    """Carry out one command in this process; its exit status."""
    os.chdir(place)
    os.environ |= variables
    output = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for number in (1, 2):
        os.dup2(output, number)
    return carried_out(["observatory", *words])


def carried_out(words: list[str]) -> int:
    """Run a command in this process; its exit status."""
    sys.argv = words
    try:
        command()
    except SystemExit as left:
        return int(left.code or 0)
    except BaseException:
        traceback.print_exc()
    return 70


def main() -> None:
    """Answer orders until there are no more."""
    Environments.ensure = ensure  # type: ignore[method-assign]
    known = local.local_subjects(Path("state"))

    def subjects(state: Path) -> Subjects:
        del state
        return known

    announced = Tomorrow("3.3.4", "3.3.4", "3.3.6", "3.3.6")
    vars(tomorrow).update(tomorrow_of=lambda *_: announced, command_of=step)
    for module in list(sys.modules.values()):
        if getattr(module, "local_subjects", None) is not None:
            vars(module)["local_subjects"] = subjects
    for line in sys.stdin:
        order = json.loads(line)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            os.close(writing)
            os._exit(act(**order))
        os.close(writing)
        os.read(reading, 1)  # ends when the child has a process group, which may be killed
        os.close(reading)
        print(child, flush=True)
        sys.stdin.readline()
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
