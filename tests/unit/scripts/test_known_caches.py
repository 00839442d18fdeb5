"""What `observatory passport` knows of releases is what the results show."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from observatory.app.passports import known_of
from scripts.known_caches import ROOT, TARGET, main, text_of


def test_the_file_is_made_from_the_results() -> None:
    """`python scripts/known_caches.py` writes it."""
    assert TARGET.read_text(encoding="utf-8") == text_of(known_of(ROOT / "results"))


@pytest.mark.parametrize("words", [["--help"], ["nowhere"], ["a", "b"]])
def test_a_mistake_leaves_the_file_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    kept = tmp_path / "measured.json"
    kept.write_text("what is known")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("scripts.known_caches.TARGET", kept)
    monkeypatch.setattr(sys, "argv", ["known_caches.py", *words])
    with pytest.raises(SystemExit):
        raise SystemExit(main())
    assert kept.read_text() == "what is known"
