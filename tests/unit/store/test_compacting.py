from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.benchmarks.catalogue import Cell
from observatory.store.base.problems import Problem
from observatory.store.journal.compacting import compacted, newest
from observatory.store.journal.latest import latest_of
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalEntry, JournalLine, JournalRecord, encoded
from observatory.store.journal.reader import JournalContents, read_journal, written
from observatory.store.journal.values import latest_runs
from observatory.store.reading.compiled import functions_of
from observatory.store.reading.fates import coverage_of, fates_of
from observatory.store.records.sample import Sample, StoredEntry
from tests.factories import LATER, NOON, RUN, WARM, failed, header, journal, ledger, sample

COLD = Cell("radon", "cold", "NUMBA", "fork")
CENSUS = Cell("ops", "census_warm", "NUMBA", "spawn")
CELLS = (
    WARM, COLD, Cell("radon", "siblings", "NUMBA", "fork"), CENSUS, Cell("no", "such", "cell", "x"),
)  # fmt: skip
HEADERS = (header(), header(numba="0.69.0"), header(cpu="Another CPU"))


def less(path: Path) -> JournalContents:
    """What is left of a journal, read again."""
    path.write_bytes(written(compacted(read_journal(path))))
    return read_journal(path)


def test_what_a_later_run_has_outdated_goes(tmp_path: Path) -> None:
    journal(tmp_path, [sample(), sample(COLD)])
    path = journal(tmp_path, [sample(metrics={"compile_time": 2})], LATER).path
    runs = [(e.run, e.sample.cell.scenario) for e in read_journal(path).entries]
    assert runs == [(RUN, "warm_disk"), (RUN, "cold"), (LATER, "warm_disk")]
    less(path)
    runs = [(e.run, e.sample.cell.scenario) for e in read_journal(path).entries]
    assert runs == [(RUN, "cold"), (LATER, "warm_disk")]


def test_what_another_environment_gave_goes(tmp_path: Path) -> None:
    journal(tmp_path, [sample()])
    path = journal(tmp_path, [sample(COLD)], LATER, header(numba="0.69.0")).path
    assert [line.header.versions.numba for line in less(path).entries] == ["0.69.0"]


def test_a_value_stays_where_the_subject_could_not_give_it_later(tmp_path: Path) -> None:
    journal(tmp_path, [sample(metrics={"compile_time": 2})])
    path = journal(tmp_path, [sample(status="unavailable", metrics={})], LATER).path
    assert len(less(path).entries) == 2


def test_the_environment_is_told_once_a_run(tmp_path: Path) -> None:
    journal(tmp_path, [sample(), sample()])
    path = journal(tmp_path, [sample(COLD), sample(COLD)], LATER).path
    kept = [line.sample.environment != {} for line in less(path).entries]
    assert kept == [True, False, True, False]


def test_the_environment_is_told_once_for_each_cpu_of_a_run(tmp_path: Path) -> None:
    """On a cluster, samples of one run are of several machines."""
    counted = [sample(measure="counting"), sample(COLD, measure="counting")]
    journal(tmp_path, counted)
    elsewhere = [sample(cell, measure="counting") for cell in (CENSUS, CELLS[2])]
    path = journal(tmp_path, elsewhere, RUN, header(cpu="Another CPU")).path
    kept = [line.sample.environment != {} for line in less(path).entries]
    assert kept == [True, False, True, False]


def test_a_way_of_failing_is_explained_once(tmp_path: Path) -> None:
    died = {"message": "it died", "stderr": ["a", "b"]}
    hung = {"message": "it hung", "stderr": ["c"]}
    path = journal(tmp_path, [failed(failure=f) for f in (died, died, hung)]).path
    kept = [line.sample.failure for line in less(path).entries]
    assert [one.stderr for one in kept if one] == [["a", "b"], [], ["c"]]
    assert [one.message for one in kept if one] == ["it died", "it died", "it hung"]


def test_of_counting_samples_of_a_cell_the_first_good_one_keeps_its_ledger(tmp_path: Path) -> None:
    counted = [
        sample(measure="counting", status="raised", ledger=ledger("Neg")),
        sample(measure="counting", ledger=ledger("Add")),
        sample(measure="counting", ledger=ledger("Mul")),
    ]
    path = journal(tmp_path, counted).path
    before = [line.ledger for line in read_journal(path).entries]
    after = [line.ledger for line in less(path).entries]
    assert after == [None, before[1], None]


def test_sizes_that_another_cpu_could_not_give_stay(tmp_path: Path) -> None:
    sizes = [sample(measure="counting", metrics={"cache_bytes": size}) for size in (200, 300)]
    journal(tmp_path, [sample(), sizes[0]])
    made = journal(tmp_path, [sizes[1]], LATER, header(cpu="Another CPU"))
    before = latest_of(made.read()).recorded
    less(made.path)
    assert latest_of(made.read()).recorded == before
    assert 200 in [one.value for one in before if one.metric.name == "cache_bytes"]


def test_what_no_graph_has_stays_once_for_each_cell(tmp_path: Path) -> None:
    covered = {"implemented": {"numba": 2}, "untried": {"tensor.math.Sum": ["numba"]}}
    said = sample(COLD, measure="counting", coverage=covered)
    path = journal(tmp_path, [said, said]).path
    before = coverage_of(read_journal(path).current())
    entries = less(path).entries
    assert [one.sample.coverage is not None for one in entries] == [True, False]
    assert coverage_of(entries) == before != {}


def test_the_reason_why_a_subject_cannot_give_a_cell_stays(tmp_path: Path) -> None:
    """It is that of the last sample, of whatever run: one that was begun earlier may go on."""

    def refused(why: str) -> Sample:
        return sample(COLD, status="unavailable", failure={"message": why}, metrics={})

    journal(tmp_path, [refused("no such mode")], LATER)
    path = journal(tmp_path, [refused("numba is missing"), sample()], RUN).path
    before, after = (latest_of(found).notes for found in (read_journal(path), less(path)))
    assert [note.text for note in before] == ["numba is missing"]
    assert after == before


def test_compacting_again_changes_nothing(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample(), failed(), sample(COLD, measure="counting")]).path
    once = written(compacted(read_journal(path)))
    path.write_bytes(once)
    assert written(compacted(read_journal(path))) == once


def test_a_journal_of_which_not_all_can_be_read_stays_as_it_is(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample(), sample()]).path
    with path.open("ab") as stream:
        stream.write(b'{"of": "a later version"}\n')
    assert written(compacted(read_journal(path))) == path.read_bytes()


def test_the_newest_sample_is_known(tmp_path: Path) -> None:
    later = NOON + timedelta(days=2)
    path = journal(tmp_path, [sample(started_at=later), sample()]).path
    assert newest(read_journal(path).entries) == later
    assert newest([]) is None


class _Anything(LedgerStore):
    """A store that has every ledger: one function of the ledger's own name."""

    def load(self, sha: str) -> list[StoredEntry]:
        return [StoredEntry(name=sha, kind="numba", key="", outcome="miss")]


def _line(
    cell: Cell, measure: str, status: str, run: str, under: int, minute: int, sha: str | None
) -> JournalEntry:
    failure = None if status == "ok" else {"message": f"{status} it", "stderr": ["x"]}
    graph = {"name": "a", "metrics": {"cache_misses": minute}, "note": sha}
    taken = sample(
        cell, measure,
        {"cache_misses": minute, "cache_bytes": minute, "compile_time": minute / 7}, status=status,
        failure=failure, absent={"peak_rss": f"because {minute}"},
        started_at=NOON + timedelta(minutes=minute), steps=[graph],
    )  # fmt: skip
    seconds = None if sha is None else [0.25]
    said = JournalLine(run=run, sample=taken, ledger=sha, seconds=seconds)
    return JournalEntry(HEADERS[under], said, encoded(said))


lines = st.builds(
    _line,
    st.sampled_from(CELLS),
    st.sampled_from(["timing", "counting", "tracing"]),
    st.sampled_from(["ok", "ok", "raised", "unavailable"]),
    st.sampled_from([RUN, LATER]),
    st.integers(0, 2),
    st.integers(0, 500),
    st.sampled_from([None, "a" * 64, "b" * 64, "c" * 64]),
)


def _contents(found: Sequence[JournalRecord]) -> JournalContents:
    return JournalContents(Path("x"), found[-1].header, list(found))


def _read(found: Sequence[JournalRecord]) -> list[object]:
    """Everything that any reader makes of a journal."""
    contents = _contents(found)
    entries = contents.current()
    problems: list[Problem] = []
    store = _Anything(Path("none"))
    ledgers = functions_of(entries, store, problems), fates_of(entries, store, problems)
    counting = [e for e in latest_runs(entries) if e.sample.measure == "counting"]
    first = {
        str(e.sample.cell): e.ledger
        for e in reversed(counting)
        if e.ledger and e.sample.status == "ok"
    }
    headers = contents.header, found[-1].header
    return [latest_of(contents), ledgers, first, newest(contents.entries), headers, problems]


@settings(max_examples=300)
@given(st.lists(lines, min_size=1, max_size=25))
def test_every_value_reason_and_ledger_stays(found: list[JournalRecord]) -> None:
    left = compacted(_contents(found))
    assert _read(left) == _read(found)
    assert compacted(_contents(left)) == left
    assert len(written(left)) <= len(written(found))


def test_a_good_time_stays_where_a_later_run_failed_and_another_cpu_has_times() -> None:
    """Without it, the times of the other CPU would be called the only ones."""
    found = [
        _line(COLD, "timing", "ok", RUN, 0, 1, None),
        _line(COLD, "timing", "ok", RUN, 2, 0, None),
        _line(COLD, "timing", "raised", LATER, 2, 0, None),
    ]
    assert _read(compacted(_contents(found))) == _read(found)


def test_the_sample_that_says_whose_times_stand_stays() -> None:
    """Merged journals may hold a later run before an earlier one, and another CPU between them."""
    found = [
        _line(WARM, "timing", "ok", LATER, 0, 3, None),
        _line(COLD, "timing", "ok", RUN, 2, 1, None),
        _line(WARM, "timing", "ok", RUN, 0, 2, None),
        _line(WARM, "counting", "ok", RUN, 0, 4, None),
    ]
    left = compacted(_contents(found))
    assert _read(left) == _read(found)


def test_a_time_that_only_a_dropped_time_of_another_cpu_called_for_goes_at_once() -> None:
    found = [
        _line(WARM, "timing", "ok", RUN, 0, 9, None),
        _line(COLD, "timing", "ok", RUN, 0, 0, None),
        _line(COLD, "timing", "ok", RUN, 2, 0, None),
        _line(COLD, "timing", "raised", LATER, 0, 0, None),
    ]
    left = compacted(_contents(found))
    assert compacted(_contents(left)) == left
