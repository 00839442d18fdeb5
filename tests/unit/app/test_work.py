"""Runs and tables with counted work, and on a machine on which nothing counts it."""

from pathlib import Path

import pytest

from observatory.app import measurement as module
from observatory.app.measurement import measure_subjects
from observatory.app.results import read
from observatory.app.session import Session
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.cli.commands.show import tables
from observatory.run import counter
from observatory.run.presets import Narrowed
from observatory.run.sources import SubjectError
from observatory.store.records.sample import Sample
from observatory.text.counting import counted_by, not_followed
from tests.factories import header, sample, subject
from tests.factories_work import CALLGRIND, HARDWARE, NOTHING, SPAWNED, history, recorded, work


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def session(tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session on a machine on which nothing counts instructions."""
    monkeypatch.setattr(counter, "find", lambda: counter.Counter("", NOTHING))
    return Session(
        "work", tmp_path, tmp_path, header().machine, progress=lambda one: said.append(one.text)
    )


def test_a_run_of_work_alone_where_nothing_counts_is_a_mistake(session: Session) -> None:
    with pytest.raises(SubjectError, match="valgrind is not installed"):
        measure_subjects(session, [subject()], Narrowed())


def test_a_run_where_nothing_counts_says_so_once_and_takes_the_rest(
    session: Session, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[list[Task]] = []
    tasks = plan([SPAWNED], Rounds(timing=1, counting=1, work=3))
    monkeypatch.setattr(module, "chosen_tasks", lambda *_: tasks)
    monkeypatch.setattr(
        module, "_of_subject",
        lambda _, __, groups, *___, **____: iter([taken.append(groups[()][0])][:0]),
    )  # fmt: skip
    measure_subjects(session, [subject("3.3.6"), subject()], Narrowed())
    assert [task.measure for task in taken[0]] == ["counting", "counting", "timing"]
    assert said[0] == f"the pass work is left out: {NOTHING}"
    assert "3 samples of each of 2 subjects" in said[1]


def test_what_counts_here_is_a_source_or_a_reason() -> None:
    found = counter.find()
    assert bool(found.source) != bool(found.problem)
    assert "code for" in found.source or "nothing counts instructions here" in found.problem


def test_work_has_a_column_beside_the_time_where_it_was_counted(tmp_path: Path) -> None:
    fork = Cell("radon", "warm_process", "NUMBA", "fork")
    history(tmp_path, (2_036_912_345.0, CALLGRIND))
    reading = read(tmp_path)
    (table,) = tables(reading, reading.frame, ["3.3.0"], None)
    assert table.header == ("scenario", "backend", "spawn: time", "work", "misses", "wrong")
    assert table.rows == (("warm_process", "NUMBA", "250 ms", "2.04 G", "-", "0"),)
    recorded(tmp_path, 1, [sample(fork, metrics={"compile_time": 0.3})])
    reading = read(tmp_path)
    (table,) = tables(reading, reading.frame, ["3.3.1"], None)
    assert "work" not in table.header


def test_subjects_that_other_sources_counted_are_said_not_to_compare(tmp_path: Path) -> None:
    history(tmp_path, (2.0e9, CALLGRIND), (2.1e9, CALLGRIND), (2.2e9, HARDWARE))
    reading = read(tmp_path)
    (same,) = tables(reading, reading.frame, ["3.3.0", "3.3.1"], None)
    assert ("warm_process", "NUMBA", "spawn", "instructions") in [row[:4] for row in same.rows]
    assert not any("sources" in line for line in same.footnotes)
    (apart,) = tables(reading, reading.frame, ["3.3.1", "3.3.2"], None)
    assert apart.footnotes[0] == (
        "warm_process NUMBA spawn: counts of two sources cannot be compared "
        f"(instructions of 3.3.1 by {CALLGRIND}, those of 3.3.2 by {HARDWARE})"
    )


def test_only_the_cells_that_two_sources_counted_are_named(tmp_path: Path) -> None:
    of_c = Cell("radon", "warm_disk", "C_VM", "spawn")

    def calls(cell: Cell, source: str | None) -> Sample:
        return sample(cell, "tracing", {"python_calls": 5e5}, counted_by=source)

    recorded(tmp_path, 0, [calls(of_c, None), calls(SPAWNED, None)])
    recorded(tmp_path, 1, [calls(of_c, of_c.traced_by), calls(SPAWNED, None)])
    reading = read(tmp_path)
    (table,) = tables(reading, reading.frame, ["3.3.0", "3.3.1"], ["python_calls"])
    (said,) = table.footnotes
    assert said == (
        "warm_disk C_VM spawn: counts of two sources cannot be compared "
        "(python_calls of 3.3.0 by a version that named no source, those of 3.3.1 by "
        "sys.monitoring, without the search for a BLAS)"
    )


def test_a_subject_without_a_count_is_no_second_source(tmp_path: Path) -> None:
    recorded(tmp_path, 0, [work(1.4e9)])
    recorded(tmp_path, 1, [sample(SPAWNED, metrics={"compile_time": 0.3})])
    reading = read(tmp_path)
    (table,) = tables(reading, reading.frame, ["3.3.0", "3.3.1"], ["instructions"])
    assert table.rows[0][-2:] == ("1,400,000,000", "-")
    assert table.footnotes == ()


def test_counts_of_c_say_that_gcc_is_not_followed(tmp_path: Path) -> None:
    of_c = Cell("radon", "warm_process", "C_VM", "spawn")
    call = Cell("radon", "call", "C_VM", "spawn")
    recorded(tmp_path / "c", 1, [work(1.4e9, CALLGRIND, of_c), work(2.7e8, CALLGRIND, call)])
    recorded(tmp_path / "hardware", 1, [work(1.4e9, HARDWARE, of_c)])
    recorded(tmp_path / "numba", 1, [work(1.4e9), work(2.7e8, CALLGRIND, call)])
    said = {}
    for results in tmp_path.iterdir():
        reading = read(results)
        (table,) = tables(reading, reading.frame, ["3.3.1"], ["instructions"])
        said[results.name] = table.footnotes
    assert said == {"c": (not_followed({"C_VM"}),), "hardware": (), "numba": ()}
    assert "the instructions of C_VM leave out its own work" in said["c"][0]
    assert counted_by(of_c, CALLGRIND) == f"{CALLGRIND}, without the work of the C++ compiler"
    assert counted_by(call, CALLGRIND) == counted_by(SPAWNED, CALLGRIND) == CALLGRIND
