from __future__ import annotations

from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.store.journal.latest import Latest, Recorded, latest, latest_of
from observatory.store.records.sample import Sample
from tests.factories import LATER, RUN, WARM, entry, failed, header, journal, sample


def of(found: Latest, metric: str) -> Recorded | None:
    named = [record for record in found.recorded if record.metric.name == metric]
    assert len(named) < 2
    return named[0] if named else None


def value(found: Latest, metric: str) -> float | None:
    record = of(found, metric)
    assert record is not None
    return record.value


def test_a_noisy_value_is_the_median_of_the_latest_runs_samples() -> None:
    old = [entry(sample(metrics={"compile_time": 9.0}))]
    new = [entry(sample(metrics={"compile_time": t}), LATER) for t in (3.0, 1.0, 2.5)]
    found = latest(old + new)
    record = of(found, "compile_time")
    assert record is not None
    assert (record.value, record.values, record.duration) == (2.5, (3.0, 1.0, 2.5), 6.0)


def test_a_later_run_of_one_pass_leaves_the_other_passs_values() -> None:
    found = latest([
        entry(sample(metrics={"compile_time": 1.0})),
        entry(sample(measure="counting", metrics={"cache_misses": 3}), LATER),
    ])  # fmt: skip
    assert value(found, "compile_time") == 1.0
    assert value(found, "cache_misses") == 3


def test_counts_that_disagree_are_the_worst_and_are_said() -> None:
    counts = [sample(measure="counting", metrics={"cache_misses": n}) for n in (1, 4, 1)]
    found = latest(map(entry, counts))
    record = of(found, "cache_misses")
    assert record is not None
    assert (record.value, len(set(record.values))) == (4, 2)
    assert [(note.kind, note.metric) for note in found.notes] == [("disagrees", "cache_misses")]


@pytest.mark.parametrize(("counts", "median"), [((7, 9, 8), 8), ((7, 9), 9)])
def test_near_exact_counts_are_the_median_as_it_was_counted(
    counts: tuple[int, ...], median: int
) -> None:
    taken = [sample(measure="tracing", metrics={"python_calls": n}) for n in counts]
    assert value(latest(map(entry, taken)), "python_calls") == median


def test_a_failure_of_the_latest_run_is_not_hidden_by_an_older_value() -> None:
    found = latest([entry(sample(metrics={"compile_time": 1.0})), entry(failed(), LATER)])
    assert value(found, "crashed") == 1
    assert value(found, "compile_time") is None
    (note,) = found.notes
    assert "1 of 1 timing samples failed: the measured process died of SIGSEGV" in note.text


def test_samples_that_ended_well_count_beside_one_that_crashed() -> None:
    found = latest([entry(sample(metrics={"compile_time": 1.0})), entry(failed())])
    assert value(found, "crashed") == 1
    assert value(found, "compile_time") == 1.0


def test_wrong_results_are_the_worst_of_all_passes() -> None:
    found = latest([
        entry(sample(metrics={"wrong_results": 2})),
        entry(sample(measure="counting", metrics={"wrong_results": 0}), LATER),
        entry(
            sample(measure="tracing", metrics={"wrong_results": 1}, counted_by="monitoring"), LATER
        ),
        entry(sample(measure="work", metrics={"wrong_results": 0}, counted_by="callgrind"), LATER),
    ])  # fmt: skip
    assert value(found, "wrong_results") == 2


def test_a_metric_that_is_absent_has_a_reason_and_no_value() -> None:
    counted = sample(measure="counting", absent={"cache_misses": "no hook in this release"})
    found = latest([entry(counted)])
    assert of(found, "cache_misses") is None
    assert ("absent", "cache_misses", "no hook in this release") in [
        (note.kind, note.metric, note.text) for note in found.notes
    ]


def test_a_metric_that_one_sample_lacks_has_the_values_of_the_others_and_no_reason() -> None:
    without = sample(measure="counting", absent={"cache_misses": "no hook in this release"})
    found = latest([entry(without), entry(sample(measure="counting", metrics={"cache_misses": 3}))])
    record = of(found, "cache_misses")
    assert record is not None
    assert record.values == (3,)
    assert [note for note in found.notes if note.metric == "cache_misses"] == []


def test_the_reason_of_an_absent_metric_is_that_of_the_last_sample() -> None:
    reasons = ("no hook in this release", "it was not asked for")
    found = latest(
        [entry(sample(measure="counting", absent={"cache_misses": one})) for one in reasons]
    )
    said = [note.text for note in found.notes if note.metric == "cache_misses"]
    assert said == ["it was not asked for"]


def test_a_cell_that_the_subject_cannot_give_has_a_note_and_no_values() -> None:
    reason = {"message": "there is no such mode before 2.38"}
    found = latest([entry(sample(status="unavailable", failure=reason, metrics={}))])
    assert found.recorded == []
    assert [(note.kind, note.text) for note in found.notes] == [
        ("unavailable", "there is no such mode before 2.38")
    ]


def test_the_pass_of_a_metric_is_the_vocabularys() -> None:
    found = latest([entry(sample(measure="counting", metrics={"compile_time": 5.0}))])
    assert of(found, "compile_time") is None


def test_a_cell_that_the_vocabulary_lacks_is_named() -> None:
    found = latest([entry(sample(Cell("radon", "lukewarm", "C", "fork")), RUN)])
    assert found.recorded == []
    assert "there is no scenario 'lukewarm'" in found.unknown[0]


def test_cells_are_apart() -> None:
    other = Cell("radon", "warm_disk", "C", "fork")
    found = latest([entry(sample(metrics={"compile_time": 1.0})),
                    entry(sample(other, metrics={"compile_time": 2.0}))])  # fmt: skip
    times = {r.cell: r.value for r in found.recorded if r.metric.name == "compile_time"}
    assert times == {WARM: 1.0, other: 2.0}


def test_times_that_are_left_out_for_their_cpu_are_told_of(tmp_path: Path) -> None:
    other = Cell("radon", "cold", "C", "fork")
    times = [sample(metrics={"compile_time": 1.0}), sample(other, metrics={"compile_time": 9.0})]
    journal(tmp_path, times)
    newer = [sample(metrics={"compile_time": 2.0})]
    made = journal(tmp_path, newer, LATER, header(cpu="Another CPU"))
    found = latest_of(made.read())
    assert value(found, "compile_time") == 2.0
    (note,) = found.notes
    assert (note.cell, note.kind, note.measure) == (other, "absent", "timing")
    assert "of another CPU (Some CPU) than the last ones (Another CPU)" in note.text


def test_sizes_of_machine_code_are_the_last_ones_of_the_cpu_that_took_the_times(
    tmp_path: Path,
) -> None:
    def counted(misses: int, size: int) -> Sample:
        return sample(measure="counting", metrics={"cache_misses": misses, "cache_bytes": size})

    journal(tmp_path, [counted(9, 100)], "20261118T000000Z")
    journal(tmp_path, [sample(metrics={"compile_time": 1.0}), counted(5, 200)])
    made = journal(tmp_path, [counted(3, 300)], LATER, header(cpu="Another CPU"))
    found = latest_of(made.read())
    assert value(found, "cache_misses") == 3
    assert value(found, "cache_bytes") == 200
    assert found.notes == []
