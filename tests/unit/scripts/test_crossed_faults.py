"""What a record of crossed settings says of a fault; nothing is measured."""

from __future__ import annotations

import pytest

from observatory.app.conditions import ELSEWHERE, conditions
from observatory.app.settings import CELLS
from observatory.store.records.settings import Row
from scripts.faults.crossed import NOTHING, SHOWN_BY, crossed_row, crossed_table
from scripts.faults.looks import LOOKS
from tests.factories_settings import USUAL, misses, settings

FLOAT32 = "shared_key_in_float32"


@pytest.mark.parametrize(
    ("fault", "rows", "right"),
    [
        (NOTHING, {}, True),
        (NOTHING, {"cxx": misses(1)}, False),
        (FLOAT32, {}, False),
        (FLOAT32, {"both": misses(1), "float32": misses(2)}, True),
        (FLOAT32, {"cxx": misses(1)}, False),  # rows without its setting
        (FLOAT32, {"usual": misses(1)}, False),
        ("fastmath_dropped", {"usual": misses(1)}, True),
        ("fastmath_dropped", {"cxx": misses(1)}, False),
    ],
)
def test_a_fault_is_found_by_the_rows_of_its_setting(
    fault: str, rows: dict[str, Row], right: bool
) -> None:
    assert crossed_row(fault, settings("3.3.8", **rows), 7).as_expected is right


def test_the_table_says_which_settings_the_worse_rows_share() -> None:
    found = crossed_row(FLOAT32, settings("3.3.8", both=misses(3), float32=misses(2)), 7)
    line = next(iter(crossed_table([found]))).splitlines()[-1]
    assert "yes | 2 of 4 | `floatX=float32` | 3 cache_misses of radon warm_disk | 7" in line


def test_the_table_names_the_usual_settings_where_these_show_it() -> None:
    found = crossed_row("fastmath_dropped", settings("3.3.8", usual=misses(1)), 7)
    assert f"| yes | 1 of 4 | `{USUAL}` |" in next(iter(crossed_table([found])))


def test_every_fault_of_a_flag_is_tried_and_its_setting_is_one_of_the_command() -> None:
    assert {*SHOWN_BY} == {name for name, look in LOOKS.items() if look.of == "flags"}
    with conditions(*CELLS) as every:
        known = {ELSEWHERE, *(one.name for one in every)}  # here, there may be no other file system
    assert {*filter(None, SHOWN_BY.values())} <= known
