"""The environment of the tool: made where there is none, and never in the place of other files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("there", ["thesis.txt", ".hidden", "bin/python"])
def test_a_directory_of_other_files_is_refused_and_nothing_in_it_is_deleted(
    tmp_path: Path, there: str
) -> None:
    """Whoever names another directory by mistake, as with `make VENV=..`, must not lose it."""
    foreign = tmp_path / "foreign"
    file = foreign / there
    file.parent.mkdir(parents=True)
    file.write_text("years of work")
    script = ["bash", "scripts/make_tool_environment.sh", sys.executable, str(foreign)]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{foreign} is there and is no virtual environment: remove it, or" in done.stderr
    assert file.read_text() == "years of work"
    assert [path for path in foreign.rglob("*") if path.is_file()] == [file]


def test_a_python_that_is_no_virtual_environment_gets_no_packages(tmp_path: Path) -> None:
    """As where somebody names `/usr`. This Python accepts whatever it is asked for."""
    python, asked = tmp_path / "bin" / "python", tmp_path / "asked"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n')
    python.chmod(0o755)
    script = ["bash", "scripts/make_tool_environment.sh", sys.executable, str(tmp_path)]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "is there and is no virtual environment" in done.stderr
    assert not asked.exists()
