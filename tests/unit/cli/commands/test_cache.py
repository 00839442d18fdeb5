"""`observatory cache` as a user meets it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from observatory.cli.commands import cache as module
from observatory.errors import Exit
from observatory.guard.caches.judging import Report
from tests.command import observatory
from tests.factories_scan import RANDOM_UID, mangled, object_of, put

FGRAPH = "pytensor.link.numba.dispatch.basic.numba_funcified_fgraph"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound function and one that no index refers to; ``python`` is not on the path."""
    directory = tmp_path / "pytensor"
    data = put(directory, "sound", object_of({mangled(FGRAPH, RANDOM_UID): "x"}))[0]
    alone = directory / "alone.py313.1.nbc"
    alone.write_bytes(data.read_bytes())
    os.utime(alone, (time.time() - 86400,) * 2)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return directory


def test_it_says_what_may_be_deleted_and_how_and_changes_nothing(cache: Path) -> None:
    before = sorted(cache.iterdir())
    done = observatory("cache", cache)
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert done.stdout.startswith(f"{cache}: 2 entries, ")
    assert "No Python with numba or PyTensor was asked" in done.stdout
    assert "1 path (" in done.stdout
    assert "can be deleted: 1 unreachable." in done.stdout
    assert done.stdout.endswith(f"To delete them: observatory cache {cache} --delete\n")
    assert sorted(cache.iterdir()) == before


def test_delete_deletes_what_the_report_names(cache: Path) -> None:
    listed = observatory("cache", cache, "--files").stdout.split()
    assert listed == [str(cache / "alone.py313.1.nbc")]
    done = observatory("cache", cache, "--delete")
    assert done.returncode == Exit.OK
    assert done.stderr.startswith("1 path (")
    assert sorted(path.name for path in cache.iterdir()) == ["sound.py313.1.nbc", "sound.py313.nbi"]
    assert "Nothing needs to be deleted." in observatory("cache", cache).stdout


def test_what_may_still_be_written_is_told_as_such(cache: Path) -> None:
    os.utime(cache / "alone.py313.1.nbc")
    shown = " ".join(observatory("cache", cache).stdout.split())
    assert "new: it is" in shown
    assert "Nothing needs to be deleted." in shown


def test_json_has_its_schema(cache: Path) -> None:
    report = TypeAdapter(Report).validate_json(observatory("cache", cache, "--json").stdout)
    assert (report.entries, report.deletable) == (2, ["alone.py313.1.nbc"])


def test_shared_symbols_are_the_exit_status(tmp_path: Path) -> None:
    for name, body in (("one", "x * 0.1"), ("other", "x * 0.2")):
        put(tmp_path, name, object_of({mangled(FGRAPH, 1): body}))
    done = observatory("cache", tmp_path)
    assert done.returncode == Exit.SYMBOLS
    assert "collided" in done.stdout


def test_the_directory_is_pytensors_own_by_default(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTENSOR_FLAGS", f"floatX=float32,base_compiledir={cache}")
    assert json.loads(observatory("cache", "--json").stdout)["directory"] == str(cache)
    monkeypatch.delenv("PYTENSOR_FLAGS")
    monkeypatch.setenv("HOME", str(cache.parent))
    cache.rename(cache.parent / ".pytensor")
    assert observatory("cache").stdout.endswith("To delete them: observatory cache --delete\n")


@pytest.mark.parametrize("seconds", [1e12, -1e14, 1e300, float("inf")])
def test_a_time_beyond_the_calendar_is_unknown(seconds: float) -> None:
    """File systems hold such times, and archives keep them."""
    assert module._day(seconds) == "unknown"
