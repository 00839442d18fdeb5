"""What profiles attribute of the committed builds."""

from __future__ import annotations

from pathlib import Path

from scripts.accuracy.attribution import attributed

RESULTS = Path(__file__).parents[3] / "results"


def test_at_least_nine_tenths_of_every_committed_build_are_attributed() -> None:
    found = list(attributed(RESULTS))
    builds = {(one.scenario, one.backend) for one in found}
    assert builds >= {
        (scenario, backend)
        for scenario in ("cold", "warm_disk", "warm_process")
        for backend in ("C", "C_VM", "NUMBA")
    }
    assert min(one.least for one in found) >= 0.9
