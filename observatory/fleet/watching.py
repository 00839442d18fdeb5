"""Whether a worker's machine is as fast as it was: times come only from one that is.

Each machine keeps its own looks at the sentinel's fixed work, below its directory STATE. The rule
is that of `observatory sentinel`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from statistics import median

from pydantic import Field

from observatory.analyze.sentinel import LOOKS, machine_moved, pieces
from observatory.run.asking import NoAnswerError, answer
from observatory.store.base.files import write_atomic
from observatory.store.base.moments import Moment
from observatory.store.base.record import Record
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.records.sentinels import FixedWork, medians

FRESH = timedelta(hours=12)
"""A machine is not looked at again within this time."""
_LONGEST = 600.0
_WORK = (sys.executable, "-P", "-m", "observatory.benchmarks.sentinel")
"""In the worker's own environment, which stays while subjects come and go."""


class Speed(Record):
    """One look at the machine."""

    taken_at: Moment
    medians: dict[str, float] = Field(description="seconds, by piece of work")


class Speeds(Record):
    """The last looks, the newest at the end."""

    work: str = Field(description="what did the work: Python and NumPy")
    looks: list[Speed]


class UntimedError(Exception):
    """The fixed work could not be done; the message says why."""


def untimed(state: Path, now: datetime) -> str:
    """Why times of this machine are not trusted, as half a sentence; empty if they are.

    ``state``: the directory STATE of the machine. A look takes some seconds, and is taken if the
    last one is older than `FRESH`. Raises OSError.
    """
    path, work = state / "fleet" / "speed.json", _doer()
    known = _read(path, work)
    if not known or now - known[-1].taken_at > FRESH:
        try:
            known = [*known, Speed(taken_at=now, medians=_medians())][-LOOKS - 1 :]
        except UntimedError as error:
            return f"the fixed work of the sentinel failed: {error}"
        path.parent.mkdir(parents=True, exist_ok=True)
        made = Speeds(work=work, looks=known)
        write_atomic(path, made.model_dump_json(by_alias=True).encode())
    return judged(known)


def judged(known: Sequence[Speed]) -> str:
    """What the last of some looks says against the earlier ones; empty if nothing moved."""
    ratios, moved = pieces(known[-1].medians, [one.medians for one in known[:-1]])
    if not machine_moved(ratios, moved):
        return ""
    return (
        f"the fixed work of the sentinel takes {median(ratios.values()):.2f} times as long as "
        "before"
    )


def _read(path: Path, work: str) -> list[Speed]:
    """The looks of earlier runs; none if something else did the work, or they cannot be read."""
    try:
        found = read_json(Speeds, path.read_bytes())
    except (OSError, InvalidError):
        return []
    return found.looks if found.work == work else []


def _doer() -> str:
    return f"Python {sys.version.partition(' ')[0]}, NumPy {version('numpy')}"


def _medians() -> dict[str, float]:
    try:
        return medians(answer(_WORK, FixedWork, _LONGEST).times)
    except NoAnswerError as error:
        raise UntimedError(" ".join(str(error).split())[-300:]) from error
