"""What the settings of a user change, and where their cache is."""

from __future__ import annotations

import getpass
import os
import sys
from pathlib import Path

import pytest

from observatory.run import readers
from observatory.run.readers import (
    ReaderError,
    ask,
    base_compiledir,
    compiler,
    oldest_module,
    python_of_shell,
    settings,
)


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


def test_flags_that_change_no_code_are_no_settings(tmp_path: Path) -> None:
    flags = "floatX=float64,compile__timeout=200,cmodule__age_thresh_use=99,cxx=g++"
    variables = {"PYTENSORRC": "/none", "PYTENSOR_FLAGS": flags}
    assert settings(variables) == {"cxx": "g++"}
    assert oldest_module(variables) == 99
    assert oldest_module({"PYTENSORRC": "/none"}) == 24 * 24 * 3600


def test_a_configuration_file_may_refer_to_the_user(tmp_path: Path) -> None:
    file = tmp_path / "rc"
    file.write_text("[global]\nbase_compiledir = /scratch/%(USER)s/%(TMPDIR)s\ncxx = %(nobody)s\n")
    variables = {"PYTENSORRC": str(file), "TMPDIR": "100%"}
    assert base_compiledir(variables) == Path("/scratch", getpass.getuser(), "100%")
    assert settings(variables) == {"cxx": "%(nobody)s"}


def test_a_compiler_without_a_full_version_says_its_first_line(tmp_path: Path) -> None:
    clang = tmp_path / "clang++"
    clang.write_text('#!/bin/sh\n[ "$1" = --version ] && printf "clang 17\\nmore\\n"\n')
    clang.chmod(0o755)
    assert compiler({"cxx": str(clang)}) == "clang 17"


def test_a_quoted_flag_is_read_as_pytensor_reads_it() -> None:
    linked = "-L/opt/lib -lopenblas -Wl,-rpath,/opt/lib"
    variables = {
        "PYTENSORRC": "/none",
        "PYTENSOR_FLAGS": f"base_compiledir='/a, b',blas__ldflags='{linked}'",
    }  # fmt: skip
    assert settings(variables) == {"blas__ldflags": linked}
    assert base_compiledir(variables) == Path("/a, b")
    with pytest.raises(ReaderError, match="cannot be read: No closing quotation"):
        settings(variables | {"PYTENSOR_FLAGS": "cxxflags='-O1"})


def test_a_compiler_that_was_switched_off_is_none() -> None:
    assert compiler({"cxx": ""}) == compiler({"cxx": "/none"}) == ""


def test_a_python_may_be_named_by_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    assert ask("bin/python").executable == str(tmp_path / "bin" / "python")


@pytest.mark.parametrize("installed", [False, True])
def test_the_tool_asks_its_own_python_only_if_pytensor_is_installed_there(
    installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tool", "user"):
        (tmp_path / name / "bin").mkdir(parents=True)
        python = tmp_path / name / "bin/python"
        python.write_text("#!/bin/sh\n")
        python.chmod(0o755)
    # As `uvx` starts it, through a link.
    (tmp_path / "link").symlink_to("tool")
    places = [str(tmp_path / name / "bin") for name in ("link", "user")]
    monkeypatch.setenv("PATH", os.pathsep.join(places))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "tool"))
    monkeypatch.setattr(readers, "find_spec", lambda _: object() if installed else None)
    assert python_of_shell() == str(tmp_path / ("link" if installed else "user") / "bin/python")
    monkeypatch.setenv("PATH", places[0])
    assert (python_of_shell() is None) is not installed


def test_without_a_home_a_name_below_it_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose user is in no list of users."""

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert base_compiledir({}) == Path("~/.pytensor")
