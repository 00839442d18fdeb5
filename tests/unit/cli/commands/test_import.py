"""`observatory import` as a user meets it, and what --strict makes of broken files everywhere."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from observatory.errors import Exit
from tests.command import observatory
from tests.factories_asv import foreign, put
from tests.factories_pytest_benchmark import COMMIT, cases, entry, file, saved


def test_what_is_imported_is_exported_again(tmp_path: Path) -> None:
    one = saved(tmp_path, file(*cases("a.py::t", {"n": 1}, {"n": 2})), "one.json")
    two = saved(tmp_path, file(entry("b.py::u", extra_info={"rss": 7, "note": "x"})), "two.json")
    where = ("--results", tmp_path / "results")
    done = observatory("import", one, two, *where, "--extra", "rss", "--machine", "box")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert f"box/{COMMIT[:8]}-pytest-benchmark-py3.12.json" in done.stdout
    assert "Not imported from extra_info: 'note'" in done.stdout
    rows = pd.read_csv(io.StringIO(observatory("export", *where).stdout))
    assert dict(zip(rows["scenario"], rows["value"], strict=True)) == {
        "a.t(1)": 1.0, "a.t(2)": 2.0, "b.u": 2.0, "b.u.track_rss": 7.0,
    }  # fmt: skip
    assert set(rows["machine"]) == {"box"}


def test_a_dirty_tree_is_said(tmp_path: Path) -> None:
    content = file(entry("a.py::t"), commit_info={"id": COMMIT, "dirty": True})
    done = observatory("import", saved(tmp_path, content), "--results", tmp_path / "results")
    assert done.returncode == Exit.OK
    assert "uncommitted changes" in done.stdout


@pytest.mark.parametrize("content", ["oops", json.dumps(foreign({})), "[]", ""])
def test_a_file_of_another_kind_is_answered_in_a_sentence(tmp_path: Path, content: str) -> None:
    path = saved(tmp_path, content)
    done = observatory("import", path, "--results", tmp_path / "results")
    assert done.returncode == Exit.UNREADABLE
    assert f"{path}: it is not a file of pytest-benchmark: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_benchmark_that_is_left_out_is_named_and_fails_only_if_asked(tmp_path: Path) -> None:
    path = saved(tmp_path, file(entry("a.py::t"), entry("a.py::bad", stats={})))
    arguments = ("import", path, "--results", tmp_path / "results")
    lenient = observatory(*arguments)
    assert lenient.returncode == Exit.OK
    assert "'a.py::bad' is skipped" in lenient.stderr
    assert observatory(*arguments, "--strict").returncode == Exit.UNREADABLE


@pytest.mark.parametrize("command", ["show", "export", "dashboard"])
@pytest.mark.parametrize("others", [True, False])
def test_each_reading_command_names_a_broken_file_and_fails_if_asked(
    tmp_path: Path, command: str, others: bool
) -> None:
    results = tmp_path / "results"
    put(results, "oops", "broken.json")
    if others:
        cell = [["'radon'"], ["'C'"], ["'fork'"]]
        names = ("compile.Cold.track_compile_time", "compile.Cold.track_crashed")
        put(results, foreign({name: [[0.0], cell] for name in names}))
    arguments = [command, "--results", results]
    arguments += ["--out", tmp_path / "html"] if command == "dashboard" else []
    for _ in range(2):  # the second time from the cache
        strict = observatory(*arguments, "--strict")
        assert strict.returncode == Exit.UNREADABLE
        assert "broken.json" in strict.stderr.replace("\n", "")
    lenient = observatory(*arguments)
    # Nothing matches where nothing can be read, and that is not the fault of the command line.
    nothing = command == "show" and not others
    assert lenient.returncode == (Exit.UNREADABLE if nothing else Exit.OK)
    assert "broken.json" in lenient.stderr.replace("\n", "")


def test_the_cache_is_outside_of_the_results(tmp_path: Path) -> None:
    results = tmp_path / "results"
    path = put(results, foreign({"a": [[1.0]]}))
    before = sorted(results.rglob("*"))
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "xdg")}
    subprocess.run(
        [sys.executable, "-m", "observatory", "export", "--results", str(results)],
        env=environment, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert sorted(results.rglob("*")) == before
    assert len(list((tmp_path / "xdg" / "observatory" / "frames").rglob("*.files"))) == 1
    assert path.exists()
