"""Which lines of PyTensor's code of caches the cells run: no mutant elsewhere can be found."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Rounds, plan
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from scripts.mutants.mutations import Mutation
from scripts.mutants.torture import verdicts

LINES_TO = "OBSERVATORY_LINES_TO"
"""Names the file that a process appends the lines to."""
HOOK = f"""
import os, sys

def record(into):
    tool, events, file = 5, sys.monitoring.events, os.open(into, os.O_APPEND | os.O_WRONLY)

    def seen(code, line):
        if "/pytensor/" in code.co_filename:
            os.write(file, f"{{code.co_filename}}:{{line}}\\n".encode())
        return sys.monitoring.DISABLE

    sys.monitoring.use_tool_id(tool, "lines")
    sys.monitoring.register_callback(tool, events.LINE, seen)
    sys.monitoring.set_events(tool, events.LINE)

if os.environ.get("{LINES_TO}"):
    record(os.environ["{LINES_TO}"])
"""
"""What an environment runs at its start. Needs Python 3.12."""

Lines = Mapping[str, Collection[int]]
"""By module: the numbers of the lines that ran."""


def reached(lines: Lines, module: str, mutation: Mutation) -> bool:
    """Whether a line of the statement that a mutation changes ran."""
    first, last = mutation.lines
    return any(first <= line <= last for line in lines.get(module, ()))


def lines_kept(
    keep: Path,
    environment: Environment,
    cells: Collection[tuple[Cell, tuple[str, ...]]],
    modules: Collection[str],
    faults: Sequence[str] = (),
) -> Lines:
    """Return what `lines_run` does, which is kept in a directory for the next time.

    The directory is of one release. Raises AssertionError if a sample fails.
    """
    name = hashlib.sha256(f"{cells} {modules} {faults}".encode()).hexdigest()[:16]
    file = keep / f"lines-{name}.json"
    if not file.exists():
        file.write_text(json.dumps(lines_run(environment, cells, modules, faults)))
    found: Lines = json.loads(file.read_text())
    return found


def lines_run(
    environment: Environment,
    cells: Iterable[tuple[Cell, tuple[str, ...]]],
    modules: Iterable[str],
    faults: Sequence[str] = (),
) -> Lines:
    """Take a sample of each cell, of these graphs, and return the lines of the modules that ran.

    ``faults``: C's cache is put under these, too. Raises AssertionError if a sample fails.
    """
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "lines")
        file.touch()
        variables = {LINES_TO: str(file)}
        for number, (cell, only) in enumerate(cells):
            (caches := Path(scratch, str(number))).mkdir()
            executor = Executor(environment, caches, 600.0, variables=variables, only=only)
            for task in plan((cell,), Rounds(timing=0, counting=1)):
                assert executor.run(task).status == "ok", task
        if faults:
            assert verdicts(environment, faults, variables), "the faults cannot be tried"
        found = {line.rpartition(":")[::2] for line in file.read_text().splitlines()}
    ends = {module: f"/{module.replace('.', '/')}.py" for module in modules}
    return {
        module: sorted(int(line) for name, line in found if name.endswith(end))
        for module, end in ends.items()
    }
