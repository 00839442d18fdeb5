"""The compiler of mutants: the same code with the same arguments is compiled once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from scripts.mutants import kept_compiler

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
        real = where / "g++"
        real.write_text(REAL)
        real.chmod(0o755)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", f"{where}:{os.environ['PATH']}")
            self.compiler = kept_compiler.make(where / "compiler") / "g++"

    def compile(self, code: str, *arguments: str, name: str = "mod") -> int:
        """Compile a file of its own, and return the exit status."""
        directory = self.where / f"build{len(self.asked)}-{name}"
        directory.mkdir(exist_ok=True)
        source, out = directory / f"{name}.cpp", directory / "out.so"
        source.write_text(code)
        command = [
            str(self.compiler),
            "-shared",
            *arguments,
            "-o",
            str(out),
            str(source),
            "-lpython",
        ]
        done = subprocess.run(command, env={**os.environ, "LOG": f"{self.where}/log"}, check=False)
        if done.returncode == 0:
            assert out.read_text() == code
        return done.returncode

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


def test_equal_headers_are_the_same_wherever_they_are(kept: Kept, tmp_path: Path) -> None:
    """Two environments have PyTensor's and NumPy's headers in two places."""
    for name, text in (("one", "int a;"), ("two", "int a;"), ("other", "int b;")):
        (tmp_path / name / "numpy").mkdir(parents=True)
        (tmp_path / name / "numpy" / "array.h").write_text(text)
        assert kept.compile("code", f"-I{tmp_path / name}") == 0
    assert len(kept.asked) == 2
