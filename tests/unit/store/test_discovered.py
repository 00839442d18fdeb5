"""What asv discovered is asked of asv again only when it may be something else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from observatory.store.asv import discovered as module
from observatory.store.asv.discovered import discovered
from observatory.store.base.files import cache_directory
from observatory.store.base.problems import RecordError


@pytest.fixture
def suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = tmp_path / "suites"
    made.mkdir()
    (made / "__init__.py").touch()
    (made / "bench.py").write_text("def track_it(): ...\n")
    return made


@pytest.fixture
def asv_is_gone(suites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """asv was asked once; whoever asks it again fails."""
    assert names(suites) == ["bench.track_it"]
    monkeypatch.setattr(module, "BENCHMARK_RUN_SCRIPT", "no_such_script.py")


def names(suites: Path) -> list[str]:
    return [entry["name"] for entry in discovered(suites)]


@pytest.mark.usefixtures("asv_is_gone")
def test_what_follows_from_the_same_code_is_not_imported_again(suites: Path) -> None:
    assert names(suites) == ["bench.track_it"]


@pytest.mark.usefixtures("asv_is_gone")
@pytest.mark.parametrize("change", ["changed", "added", "renamed", "removed", "asv", "Python"])
def test_whatever_may_change_it_asks_asv_again(
    suites: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = suites / "bench.py"
    if change == "changed":
        bench.write_text("def track_other(): ...\n")
    elif change == "added":
        (suites / "more").mkdir()
        (suites / "more" / "bench.py").write_text("def track_more(): ...\n")
    elif change == "renamed":
        bench.rename(suites / "other.py")
    elif change == "removed":
        bench.unlink()
    elif change == "asv":
        monkeypatch.setattr(module, "version", lambda _: "99")
    else:
        monkeypatch.setattr(sys, "version", "99")
    with pytest.raises(RecordError, match=r"no_such_script\.py"):
        discovered(suites)


@pytest.mark.parametrize("content", ["", "[]", "{}", json.dumps({"from": 1}), "\0"])
def test_a_broken_file_is_made_anew(suites: Path, content: str) -> None:
    assert names(suites) == ["bench.track_it"]
    base = cache_directory()
    assert base is not None
    (file,) = base.glob("discovered/*.json")
    whole = file.read_text()
    file.write_text(content)
    assert names(suites) == ["bench.track_it"]
    assert file.read_text() == whole


def test_without_a_place_for_caches_asv_is_asked_each_time(
    suites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "cache_directory", lambda: None)
    assert names(suites) == ["bench.track_it"]
    assert not (suites.parent / "cache").exists()


def test_a_file_that_cannot_be_read_is_no_obstacle_that_asv_does_not_have(suites: Path) -> None:
    (suites / ".#bench.py").symlink_to("somebody@host.123")  # Emacs, while a file is edited
    assert names(suites) == ["bench.track_it"]
