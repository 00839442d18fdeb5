"""Saved results as a side of a comparison."""

from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.store.base.problems import RecordError
from observatory.store.journal.ledgers import ShelvedLedger
from observatory.store.journal.models import SEARCH
from observatory.store.reading.saved import (
    load,
    load_all,
    load_both,
    looks_saved,
    without_samples,
)
from tests.factories import LATER, RUN, WARM, header, journal, ledger, sample

COLD = Cell("radon", "cold", "NUMBA", "fork")


def test_the_latest_run_of_each_pass_speaks_with_its_ledger(tmp_path: Path) -> None:
    counted = sample(WARM, "counting", {"cache_misses": 1}, ledger=ledger("Add", outcome="miss"))
    journal(tmp_path, [counted, sample(WARM, metrics={"compile_time": 1.0})])
    journal(tmp_path, [sample(WARM, metrics={"compile_time": 2.0})], run=LATER)
    saved = load(str(tmp_path))
    assert [s.metrics.get("compile_time") for s in saved.samples] == [None, 2.0]
    assert saved.samples[0].ledger is not None
    assert saved.samples[0].ledger[0].name == "Add"
    assert saved.header.subject.label == "3.3.7"


def test_a_label_chooses_among_subjects(tmp_path: Path) -> None:
    for label in ("3.3.6", "3.3.7"):
        journal(tmp_path, [sample()], under=header(label))
    assert load(f"{tmp_path}:3.3.6").header.subject.label == "3.3.6"
    with pytest.raises(RecordError, match=r"holds 2 subjects; .*3\.3\.6 on bench"):
        load(str(tmp_path))
    with pytest.raises(RecordError, match=r"holds no subject '3\.0\.0'"):
        load(f"{tmp_path}:3.0.0")


def test_both_sides_are_of_the_machine_that_has_both(tmp_path: Path) -> None:
    here, there = (header(label) for label in ("3.3.6", "3.3.7"))
    mine = there.model_copy(
        update={"machine": there.machine.model_copy(update={"machine": "laptop"})}
    )
    for one in (here, there, mine):
        journal(tmp_path, [sample()], under=one)
    texts = f"{tmp_path}:3.3.6", f"{tmp_path}:3.3.7"
    assert [one.header for one in load_both(*texts)] == [here, there]
    assert load_both(texts[1], texts[1], "laptop")[0].header == mine
    with pytest.raises(RecordError, match="more than once; choose one with --machine"):
        load_both(texts[1], texts[1])


def test_where_one_machine_has_a_label_twice_another_machine_is_no_choice(tmp_path: Path) -> None:
    """As of a branch that has moved on; its commits have names of their own."""
    laptop = header().machine.model_copy(update={"machine": "laptop"})
    elsewhere = header("3.3.6").model_copy(update={"machine": laptop})
    moved = [header("main", commit=commit * 20) for commit in ("ab", "cd")]
    for one in (elsewhere, *moved):
        journal(tmp_path, [sample()], under=one)
    text = f"{tmp_path}:main"
    with pytest.raises(RecordError, match="holds 'main' more than once; choose one with DIR:LABEL"):
        load_both(text, text)


def test_a_commit_is_named_by_its_label_or_the_beginning_of_its_hash(tmp_path: Path) -> None:
    for label, commit in (("ab12cd34ef56", "ab12cd34ef56" + "0" * 28), ("3.3.7", "cd" * 20)):
        journal(tmp_path, [sample()], under=header(label, commit=commit))
    for name in ("ab12cd34ef56", "ab12cd34", "AB12", "ab12cd34ef56" + "0" * 28):
        assert load(f"{tmp_path}:{name}").header.subject.label == "ab12cd34ef56"
        assert not without_samples(f"{tmp_path}:{name}")
    for name in ("ab1", "ab13", "3.3"):
        with pytest.raises(RecordError, match="holds no subject"):
            load(f"{tmp_path}:{name}")
        assert without_samples(f"{tmp_path}:{name}")


def test_a_label_comes_before_a_commit_that_begins_alike(tmp_path: Path) -> None:
    """A branch may have a name of hexadecimal digits."""
    for label, commit in (("beef", "cd" * 20), ("3.3.7", "beef" * 10)):
        journal(tmp_path, [sample()], under=header(label, commit=commit))
    assert load(f"{tmp_path}:beef").header.subject.commit == "cd" * 20


def test_what_a_search_measured_counts_for_its_subject_and_not_in_a_history(tmp_path: Path) -> None:
    """It is one cell of a subject between two others, and no change would begin there."""
    journal(tmp_path, [sample()])
    journal(tmp_path, [sample(COLD, "counting")], run=f"{LATER}-{SEARCH}")
    assert {one.cell for one in load(str(tmp_path)).samples} == {WARM, COLD}
    (saved,) = load_all(tmp_path)
    assert {one.cell for one in saved.samples} == {WARM}


def test_what_is_not_a_directory_is_not_saved(tmp_path: Path) -> None:
    assert looks_saved(str(tmp_path))
    assert looks_saved(f"{tmp_path}:3.3.7")
    assert not looks_saved("3.3.7")
    assert not looks_saved("pytensor @ git+file:///nowhere@0a1b")


def test_only_one_interleaved_run_is_interleaved(tmp_path: Path) -> None:
    for name, run in (("a", f"{RUN}-interleaved"), ("b", f"{RUN}-interleaved"), ("c", RUN)):
        journal(tmp_path / name, [sample()], run=run)
    a, b, c = (load(str(tmp_path / name)) for name in "abc")
    assert a.interleaved_with(b)
    assert not a.interleaved_with(c)
    assert not c.interleaved_with(c)


def test_a_missing_ledger_is_a_problem_and_not_an_error(tmp_path: Path) -> None:
    journal(tmp_path, [sample(WARM, "counting", ledger=ledger("Add"))])
    for stored in (tmp_path / "ledgers").rglob("*.gz"):
        stored.unlink()
    for saved in (load(str(tmp_path)), *load_all(tmp_path)):
        assert saved.samples[0].ledger is None
        assert "there is no ledger" in saved.problems[0].reason


def test_of_a_whole_history_ledgers_are_read_and_put_away(tmp_path: Path) -> None:
    journal(tmp_path, [sample(WARM, "counting", ledger=ledger("Add", "Mul"))])
    (saved,) = load_all(tmp_path)
    found: object = saved.samples[0].ledger
    assert isinstance(found, ShelvedLedger)
    assert list(found) == load(str(tmp_path)).samples[0].ledger
