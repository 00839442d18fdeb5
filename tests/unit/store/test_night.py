from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from observatory.store.base.problems import RecordError
from observatory.store.journal import night as record
from observatory.store.journal.night import Night, NightStep
from tests.factories import LATER, RUN, journal, sample

NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)


def night(started_at: datetime = NOW, asked: str = "this") -> Night:
    steps = [
        NightStep(name="measure", command=["run"]),
        NightStep(name="site", command=["dashboard"]),
    ]
    id_ = started_at.strftime("%Y%m%dT%H%M%SZ")
    return Night(
        schema="observatory/night/1", id=id_, asked=[asked], results="results",
        started_at=started_at, steps=steps,
    )  # fmt: skip


def test_a_night_is_read_as_it_was_written(tmp_path: Path) -> None:
    changed = night().with_step(0, status=3, tries=1)
    record.save(tmp_path, changed)
    assert record.load(tmp_path / "20261121T020000Z.json") == changed
    assert [path.name for path in tmp_path.iterdir()] == ["20261121T020000Z.json"]


def test_a_night_is_over_when_every_step_is() -> None:
    begun = night().with_step(0, status=3)
    assert not begun.over
    assert begun.with_step(1, skipped="as there is nothing").over


def test_what_was_not_ended_is_gone_on_with(tmp_path: Path) -> None:
    record.save(tmp_path, night())
    later = NOW + timedelta(hours=3)
    assert record.unfinished(tmp_path, ["this"], later) == night()
    assert record.unfinished(tmp_path, ["that"], later) is None
    assert record.unfinished(tmp_path, ["this"], NOW + timedelta(hours=21)) is None


def test_what_is_over_is_not_done_again_and_only_the_newest_counts(tmp_path: Path) -> None:
    record.save(tmp_path, night())
    newer = night(NOW + timedelta(hours=1)).with_step(0, status=0).with_step(1, status=0)
    record.save(tmp_path, newer)
    assert record.unfinished(tmp_path, ["this"], NOW + timedelta(hours=2)) is None


def test_another_night_in_between_does_not_end_one(tmp_path: Path) -> None:
    record.save(tmp_path, night())
    record.save(tmp_path, night(NOW + timedelta(hours=1), "that"))
    assert record.unfinished(tmp_path, ["this"], NOW + timedelta(hours=2)) == night()


def test_where_there_was_no_night_there_is_none(tmp_path: Path) -> None:
    assert record.unfinished(tmp_path / "none", ["this"], NOW) is None


@pytest.mark.parametrize("content", ["", "{}", "[" * 100_000])
def test_a_broken_night_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "20261121T020000Z.json"
    path.write_text(content)
    with pytest.raises(RecordError, match=r"020000Z\.json is no record of a night"):
        record.unfinished(tmp_path, ["this"], NOW)


def test_the_newest_run_of_all_journals_is_found(tmp_path: Path) -> None:
    assert record.newest_run(tmp_path) == ""
    journal(tmp_path, [sample()], LATER)
    journal(tmp_path, [sample()], RUN)
    assert record.newest_run(tmp_path) == LATER
    journal(tmp_path, [sample()], f"{LATER}-quick")
    assert record.newest_run(tmp_path) == LATER  # a night waits until a second has another name
