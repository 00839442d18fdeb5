"""Only what no process uses is deleted."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

import pytest

from observatory.errors import Exit
from observatory.run.cache_files import delete
from observatory.run.readers import ReaderError, ask
from tests.factories_cache import COMPILEDIR, put_module


def test_files_and_modules_are_deleted_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "f.py313.1.nbc"
    file.write_bytes(b"12345")
    module = put_module(tmp_path / COMPILEDIR, "tmp1", 1e9)
    size = 5 + sum(one.stat().st_size for one in module.iterdir())
    done = delete([file, module])
    assert (done.paths, done.size, done.kept) == ([file, module], size, [])
    assert not file.exists()
    assert not module.exists()


def test_a_file_that_a_process_has_open_is_kept(tmp_path: Path) -> None:
    module = put_module(tmp_path / COMPILEDIR, "tmp1", 1e9)
    with (module / "m1.so").open("rb"):
        done = delete([module])
    assert done.kept == [(module, f"process {os.getpid()} uses it")]
    assert module.exists()


def test_a_module_is_kept_while_pytensor_compiles_in_its_directory(tmp_path: Path) -> None:
    module = put_module(tmp_path / COMPILEDIR, "tmp1", 1e9)
    with (module.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = delete([module])
    assert [path for path, _ in done.kept] == [module]
    assert delete([module]).paths == [module]


def test_what_cannot_be_deleted_is_named_and_the_rest_is_deleted(tmp_path: Path) -> None:
    file = tmp_path / "there"
    file.write_bytes(b"")
    done = delete([tmp_path / "gone", file])
    assert done.paths == [file]
    assert done.kept[0][0] == tmp_path / "gone"


def test_a_module_whose_directory_cannot_be_locked_is_named_and_kept(tmp_path: Path) -> None:
    module = put_module(tmp_path / COMPILEDIR, "tmp1", 1e9)
    (tmp_path / COMPILEDIR / ".lock").mkdir()
    assert delete([module]).kept == [(module, "Is a directory")]
    assert module.exists()


def test_a_python_says_its_versions_without_pytensor_and_numba() -> None:
    reader = ask(sys.executable)
    assert reader.python == ".".join(map(str, sys.version_info[:3]))
    assert (reader.numba, reader.pytensor, reader.machine) == ("", "", ())
    assert reader.numpy_abi.startswith("0x")


@pytest.mark.parametrize(
    ("source", "reason"),
    [("echo broken >&2; exit 3", "broken"), ("echo no json", "could not"), (None, "No such file")],
)
def test_a_python_that_does_not_answer_is_named(
    tmp_path: Path, source: str | None, reason: str
) -> None:
    python = tmp_path / "python"
    if source is not None:
        python.write_text(f"#!/bin/sh\n{source}\n")
        python.chmod(0o755)
    with pytest.raises(ReaderError, match=reason) as caught:
        ask(str(python))
    assert str(python) in str(caught.value)
    assert caught.value.exit_code == Exit.ENVIRONMENT
