"""What `observatory passport` knows of releases is what the results show."""

from __future__ import annotations

from observatory.app.passports import known_of
from scripts.known_caches import ROOT, TARGET, text_of


def test_the_file_is_made_from_the_results() -> None:
    """`python scripts/known_caches.py` writes it."""
    assert TARGET.read_text(encoding="utf-8") == text_of(known_of(ROOT / "results"))
