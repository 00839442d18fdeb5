"""Write observatory/guard/measured.json: what RESULTS show of releases on each other's caches.

``python scripts/known_caches.py [RESULTS]``; `observatory passport` reads the file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from observatory.app.passports import known_of
from observatory.guard.passports import Known

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "observatory" / "guard" / "measured.json"


def text_of(known: Known) -> str:
    """Return the text of the file: a fact on each line, so that a change is easy to read."""
    facts = ",\n".join(fact.model_dump_json(exclude_defaults=True) for fact in known.facts)
    return f'{{"facts": [\n{facts}\n]}}\n'


if __name__ == "__main__":
    results = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "results"
    TARGET.write_text(text_of(known_of(results)), encoding="utf-8")
    print(TARGET)
