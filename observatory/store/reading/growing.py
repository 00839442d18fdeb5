"""How the graphs of a subject grow: what each pass measured of each size, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from observatory.store.journal.models import JournalEntry
from observatory.store.journal.values import latest_runs
from observatory.store.records.sample import Build

Growing: TypeAlias = Mapping[str, Sequence[Build]]
"""By cell, in words, the builds of its graphs of a size, each with the metrics of all passes."""


def growth_of(entries: Iterable[JournalEntry]) -> Growing:
    """The sizes of each cell: of each pass, those of its first good sample.

    ``entries`` are comparable samples of one subject. A size that one pass could not build has the
    status of that pass.
    """
    found: dict[str, dict[str, Build]] = {}
    seen: set[tuple[str, str]] = set()
    for entry in latest_runs(entries):
        sample = entry.sample
        sized = [one for one in sample.steps if one.size is not None]
        place = str(sample.cell), sample.measure
        if not sized or sample.status != "ok" or place in seen:
            continue
        seen.add(place)
        builds = found.setdefault(str(sample.cell), {})
        for one in sized:
            builds[one.name] = _together(builds.get(one.name), one)
    return {cell: list(builds.values()) for cell, builds in found.items()}


def _together(before: Build | None, after: Build) -> Build:
    if before is None:
        return after
    status, note = (before.status, before.note) if before.status != "ok" else (
        after.status, after.note
    )  # fmt: skip
    metrics = {**before.metrics, **after.metrics}
    return after.model_copy(update={"metrics": metrics, "status": status, "note": note})
