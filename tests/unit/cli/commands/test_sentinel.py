"""`observatory sentinel`: which release does the work; nothing is timed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from observatory.cli.commands import sentinel as module
from observatory.store.records import sentinels
from tests.factories import subject
from tests.factories_sentinels import night


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The subjects whose release was asked to do the work."""
    texts: list[str] = []

    def parse(text: str, *_: Any) -> None:
        texts.append(text)

    session = SimpleNamespace(subjects=SimpleNamespace(parse=parse))
    monkeypatch.setattr(module, "Session", lambda *_, **__: session)
    monkeypatch.setattr(module, "look", lambda *_: None)
    return texts


def test_a_job_that_begins_with_nothing_keeps_the_release_of_the_stored_results(
    asked: list[str], tmp_path: Path
) -> None:
    empty, stored = tmp_path / "shard", tmp_path / "stored"
    module.command(results=empty, stored=stored, machine="bench")  # the first night
    sentinels.save(stored, night(1))
    module.command(results=empty, stored=stored, machine="bench")
    module.command(results=empty, stored=stored, machine="another")
    module.command("3.3.8", results=empty, stored=stored, machine="bench")
    assert asked == ["newest", "3.3.7", "newest", "3.3.8"]


def test_the_last_look_is_shown_whatever_its_release_is_called(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, label in ((1, "3.3.8"), (2, "3.3.10"), (3, "3.3.10"), (4, "3.3.10")):
        sentinels.save(tmp_path, night(number, subject=subject(label)))
    sentinels.save(tmp_path, night(5, 2.0, 2.0, 2.0, subject=subject("3.3.10")))
    module.command(results=tmp_path, machine="bench", show=True)
    said = capsys.readouterr().out
    assert "bench, 3.3.10" in said
    assert said.count("2026-") == 4  # no look with another release
    assert "slower" in said
    assert asked == []


def test_of_both_results_the_last_look_counts(asked: list[str], tmp_path: Path) -> None:
    here, stored = tmp_path / "shard", tmp_path / "stored"
    sentinels.save(stored, night(1))
    sentinels.save(here, night(2, subject=subject("3.3.8")))
    module.command(results=here, stored=stored, machine="bench")
    module.command(results=here, machine="bench")
    module.command(results=stored, machine="bench")
    assert asked == ["3.3.8", "3.3.8", "3.3.7"]
