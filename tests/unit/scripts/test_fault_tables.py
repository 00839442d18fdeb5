"""The tables of faults are made from the rows that were measured."""

from __future__ import annotations

from dataclasses import replace

from scripts.docs.fault_tables import (
    COMPARED,
    NIGHTS,
    ROWS,
    fault_figures,
    mutant_table,
    night_table,
    sample_figures,
    survivors,
)
from scripts.docs.rows import read as read_rows
from scripts.faults.compared import NOTHING, Compared
from scripts.faults.controls import CONTROLS
from scripts.faults.kit import fault
from scripts.faults.trials import Row, read
from scripts.mutants.trials import Tried

EQUIVALENT = {"m f:2: b": "equivalent: it only says something"}


def row(name: str, *, found: bool = True, false: tuple[str, ...] = ()) -> Row:
    return Row(
        name, "leaking", ("radon warm_disk NUMBA spawn",), "", found, found and not false,
        ("cache grows",) if found else (), ("files_grown",) if found else (), false, "", 10.0, True,
    )  # fmt: skip


def test_every_row_is_of_a_fault_that_there_is() -> None:
    for name in read(ROWS):
        assert name.startswith("none#") or fault(name).name == name
    for name in read(NIGHTS):
        kind, _, control = name.partition("#")
        assert control in CONTROLS if kind == "none" else fault(name).name == name


def compared_with() -> dict[str, Compared]:
    """The newest row of each fault."""
    return {one.fault: one for one in read_rows(Compared, COMPARED)}


def test_the_newest_comparison_with_each_fault_finds_it_and_nothing_else() -> None:
    rows = compared_with()
    assert len(rows) > 10
    assert NOTHING in rows
    assert [one.fault for one in rows.values() if not one.outcome.caught] == []
    assert [one.fault for one in rows.values() if not one.outcome.as_expected] == []
    assert [one.fault for one in rows.values() if one.outcome.false_alarms] == []


def test_the_newest_comparison_says_which_part_each_fault_is_in() -> None:
    named = {
        name: (part, one.outcome.said)
        for name, one in compared_with().items()
        if name != NOTHING and (part := fault(name).main_part or fault(name).remark)
    }
    assert len(named) > 7
    assert {name: both for name, both in named.items() if both[0] not in both[1]} == {}


def test_an_alarm_of_a_control_is_in_the_table_of_nights() -> None:
    quiet = replace(row("none#rebuilt", found=False), as_expected=True)
    false = row("none#path", found=False, false=("cache_misses of radon warm_disk NUMBA spawn",))
    _, _, first, second, third = night_table([quiet, false, row("log_grows", found=False)])
    assert first.startswith("| `rebuilt` |")
    assert first.endswith("| nothing | - | none | 1 | 10 |")
    assert second.endswith(
        "| **an alarm** | - | cache_misses of radon warm_disk NUMBA spawn | 1 | 10 |"
    )
    assert third.startswith("| `log_grows` |")
    assert "| **no** |" in third
    assert [*night_table([])] == ["No row has been recorded yet."]


def test_the_figures_count_what_was_found_and_what_was_false() -> None:
    rows = [row("log_grows"), row("directory_grows", found=False), row("none#x", found=False)]
    (said,) = fault_figures(rows)
    assert said.startswith("The observatory finds 1 of 2 faults, and 1 of the 2 ")
    assert "1 of 1 comparisons of the release with itself raised no alarm" in said
    (said,) = fault_figures([row("log_grows", false=("crashed of radon",))])
    assert "1 of 1 rows have an alarm that the fault does not explain." in said


def test_an_equivalent_mutant_does_not_count_as_a_hole() -> None:
    tried = [
        Tried("m", "f:1: a", True, "crashed", 1.0),
        Tried("m", "f:2: b", False, "", 1.0),
        Tried("m", "f:3: c", False, "", 1.0),
        Tried("m", "f:4: d", False, "", 0.0, reached=False),
    ]
    *_, of_module, total = mutant_table(tried, EQUIVALENT)
    assert of_module == "| `m` | 4 | 1 | 1 | 2 | 33 % |"
    assert total == "| `all` | 4 | 1 | 1 | 2 | 33 % |"


def test_a_mutant_that_was_not_tried_is_a_hole_unless_it_is_equivalent() -> None:
    tried = [Tried("m", f"f:{line}: x", False, "", 0.0, reached=False) for line in (2, 4)]
    reasons = {"m f:2: x": EQUIVALENT["m f:2: b"]}
    assert [*mutant_table(tried, reasons)][-1] == "| `all` | 2 | 0 | 1 | 1 | 0 % |"
    _, _, equivalent, hole = survivors(tried, reasons)
    assert equivalent.endswith("| equivalent: it only says something |")
    assert hole.endswith("| not tried |")


def test_the_rate_of_a_sample_leaves_out_equivalent_mutants() -> None:
    found = [Tried("m", f"f:{line}: x", True, "crashed", 1.0) for line in range(3, 12)]
    tried = [*found, Tried("m", "f:2: b", False, "", 1.0), Tried("m", "f:1: a", False, "", 1.0)]
    (said,) = sample_figures(tried, EQUIVALENT)
    assert said == (
        "The sample has 11 mutants, 1 of them equivalent. Of the other 10, 9 are found now: 90 %."
    )
    assert [*sample_figures([], {})] == ["None of them has been tried yet."]
