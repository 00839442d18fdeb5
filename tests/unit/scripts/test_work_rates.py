"""Counts of work repeat: false alarms, and the steps that are found, on a pool that was kept."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from observatory import app
from observatory.analyze.comparison.rules import LEARNED
from observatory.benchmarks.catalogue import OF_WORK, Cell
from observatory.store.base.record import save_record
from observatory.store.records import calibration
from scripts.accuracy import work_rates
from scripts.accuracy.work_pool import CELLS, rounds
from scripts.accuracy.work_rates import (
    Rates,
    pool_of,
    pools_of,
    rates_by_load,
    rates_of,
    table,
    table_by_load,
    with_noise,
)

ROOT = Path(__file__).parents[3]
POOLS = ROOT / "results/pools"


@pytest.fixture(scope="module")
def kept() -> list[Rates]:
    return rates_of(pool_of(POOLS / "epyc-2core-3.3.7-work.parquet"))


@pytest.fixture(scope="module")
def by_load() -> dict[str, list[Rates]]:
    return rates_by_load(pool_of(POOLS / "epyc-2core-3.3.7-work.parquet"))


@pytest.fixture(scope="module")
def with_lookups() -> list[Rates]:
    """Counts of all instructions, where Python's functions have no names."""
    return rates_of(pool_of(POOLS / "epyc-2core-3.3.7-all-work.parquet"))


def made(values: list[float], metric: str = "instructions", **columns: object) -> pd.DataFrame:
    """A pool of one cell."""
    one = {
        "model": "radon", "scenario": "warm_disk", "backend": "NUMBA", "launch": "spawn",
        "metric": metric, "status": "ok", "hash_seed": 1, "load": 5.0, "source": "callgrind",
        "started_at": "2026-11-23T12:00:00+00:00", **columns,
    }  # fmt: skip
    return pd.DataFrame({"value": np.array(values, dtype=int), **one})


def test_no_count_alarms_against_itself(kept: list[Rates]) -> None:
    assert {one.cell for one in kept} == set(CELLS)
    assert [one.alarms for one in kept] == [0] * 10


def test_half_a_per_cent_more_work_is_found_everywhere(kept: list[Rates]) -> None:
    assert min(one.found[1.005] for one in kept) == 1.0
    assert min(one.found_by_three[1.005] for one in kept) == 1.0


def test_where_lookups_count_the_noise_is_larger_and_alarms_are_as_rare(
    kept: list[Rates], with_lookups: list[Rates]
) -> None:
    steady = {one.cell: one.variation for one in kept if one.metric == "instructions"}
    for one in with_lookups:
        assert one.alarms == 0
        assert one.found[1.005] >= 0.9
        assert one.found[1.01] >= 0.99
        if one.cell.scenario != "call":
            assert one.variation > 5 * steady[one.cell]


def test_another_machine_counts_the_same() -> None:
    """Another model of CPU by another maker, with the same pins."""
    first, other = (pool_of(POOLS / f"{one}-2core-3.3.7-work.parquet") for one in ("epyc", "xeon"))
    assert not {*first["cpu"]} & {*other["cpu"]}
    places = ["scenario", "backend", "metric", "source"]
    medians = [one.groupby(places, dropna=False)["value"].median() for one in (first, other)]
    assert not medians[0].index.difference(medians[1].index).size
    apart = (medians[1] / medians[0] - 1).abs().groupby("metric").max()
    assert apart["instructions"] < 0.00005
    assert apart["python_calls"] < 0.0002
    rates, by_load = rates_of(other), rates_by_load(other)
    idle = by_load["idle"]
    busy = [one for one in by_load["busy"] if one.metric == "python_calls"]
    for one in (*rates, *idle, *busy):
        assert (one.alarms, one.found[1.005], one.found[1.01]) == (0, 1.0, 1.0), one
        assert (one.alarms_by_three, one.found_by_three[1.005]) == (0, 1.0), one
    calls = {one.cell: one.samples for one in idle if one.metric == "python_calls"}
    assert set(calls) == set(CELLS)
    assert min(calls.values()) >= 200
    assert {one.cell for one in busy} == set(CELLS)
    documented = (ROOT / "docs/explanation/counts-repeat.md").read_text().splitlines()
    for drawn in (table(rates), table_by_load({"idle": idle, "busy": busy})):
        assert [line for line in drawn.splitlines() if line not in documented] == []


def test_idle_machines_took_200_samples_of_each_cell() -> None:
    """Both machines together: their counts are of one series, and comparisons mix them."""
    pool = pools_of([POOLS / f"{one}-2core-3.3.7-work.parquet" for one in ("epyc", "xeon")])
    idle = [one for one in rates_by_load(pool)["idle"] if one.metric == "instructions"]
    most: Counter[Cell] = Counter()
    for one in idle:
        assert (one.alarms, one.found[1.005], one.found[1.01]) == (0, 1.0, 1.0), one
        assert (one.alarms_by_three, one.found_by_three[1.005]) == (0, 1.0), one
        most[one.cell] = max(most[one.cell], one.samples)
    assert set(most) == set(CELLS)
    assert min(most.values()) >= 200
    documented = (ROOT / "docs/explanation/counts-repeat.md").read_text().splitlines()
    drawn = table_by_load({"idle": idle})
    assert [line for line in drawn.splitlines() if line not in documented] == []


@pytest.mark.parametrize("learn", [LEARNED, 100])
def test_learned_noise_finds_smaller_changes_of_calls_and_gives_no_alarm(
    learn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_rates, "STEPS", (1.002, 1.003, 1.005))
    pool = pool_of(POOLS / "epyc-2core-3.3.7-work.parquet")
    for one in rates_of(pool, learn=learn):
        assert (one.alarms, one.found[1.003], one.found[1.005]) == (0, 1.0, 1.0), one
        assert one.found[1.002] < 0.05
    calls = [one for one in rates_of(pool) if one.metric == "python_calls"]
    assert [one.found[1.003] for one in calls] == [0.0] * 4


def test_learned_noise_of_all_instructions_gives_no_alarm() -> None:
    for one in rates_of(pool_of(POOLS / "epyc-2core-3.3.7-all-work.parquet"), learn=LEARNED):
        assert one.alarms == 0
        assert one.found[1.005] >= 0.9


def test_the_calibration_has_the_noise_of_the_pool() -> None:
    path = ROOT / "results/calibrations/epyc-2core.json"
    known = calibration.FILES.load(path)
    assert known is not None
    assert with_noise(pool_of(POOLS / "epyc-2core-3.3.7-work.parquet"), path) == known
    learned = {(one.cell, one.metric): one for one in known.floors if one.metric in OF_WORK}
    assert {cell for cell, _ in learned} >= set(CELLS)
    assert learned[CELLS[0], "python_calls"].samples > 100


def test_a_change_at_the_floor_is_hardly_ever_found(kept: list[Rates]) -> None:
    assert max(one.found[1.002] for one in kept) < 0.05


def test_a_busy_machine_counts_as_an_idle_one_does() -> None:
    pool = pool_of(POOLS / "epyc-2core-3.3.7-work.parquet")
    counted = pool[pool["metric"] == "instructions"]
    idle, busy = (
        counted[loaded].groupby(["scenario", "backend"])["value"]
        for loaded in (counted["load"] < 2.5, counted["load"] >= 5)
    )
    assert idle.size().min() >= 20
    assert busy.size().min() > 200
    assert (idle.median() / busy.median() - 1).abs().max() < 3e-5


def test_neither_an_idle_nor_a_busy_machine_alarms_or_misses_half_a_per_cent(
    by_load: dict[str, list[Rates]],
) -> None:
    for rates in by_load.values():
        assert {one.cell for one in rates} == set(CELLS)
        assert [one.alarms for one in rates] == [0] * len(rates)
        assert min(one.found[1.005] for one in rates) >= 0.95
        assert min(one.found_by_three[1.005] for one in rates) >= 0.95


def test_the_tables_of_the_documentation_are_what_the_pools_give(
    kept: list[Rates], with_lookups: list[Rates], by_load: dict[str, list[Rates]]
) -> None:
    documented = (ROOT / "docs/explanation/counts-repeat.md").read_text().splitlines()
    for drawn in (table(kept), table(with_lookups), table_by_load(by_load)):
        assert [line for line in drawn.splitlines() if line not in documented] == []


def test_samples_are_added_to_a_pool_once(tmp_path: Path) -> None:
    kept, new = tmp_path / "kept.parquet", tmp_path / "new.jsonl"
    made([1e9, 1.1e9], hash_seed=[1, 2]).drop(columns="status").to_parquet(kept, index=False)
    more = made([1.1e9, 1.2e9], hash_seed=[2, 3])
    more.to_json(new, orient="records", lines=True)
    assert pools_of([kept, new])["value"].tolist() == [1e9, 1.1e9, 1.2e9]
    assert pools_of([kept, kept]).equals(pool_of(kept))
    made([1e9, 1.1e9], hash_seed=[1, 2]).assign(pytensor=["3.3.7", "3.3.8"]).to_json(
        new, orient="records", lines=True
    )
    with pytest.raises(SystemExit, match=r"of one subject, not of pytensor 3\.3\.7, 3\.3\.8"):
        pools_of([new])


def test_the_example_of_the_documentation_has_the_recorded_work() -> None:
    rows = app.frame(ROOT / "results").query(
        "metric == 'instructions' and scenario == 'warm_process' and backend == 'NUMBA'"
    )
    work = {row.subject: f"{row.value / 1e9:.3f}" for row in rows.itertuples()}
    page = (ROOT / "docs/work.md").read_text()
    releases, _, values = page[page.index("| 3.0.0 | ") :].splitlines()[:3]
    shown = dict(zip(*(line.strip("| ").split(" | ") for line in (releases, values)), strict=True))
    assert shown == {release: work[release] for release in shown}
    assert f"functions on disk, it is {work['2.34.0'][:4]} and {work['2.35.1'][:4]}." in page


def test_counts_that_do_not_repeat_alarm() -> None:
    values = 1e9 * np.exp(np.random.default_rng(1).normal(0, 0.01, 40))
    (noisy,) = rates_of(made(list(values)))
    assert noisy.alarms > 20
    assert noisy.found[1.01] < 0.8


def test_a_pool_without_the_samples_that_failed_would_be_too_good(tmp_path: Path) -> None:
    pool = made([1e9] * 6)
    pool.loc[3, "status"] = "raised"
    pool.to_json(tmp_path / "pool.jsonl", orient="records", lines=True)
    with pytest.raises(SystemExit, match="failed"):
        pool_of(tmp_path / "pool.jsonl")


def test_counts_of_two_sources_are_never_compared(tmp_path: Path) -> None:
    pool = made([1e9, 2e9] * 6, cpu="a CPU")
    pool.loc[::2, "source"] = "callgrind, without the search for a BLAS"
    pool.loc[::2, "started_at"] = "2026-12-01T12:00:00+00:00"
    rates = rates_of(pool)
    assert [(one.samples, one.spread, one.alarms) for one in rates] == [(6, 0.0, 0)] * 2
    names = ["warm_disk NUMBA", "warm_disk NUMBA, without the search for a BLAS"]
    assert [one.name for one in rates] == names
    assert all(f"| {name} |" in table(rates) for name in names)
    known = calibration.FILES.load(ROOT / "results/calibrations/epyc-2core.json")
    assert known is not None
    machine = known.machine.model_copy(update={"cpu": "a CPU"})
    path = tmp_path / "known.json"
    save_record(path, known.model_copy(update={"machine": machine, "floors": []}))
    (floor,) = with_noise(pool, path).floors
    assert (floor.source, floor.samples) == ("callgrind, without the search for a BLAS", 6)


def test_a_pool_that_is_stopped_at_any_time_is_balanced() -> None:
    tasks = [task for task in islice(rounds(7), 4 + 12 * 10) if task.keep is None]
    for stop in range(len(tasks)):
        for measure in ("work", "tracing"):
            places = [task.cell for task in tasks[:stop] if task.measure == measure]
            numbers = pd.Series(places).value_counts()
            assert numbers.empty or numbers.max() - numbers.reindex(places).min() <= 1
    work = [task for task in tasks if task.measure == "work"]
    assert {task.cell for task in work} == set(CELLS)
    assert {task.hash_seed for task in work} == set(range(7, 17))


def test_a_pool_of_one_metric_and_scenario_takes_no_other_samples() -> None:
    calls = [cell for cell in CELLS if cell.scenario == "call"]
    tasks = [task for task in islice(rounds(7, "python_calls", calls), 8) if task.keep is None]
    assert {(task.cell, task.measure) for task in tasks} == {(one, "tracing") for one in calls}
