"""`observatory growth` as a user calls it, over results that are there."""

from __future__ import annotations

from pathlib import Path

from observatory.benchmarks.catalogue import Cell
from observatory.errors import Exit
from observatory.store.records.sample import Build, Sample, Size
from tests.command import observatory
from tests.factories import header, journal, sample

CELL = Cell("growth", "growth", "NUMBA", "spawn")


def grown(each: float, cell: Cell = CELL) -> list[Sample]:
    """Chains of nodes, each of which costs so many seconds."""
    builds = [
        Build(name=f"chain.{size}", metrics={"python_calls": 100 * size, "cpu_time": each * size},
              size=Size(family="chain", noun="nodes", number=size, limit=12.0))
        for size in (10, 30, 100, 300)
    ]  # fmt: skip
    return [sample(cell, measure, steps=builds) for measure in ("counting", "timing")]


def measured(results: Path, label: str, machine: str, each: float) -> None:
    under = header(label)
    own = under.model_copy(
        update={"machine": under.machine.model_copy(update={"machine": machine})}
    )
    journal(results, grown(each), under=own)


def shown(results: Path) -> str:
    done = observatory("growth", "--results", results)
    assert done.returncode == Exit.OK, done.stderr
    return done.stdout


def test_one_machine_has_one_column_for_each_subject(tmp_path: Path) -> None:
    for label in ("3.3.7", "3.3.8"):
        measured(tmp_path, label, "fast", 0.01)
    (row,) = [line for line in shown(tmp_path).splitlines() if "chain (nodes)" in line]
    assert row.count("10.0 ms") == 2
    assert "fast" not in shown(tmp_path)


def test_what_two_machines_measured_is_never_in_one_table(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.7", "fast", 0.01)
    for label in ("3.3.7", "3.3.8"):
        measured(tmp_path, label, "slow", 0.03)
    told = shown(tmp_path)
    rows = [line for line in told.splitlines() if "chain (nodes)" in line]
    assert sorted((row.count("10.0 ms"), row.count("30.0 ms")) for row in rows) == [(0, 2), (1, 0)]
    words = " ".join(told.split())
    assert "with NUMBA, Python 3.13 on fast, Some CPU, Linux:" in words
    assert "with NUMBA, Python 3.13 on slow, Some CPU, Linux:" in words


def test_two_backends_of_one_machine_do_not_name_it(tmp_path: Path) -> None:
    other = Cell("growth", "growth", "C_VM", "spawn")
    journal(tmp_path, [*grown(0.01), *grown(0.02, other)])
    words = " ".join(shown(tmp_path).split())
    assert "with C_VM: the power" in words
    assert "with NUMBA: the power" in words
    assert "Some CPU" not in words


def test_a_misspelt_backend_is_named(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.7", "fast", 0.01)
    for backend, said in (("NUMMBA", "no backend 'NUMMBA'"), ("C_VM", "graphs with C_VM")):
        done = observatory("growth", "--results", tmp_path, "--backend", backend)
        assert done.returncode == Exit.USAGE
        assert said in done.stderr
