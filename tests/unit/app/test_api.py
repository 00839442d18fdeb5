"""The names that a notebook uses: light to import, documented, and the frame that they return."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from observatory import app
from observatory.analyze.frame import COLUMNS
from observatory.analyze.series_keys import SelectionError
from observatory.app import progress, results
from observatory.app.telling import Course, Step
from observatory.benchmarks.catalogue import METRICS, Cell
from observatory.benchmarks.plan import Rounds, plan
from observatory.errors import Exit
from observatory.store.asv.files import project
from observatory.store.base.problems import RecordUsageError
from observatory.store.journal.writer import Journal
from observatory.store.records.sample import Overhead
from tests.factories import RUN, WARM, failed, header, ledger, sample
from tests.factories_graphs import counts, topics

COLD = Cell("radon", "cold", "NUMBA", "fork")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Two releases: the first misses, and the second is faster."""
    where = tmp_path / "results"
    for label, misses, seconds in (("2.35.1", 105, 5.0), ("3.3.7", 0, 0.25)):
        journal = Journal.of(where, header(label))
        journal.append(
            RUN,
            sample(WARM, "counting", {"cache_misses": misses}, ledger=ledger("Add", "Add", "Mul")),
        )
        journal.append(RUN, sample(WARM, "timing", {"compile_time": seconds}))
        project(where, journal.read())
    return where


def test_importing_the_api_imports_nothing_heavy() -> None:
    code = "import sys, observatory.app; print({'numpy', 'pandas', 'typer'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("name", app.__all__)
def test_every_name_is_there_and_documented(name: str) -> None:
    assert name in dir(app)
    assert getattr(app, name).__doc__
    assert f"| `{name}` |" in (app.__doc__ or "")


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'frames'"):
        _ = app.frames  # type: ignore[attr-defined]


def test_the_frame_is_tidy_and_says_its_units(recorded: Path) -> None:
    rows = app.frame(recorded, metrics=["compile_time", "cache_misses"])
    assert list(rows.columns) == list(COLUMNS)
    times = rows[rows["metric"] == "compile_time"]
    assert dict(zip(times["subject"], times["value"], strict=True)) == {
        "2.35.1": 5.0,
        "3.3.7": 0.25,
    }
    assert rows.attrs["units"] == {
        name: METRICS[name].unit for name in ("compile_time", "cache_misses")
    }
    assert rows.attrs["problems"] == []


def test_every_column_of_the_frame_is_explained(recorded: Path) -> None:
    assert tuple(results.COLUMNS) == COLUMNS
    assert app.frame(recorded).attrs["columns"] == results.COLUMNS


def test_the_frame_names_what_could_not_be_read(recorded: Path) -> None:
    (recorded / "bench" / "0123abcd-broken.json").write_text("{")
    (problem,) = app.frame(recorded).attrs["problems"]
    assert "0123abcd-broken.json" in problem


def test_what_is_not_there_is_an_error_with_a_status(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordUsageError) as nowhere:
        app.frame(tmp_path / "nowhere")
    with pytest.raises(SelectionError, match="there is no metric 'speed'") as nothing:
        app.frame(recorded, metrics=["speed"])
    assert nowhere.value.exit_code is nothing.value.exit_code is Exit.USAGE


def test_saved_subjects_are_compared_without_measuring(recorded: Path) -> None:
    comparison = app.compare(f"{recorded}:3.3.7", f"{recorded}:2.35.1")
    (worse,) = [verdict for verdict in comparison.worse if verdict.metric == "cache_misses"]
    assert (worse.base.values, worse.head.values) == ([0], [105])


def test_alerts_are_found_and_written_only_if_asked(recorded: Path) -> None:
    found = app.alerts(recorded)
    assert len(found) == len(list(found)) == len(found.record.alerts)
    assert not (recorded / "alerts.json").exists()
    app.alerts(recorded, save=True)
    assert (recorded / "alerts.json").exists()


def test_a_series_has_the_recorded_values_and_its_levels(recorded: Path) -> None:
    (track,) = app.series(recorded, scenarios=["warm_disk"])
    assert track.series.values.tolist() == [5.0, 0.25]
    assert track.series.place.unit == "seconds"
    with pytest.raises(SelectionError, match="no series of 'compile_time' matches"):
        app.series(recorded, scenarios=["cold"])


def test_a_ledger_has_a_row_for_each_function_and_outcome(recorded: Path) -> None:
    functions = app.ledger("3.3.7", results=recorded, scenario="warm_disk")
    assert list(functions.columns) == list(results.LEDGER_COLUMNS)
    assert dict(zip(functions["function"], functions["count"], strict=True)) == {"Add": 2, "Mul": 1}
    seconds = sum(entry.seconds for entry in ledger("Add", "Add", "Mul"))
    assert functions["seconds"].sum() == pytest.approx(seconds, abs=1e-3)
    with pytest.raises(SelectionError, match="choose from radon warm_disk NUMBA fork"):
        app.ledger("3.3.7", results=recorded, scenario="cold")


def test_progress_prints_as_lines_on_what_is_measured_and_how_long_it_still_takes() -> None:
    tasks = plan([COLD], Rounds(timing=1, counting=1))
    updates: list[progress.Update] = []
    told = Course(updates.append, workers=1).of("3.3.7", tasks)
    for task, made in zip(tasks, (sample(COLD, "counting"), failed(COLD, "timing")), strict=True):
        told.began(task)
        told.ended(task, made)
    begins, taken, _, lost = map(str, updates)
    assert begins.startswith("about ")
    assert begins.endswith(f" left: 3.3.7  radon cold NUMBA fork {tasks[0].measure}")
    assert taken.startswith(f"3.3.7 [1/2] radon cold NUMBA fork {tasks[0].measure}: ")
    assert taken.endswith(" left")
    assert failed(COLD).status in lost
    assert [update.kind for update in updates] == ["activity", "sample", "activity", "error"]
    assert [update.done for update in updates] == [0, 1, 1, 2]
    assert {update.total for update in updates} == {2}


def test_progress_counts_the_samples_of_all_subjects_of_a_command() -> None:
    tasks = plan([COLD], Rounds(timing=1, counting=1))
    updates: list[progress.Update] = []
    course = Course(updates.append, workers=1)
    first, second = course.of("3.3.7", tasks), course.of("3.3.8", tasks)
    second.began(tasks[0])
    first.began(tasks[0])
    second.ended(tasks[0], sample(COLD, "counting"))
    first.expect([])  # it has no environment
    second.began(tasks[1])
    second.ended(tasks[1], sample(COLD, "timing"))
    assert [(one.done, one.total) for one in updates] == [(0, 4), (0, 4), (1, 4), (1, 2), (2, 2)]
    assert str(updates[2]).startswith("3.3.8 [1/4]")
    assert str(updates[-1]).endswith("nothing left")


def test_a_step_takes_as_long_as_its_samples_or_until_its_deadline() -> None:
    tasks = plan([COLD], Rounds(timing=3, counting=1))
    step = Step()
    step.begin(tasks, workers=1)
    left = step.time_left()
    assert left.startswith("about ")
    for task in tasks:
        step.began(task, "base")
        step.began(task, "head")
        step.ended(task, "base", sample(COLD, task.measure))
    assert (step.done, step.total) == (4, 4)
    assert step.time_left() == "nothing left"
    step.begin(tasks, workers=1, deadline=time.monotonic() - 1)
    assert (step.done, step.total, step.time_left()) == (0, 4, "nothing left")
    step.begin(tasks, workers=1)
    assert step.time_left() != left  # it has learned that they take no time here


def test_a_step_learns_how_long_a_sample_took_and_not_how_late_its_end_was_told() -> None:
    """Of a pair on a fleet, the end of both is told at once."""
    tasks = plan([COLD], Rounds(timing=3, counting=1))
    parts = dict.fromkeys(Overhead.model_fields, 0.0)
    long = sample(COLD, tasks[0].measure).model_copy(
        update={"overhead": Overhead(**parts | {"total": 3600.0})}
    )
    step = Step()
    step.begin(tasks, workers=1)
    step.began(tasks[0], "base")
    step.ended(tasks[0], "base", long)
    assert step.time_left().endswith((" min left", " h left"))


def test_what_is_counted_of_graphs_is_a_table_by_subject(tmp_path: Path) -> None:
    for label, nodes in (("3.1.3", 4), ("3.3.8", 3)):
        taken = topics(counts("mask.set", graph_nodes=nodes), counts("loop.all", stored_steps=51))
        journal = Journal.of(tmp_path, header(label))
        for one in taken:
            journal.append(RUN, one)
        project(tmp_path, journal.read())
    table = app.graphs("topics", results=tmp_path, like=["mask.*"])
    assert table[["subject", "graph", "counted", "value"]].to_numpy().tolist() == [
        ["3.1.3", "mask.set", "nodes", 4], ["3.3.8", "mask.set", "nodes", 3],
    ]  # fmt: skip
    assert list(table.columns) == list(table.attrs["columns"])
    assert len(app.graphs("topics", results=tmp_path, subjects=["3.3.8"])) == 2
    with pytest.raises(SelectionError, match=r"choose from topics topics NUMBA spawn"):
        app.graphs("ops", results=tmp_path)
