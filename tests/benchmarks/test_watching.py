"""Alerts over many series: a whole `observatory alerts`, its time and its peak memory.

SYNTHETIC: 20,000 series of 200 subjects, noise of 2 %; one series in fifty has a step of 20 %.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.test_loading import Taken, taken
from tests.factories_asv import foreign, row

BENCHMARKS, PARAMETERS, SUBJECTS = 100, 200, 200
ALERTS = """
import sys
from observatory.cli.main import main
sys.argv = ["observatory", "alerts", "--results", sys.argv[1], "--json"]
try:
    main()
finally:
    print(0)
"""


def written(results: Path) -> None:
    """Write the result files of all subjects."""
    rng = np.random.default_rng(1)
    series = BENCHMARKS * PARAMETERS
    values = np.exp(0.02 * rng.standard_normal((SUBJECTS, series)))
    for number in range(0, series, 50):
        values[rng.integers(50, 150) :, number] *= 1.2
    params = [[repr(f"p{n}") for n in range(PARAMETERS)]]
    (results / "ci").mkdir(parents=True)
    for number in range(SUBJECTS):
        pieces = np.round(values[number], 6).reshape(BENCHMARKS, PARAMETERS).tolist()
        rows = {f"time_{n}": row(result=piece, params=params) for n, piece in enumerate(pieces)}
        content = foreign(
            rows, commit_hash=f"{number:040x}", date=1_700_000_000_000 + number * 86_400_000
        )
        (results / "ci" / f"{number:08x}-x.json").write_text(json.dumps(content))


@pytest.mark.benchmark(group="alerts over 20,000 series of 200 subjects")
@pytest.mark.parametrize("situation", ["from nothing", "again"])
def test_alerts_over_many_series(
    benchmark: BenchmarkFixture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    situation: str,
) -> None:
    results = tmp_path / "results"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    written(results)

    def run() -> Taken:
        return taken("-c", ALERTS, str(results))[0]

    if situation == "again":
        run()
    used: Taken = benchmark.pedantic(run, rounds=1)  # type: ignore[no-untyped-call]
    found = json.loads((results / "alerts.json").read_text())
    with capsys.disabled():
        print(f"\n{situation}: {used.seconds:.1f} s, {used.peak / 1024:.0f} MB; "
              f"{found['judged']} series judged, {len(found['alerts'])} alerts")  # fmt: skip
    assert found["judged"] == BENCHMARKS * PARAMETERS
