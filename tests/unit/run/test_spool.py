"""What a worker records before its task ends, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.run import spool
from observatory.run.spool import Session, Spool, Spooled, fetch_left, left_behind, merge
from observatory.store.journal.models import LARGEST_LINE, JournalHeader
from observatory.store.journal.reader import read_journal
from observatory.store.journal.writer import Journal
from observatory.store.records import layout
from observatory.store.records.sample import LedgerEntry, Sample
from tests.factories import NOON, header, sample

COLD = Cell("radon", "cold", "NUMBA", "fork")
RUN = "20261126T040000Z-fake"
LEDGER = [
    LedgerEntry(name="Elemwise", kind="numba_index", key="k", outcome="miss", seconds=0.25),
]


def spooled(one: Sample, under: JournalHeader | None = None) -> bytes:
    record = Spooled(run=RUN, header=under or header(), sample=one)
    return record.model_dump_json(by_alias=True).encode()


def counted() -> Sample:
    return sample(COLD, "counting", {"cache_misses": 3}, ledger=LEDGER)


def samples_of(results: Path) -> list[tuple[str, str]]:
    return [
        (str(one.sample.cell), one.sample.measure)
        for path in layout.journals(results) for one in read_journal(path).entries
    ]  # fmt: skip


def test_the_first_record_of_a_key_stands(tmp_path: Path) -> None:
    own = Spool.of(tmp_path, "s")
    assert (own.begin("1"), own.begin("1"), own.begin("2")) == (1, 2, 1)
    assert own.find("1") is None
    assert own.record("1", b"first") == b"first"
    assert own.record("1", b"second") == b"first"
    assert own.records() == {"1": b"first"}
    assert not list(own.directory.glob("*.tmp"))


def test_nothing_can_be_recorded_for_a_session_that_is_over(tmp_path: Path) -> None:
    own = Spool.of(tmp_path, "s")
    own.begin("1")
    own.remove()
    with pytest.raises(FileNotFoundError):
        own.record("1", b"late")


def test_a_fetched_sample_is_what_the_client_would_have_recorded(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    Journal.of(ours, header()).append(RUN, counted())
    assert merge([spooled(counted())], theirs) == (1, [])
    (mine,), (other,) = layout.journals(ours), layout.journals(theirs)
    assert mine.read_bytes() == other.read_bytes()
    (entry,) = read_journal(other).entries
    assert entry.ledger is not None
    assert (theirs / layout.LEDGERS / entry.ledger[:2]).is_dir()


def test_what_the_client_has_already_is_not_added_again(tmp_path: Path) -> None:
    Journal.of(tmp_path / "results", header()).append(RUN, counted())
    assert merge([spooled(counted())], tmp_path / "results") == (0, [])
    assert samples_of(tmp_path / "results") == [(str(COLD), "counting")]


def test_a_broken_record_is_named_and_hides_no_other(tmp_path: Path) -> None:
    count, (problem,) = merge([b"{", spooled(counted())], tmp_path / "results")
    assert count == 1
    assert problem.startswith("a sample that a worker recorded cannot be read")


def test_a_sample_that_no_journal_takes_is_named_and_hides_no_other(tmp_path: Path) -> None:
    large = sample(environment={f"{i}": "x" * 4000 for i in range(LARGEST_LINE // 4000 + 1)})
    count, (problem,) = merge([spooled(large), spooled(counted())], tmp_path / "results")
    assert count == 1
    assert problem.startswith("no journal takes a sample that a worker recorded: a sample of")


def test_what_a_dead_session_left_is_fetched_and_a_living_one_is_let_be(tmp_path: Path) -> None:
    results = tmp_path / "results"
    dead, living = Session(tmp_path, results), Session(tmp_path, results)
    for one, sampled in ((dead, counted()), (living, sample(started_at=NOON))):
        Spool.of(tmp_path, one.name).begin("1")
        Spool.of(tmp_path, one.name).record("1", spooled(sampled))
    dead.end(fetched=False)
    assert [name for name, _ in left_behind(tmp_path)] == [dead.name]
    (said,) = fetch_left(tmp_path)
    assert said == f"fetched into {results}: 1 sample of an interrupted run"
    assert samples_of(results) == [(str(COLD), "counting")]
    assert list(fetch_left(tmp_path)) == []
    assert Spool.of(tmp_path, living.name).records()
    living.end(fetched=True)
    assert not any((tmp_path / "fleet" / "spool").iterdir())


def test_results_that_cannot_be_written_are_said_and_stop_nothing_else(tmp_path: Path) -> None:
    gone, there = tmp_path / "disk" / "results", tmp_path / "results"
    (tmp_path / "file").write_text("no directory")
    for results in (gone, there, tmp_path / "file"):
        dead = Session(tmp_path, results)
        Spool.of(tmp_path, dead.name).begin("1")
        Spool.of(tmp_path, dead.name).record("1", spooled(counted()))
        dead.end(fetched=False)
    said = list(fetch_left(tmp_path))
    assert len(said) == 3
    assert f"fetched into {there}: 1 sample of an interrupted run" in said
    (missing,) = [one for one in said if str(gone) in one]
    assert "there is no directory" in missing
    assert missing.endswith("to give them up")
    assert not gone.parent.exists()
    gone.parent.mkdir()
    assert f"fetched into {gone}: 1 sample of an interrupted run" in list(fetch_left(tmp_path))


def test_one_sample_of_a_pair_is_dropped(tmp_path: Path) -> None:
    dead = Session(tmp_path, None)
    Spool.of(tmp_path, dead.name).begin("1")
    Spool.of(tmp_path, dead.name).record("1", spooled(counted()))
    dead.end(fetched=False)
    assert list(fetch_left(tmp_path)) == []
    assert list(left_behind(tmp_path)) == []


def test_a_sample_that_was_taken_again_elsewhere_is_never_fetched(tmp_path: Path) -> None:
    dead = Session(tmp_path, tmp_path / "results")
    for key, value in (("1", 3), ("2", 4)):
        Spool.of(tmp_path, dead.name).begin(key)
        one = counted().model_copy(update={"metrics": {"cache_misses": value}})
        Spool.of(tmp_path, dead.name).record(key, spooled(one))
    dead.gives_up("1")
    dead.uses(["other"])  # which keeps what was given up
    dead.end(fetched=False)
    dead.uses(["late"])
    ((_, owner),) = left_behind(tmp_path)
    assert (owner.elsewhere, owner.given_up) == (["other"], ["1"])
    assert len(list(fetch_left(tmp_path))) == 1
    (path,) = layout.journals(tmp_path / "results")
    (entry,) = read_journal(path).entries
    assert entry.sample.metrics["cache_misses"] == 4


def test_a_session_with_samples_on_other_machines_is_remembered(tmp_path: Path) -> None:
    dead = Session(tmp_path, tmp_path / "results")
    dead.uses(["other"])
    dead.end(fetched=False)
    assert list(fetch_left(tmp_path)) == []
    ((name, owner),) = left_behind(tmp_path)
    assert (name, owner.elsewhere) == (dead.name, ["other"])
    spool.forget(tmp_path, name)
    assert list(left_behind(tmp_path)) == []
