"""What the settings of a user change, and where their cache is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from observatory.run.readers import ReaderError, ask, base_compiledir, compiler, settings


def test_settings_are_those_that_change_code(tmp_path: Path) -> None:
    file = tmp_path / "rc"
    file.write_text("[global]\nfloatX = float32\nbase_compiledir = /one\n[gcc]\ncxxflags = -O1\n")
    variables = {
        "PYTENSORRC": str(file),
        "PYTENSOR_FLAGS": "base_compiledir=/two, floatX=float16,blas__x=a=b",
        "NUMBA_OPT": "1", "NUMBA_CACHE_DIR": "/three", "NUMBA_NUM_THREADS": "4", "HOME": "/home",
    }  # fmt: skip
    assert settings(variables) == {
        "NUMBA_OPT": "1", "blas__x": "a=b", "floatX": "float16", "gcc__cxxflags": "-O1",
    }  # fmt: skip
    assert base_compiledir(variables) == Path("/two")
    assert base_compiledir(variables | {"PYTENSOR_FLAGS": ""}) == Path("/one")
    assert base_compiledir({"PYTENSORRC": "/none"}) == Path("~/.pytensor").expanduser()


def test_a_broken_configuration_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rc"
    file.write_text("floatX = float32\n")
    with pytest.raises(ReaderError, match="rc cannot be read"):
        settings({"PYTENSORRC": str(file)})


def test_a_compiler_that_was_switched_off_is_none() -> None:
    assert compiler({"cxx": ""}) == compiler({"cxx": "/none"}) == ""


def test_a_python_may_be_named_by_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    assert ask("bin/python").executable == str(tmp_path / "bin" / "python")
