"""The published JSON Schemas: ``python -m observatory.app.schemas`` writes docs/schemas/."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from observatory.guard.caches.judging import Report as Inspected
from observatory.guard.scan.scanning import Report
from observatory.store.base.files import write_atomic
from observatory.store.journal.models import JournalHeader, JournalLine
from observatory.store.records.alerts import Alerts
from observatory.store.records.calibration import Calibration
from observatory.store.records.comparison import Comparison
from observatory.store.records.contracts import Contracts
from observatory.store.records.contrast import Contrasts
from observatory.store.records.crossings import Crossed
from observatory.store.records.explored import Exploration
from observatory.store.records.passport import Stamp
from observatory.store.records.sample import Sample
from observatory.store.records.searches import Searched
from observatory.store.records.sentinels import Sentinel
from observatory.store.records.settings import Settings
from observatory.store.records.torture import Torture
from observatory.store.records.upgrades import Upgrade

DIRECTORY = Path(__file__).parents[2] / "docs" / "schemas"


_SCHEMAS: dict[str, tuple[Any, str]] = {
    "sample-1.json": (Sample, "What one sample prints"),
    "journal-1.json": (JournalHeader | JournalLine, "One line of a journal of samples"),
    "calibration-1.json": (Calibration, "What chance alone does on a machine"),
    "alerts-1.json": (Alerts, "What `observatory alerts` finds"),
    "upgrade-1.json": (Upgrade, "What `observatory upgrade` finds"),
    "search-1.json": (Searched, "What `observatory bisect` finds"),
    "crossing-1.json": (Crossed, "What `observatory cross` finds"),
    "explored-1.json": (Exploration, "What `observatory explore` finds"),
    "settings-1.json": (Settings, "What `observatory canary --settings` finds"),
    "sentinel-1.json": (Sentinel, "What `observatory sentinel` measures"),
    "passport-1.json": (Stamp, "What a cache says of the environments that have used it"),
    "contracts-1.json": (Contracts, "Which behaviours of numba that PyTensor relies on hold"),
    "torture-1.json": (Torture, "How PyTensor's caches behave under faults"),
    "comparison-1.json": (Comparison, "What `observatory compare` concludes"),
    "contrast-1.json": (Contrasts, "What `observatory compare` concludes of other projects"),
    "scan-1.json": (Report, "What `observatory scan-cache --json` prints"),
    "caches-1.json": (Inspected, "What `observatory cache --json` prints"),
}


def schemas() -> dict[str, str]:
    """The published JSON Schemas: the text of each file of docs/schemas, by its name."""
    found = {}
    for name, (type_, title) in _SCHEMAS.items():
        made = TypeAdapter(type_).json_schema(by_alias=True)
        dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        text = json.dumps({**dialect, **made, "title": title}, indent=2, ensure_ascii=False)
        found[name] = f"{text}\n"
    return found


def main() -> int:
    """Write every published schema to docs/schemas; return the exit status 0."""
    for name, text in schemas().items():
        write_atomic(DIRECTORY / name, text.encode())
        print(DIRECTORY / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
