"""Results by value: what two directories hold, whenever and by whichever process it was taken."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from observatory.app.results import frame


def values(results: Path) -> pd.DataFrame:
    """What pages and comparisons are made of, in an order of its own."""
    found = frame(results)
    kept = [name for name in found.columns if name not in ("date", "taken_at", "run")]
    return found[kept].sort_values(kept, key=lambda one: one.astype(str)).reset_index(drop=True)
