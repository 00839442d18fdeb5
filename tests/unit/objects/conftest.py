"""An object store in memory, and a cache of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.objects.collection import Collection


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def store(tmp_path: Path) -> Collection:
    return Collection(f"memory://{tmp_path}/store", wait=lambda _: None)
