"""One module a command, named like the command; and help that is quick because it imports none."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from observatory.cli import commands
from observatory.cli.main import Commands, module_of

MODULES = {path.stem for path in Path(commands.__file__).parent.glob("*.py")} - {"__init__"}
HEAVY = ("asv", "matplotlib", "numpy", "pandas", "pyarrow", "pydantic", "scipy")


def test_every_command_has_a_module_of_its_name_and_no_module_is_left() -> None:
    assert {module_of(name) for name in Commands.sentences} == MODULES


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_holds_one_command(name: str) -> None:
    module = importlib.import_module(f"observatory.cli.commands.{name}")
    assert hasattr(module, "command") != hasattr(module, "app")


def test_a_word_of_python_is_a_name_with_an_underscore() -> None:
    assert (module_of("import"), module_of("scan-cache")) == ("import_", "scan_cache")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import json, sys\n"
        "from observatory.cli.main import app\n"
        f"try:\n    app({arguments!r})\n"
        "except SystemExit:\n    pass\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(json.loads(done.stdout.splitlines()[-1]))
    assert imported.isdisjoint(HEAVY)
    assert not [name for name in imported if name.startswith("observatory.cli.commands.")]
