"""Pools of counts: when the last sample begins, and that each release fills its own caches."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from observatory.benchmarks.plan import Task
from observatory.run.environments import Environment
from observatory.store.records.sample import Sample
from scripts.accuracy import work_pool
from tests.factories import header, sample

FILLED = ["fill"] * 4
"""For traces and for counts of instructions, with each of two backends."""

Pool = Callable[[str, str], list[str]]


class Clock(datetime):
    """Noon; each sample that a pool records takes 20 minutes."""

    time = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        return cls.time


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """Take a pool of a release, from noon until a time; what was filled and measured for it."""
    ran: list[str] = []

    class Executor:
        def __init__(self, environment: Environment, caches: Path, timeout: float) -> None:
            self.release, self.caches = environment.versions.pytensor, caches

        def run(self, task: Task) -> Sample:
            if task.keep is not None:
                (self.caches / task.keep).mkdir()
                (self.caches / task.keep / "by").write_text(self.release)
                ran.append("fill")
            else:
                assert (self.caches / str(task.cache) / "by").read_text() == self.release
                monkeypatch.setattr(Clock, "time", Clock.time + timedelta(minutes=20))
                ran.append(task.measure)
                assert len(ran) < 20, "it does not end"
            return sample(task.cell, task.measure)

    class Subjects:
        def parse(self, label: str) -> str:
            return label

    def environment_of(label: str, *_: object) -> Environment:
        return Environment(tmp_path / "python", header(label).versions, f"key-{label}", tmp_path)

    def take(label: str, until: str) -> list[str]:
        words = [str(tmp_path / f"{label}.jsonl"), "--subject", label, "--until", until]
        words += ["--scenario", "warm_disk", "--state", str(tmp_path / "state")]
        monkeypatch.setattr("sys.argv", ["work_pool", *words])
        monkeypatch.setattr(Clock, "time", datetime(2026, 11, 20, 12, 0, tzinfo=UTC))
        ran.clear()
        assert work_pool.main() == 0
        return [*ran]

    monkeypatch.setattr(work_pool, "datetime", Clock)
    monkeypatch.setattr(work_pool, "Executor", Executor)
    monkeypatch.setattr(work_pool, "local_subjects", lambda _: Subjects())
    monkeypatch.setattr(work_pool, "environment_of", environment_of)
    return take


def test_no_sample_begins_after_the_time_that_was_given(pool: Pool, tmp_path: Path) -> None:
    assert pool("3.3.7", "12:50") == [*FILLED, "work", "tracing", "work"]
    assert len((tmp_path / "3.3.7.jsonl").read_text().splitlines()) == 3
    assert pool("3.3.8", "12:40") == [*FILLED, "work", "tracing"]


@pytest.mark.parametrize(("text", "day"), [("12:01", 20), ("12:00", 21), ("11:59", 21)])
def test_a_time_that_is_over_today_is_that_of_tomorrow(
    text: str, day: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_pool, "datetime", Clock)
    hour, minute = map(int, text.split(":"))
    assert work_pool.next_at(text) == datetime(2026, 11, day, hour, minute, tzinfo=UTC)


def test_a_pool_of_another_release_starts_from_caches_that_it_filled_itself(pool: Pool) -> None:
    assert pool("3.3.7", "12:10") == [*FILLED, "work"]
    assert pool("3.3.8", "12:10") == [*FILLED, "work"]


def test_a_pool_goes_on_where_it_was_without_filling_its_caches_again(
    pool: Pool, tmp_path: Path
) -> None:
    pool("3.3.7", "12:10")
    assert pool("3.3.7", "12:10") == ["tracing"]
    taken = map(json.loads, (tmp_path / "3.3.7.jsonl").read_text().splitlines())
    assert [one["metric"] for one in taken] == ["instructions", "python_calls"]
