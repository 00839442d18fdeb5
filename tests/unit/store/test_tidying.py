from __future__ import annotations

import json
import threading
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from observatory.store.journal import compacting
from observatory.store.journal.compacting import compacted, tidy
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalRecord
from observatory.store.journal.reader import JournalContents, read_journal
from observatory.store.records import layout
from tests.factories import LATER, NOON, RUN, failed, header, journal, ledger, sample

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


@pytest.mark.parametrize(
    "odd",
    [
        '{ "of" : "a later version", "ledger" :\t"SHA" }',
        '{"of":"a later version","ledger":"ESCAPED"}',
        '{"ledgers":[{"counting":"SHA"}]}',
        '{"ledgers":{"SHA":"counting"}}',
        '{"of":"a later version, torn","ledger":"SH',
    ],
)
def test_a_ledger_that_a_line_of_another_version_may_refer_to_stays(
    tmp_path: Path, odd: str
) -> None:
    path = journal(tmp_path, [sample()]).path
    kept = LedgerStore(tmp_path / layout.LEDGERS).store(ledger("Kept"))
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in kept.sha)
    with path.open("a") as stream:
        stream.write(odd.replace("SHA", kept.sha).replace("ESCAPED", escaped) + "\n")
    before = path.read_bytes()
    assert tidy(tmp_path, NOON + HOUR).ledgers == 0
    assert ledgers(tmp_path) == {kept.sha}
    assert path.read_bytes() == before


def test_a_line_that_only_talks_of_a_ledger_keeps_none(tmp_path: Path) -> None:
    nobody = LedgerStore(tmp_path / layout.LEDGERS).store(ledger("Nobody"))
    said = f'"ledger": "{nobody.sha}" "started_at": "2999-01-01"'
    journal(tmp_path, [failed(failure={"message": said}), failed(failure={"message": said})])
    done = tidy(tmp_path, NOON + HOUR)
    assert (done.ledgers, done.journals) == (1, 1)


def test_a_journal_with_odd_spaces_is_compacted_and_keeps_its_ledger(tmp_path: Path) -> None:
    counted(tmp_path, "Add")
    (path,) = layout.journals(tmp_path)
    head, *rest = path.read_text().splitlines()
    spaced = [json.dumps(json.loads(line), separators=(" , ", " : ")) for line in rest * 2]
    path.write_text("\n".join([head, *spaced]) + "\n")
    assert tidy(tmp_path, NOON + HOUR).journals == 1
    assert ledgers(tmp_path) == referred(tmp_path) - {None}
    assert len(ledgers(tmp_path)) == 1


def test_what_is_appended_while_a_journal_is_compacted_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = journal(tmp_path, [sample(), sample(hash_seed=8)])
    writer = threading.Thread(target=made.append, args=(LATER, sample(started_at=NOON)))

    def compact(contents: JournalContents) -> list[JournalRecord]:
        writer.start()
        writer.join(0.2)  # it waits for the lock
        return compacted(contents)

    monkeypatch.setattr(compacting, "compacted", compact)
    assert tidy(tmp_path, NOON + HOUR).journals == 1
    writer.join()
    assert LATER in [entry.run for entry in made.read().entries]


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
