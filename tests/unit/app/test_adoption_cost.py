"""What adopters are told: estimates that follow from results/, and a table that says the same."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from observatory.app.adoption_cost import (
    RECORDED,
    RECORDED_CANARY,
    SETTINGS,
    costs,
    of_night,
    table,
)
from observatory.benchmarks.catalogue import Cell
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.schedule import expected_seconds
from observatory.store.reading.saved import read_saved
from observatory.store.records import settings
from observatory.store.records.settings import Settings

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def recorded() -> dict[tuple[Cell, str], list[float]]:
    """Seconds of the samples of the newest releases."""
    found = defaultdict(list)
    for path in sorted((ROOT / "results" / "samples" / "epyc-2core").glob("*-py3.13.jsonl")):
        saved = read_saved(path, ledgers=False)
        if saved and saved.header.subject.label in ("3.3.4", "3.3.7", "3.3.8"):
            for one in saved.samples:
                if one.overhead is not None:
                    found[one.cell, one.measure].append(one.overhead.total)
    return found


def slower(recorded: dict[tuple[Cell, str], list[float]], measure: str, *presets: str) -> float:
    """How many times as long as estimated the samples of presets took."""
    expected = took = 0.0
    for task in (task for name in presets for task in tasks_of(PRESETS[name], Narrowed())):
        seconds = recorded.get((task.cell, task.measure))
        if task.measure == measure and seconds:
            expected += expected_seconds(task)
            took += sum(seconds) / len(seconds)
    assert expected
    return took / expected


@pytest.mark.parametrize("measure", RECORDED)
def test_samples_take_as_long_as_those_that_were_recorded(
    recorded: dict[tuple[Cell, str], list[float]], measure: str
) -> None:
    found = slower(recorded, measure, "history", "work")
    assert RECORDED[measure] == pytest.approx(found, rel=0.4)  # type: ignore[index]


def test_so_does_the_canary(recorded: dict[tuple[Cell, str], list[float]]) -> None:
    assert pytest.approx(slower(recorded, "counting", "canary"), rel=0.4) == RECORDED_CANARY


def test_so_do_other_settings() -> None:
    took = [one.seconds for one in settings.load_all(ROOT / "results") if isinstance(one, Settings)]
    assert pytest.approx(sum(took) / len(took), rel=0.4) == SETTINGS


def test_the_table_of_the_docs_says_what_init_says() -> None:
    minutes = dict(table())
    assert minutes["a night, beside its commits"] == round(of_night() / 60)
    calm = minutes["a pull request that changes nothing"]
    assert costs(["compare"])[0].startswith(f"{calm} min for a pull request that changes nothing")
    assert f"{minutes['each new commit of a night']} more" in costs(["nightly"])[0].replace(
        " min more", " more"
    )
