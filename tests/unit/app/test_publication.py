"""What people wrote comes in where it was written, and what they took back stays away."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from observatory.app.publication import Publication, message, put_together
from observatory.objects.collection import Collection
from observatory.objects.copies import bring_up_to_date
from observatory.store.records import alerts, triage
from observatory.store.records.alerts import Acknowledgement, Alerts
from tests.factories import NOON, journal, sample


def say(results: Path, why: str) -> None:
    results.mkdir(exist_ok=True)
    triage.add(results, Acknowledgement(id="0" * 10, who="Ada", why=why, at=NOON, until=NOON))


def said(results: Path) -> list[str]:
    return [one.why for one in triage.load(results).acknowledged]


def put(work: Path, part: Path) -> Publication:
    return put_together(work, [part], None)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A branch that has no results yet."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_with_the_first_results_come_the_acknowledgements(tmp_path: Path, work: Path) -> None:
    part = tmp_path / "part"
    say(part, "known")
    done = put(work, part)
    assert (said(work), done.united.files, done.notes) == (["known"], 1, [])
    assert put(work, part).notes == []
    say(part, "something else")
    done = put(work, part)
    assert (said(work), done.united.files) == (["known"], 0)
    assert "is not taken over" in done.notes[0]


@pytest.mark.parametrize("name", ["triage.toml", "triage/3fa0c1d2e4.toml"])
def test_an_acknowledgement_that_was_taken_back_does_not_return_with_an_older_copy(
    tmp_path: Path, work: Path, name: str
) -> None:
    say(work, "known")
    (work / "triage").mkdir()
    (work / "triage.toml").rename(work / name)
    journal(work, [sample()])
    shutil.copytree(work, tmp_path / "shard")
    (work / name).unlink()
    done = put(work, tmp_path / "shard")
    assert (said(work), done.united.files) == ([], 0)
    assert f"{name} is not taken over" in done.notes[0]


def test_acknowledgements_that_cannot_be_read_are_named(tmp_path: Path, work: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "triage.toml").write_text("[[acknowledged]\n")
    (problem,) = put(work, tmp_path / "part").united.problems
    assert "is not valid TOML" in str(problem)


@pytest.mark.parametrize(("later", "taken"), [(-1, False), (1, True)])
def test_alerts_of_an_older_state_of_the_results_replace_none(
    tmp_path: Path, work: Path, later: int, taken: bool
) -> None:
    kept, found = (
        Alerts(observatory="0", newest=newest, last_good=None, judged=0, alerts=[])
        for newest in (NOON, NOON + timedelta(days=later))
    )
    alerts.save(work, kept)
    (tmp_path / "part").mkdir()
    alerts.save(tmp_path / "part", found)
    put(work, tmp_path / "part")
    assert alerts.load(work) == (found if taken else kept)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collection:
    """A store with one acknowledgement, and two copies of it: `mine` and `theirs`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Collection(f"memory://{tmp_path}/store", wait=lambda _: None)
    journal(tmp_path / "first", [sample()])
    say(tmp_path / "first", "known")
    publish(made, tmp_path / "first")
    for name in ("mine", "theirs"):
        bring_up_to_date(made, tmp_path / name)
    return made


def publish(store: Collection, part: Path) -> Publication:
    made = Publication()

    def edit(work: Path, complete: bool) -> str:
        nonlocal made
        made = put_together(work, [part], None, complete)
        return message(made)

    store.change(edit, [part])
    return made


def test_what_is_written_in_a_copy_of_a_store_is_published_with_it(
    tmp_path: Path, store: Collection
) -> None:
    say(tmp_path / "mine", "also known")
    assert publish(store, tmp_path / "mine").notes == []
    bring_up_to_date(store, tmp_path / "theirs")
    assert said(tmp_path / "theirs") == ["known", "also known"]
    assert bring_up_to_date(store, tmp_path / "mine").fetched == 0


def test_what_was_fetched_and_taken_back_since_does_not_return(
    tmp_path: Path, store: Collection
) -> None:
    (tmp_path / "theirs" / "triage.toml").write_text("")
    publish(store, tmp_path / "theirs")
    assert publish(store, tmp_path / "mine").notes == []
    bring_up_to_date(store, tmp_path / "mine")
    assert said(tmp_path / "mine") == []


def test_of_two_who_write_at_once_the_second_is_told(tmp_path: Path, store: Collection) -> None:
    say(tmp_path / "theirs", "theirs")
    say(tmp_path / "mine", "mine")
    publish(store, tmp_path / "theirs")
    assert "is not taken over" in publish(store, tmp_path / "mine").notes[0]
    bring_up_to_date(store, tmp_path / "theirs")
    assert said(tmp_path / "theirs") == ["known", "theirs"]
