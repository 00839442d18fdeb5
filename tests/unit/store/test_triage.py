"""The triage file: written by people and appended to by the tool, never rewritten."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.store.base.locking import is_waited_for, locked
from observatory.store.base.problems import RecordError
from observatory.store.records import triage
from observatory.store.records.alerts import Acknowledgement

NOW = datetime(2026, 11, 20, 9, 12, tzinfo=UTC)
ID = "3fa0c1d2e4"
ODD_ID = """[[acknowledged]]
id = "nope"
who = "A"
why = "b"
at = 2026-01-01T00:00:00Z
until = 2026-01-02T00:00:00Z
"""
LINES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)


def test_of_two_that_add_at_once_the_second_waits(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        with locked(tmp_path):
            waiting = pool.submit(triage.add, tmp_path, said(why="second"))
            until = time.monotonic() + 60
            while not is_waited_for(tmp_path):
                assert time.monotonic() < until
                time.sleep(0.01)
            (tmp_path / triage.FILE).write_text(ODD_ID.replace("nope", ID))
        waiting.result(60)
    assert [one.why for one in triage.load(tmp_path).acknowledged] == ["b", "second"]


def said(**changes: object) -> Acknowledgement:
    fields = {"id": ID, "who": "Ada", "why": "known", "at": NOW, "until": NOW.replace(year=2027)}
    return Acknowledgement.model_validate(fields | changes)


def test_of_two_of_one_time_the_last_counts(tmp_path: Path) -> None:
    for why in ("first", "second"):
        triage.add(tmp_path, said(why=why))
    assert triage.load(tmp_path).of(ID) == said(why="second")


def test_no_file_says_nothing(tmp_path: Path) -> None:
    assert triage.load(tmp_path).of(ID) is None


def test_what_people_wrote_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / triage.FILE
    path.write_text("# Ask Ada before you touch this.\n[[acknowledged]]  # odd spacing\n"
                    f'id = "{ID}"\nwho="Bob"\nwhy = "x"\n'
                    "at = 2026-01-01T00:00:00Z\nuntil = 2026-02-01T00:00:00Z")  # fmt: skip
    before = path.read_text()
    triage.add(tmp_path, said())
    assert path.read_text().startswith(before)
    assert triage.load(tmp_path).of(ID) == said()


@given(who=LINES, why=LINES)
def test_any_words_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, who: str, why: str
) -> None:
    where = tmp_path_factory.mktemp("triage")
    one = said(who=who, why=why)
    triage.add(where, one)
    triage.add(where, said(id="0" * 10))
    assert triage.load(where).of(ID) == one


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[[acknowledged]\n", "is not valid TOML"),
        ('[[acknowledged]]\nid = "3fa0c1d2e4"\n', "acknowledged.0.who"),
        (ODD_ID, "acknowledged.0.id"),
        ("anything = 1\n", "anything"),
        ("\xff", "is not valid TOML"),
    ],
)  # fmt: skip
def test_a_broken_file_is_named_and_left_alone(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / triage.FILE
    path.write_bytes(content.encode("latin-1"))
    for attempt in (lambda: triage.load(tmp_path), lambda: triage.add(tmp_path, said())):
        with pytest.raises(RecordError, match=r"triage\.toml") as error:
            attempt()
        assert reason in str(error.value)
    assert path.read_bytes() == content.encode("latin-1")


def test_a_file_that_cannot_be_appended_to_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / triage.FILE
    path.write_text("acknowledged = []\n")
    with pytest.raises(RecordError, match=r"triage\.toml"):
        triage.add(tmp_path, said())
    assert path.read_text() == "acknowledged = []\n"


def test_files_of_the_directory_count_and_of_several_entries_the_latest(tmp_path: Path) -> None:
    older = said(at=NOW.replace(year=2025), why="older")
    triage.add(tmp_path, said())
    (tmp_path / triage.DIRECTORY).mkdir()
    (tmp_path / triage.FILE).rename(tmp_path / triage.DIRECTORY / f"{ID}-expected.toml")
    triage.add(tmp_path, older)
    assert triage.load(tmp_path).of(ID) == said()
    assert len(triage.load(tmp_path).acknowledged) == 2
    (tmp_path / triage.DIRECTORY / "b.toml").write_text(ODD_ID)
    with pytest.raises(RecordError, match=r"b\.toml"):
        triage.load(tmp_path)
