"""The surfaces cover every command and every kind of record, and nothing leaves their directory."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from contextlib import chdir
from pathlib import Path
from random import Random

import pytest

from observatory.cli.main import Commands
from observatory.run import local
from observatory.run.local import local_subjects
from observatory.store.base.strict_json import read_json
from observatory.store.records.kinds import KINDS
from tests.hostile import commands, records
from tests.hostile.contained import contained


def test_lines_are_made_of_every_command_and_each_of_its_options() -> None:
    assert {path[0] for path in commands.declared()} == set(Commands.sentences)
    dice = Random(1)
    words = [commands.made(dice).split(b"\0") for _ in range(8000)]
    for path, parameters in commands.declared().items():
        mine = [line for line in words if line[: len(path)] == [one.encode() for one in path]]
        options = {one for line in mine for one in line}
        for parameter in parameters:
            assert not parameter.names or {n.encode() for n in parameter.names} & options, path


@pytest.mark.parametrize("files", KINDS, ids=lambda files: files.directory)
def test_of_every_kind_hostile_records_are_made_that_are_valid(files: records.RecordFiles) -> None:  # type: ignore[type-arg]
    dice, valid = Random(1), 0
    for _ in range(20):
        content = records.SURFACES[files.directory].made(dice)  # type: ignore[misc]
        try:
            files.name(read_json(files.kind, content))
        except Exception:
            continue
        valid += 1
    assert valid >= 15


def test_texts_of_records_are_found_by_what_they_are_made_of() -> None:
    made = {files.directory for files in KINDS if records.shows(files.kind)}
    assert made >= {"contracts", "crossings", "searches", "torture", "upgrades"}


def test_what_leads_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    inside.mkdir()
    (inside / "link").symlink_to(outside / "file")
    steps = (
        lambda: Path("../outside/new").write_text("x"),
        lambda: Path("link").write_text("changed"),
        lambda: (outside / "file").unlink(),
        lambda: shutil.rmtree(outside),
        lambda: Path("link").rename(outside / "link"),
        lambda: os.mkdir("../made"),  # noqa: PTH102
        lambda: subprocess.run(["true"], check=False),
        lambda: os.kill(os.getpid(), 0),
        lambda: socket.create_connection(("127.0.0.1", 9), timeout=1),
    )
    with chdir(inside), contained(inside) as refused:
        for number, step in enumerate(steps, 1):
            with pytest.raises(OSError, match=r"\[Errno"):
                step()
            assert len(refused) == number
        Path("mine").write_text("x")
        Path("link").unlink()
        shutil.rmtree(Path("tmp"))
    assert len(refused) == len(steps)
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "x"
    (outside / "file").unlink()  # the watch is over


def test_that_no_interpreter_is_found_in_the_block_is_not_remembered(tmp_path: Path) -> None:
    local._installed.cache_clear()
    with chdir(tmp_path), contained(tmp_path):
        assert local_subjects(tmp_path).found.interpreters == ()
    assert local_subjects(tmp_path).found.interpreters
