"""Settings crossed by pairs on real PyTensor: what shows only with another setting is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from observatory.app import settings
from observatory.app.conditions import Condition, conditions
from observatory.app.session import Session
from observatory.app.settings import CELLS, USUAL, crossed, status_of
from observatory.benchmarks.catalogue import Cell
from observatory.errors import Exit
from observatory.run.environments import Environment
from observatory.store.journal.models import SEARCH
from observatory.store.records.machine import this_machine
from observatory.store.records.settings import Row
from tests.factories import subject
from tests.integration.conftest import Shelf
from tests.integration.fault_rig import with_fault

pytestmark = pytest.mark.integration

FLOAT = Condition("floatX=float32", flags="floatX=float32")
PAIR = "differ.props.CumOp.axis"


def rows(
    monkeypatch: pytest.MonkeyPatch, environment: Environment, scratch: Path,
    cells: Sequence[Cell], graphs: Sequence[str], crossed_ones: Sequence[Condition],
) -> dict[str, Row]:  # fmt: skip
    """What settings crossed give in these cells, by the name of the row."""

    @contextmanager
    def chosen(*_: Cell) -> Iterator[list[Condition]]:
        yield [*crossed_ones]

    monkeypatch.setattr(settings, "conditions", chosen)
    monkeypatch.setattr(settings, "CELLS", cells)
    monkeypatch.setattr(Session, "environment", lambda *_, **__: environment)
    session = Session(SEARCH, scratch / "results", scratch / "state", this_machine(None))
    found = crossed(session.narrowed(graphs), subject("3.3.8"))
    return {row.name: row for row in found}


def test_keys_that_collide_with_another_floatx_alone_are_found_where_settings_are_crossed(
    newest: Environment, shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The usual row is all that other steps of a night see: it is right.

    tests/unit/app/test_settings.py crosses this setting with another one.
    """
    faulty = with_fault(newest, "shared_key_in_float32", shelf)
    found = rows(monkeypatch, faulty, tmp_path, CELLS[:1], [PAIR], [FLOAT])
    usual = found.pop(USUAL)
    assert (usual.counts, usual.failures) == ({}, [])
    assert list(found) == [FLOAT.name]
    row = found[FLOAT.name]
    assert row.beyond(usual) == ("1 key_collisions of keys_quick pairs_keys",)
    assert status_of(row, usual) == Exit.WRONG_RESULTS


def test_what_our_graphs_use_and_pytensor_deprecates_is_no_error_where_warnings_are(
    newest: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with conditions(*CELLS) as every:
        (errors,) = [one for one in every if one.name == "warnings as errors"]
    cells = (CELLS[0], CELLS[2])
    graphs = ["differ.props.Scan.taps", "differ.props.gamma.dtype", "normal"]
    found = rows(monkeypatch, newest, tmp_path, cells, graphs, [errors])
    usual = found.pop(USUAL)
    (row,) = found.values()
    assert (usual.counts, usual.failures) == ({}, [])
    assert (row.counts, row.failures) == ({}, [])
