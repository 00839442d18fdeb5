from __future__ import annotations

import fcntl
import json
import multiprocessing
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.benchmarks.catalogue import BACKENDS, MEASURES, METRICS, SCENARIOS, STATUSES, Cell
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import LARGEST_LINE, JournalError
from observatory.store.journal.reader import MOST_UNREADABLE, read_header, read_journal
from observatory.store.journal.writer import Journal
from observatory.store.records.sample import MOST, Sample
from tests.factories import LATER, RUN, WARM, failed, header, journal, ledger, sample, subject

COLD = Cell("radon", "cold", "NUMBA", "fork")


def _append_many(path: Path, many: int) -> None:
    made = Journal(path, LedgerStore(path.parent / "ledgers"), header())
    for _ in range(many):
        made.append(RUN, sample())


def test_a_sample_comes_back_as_it_went_in(tmp_path: Path) -> None:
    taken = sample(metrics={"compile_time": 0.1 + 0.2, "cpu_time": 1})
    contents = journal(tmp_path, [taken]).read()
    assert [entry.sample for entry in contents.entries] == [taken]
    assert contents.header == header()
    assert contents.problems == []


def test_the_first_line_is_a_header_that_names_its_schema(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample(), sample()]).path
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["schema"] == "observatory/journal/1"
    assert [line.get("run") for line in lines] == [None, RUN, RUN]
    name = f"{subject().commit[:8]}-observatory-py3.13.jsonl"
    assert path == tmp_path / "samples" / "bench" / name


def test_the_ledger_is_stored_apart_and_its_seconds_stay(tmp_path: Path) -> None:
    entries = ledger("Elemwise", "Add")
    made = journal(tmp_path, [sample(measure="counting", ledger=entries)])
    (read,) = made.read().entries
    assert read.sample.ledger is None
    assert read.ledger is not None
    assert read.seconds == [0.0123, 0.0123]
    back = made.ledgers.load_timed(read.ledger, read.seconds)
    assert [entry.name for entry in back] == ["Add", "Elemwise"]


def test_nothing_but_the_journal_is_left_in_its_directory(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample()]).path
    assert list(path.parent.iterdir()) == [path]


def test_a_second_writer_goes_on_without_a_second_header(tmp_path: Path) -> None:
    journal(tmp_path, [sample()])
    path = journal(tmp_path, [sample()], run=LATER).path
    assert path.read_text().count('"schema":"observatory/journal/1"') == 1
    assert [entry.run for entry in read_journal(path).entries] == [RUN, LATER]


def test_samples_of_another_environment_get_a_header_of_their_own(tmp_path: Path) -> None:
    journal(tmp_path, [sample()])
    contents = journal(tmp_path, [sample()], LATER, header(numba="0.69.0")).read()
    assert [entry.header.versions.numba for entry in contents.entries] == ["0.68.0", "0.69.0"]
    assert [entry.run for entry in contents.current()] == [LATER]


def test_a_writer_notices_that_another_one_changed_the_header(tmp_path: Path) -> None:
    mine = journal(tmp_path, [sample()])
    journal(tmp_path, [sample()], RUN, header(numba="0.69.0"))
    mine.append(LATER, sample())
    numbas = [entry.header.versions.numba for entry in mine.read().entries]
    assert numbas == ["0.68.0", "0.69.0", "0.68.0"]


def test_a_journal_of_another_subject_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample()]).path
    other = Journal(path, LedgerStore(tmp_path), header("3.3.6"))
    with pytest.raises(JournalError, match=r"holds samples of '3\.3\.7'.*not of '3\.3\.6'"):
        other.append(RUN, sample())


@pytest.mark.parametrize(
    "url",
    ["git+file://{}/pytensor@" + header().subject.commit, "file://{}/pytensor-3.3.7-py3-any.whl"],
)
def test_a_journal_goes_on_after_its_clone_or_wheel_was_moved(tmp_path: Path, url: str) -> None:
    for place in ("/before", "/home/ada@work/after"):
        text = f"pytensor @ {url.format(place)}"
        made = Journal.of(tmp_path, header(requirements=(text, "numba")))
        made.append(RUN, sample())
    read = made.read()
    assert (len(read.entries), read.problems) == (2, [])
    assert read_header(made.path) == read.last_header == made.header


def test_a_sample_above_the_bound_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    large = sample(environment={f"{i}": "x" * 4000 for i in range(LARGEST_LINE // 4000 + 1)})
    made = Journal.of(tmp_path, header())
    with pytest.raises(JournalError, match="too large"):
        made.append(RUN, large)
    assert not made.path.exists()


def test_a_run_id_that_would_not_sort_by_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="run"):
        journal(tmp_path, [sample()], run="last night")


@pytest.mark.parametrize("cut", [1, 2, 30, 200])
def test_a_torn_last_line_is_named_and_the_next_append_repairs_it(tmp_path: Path, cut: int) -> None:
    path = journal(tmp_path, [sample(), sample()]).path
    path.write_bytes(path.read_bytes()[:-cut])
    torn = read_journal(path)
    whole = 2 if cut == 1 else 1  # without its newline the record is still whole
    assert len(torn.entries) == whole
    assert [problem.line for problem in torn.problems] == [3] * (2 - whole)
    assert all("torn" in problem.reason for problem in torn.problems)
    repaired = journal(tmp_path, [sample()], run=LATER).read()
    assert [entry.run for entry in repaired.entries] == [RUN] * whole + [LATER]
    assert repaired.problems == []


def test_a_torn_header_is_written_again(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample()]).path
    path.write_bytes(path.read_bytes()[:50])
    contents = journal(tmp_path, [sample()]).read()
    assert contents.header == header()
    assert len(contents.entries) == 1
    assert contents.problems == []


def test_a_broken_line_in_the_middle_is_named_with_its_place_and_skipped(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample(), sample(), sample()]).path
    lines = path.read_bytes().split(b"\n")
    lines[2] = b'{"run": "20261120T143000Z", "sample": {}}'
    path.write_bytes(b"\n".join(lines))
    contents = read_journal(path)
    assert len(contents.entries) == 2
    (problem,) = contents.problems
    assert str(problem).startswith(f"{path}:3: the line is skipped: it does not fit the schema")


def test_a_line_above_the_bound_is_named_and_the_next_one_read(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample()]).path
    good = path.read_bytes().split(b"\n")[1]
    with path.open("ab") as stream:
        stream.write(b"x" * (2 * LARGEST_LINE + 5) + b"\n" + good + b"\n")
    contents = read_journal(path)
    assert len(contents.entries) == 2
    assert [problem.line for problem in contents.problems] == [3]


def test_after_very_many_broken_lines_the_rest_is_not_read_and_that_is_said(tmp_path: Path) -> None:
    made = journal(tmp_path, [sample()])
    whole = made.path.read_bytes()
    made.path.write_bytes(whole + b"{}\n" * 20_000 + whole)
    contents = made.read()
    assert [entry.sample for entry in contents.entries] == [sample()]
    assert len(contents.problems) == MOST_UNREADABLE + 1
    assert str(contents.problems[-1]).endswith(
        "more than 10,000 lines cannot be read: the rest is skipped"
    )
    assert not contents.complete


def test_a_line_that_holds_its_ledger_is_not_taken(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample()]).path
    line = json.loads(path.read_text().splitlines()[1])
    line["sample"]["ledger"] = []
    with path.open("a") as stream:
        stream.write(json.dumps(line) + "\n")
    assert "by hash" in read_journal(path).problems[0].reason


def test_a_missing_journal_is_a_problem_and_no_error(tmp_path: Path) -> None:
    contents = read_journal(tmp_path / "none.jsonl")
    assert contents.header is None
    assert "cannot be read" in str(contents.problems[0])


def test_writers_in_several_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "shared.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(path, 20)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    contents = read_journal(path)
    assert len(contents.entries) == 60
    assert contents.problems == []
    assert path.read_bytes().count(b'{"schema":"observatory/journal/1"') == 1


def test_an_append_waits_for_the_lock_of_another_writer(tmp_path: Path) -> None:
    made = journal(tmp_path, [sample()])
    with made.path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        writer = threading.Thread(target=made.append, args=(LATER, sample()))
        writer.start()
        writer.join(0.3)
        assert writer.is_alive()
        assert len(made.read().entries) == 1
    writer.join()
    assert len(made.read().entries) == 2


def counted(**metrics: float) -> Sample:
    return sample(measure="counting", metrics=metrics)


def test_counts_of_another_cpu_stand_beside_times_and_without_what_is_of_a_cpu(
    tmp_path: Path,
) -> None:
    journal(tmp_path, [sample(metrics={"compile_time": 1.0})])
    counts = counted(cache_misses=3, cache_bytes=4096, object_code_bytes=512)
    made = journal(tmp_path, [counts], LATER, header(cpu="Another CPU"))
    contents = made.read()
    assert contents.header == header()
    timed, other = contents.current()
    assert timed.sample.metrics["compile_time"] == 1.0
    assert other.sample.metrics == {"wrong_results": 0, "crashed": 0, "cache_misses": 3}
    assert set(other.sample.absent) == {"cache_bytes", "object_code_bytes"}
    assert "Another CPU" in other.sample.absent["cache_bytes"]
    assert contents.entries[-1].sample.metrics["cache_bytes"] == 4096


def test_times_of_another_cpu_outdate_those_before_and_no_count(tmp_path: Path) -> None:
    journal(tmp_path, [sample(), counted(cache_misses=3)])
    contents = journal(tmp_path, [sample(COLD)], LATER, header(cpu="Another CPU")).read()
    assert contents.header == header(cpu="Another CPU")
    kept = [(e.sample.cell.scenario, e.sample.measure) for e in contents.current()]
    assert kept == [("warm_disk", "counting"), ("cold", "timing")]


def test_what_a_cpu_cannot_give_outdates_no_time_and_what_it_crashes_does(tmp_path: Path) -> None:
    journal(tmp_path, [sample()])
    other = header(cpu="Another CPU")
    unavailable = sample(COLD, status="unavailable", metrics={})
    assert journal(tmp_path, [unavailable], LATER, other).read().header == header()
    assert journal(tmp_path, [failed(COLD)], LATER, other).read().header == other


def test_counts_of_other_packages_never_stand(tmp_path: Path) -> None:
    journal(tmp_path, [sample(), counted(cache_misses=3)])
    contents = journal(tmp_path, [counted(cache_misses=4)], LATER, header(numba="0.69.0")).read()
    assert contents.header == header(numba="0.69.0")
    assert [e.sample.metrics["cache_misses"] for e in contents.current()] == [4]


def test_the_header_is_found_without_the_samples(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample()]).path
    journal(tmp_path, [sample()], RUN, header(numba="0.69.0"))
    assert read_header(path) == header(numba="0.69.0")


@settings(max_examples=60)
@given(st.binary(max_size=2000) | st.text(max_size=500).map(str.encode))
def test_arbitrary_bytes_never_raise_and_are_always_named(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "hostile.jsonl")
        path.write_bytes(content)
        contents = read_journal(path)
        assert contents.entries == []
        assert contents.problems


@settings(max_examples=60)
@given(st.data())
def test_a_damaged_journal_never_raises_and_can_be_appended_to(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = journal(Path(directory), [sample(), sample()]).path
        content = bytearray(path.read_bytes())
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 60))] = data.draw(st.binary(max_size=60))
        path.write_bytes(content)
        before = read_journal(path)
        last = before.header
        if last is not None and last.subject != header().subject:
            return  # the damage made it another subject's
        after = journal(Path(directory), [sample()], run=LATER).read()
        assert after.entries[-1].run == LATER
        assert len(after.entries) >= len(before.entries) + 1


words = st.text(max_size=20)
numbers = st.integers(0, MOST) | st.floats(-MOST, MOST)
samples = st.builds(
    sample,
    cell=st.builds(
        Cell, st.just("radon"), st.sampled_from([*SCENARIOS]), st.sampled_from([*BACKENDS]), words
    ),
    measure=st.sampled_from([*MEASURES]),
    metrics=st.dictionaries(st.sampled_from([*METRICS]), numbers),
    status=st.sampled_from([*STATUSES]),
    absent=st.dictionaries(words, words, max_size=3),
    environment=st.dictionaries(words, st.none() | words, max_size=3),
    hash_seed=st.integers(0, 2**32 - 1),
)


@settings(max_examples=60)
@given(samples)
def test_any_sample_makes_the_round_trip(taken: Sample) -> None:
    with tempfile.TemporaryDirectory() as directory:
        contents = journal(Path(directory), [taken]).read()
        assert [entry.sample for entry in contents.entries] == [taken]
        assert contents.problems == []


def test_the_cell_of_the_factories_is_one_that_is_measured() -> None:
    assert WARM.problem() is None
