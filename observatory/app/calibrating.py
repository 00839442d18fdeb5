"""Calibrate this machine by comparing one subject with itself; measured now or saved."""

from __future__ import annotations

from datetime import UTC, datetime

from observatory import tool_version
from observatory.analyze.comparison.comparing import Setting
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import floors_of
from observatory.app.comparer import Comparer, discard, side_of
from observatory.app.session import Session
from observatory.run.interleave import matrix
from observatory.run.presets import Narrowed
from observatory.run.sources import SubjectError
from observatory.store.base.problems import RecordUsageError
from observatory.store.journal.models import JournalHeader
from observatory.store.reading.saved import load
from observatory.store.records.calibration import Calibration
from observatory.store.records.comparison import Side


def calibrate(
    session: Session, subject: str, samples: int, narrowed: Narrowed, python: str | None = None
) -> Calibration:
    """Measure one subject against itself, with ``samples`` timing samples of each cell.

    Returns the noise floor of each cell and metric: the smallest relative change that counts on
    this machine. Raises SubjectError if nothing is left to measure, and EnvironmentMakingError.
    """
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    cells = matrix(narrowed)
    if not cells.timed:
        raise SubjectError(narrowed.none_left("the timed cells"))
    chosen = session.subjects.parse(subject, python=python)
    where = session.state / "calibrations" / session.run
    base, side = side_of(session, chosen, where, cells.timed)
    head, _ = side_of(session, chosen, where, cells.timed)
    base.evidence = head.evidence = together = Evidence()
    setting = Setting(
        base=side, head=side, started_at=datetime.now(UTC), interleaved=True, seed=0,
        observatory=tool_version(), reproduce="",
    )  # fmt: skip
    needed = cells.of_timed()
    try:
        Comparer(session, {"base": base, "head": head}, setting, needed, 0.0).sample(samples // 2)
    finally:
        discard(where)
    return _calibration(side, together, setting.started_at)


def calibrate_saved(saved: str, narrowed: Narrowed) -> Calibration:
    """Compute the noise floors from saved samples of one subject.

    ``saved`` is a results directory, or ``DIRECTORY:LABEL``. Raises RecordError.
    """
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    pool = load(saved)
    kept = [sample for sample in pool.samples if narrowed.keeps(sample.cell)]
    if not kept:
        raise RecordUsageError(f"{saved} has no sample that the options select")
    return _calibration(pool.header, Evidence.of(kept), max(sample.started_at for sample in kept))


def _calibration(header: Side | JournalHeader, pool: Evidence, taken_at: datetime) -> Calibration:
    return Calibration(
        machine=header.machine,
        subject=header.subject,
        versions=header.versions,
        taken_at=taken_at,
        floors=list(floors_of(pool, 0)),
    )
