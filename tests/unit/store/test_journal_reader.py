from __future__ import annotations

from pathlib import Path

import pytest

from observatory.store.journal import reader
from observatory.store.journal.compacting import bare
from observatory.store.journal.merging import essence
from observatory.store.journal.models import LARGEST_LINE, encoded
from observatory.store.journal.reader import read_journal, runs_in, written
from tests.factories import LATER, RUN, failed, header, journal, ledger, sample

RESULTS = Path(__file__).parents[3] / "results"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal with a ledger, a failure and two environments."""
    counted = sample(measure="counting", ledger=ledger("Add", "Mul"))
    journal(tmp_path, [counted, sample(), failed()])
    return journal(tmp_path, [sample()], LATER, header(numba="0.69.0")).path


def test_a_journal_that_is_read_and_written_is_the_same_bytes(path: Path) -> None:
    assert written(read_journal(path).records) == path.read_bytes()


def test_committed_journals_are_written_as_they_were() -> None:
    for journal_path in sorted((RESULTS / "samples").glob("*/*.jsonl"))[:4]:
        assert written(read_journal(journal_path).records) == journal_path.read_bytes()


def test_each_line_knows_the_header_that_it_is_under(path: Path) -> None:
    numbas = [line.header.versions.numba for line in read_journal(path).records]
    assert numbas == ["0.68.0", "0.68.0", "0.68.0", "0.69.0"]


def test_what_cannot_be_read_is_named_and_kept_apart_from_what_can(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(b'{"run":"20261120T143000Z","of":"a later version"}\n{"torn')
    lines = read_journal(path)
    assert len(lines.records) == 6
    assert len(lines.entries) == 4
    assert [problem.line for problem in lines.problems] == [7, 8]
    assert essence(lines.records[4]) == lines.records[4].raw


def test_samples_without_a_header_and_headers_of_others_are_named(tmp_path: Path) -> None:
    good = journal(tmp_path, [sample()]).path
    other = journal(tmp_path, [sample()], RUN, header("3.3.6")).path
    head, line = good.read_bytes().splitlines(keepends=True)
    good.write_bytes(line + head + other.read_bytes().splitlines(keepends=True)[0] + line)
    lines = read_journal(good)
    assert [problem.line for problem in lines.problems] == [3, None]
    assert len(lines.entries) == 1
    assert not lines.complete


def test_a_line_above_the_bound_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    path = journal(tmp_path, [sample()]).path
    good = path.read_bytes().splitlines(keepends=True)[1]
    with path.open("ab") as stream:
        stream.write(b"x" * (LARGEST_LINE + 7) + b"\n" + good)
    lines = read_journal(path)
    assert len(lines.entries) == 2
    assert [problem.line for problem in lines.problems] == [3]
    assert not lines.complete


def test_a_file_without_lines_has_no_header(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    lines = read_journal(tmp_path / "empty.jsonl")
    assert (lines.header, lines.records, lines.complete) == (None, [], True)


def test_what_is_bare_keeps_values_and_what_was_wrong(path: Path) -> None:
    checks = [
        {"name": "right", "logp_error": 0.0, "gradient_error": None, "wrong": False},
        {"name": "bad", "logp_error": None, "gradient_error": None, "wrong": True, "note": "x"},
    ]
    (line,) = read_journal(journal(path.parent / "a", [sample(checks=checks)]).path).entries
    less = bare(line.line).sample
    assert [check.name for check in less.checks] == ["bad"]
    assert less.metrics == line.sample.metrics
    assert less.overhead is not None
    assert (less.overhead.total, less.overhead.rest, less.overhead.imports) == (2.0, 2.0, 0.0)
    assert encoded(bare(bare(line.line))) == encoded(bare(line.line)) == essence(line)


def test_the_runs_of_a_journal_are_those_of_its_samples(tmp_path: Path) -> None:
    plan = f"{LATER}-canary-full-x0a1b2c"
    journal(tmp_path, [sample(), sample()], RUN)
    path = journal(tmp_path, [sample()], plan, header(numba="0.67.0")).path
    assert list(runs_in(path)) == [one.run for one in read_journal(path).entries]
    assert list(runs_in(path)) == [RUN, RUN, plan]
    path.write_bytes(path.read_bytes()[:-1])
    assert list(runs_in(path)) == [RUN, RUN], "a kill has torn the last line"
    assert list(runs_in(tmp_path / "none.jsonl")) == []


@pytest.mark.parametrize(("limit", "most"), [("LARGEST_JOURNAL", 3000), ("MOST_VALUES", 150)])
def test_of_a_journal_that_is_too_long_the_newest_samples_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    """A subject that is measured every night has a journal that grows every night."""
    taken = [sample(metrics={"compile_time": float(night)}) for night in range(1, 31)]
    path = journal(tmp_path, taken).path
    assert len(read_journal(path).entries) == 30
    monkeypatch.setattr(reader, limit, most)
    found = read_journal(path)
    assert 1 < len(found.entries) < 30
    assert [one.sample for one in found.entries] == taken[-len(found.entries) :]
    (problem,) = found.problems
    assert "only its newest samples are read; move it away to begin" in problem.reason
    assert found.header == header()
    assert not found.complete
    assert len(read_journal(path, whole=True).entries) == 30
