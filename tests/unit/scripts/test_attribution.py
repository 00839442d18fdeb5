"""What profiles attribute of the committed builds."""

from __future__ import annotations

from pathlib import Path

from observatory.benchmarks.catalogue import BACKENDS, BUILDS
from scripts.accuracy.attribution import attributed
from scripts.accuracy.tables import Attributed
from scripts.docs.rows import read

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "results"
LEFT_OUT = ("PYTORCH", "NUMBA_OPS_ONLY", "NUMBA_NO_CACHE", "DEFAULT", "C_VM_NOGC")
"""Backends whose builds are not in the table."""


def test_at_least_nine_tenths_of_every_committed_build_are_attributed() -> None:
    found = list(attributed(RESULTS))
    builds = {(one.scenario, one.backend) for one in found}
    assert builds >= {
        (scenario, backend)
        for scenario in ("cold", "warm_disk", "warm_process")
        for backend in ("C", "C_VM", "NUMBA")
    }
    assert min(one.least for one in found) >= 0.9


def test_at_least_nine_tenths_of_every_build_in_the_table_are_attributed() -> None:
    rows = read(Attributed, "attribution")
    builds = {(one.subject, one.scenario, one.backend) for one in rows}
    assert builds == {
        (subject, scenario, backend)
        for subject in ("2.38.3", "3.3.7")
        for scenario in BUILDS
        for backend in BACKENDS
        if backend not in LEFT_OUT
    }
    assert min(one.least for one in rows) >= 0.9


def test_the_documentation_names_each_backend_that_is_not_in_the_table() -> None:
    _, _, after = (ROOT / "docs/sample.md").read_text("utf-8").partition("end of attribution")
    said = after.partition("\n#")[0]
    assert [name for name in LEFT_OUT if f"`{name}`" not in said] == []
