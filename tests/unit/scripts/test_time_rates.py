"""The rules of deciding on real noise: a pool of one subject's samples that was kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from observatory.analyze.chance import FEWEST
from observatory.analyze.comparison.noisy import LOOKS
from observatory.benchmarks.catalogue import Cell
from scripts.accuracy import time_rates
from scripts.accuracy.time_rates import Rates, keep, pool_of, rates
from tests.factories import WARM, header

pytestmark = pytest.mark.long

POOLS = Path(__file__).parents[3] / "results/pools"
CALL = Cell("radon", "call", "C", "spawn")


def test_what_is_kept_of_a_pool_is_read_again(tmp_path: Path) -> None:
    values = np.arange(24.0)
    pool = {(WARM, "compile_time"): values[:, None], (CALL, "import_time"): values.reshape(12, 2).T}
    keep(pool, header(), tmp_path / "pools" / "a.parquet")
    again = pool_of(str(tmp_path / "pools" / "a.parquet"))
    assert again.keys() == pool.keys()
    assert all((again[place] == kept).all() for place, kept in pool.items())


Judge = Callable[..., Rates]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Judge a kept pool, at 7 a side unless told otherwise; with steps, of one cell at a time."""

    def of(pool: str, *steps: float, looks: tuple[int, ...] = (FEWEST,)) -> Rates:
        monkeypatch.setattr(time_rates, "STEPS", steps)
        values = pool_of(str(POOLS / f"epyc-2core-{pool}.parquet"))
        return rates(values, looks, calibrated=True, seed=1)

    return of


def test_a_subject_against_itself_alarms_at_most_ten_times_in_a_thousand(judged: Judge) -> None:
    found = judged("3.3.7", 2.0)
    assert found.comparisons == 30
    assert 1000 * found.alarms <= 10 * found.verdicts
    assert min(share[2.0] for share in found.found.values()) > 0.9


def test_looking_again_at_undecided_cells_raises_no_alarm(judged: Judge) -> None:
    found = judged("3.3.7", looks=tuple(LOOKS)[:3])
    assert (found.comparisons, found.alarms) == (14, 0)
    assert found.undecided < 0.2 * found.verdicts


def test_seven_processes_a_side_find_five_per_cent_of_a_call(judged: Judge) -> None:
    """Of values that are the shortest repeat of each process; of medians it was 7 in 100."""
    found = judged("3.3.7-calls", 1.05)
    assert (found.comparisons, found.alarms) == (14, 0)
    assert found.found["call_time"][1.05] > 0.9
