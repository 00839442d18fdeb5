"""The compiler of mutants: the same code with the same arguments is compiled once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

COMPILER = Path(__file__).parents[3] / "scripts" / "kept_compiler.sh"
REAL = """#!/bin/sh
echo "$@" >> "$LOG"
while [ "$1" != -o ]; do shift; done
case "$3" in *broken*) exit 3;; esac
cat "$3" > "$2"
"""


class Kept:
    """The compiler, and what the real one was asked for."""

    def __init__(self, where: Path) -> None:
        self.where = where
        (where / "kept").mkdir()
        real = where / "real"
        real.write_text(REAL)
        real.chmod(0o755)

    def compile(self, code: str, *arguments: str, name: str = "mod") -> int:
        """Compile a file of its own, and return the exit status."""
        directory = self.where / f"build{len(self.asked)}-{name}"
        directory.mkdir(exist_ok=True)
        source, out = directory / f"{name}.cpp", directory / "out.so"
        source.write_text(code)
        command = [str(COMPILER), "-shared", *arguments, "-o", str(out), str(source), "-lpython"]
        done = subprocess.run(command, env=self.variables, check=False)
        if done.returncode == 0:
            assert out.read_text() == code
        return done.returncode

    @property
    def variables(self) -> dict[str, str]:
        where = self.where
        own = {"REAL_COMPILER": f"{where}/real", "KEPT_MODULES": f"{where}/kept"}
        return {**os.environ, **own, "LOG": f"{where}/log"}

    @property
    def asked(self) -> list[str]:
        """The arguments of each call of the real compiler."""
        log = self.where / "log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def test_the_same_code_in_another_place_is_compiled_once(kept: Kept) -> None:
    assert kept.compile("one") == kept.compile("one") == 0
    assert len(kept.asked) == 1


def test_other_code_and_other_arguments_are_compiled(kept: Kept) -> None:
    for code, argument in (("one", "-O1"), ("two", "-O1"), ("one", "-O2")):
        assert kept.compile(code, argument) == 0
    assert len(kept.asked) == 3


def test_code_that_does_not_compile_is_tried_each_time(kept: Kept) -> None:
    assert kept.compile("one", name="broken") == kept.compile("one", name="broken") == 3
    assert len(kept.asked) == 2
