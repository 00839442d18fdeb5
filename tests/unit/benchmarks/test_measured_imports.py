"""What the measured process imports beside the subject: it changes what the subject executes."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SHIFTING = {"decimal", "statistics"}
"""With `decimal`, which `statistics` imports, builds with C_VM take 0.25 % fewer instructions."""
IMPORTED = frozenset((
    "__future__", "atexit", "collections", "contextlib", "copy", "csv", "ctypes", "dataclasses",
    "difflib", "fnmatch", "functools", "gc", "importlib", "inspect", "itertools", "json", "logging",
    "math", "os", "pathlib", "pickle", "pkgutil", "resource", "shutil", "signal", "subprocess",
    "sys", "tempfile", "time", "traceback", "types", "typing", "warnings",
))  # fmt: skip
"""What modules of the benchmarks import at their top before the subject is imported."""


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    """Every module that such a process has imported before the subject, with its file."""
    asked = "import sys, benchmarks.child\nfor name, module in list(sys.modules.items()):\n"
    asked += "    print(name, getattr(module, '__file__', ''), sep='\\t')"
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return dict(line.split("\t") for line in done.stdout.splitlines())


def at_top(file: Path) -> Iterator[str]:
    """The packages that a module imports by their names, outside of its functions."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


def test_nothing_is_imported_that_shifts_the_counts_of_instructions(
    modules: dict[str, str],
) -> None:
    assert SHIFTING.isdisjoint(modules)


def test_whatever_else_is_imported_was_looked_at(modules: dict[str, str]) -> None:
    own = [Path(file) for name, file in modules.items() if name.partition(".")[0] == "benchmarks"]
    assert len(own) > 50
    new = {name for file in own for name in at_top(file)} - IMPORTED
    assert not new, (
        f"{', '.join(sorted(new))}: count one build with and without it (`python -m "
        "benchmarks.sample --pass work --scenario warm_process --backend C_VM`); if the counts are "
        "the same, add it to IMPORTED, and if not, import it inside of a function"
    )
