"""What a night has done so far: ``.observatory/nightly/<night>.json``.

Written before and after each step, so that whoever goes on after a kill knows what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import Field

from observatory.store.base.moments import Moment
from observatory.store.base.problems import RecordError
from observatory.store.base.record import Record, load_record, save_record
from observatory.store.journal.models import RunId
from observatory.store.journal.reader import runs_in
from observatory.store.records import layout
from observatory.store.records.sample import Count, Text, Word

_LARGEST_FILE = 16 * 2**20
STALE_AFTER = timedelta(hours=20)
"""A night that was begun longer ago is not gone on with: another one is due."""


class NightStep(Record):
    """One command of a night, and what became of it."""

    name: Word
    command: list[Text] = Field(description="the arguments of `observatory`")
    resumable: bool = Field(False, description="`--resume` goes on with what a kill has ended")
    needs: list[Word] = Field([], description="steps without whose outcome it has no sense")
    before: Text = Field("", description="the newest run in the results when it began")
    began: Moment | None = None
    tries: Count = 0
    ended: Moment | None = None
    status: int | None = Field(None, description="exit status; negative: the signal it died of")
    skipped: Text | None = Field(None, description="why it was not done")

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return self.status is not None or self.skipped is not None


class Night(Record):
    """The steps of one night, in their order."""

    schema_: Literal["observatory/night/1"] = Field("observatory/night/1", alias="schema")
    id: RunId
    asked: list[Text] = Field(description="what the night was asked for: the same goes on with it")
    results: Text
    started_at: Moment
    steps: list[NightStep] = Field(max_length=5_000)

    @property
    def over(self) -> bool:
        """Whether nothing is left to do in any step."""
        return all(step.over for step in self.steps)

    def with_step(self, place: int, **changes: object) -> Night:
        """A copy of the night in which fields of the step at ``place`` have other values."""
        steps = list(self.steps)
        steps[place] = steps[place].model_copy(update=changes)
        return self.model_copy(update={"steps": steps})


def save(directory: Path, night: Night) -> None:
    """Write the record of a night in place of its older one. Raises OSError."""
    save_record(directory / f"{night.id}.json", night)


def load(path: Path) -> Night:
    """Read the record of a night. Raises RecordError for a file that is missing or broken."""
    wrong, advice = "is no record of a night", "remove it: the next night begins anew"
    night = load_record(Night, path, _LARGEST_FILE, wrong, advice)
    if night is None:
        raise RecordError(f"there is no record of a night {path}")
    return night


def unfinished(directory: Path, asked: Sequence[str], now: datetime) -> Night | None:
    """The newest night that was asked for the same, if it should go on; None otherwise.

    It goes on if it is not over and began less than STALE_AFTER before ``now``. Raises RecordError
    if a younger record is broken.
    """
    for path in sorted(directory.glob("*.json"), reverse=True):
        night = load(path)
        if now - night.started_at >= STALE_AFTER:
            break
        if night.asked == list(asked):
            return None if night.over else night
    return None


def newest_run(results: Path) -> str:
    """When the newest run in the results began, as in its id: ``20261120T143000Z``; or empty."""
    runs = chain.from_iterable(map(runs_in, layout.journals(results)))
    return max((run.partition("-")[0] for run in runs), default="")
