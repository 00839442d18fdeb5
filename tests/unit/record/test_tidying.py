from __future__ import annotations

from datetime import timedelta, timezone
from pathlib import Path

import pytest

from observatory.record import layout
from observatory.record.journal import read_journal
from observatory.record.ledgers import LedgerStore
from observatory.record.tidying import tidy
from tests.factories import LATER, NOON, RUN, header, journal, ledger, sample

HOUR = timedelta(hours=1)


def ledgers(results: Path) -> set[str]:
    return {path.name[:64] for path in (results / layout.LEDGERS).glob("??/*")}


def referred(results: Path) -> set[str | None]:
    entries = [e for path in layout.journals(results) for e in read_journal(path).entries]
    return {entry.ledger for entry in entries}


def counted(results: Path, *names: str, run: str = RUN) -> None:
    journal(results, [sample(measure="counting", ledger=ledger(*names))], run)


@pytest.mark.parametrize(("hours", "compacted"), [(-1, 0), (0, 0), (1, 1), (30, 1)])
def test_a_journal_is_compacted_by_the_hour_of_its_newest_sample(
    tmp_path: Path, hours: int, compacted: int
) -> None:
    journal(tmp_path, [sample(started_at=NOON - 99 * HOUR), sample(started_at=NOON)])
    assert tidy(tmp_path, NOON + hours * HOUR).journals == compacted


def test_a_sample_of_another_time_zone_is_as_old_as_it_is(tmp_path: Path) -> None:
    east = timezone(timedelta(hours=14))
    journal(tmp_path, [sample(started_at=NOON.astimezone(east), hash_seed=n) for n in (1, 2)])
    assert tidy(tmp_path, NOON - HOUR).journals == 0
    assert tidy(tmp_path, NOON + 24 * HOUR).journals == 1


def test_never_compacts_nothing(tmp_path: Path) -> None:
    journal(tmp_path, [sample(), sample(hash_seed=8)])
    assert tidy(tmp_path, None).journals == 0


def test_what_is_saved_is_told_in_bytes(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample(), sample(hash_seed=8)]).path
    before = path.stat().st_size
    done = tidy(tmp_path, NOON + HOUR)
    assert (done.journals, done.before, done.after) == (1, before, path.stat().st_size)
    assert done.after < done.before


def test_a_second_time_nothing_is_written(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample(), sample(hash_seed=8)]).path
    tidy(tmp_path, NOON + HOUR)
    before = path.stat().st_mtime_ns
    assert tidy(tmp_path, NOON + HOUR).journals == 0
    assert path.stat().st_mtime_ns == before


def test_ledgers_of_nobody_go_and_the_others_stay(tmp_path: Path) -> None:
    counted(tmp_path, "Add")
    LedgerStore(tmp_path / layout.LEDGERS).store(ledger("Nobody"))
    assert tidy(tmp_path, None).ledgers == 1
    assert ledgers(tmp_path) == referred(tmp_path) != {None}


def test_the_ledger_of_an_outdated_run_goes_with_it(tmp_path: Path) -> None:
    counted(tmp_path, "Add")
    counted(tmp_path, "Mul", run=LATER)
    assert tidy(tmp_path, None).ledgers == 0
    assert tidy(tmp_path, NOON + HOUR).ledgers == 1
    assert ledgers(tmp_path) == referred(tmp_path)


def test_a_ledger_that_another_subject_refers_to_stays(tmp_path: Path) -> None:
    counted(tmp_path, "Add")
    counted(tmp_path, "Mul", run=LATER)
    late = sample(measure="counting", ledger=ledger("Add"), started_at=NOON + 99 * HOUR)
    journal(tmp_path, [late], RUN, header("3.3.6"))
    tidy(tmp_path, NOON + HOUR)
    assert len(ledgers(tmp_path)) == 2
