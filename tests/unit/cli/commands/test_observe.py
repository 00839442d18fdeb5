"""`observatory observe` without measuring: in which order it says what it has."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from observatory.cli.commands import observe
from observatory.errors import Exit


def test_the_table_comes_before_the_pages_and_a_failure_still_builds_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []

    class Session(SimpleNamespace):
        def __init__(self, *_: Any, **named: Any) -> None:
            newest = SimpleNamespace(newest=lambda: ("3.3.8", SimpleNamespace(note=None)))
            super().__init__(subjects=newest, progress=named["progress"], say=done.append)

    def built(*_: Any, **__: Any) -> tuple[Path, list[Any]]:
        done.append("built")
        return tmp_path / "index.html", []

    measurement = SimpleNamespace(machine="bench", exit_code=Exit.WRONG_RESULTS)
    monkeypatch.setattr(observe, "Session", Session)
    monkeypatch.setattr(observe, "measure_subjects", lambda *_: measurement)
    monkeypatch.setattr(observe, "print_outcome", lambda *_: done.append("table"))
    monkeypatch.setattr(observe, "build_site", built)
    with pytest.raises(typer.Exit) as ended:
        observe.command(results=tmp_path, out=tmp_path / "html")
    assert ended.value.exit_code == Exit.WRONG_RESULTS
    assert done == ["table", f"building the pages in {tmp_path / 'html'}", "built"]
