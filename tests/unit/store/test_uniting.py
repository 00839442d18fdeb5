from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.benchmarks.catalogue import Cell
from observatory.store.asv.columns import SeriesList
from observatory.store.asv.files import project
from observatory.store.asv.imported import Options, import_file
from observatory.store.asv.result import parse
from observatory.store.base.problems import RecordError
from observatory.store.journal import reader
from observatory.store.journal.compacting import tidy
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import LARGEST_LINE, JournalHeader
from observatory.store.journal.reader import JournalContents, read_journal
from observatory.store.merging import directories
from observatory.store.merging.directories import holds_all, unite
from observatory.store.reading.read import read_results
from observatory.store.records import calibration, contracts, layout
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Sample
from tests.factories import LATER, NOON, RUN, WARM, header, journal, ledger, sample
from tests.factories_asv import foreign, put, row
from tests.factories_contracts import contracts as a_record
from tests.factories_pytest_benchmark import entry, file, saved
from tests.unit.store.test_calibration import made as a_calibration

SPAWN = Cell("radon", "warm_disk", "NUMBA", "spawn")


def shard(
    where: Path, samples: Iterable[Sample], run: str = RUN, under: JournalHeader | None = None
) -> Path:
    """A results directory as a matrix job leaves it."""
    made = journal(where, samples, run, under)
    project(where, made.read())
    return where


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def into(tmp_path: Path) -> Path:
    (tmp_path / "into").mkdir()
    return tmp_path / "into"


def test_the_launches_of_a_matrix_become_one_journal_and_one_file(
    tmp_path: Path, into: Path
) -> None:
    fork = shard(tmp_path / "fork", [sample(WARM, "counting", {"cache_misses": 1})])
    spawn = shard(tmp_path / "spawn", [sample(SPAWN, "counting", {"cache_misses": 2})])
    done = unite(into, [fork, spawn])
    assert (done.samples, len(done.grown), done.problems) == (2, 1, [])
    (result,) = read_results(into).files
    values = read_results(into)
    assert result.header is not None
    assert sorted(v for v in values.values.value if v > 0) == [1.0, 2.0]


def test_subjects_and_machines_stay_apart(tmp_path: Path, into: Path) -> None:
    other = header("3.3.6")
    elsewhere = header().model_copy(update={"machine": Machine(machine="ci", cpu="Other")})
    parts = [
        shard(tmp_path / "a", [sample()]),
        shard(tmp_path / "b", [sample()], RUN, other),
        shard(tmp_path / "c", [sample()], RUN, elsewhere),
    ]
    unite(into, parts)
    assert len(layout.journals(into)) == 3
    assert {path.parent.name for path in layout.journals(into)} == {"bench", "ci"}
    assert (into / "ci" / "machine.json").is_file()


def test_uniting_again_changes_nothing(tmp_path: Path, into: Path) -> None:
    parts = [
        shard(tmp_path / "a", [sample(measure="counting", ledger=ledger("Add"))]),
        shard(tmp_path / "b", [sample(SPAWN)], LATER),
    ]
    for part in parts:
        calibration.save(part, a_calibration())
        contracts.save(part, a_record())
    unite(into, parts)
    before = files(into)
    again = unite(into, parts)
    assert files(into) == before
    assert (again.samples, again.grown, again.ledgers, again.files) == (0, {}, 0, 0)


def test_the_order_of_the_parts_does_not_matter(tmp_path: Path, into: Path) -> None:
    parts = [
        shard(tmp_path / str(n), [sample(metrics={"compile_time": n})], run)
        for n, run in enumerate([RUN, LATER, RUN])
    ]
    other = tmp_path / "other"
    other.mkdir()
    unite(into, parts)
    unite(other, parts[::-1])
    assert files(other) == files(into)


def test_ledgers_come_with_the_samples_that_refer_to_them(tmp_path: Path, into: Path) -> None:
    part = shard(tmp_path / "a", [sample(measure="counting", ledger=ledger("Add"))])
    LedgerStore(part / "ledgers").store(ledger("Nobody"))
    done = unite(into, [part])
    assert done.ledgers == 1
    (line,) = read_journal(layout.journals(into)[0]).entries
    assert line.ledger is not None
    assert [one.name for one in LedgerStore(into / "ledgers").load(line.ledger)] == ["Add"]


def test_a_ledger_that_is_not_what_its_name_says_is_named_and_the_sample_comes(
    tmp_path: Path, into: Path
) -> None:
    part = shard(tmp_path / "a", [sample(measure="counting", ledger=ledger("Add"))])
    (path,) = part.glob("ledgers/??/*")
    path.write_bytes(b"not gzip")
    done = unite(into, [part])
    assert "cannot be decompressed" in str(done.problems[0])
    assert not list(into.glob("ledgers/??/*"))
    assert done.samples == 1


def test_a_torn_line_of_a_part_is_left_out_and_named(tmp_path: Path, into: Path) -> None:
    part = shard(tmp_path / "a", [sample(), sample(SPAWN)])
    (path,) = layout.journals(part)
    path.write_bytes(path.read_bytes()[:-40])
    done = unite(into, [part])
    assert done.samples == 1
    assert "it is skipped" in str(done.problems[0])
    assert read_journal(layout.journals(into)[0]).problems == []


def test_only_samples_that_are_new_are_counted_and_an_asv_file_that_is_gone_is_made_anew(
    tmp_path: Path, into: Path
) -> None:
    first, second = shard(tmp_path / "1", [sample()]), shard(tmp_path / "2", [sample(SPAWN)], LATER)
    assert unite(into, [first]).samples == 1
    assert unite(into, [first, second]).samples == 1
    (path,) = into.glob("bench/*-observatory-*.json")
    content = path.read_bytes()
    path.unlink()
    assert unite(into, [first, second]).samples == 0
    assert path.read_bytes() == content


def test_what_is_there_and_cannot_be_read_stays(tmp_path: Path, into: Path) -> None:
    path = layout.journals(shard(into, [sample()]))[0]
    odd = b'{"run":"20261120T143000Z","of":"a later version"}\n'
    with path.open("ab") as stream:
        stream.write(odd)
    unite(into, [shard(tmp_path / "a", [sample(SPAWN)], LATER)])
    assert odd in path.read_bytes()
    assert len(read_journal(path).entries) == 2


def test_a_journal_with_a_line_that_cannot_be_kept_stays_as_it_is(
    tmp_path: Path, into: Path
) -> None:
    path = layout.journals(shard(into, [sample()]))[0]
    with path.open("ab") as stream:
        stream.write(b"x" * (LARGEST_LINE + 1) + b"\n")
    before = path.read_bytes()
    done = unite(into, [shard(tmp_path / "a", [sample(SPAWN)], LATER)])
    assert path.read_bytes() == before
    assert "stays as it is" in str(done.problems[-1])


def test_a_sample_is_the_same_however_its_line_is_spaced(tmp_path: Path, into: Path) -> None:
    first = shard(tmp_path / "1", [sample()])
    unite(into, [first])
    (path,) = layout.journals(into)
    head, *rest = path.read_text().splitlines()
    path.write_text("\n".join([head, *(json.dumps(json.loads(line)) for line in rest)]) + "\n")
    assert holds_all(into, first)
    assert holds_all(first, into)
    path.write_text("\n".join([head, '{"of": "a later version"}']) + "\n")
    assert not holds_all(first, into)


def test_a_journal_without_a_readable_header_is_not_written_over(
    tmp_path: Path, into: Path
) -> None:
    part = shard(tmp_path / "a", [sample()])
    target = into / layout.journals(part)[0].relative_to(part)
    target.parent.mkdir(parents=True)
    target.write_bytes(b'{"schema":"observatory/journal/2","subject":{}}\n')
    before = target.read_bytes()
    done = unite(into, [part])
    assert target.read_bytes() == before
    assert "stays as it is" in str(done.problems[-1])


@pytest.mark.parametrize(
    "kind", ["elsewhere", "another subject", "no header", "link", "linked machine", "pipe", "large"]
)
def test_a_journal_that_is_not_what_it_says_is_named_and_left_out(
    tmp_path: Path, into: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = shard(tmp_path / "a", [sample()])
    (path,) = layout.journals(part)
    if kind == "elsewhere":
        path.rename(path.with_name("00000000-x.jsonl"))
    elif kind == "another subject":
        same_place = header("other", commit=header().subject.commit)
        shard(into, [sample()], RUN, same_place)
    elif kind == "no header":
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[1])
    elif kind == "link":
        path.rename(tmp_path / "secret.jsonl")
        path.symlink_to(tmp_path / "secret.jsonl")
    elif kind == "linked machine":
        path.parent.rename(tmp_path / "secret")
        path.parent.symlink_to(tmp_path / "secret")
    elif kind == "pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        monkeypatch.setattr("observatory.store.merging.directories.LARGEST_PART", 10)
    done = unite(into, [part])
    assert done.samples == 0
    assert done.problems
    assert len(layout.journals(into)) == (kind == "another subject")


def of_clone(place: str) -> JournalHeader:
    """The header of one commit, measured from a clone at a place."""
    commit = header().subject.commit
    return header(requirements=(f"pytensor @ git+file://{place}@{commit}", "numba"))


def test_a_commit_is_one_subject_from_wherever_it_was_measured(tmp_path: Path, into: Path) -> None:
    here = shard(tmp_path / "here", [sample()], RUN, of_clone("/home/ada/pytensor"))
    there = shard(tmp_path / "there", [sample()], LATER, of_clone("/srv/pytensor"))
    done = unite(into, [here, there])
    assert (done.samples, len(done.grown), done.problems) == (2, 1, [])
    assert unite(into, [there]).grown == {}


@pytest.mark.parametrize("fails", ["asv's file", "journal"])
def test_after_a_failure_between_a_journal_and_its_asv_file_both_come_with_the_next_attempt(
    tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    part = shard(tmp_path / "a", [sample(WARM, "counting", {"cache_misses": 1})])
    unite(into, [part])
    shard(part, [sample(WARM, "counting", {"cache_misses": 2})], LATER)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    function = "asv.files.project" if fails == "asv's file" else "merging.directories.write_atomic"
    with monkeypatch.context() as patched:
        patched.setattr(f"observatory.store.{function}", full)
        with pytest.raises(OSError, match="No space left"):
            unite(into, [part])
    unite(into, [part])
    assert files(into) == files(part)


def test_journals_of_one_subject_at_a_time_are_in_memory(
    tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    whole_read, whole_write = directories.read_journal, directories.write_atomic

    def read(path: Path, **options: bool) -> JournalContents:
        log.append(f"read {path.name}")
        return whole_read(path, **options)

    def write(path: Path, content: bytes) -> None:
        log.append(f"write {path.name}")
        whole_write(path, content)

    parts = [tmp_path / "a", tmp_path / "b"]
    for part in parts:
        for label in ("3.3.6", "3.3.7"):
            shard(part, [sample()], RUN, header(label))
    monkeypatch.setattr(directories, "read_journal", read)
    monkeypatch.setattr(directories, "write_atomic", write)
    unite(into, parts)
    names = [path.name for path in layout.journals(into)]
    assert log == [f"{what} {name}" for name in names for what in ("read", "read", "write")]


def test_a_part_that_is_not_there_is_a_mistake(tmp_path: Path, into: Path) -> None:
    with pytest.raises(RecordError, match="there is no results directory"):
        unite(into, [tmp_path / "none"])


def test_of_calibrations_and_contracts_the_last_taken_stays(tmp_path: Path, into: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    later = a_calibration().model_copy(update={"taken_at": NOON + timedelta(days=1)})
    calibration.save(old, a_calibration())
    calibration.save(new, later)
    contracts.save(old, a_record())
    assert unite(into, [new, old]).files == 2
    assert calibration.load(into, "bench") == later
    assert list(contracts.load_all(into)) == [a_record()]
    assert unite(into, [old]).files == 0


def test_a_record_that_is_there_and_cannot_be_read_is_not_written_over(
    tmp_path: Path, into: Path
) -> None:
    path = calibration.save(into, a_calibration())
    path.write_text('{"schema": "observatory/calibration/2"}')
    part = tmp_path / "a"
    calibration.save(part, a_calibration())
    done = unite(into, [part])
    assert path.read_text() == '{"schema": "observatory/calibration/2"}'
    assert "stays as it is" in str(done.problems[-1])


def test_imports_of_two_jobs_add_to_each_other_and_the_last_measured_wins(
    tmp_path: Path, into: Path
) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    import_file(saved(tmp_path, file(entry("a.py::t"), entry("a.py::u"))), first, Options())
    newer = file(entry("a.py::t", median=5.0), entry("a.py::v"),
                 datetime="2026-11-21T12:00:00+00:00")  # fmt: skip
    import_file(saved(tmp_path, newer), second, Options())
    for order in ([first, second], [second, first]):
        shutil.rmtree(into)
        into.mkdir()
        done = unite(into, order)
        assert done.problems == []
        (path,) = into.glob("ci/*-pytest-benchmark-*.json")
        rows = json.loads(path.read_bytes())["results"]
        assert {name: row[0] for name, row in rows.items()} == {
            "a.t": [5.0], "a.u": [2.0], "a.v": [2.0],
        }  # fmt: skip
        assert parse(path.read_bytes(), SeriesList()).problems == ()
        assert set(json.loads((into / "benchmarks.json").read_bytes())) == {
            "a.t", "a.u", "a.v", "version",
        }  # fmt: skip
    assert unite(into, [first, second]).files == 0


def test_what_is_said_beside_the_rows_is_that_of_the_newest_file(
    tmp_path: Path, into: Path
) -> None:
    for where, name, moment in (("old", "a", 1.0), ("new", "b", 2.0)):
        rows = {name: row(result=[1.0], started_at=moment)}
        put(tmp_path / where, foreign(rows, requirements={"numba": where}))
    for order in (["old", "new"], ["new", "old"]):
        shutil.rmtree(into)
        into.mkdir()
        assert unite(into, [tmp_path / where for where in order]).problems == []
        (path,) = into.glob("ci/*.json")
        content = json.loads(path.read_bytes())
        assert (content["requirements"], sorted(content["results"])) == (
            {"numba": "new"}, ["a", "b"],
        )  # fmt: skip


def test_the_description_of_another_machine_is_named_and_none_is_replaced(
    tmp_path: Path, into: Path
) -> None:
    """Values and the machine that took them belong together, whatever the order of the parts."""
    named = {"wrong": "other", "first": "ci", "second": "ci"}
    for part, machine in named.items():
        put(tmp_path / part, foreign({"a": row(result=[1.0], started_at=1.0)}))
        put(tmp_path / part, {"machine": machine, "cpu": part, "version": 1}, "machine.json")
    done = unite(into, [tmp_path / part for part in named])
    (problem,) = done.problems
    assert problem.path.is_relative_to(tmp_path / "wrong")
    assert "machine.json describes another machine" in problem.reason
    described = json.loads((into / "ci" / "machine.json").read_bytes())
    assert (described["machine"], described["cpu"]) == ("ci", "first")


def test_a_file_that_is_made_from_a_journal_takes_no_rows_of_another_one(
    tmp_path: Path, into: Path
) -> None:
    """The next time it is made anew, they would be gone."""
    shard(into, [sample()])
    part = shard(tmp_path / "part", [sample(metrics={"compile_time": 9.0})], LATER)
    shutil.rmtree(part / layout.SAMPLES)  # as a branch without journals has it
    before = files(into)
    assert unite(into, [part]).problems == []
    assert files(into) == before


def test_rows_stay_as_asv_wrote_them(tmp_path: Path, into: Path) -> None:
    """To asv, NaN is "skipped" and null is "failed"."""
    name = "0123abcd-x.json"
    put(into, foreign({"a": [[1.0]]}, commit_hash="0123abcd" * 5), name)
    part = put(tmp_path / "1", foreign({"b": [[0.5]]}, commit_hash="0123abcd" * 5), name)
    part.write_text(part.read_text().replace("0.5", "NaN, 1e999"))
    done = unite(into, [tmp_path / "1"])
    assert done.problems == []
    (path,) = into.glob("*/*-x.json")
    assert '"b": [[NaN, Infinity]]' in path.read_text()


@pytest.mark.parametrize("side", ["into", "part"])
def test_a_time_of_too_many_digits_ends_nothing(tmp_path: Path, into: Path, side: str) -> None:
    """No float is as large, and Python's own reader of JSON gives it as an integer."""
    for directory, value in ((into, 1.0), (tmp_path / "part", 2.0)):
        rows = foreign({"a": row(result=[value], started_at=1_700_000_000_123)})
        path = put(directory, rows)
        if directory.name == side:
            path.write_text(path.read_text().replace("1700000000123", "9" * 320))
    assert unite(into, [tmp_path / "part"]).problems == []


def test_a_row_that_is_nested_too_deep_ends_nothing(tmp_path: Path, into: Path) -> None:
    name = "0123abcd-x.json"
    put(into, foreign({"a": [[1.0]]}, commit_hash="0123abcd" * 5), name)
    part = put(tmp_path / "1", foreign({"b": [[0.5]]}, commit_hash="0123abcd" * 5), name)
    part.write_text(part.read_text().replace("0.5", "[" * 990 + "]" * 990))
    # From 3.12 on, Python takes such a depth.
    problems = unite(into, [tmp_path / "1"]).problems
    assert all("it is left out" in str(problem) for problem in problems)


@pytest.mark.parametrize("content", [b"{", b'{"version": 3}', b"[]"])
def test_a_result_file_that_is_none_is_named_and_left_out(
    tmp_path: Path, into: Path, content: bytes
) -> None:
    part = shard(tmp_path / "a", [sample()])
    (part / "bench" / "0123abcd-existing.json").write_bytes(content)
    done = unite(into, [part])
    assert "it is left out" in str(done.problems[0])
    assert not (into / "bench" / "0123abcd-existing.json").exists()
    assert done.samples == 1


def test_a_broken_benchmarks_json_of_a_part_is_named_and_one_that_is_there_a_mistake(
    tmp_path: Path, into: Path
) -> None:
    part = tmp_path / "a"
    part.mkdir()
    (part / "benchmarks.json").write_text("[]")
    assert "is not an object of benchmarks" in str(unite(into, [part]).problems[0])
    (into / "benchmarks.json").write_text("[]")
    with pytest.raises(RecordError, match="remove it"):
        unite(into, [part])


def test_a_directory_holds_all_of_what_it_was_added_to(tmp_path: Path, into: Path) -> None:
    first = shard(tmp_path / "1", [sample(), sample(SPAWN, started_at=NOON + timedelta(1))])
    import_file(saved(tmp_path, file(entry("a.py::t"))), first, Options())
    second = shard(tmp_path / "2", [sample(WARM, "counting", started_at=NOON + timedelta(2))])
    third = shard(tmp_path / "3", [sample()], RUN, header("3.3.6"))
    unite(into, [first])
    assert holds_all(into, first)
    assert holds_all(first, into)
    tidy(into, NOON + timedelta(9))
    assert holds_all(first, into)
    unite(into, [second])
    assert holds_all(into, second)
    assert not holds_all(first, into)
    assert not holds_all(second, into)
    assert not holds_all(into, third)


def test_results_that_were_imported_count_as_well(tmp_path: Path, into: Path) -> None:
    part = tmp_path / "a"
    import_file(saved(tmp_path, file(entry("a.py::t"))), part, Options())
    assert not holds_all(into, part)
    unite(into, [part])
    assert holds_all(into, part)
    import_file(saved(tmp_path, file(entry("a.py::t", median=9.0))), part, Options())
    assert not holds_all(into, part)


_taken = st.tuples(
    st.sampled_from(["3.3.6", "3.3.7"]), st.sampled_from([RUN, LATER]), st.integers(0, 9)
)


@settings(max_examples=15)
@given(st.lists(st.lists(_taken, max_size=4), min_size=1, max_size=3), st.integers())
def test_directories_lose_nothing_whatever_the_order(
    tmp_path_factory: pytest.TempPathFactory, measured: list[list[tuple[str, str, int]]], seed: int
) -> None:
    root = tmp_path_factory.mktemp("parts")
    parts = []
    for number, taken in enumerate(measured):
        part = root / f"part{number}"
        part.mkdir()
        for label, run, value in taken:
            shard(part, [sample(metrics={"compile_time": value})], run, header(label))
        parts.append(part)
    trees = []
    for number in range(2):
        into = root / f"into{number}"
        into.mkdir()
        unite(into, Random(seed + number).sample(parts, len(parts)))
        trees.append(files(into))
    assert trees[0] == trees[1]
    there = {
        (journal.header.subject.label, e.run, e.sample.metrics["compile_time"])
        for path in layout.journals(root / "into0")
        if (journal := read_journal(path)).header
        for e in journal.entries
    }
    assert there == {one for taken in measured for one in taken}


def test_a_journal_that_would_become_too_large_keeps_the_samples_that_count(
    tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "LARGEST_JOURNAL", 6000)
    for night in range(1, 31):
        taken = sample(metrics={"compile_time": float(night)},
                       started_at=NOON + timedelta(days=night))  # fmt: skip
        part = shard(tmp_path / str(night), [taken], run=f"202612{night:02}T000000Z")
        done = unite(into, [part])
        assert (done.samples, done.problems) == (1, [])
    (path,) = layout.journals(into)
    assert path.stat().st_size <= 6000
    assert read_journal(path).entries[-1].sample == taken
    assert read_journal(path).complete
