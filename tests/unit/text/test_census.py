"""The table of `observatory census`."""

from __future__ import annotations

from observatory.benchmarks.catalogue import FATES
from observatory.store.reading.fates import Fate
from observatory.text.census import Column, census_table


def graphs(*fates: Fate) -> dict[str, Fate]:
    return {one.name: one for one in fates}


def test_each_subject_is_a_column_and_what_is_bad_says_why() -> None:
    old = graphs(Fate("a", "collided", "another value"), Fate("b", "hit"))
    new = graphs(Fate("a", "right"), Fate("b", "uncacheable", "Join: no key"), Fate("c", "hit"))
    found = census_table("NUMBA", [Column("1.0", old), Column("2.0", new)])
    assert found.title == "3 graphs with NUMBA"
    assert found.header == ("graph", "1.0", "2.0")
    assert found.rows == (
        ("a", "COLLIDED", "right"), ("b", "hit", "uncacheable"), ("c", "", "hit"),
    )  # fmt: skip
    assert found.footnotes[:2] == ("1.0, a: another value", "2.0, b: Join: no key")
    assert set(found.footnotes[2:]) == {
        f"COLLIDED: {FATES['collided']}",
        *(f"{fate}: {FATES[fate]}" for fate in ("right", "hit", "uncacheable")),
    }


def test_the_note_of_a_good_graph_is_not_told() -> None:
    found = census_table("C_VM", [Column("1.0", graphs(Fate("a", "absent", "no such Op")))])
    assert found.footnotes == (f"absent: {FATES['absent']}",)


def test_seconds_stand_beside_what_became_of_a_graph() -> None:
    known = graphs(Fate("a", "hit"), Fate("differ.b", "right"))
    found = census_table("NUMBA", [Column("1.0", known, {"a": 12.34})])
    assert found.rows == (("a", "hit, 12.3 s"), ("differ.b", "right"))
    assert found.footnotes[0] == "seconds: of compiling into an empty cache"
