"""Records of crossed settings. FOR TESTS ONLY: nothing here was measured."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from observatory.store.records.settings import Row, Settings
from tests.factories import header

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
USUAL = "the usual settings"


def settings(label: str, day: int = 0, machine: str = "bench", **rows: Row) -> Settings:
    """A subject of a day, of which the rows are right that are not given.

    The keywords: ``usual``, ``both`` (floatX=float32 and cxx=), ``float32`` and ``cxx``.
    """
    names = {"usual": USUAL, "both": "floatX=float32 and cxx=", "float32": "floatX=float32",
             "cxx": "cxx="}  # fmt: skip
    of = header(label, date=FIRST + timedelta(days=day))
    return Settings(
        machine=of.machine.model_copy(update={"machine": machine}),
        subject=of.subject, versions=of.versions, taken_at=FIRST, seconds=780,
        rows=[rows.get(key, Row(name="?")).model_copy(update={"name": name})
              for key, name in names.items()],
    )  # fmt: skip


def misses(number: float) -> Row:
    """A row with misses, where there should be none."""
    return Row(name="?", counts={"cache_misses of radon warm_disk": number})


def leaked(number: float) -> Row:
    """A row with files that are left behind, as is usual of some."""
    return Row(name="?", further={"files_leaked of radon warm_disk": number})


def failing(why: str) -> Row:
    """A row with a sample that failed."""
    return Row(name="?", failures=[f"radon warm_disk C_VM: {why}"])
