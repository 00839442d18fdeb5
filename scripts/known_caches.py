"""Write observatory/guard/measured.json: what RESULTS show of releases on each other's caches.

``python scripts/known_caches.py [RESULTS]``; `observatory passport` reads the file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from observatory.app.passports import known_of
from observatory.cli.guarded import guarded
from observatory.guard.passports import Known

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "observatory" / "guard" / "measured.json"


def text_of(known: Known) -> str:
    """Return the text of the file: a fact on each line, so that a change is easy to read."""
    facts = ",\n".join(fact.model_dump_json(exclude_defaults=True) for fact in known.facts)
    return f'{{"facts": [\n{facts}\n]}}\n'


def main() -> int:
    """Write the file. Exit status 1: the results show nothing, so the file stays."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", nargs="?", type=Path, default=ROOT / "results")
    given = parser.parse_args()
    known = known_of(given.results)
    if not known.facts:
        print(f"{given.results} has no results that say anything; {TARGET} stays", file=sys.stderr)
        return 1
    TARGET.write_text(text_of(known), encoding="utf-8")
    print(TARGET)
    return 0


if __name__ == "__main__":
    with guarded():
        sys.exit(main())
