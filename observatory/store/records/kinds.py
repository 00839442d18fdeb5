"""All kinds of records that a results directory holds a file of each."""

from __future__ import annotations

from typing import Any

from observatory.store.base.record import RecordFiles
from observatory.store.records import (
    calibration,
    contracts,
    crossings,
    explored,
    searches,
    sentinels,
    settings,
    torture,
    upgrades,
)

KINDS: tuple[RecordFiles[Any], ...] = (
    calibration.FILES,
    contracts.FILES,
    crossings.FILES,
    explored.FILES,
    searches.FILES,
    sentinels.FILES,
    settings.FILES,
    torture.FILES,
    upgrades.FILES,
)
"""Each is read, named where it is broken, and merged; `layout.RECORDS` has their directories."""
