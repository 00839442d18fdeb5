"""Whether a machine moved, by work that never changes. The times here were not measured."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from observatory.analyze.sentinel import Look, looks, moved_near
from observatory.store.records.sentinels import Sentinel
from observatory.text.sentinel import changed, of_the_night, verdict
from tests.factories import NOON, header, subject
from tests.factories_sentinels import PIECES, night


def last(nights: Sequence[Sentinel]) -> Look:
    return looks(nights)[-1]


STEADY = [night(n, *(1 + 0.01 * ((n + k) % 3 - 1) for k in range(3))) for n in range(8)]


def test_the_first_look_says_nothing_and_a_steady_machine_is_as_before() -> None:
    found = looks(STEADY)
    assert not found[0].ratios
    assert verdict(found[0]) == "this is the first measurement; later ones are compared with it"
    assert [one.machine_moved for one in found] == [False] * 8
    assert verdict(found[-1]) == "as before"


@pytest.mark.parametrize(
    ("factors", "moved", "said"),
    [
        ((1.3, 1.25, 1.28), True, "slower (+28 %): 3 of 3 pieces of fixed work changed"),
        ((0.8, 0.82, 1.0), True, "faster (−18 %): 2 of 3 pieces of fixed work changed"),
        ((1.3, 1.0, 1.0), False, "as before"),  # one piece is not the machine
        ((1.3, 0.7, 1.0), False, "as before"),  # nor are two that move apart
        ((1.04, 1.04, 1.04), False, "as before"),  # less than 5 %
    ],
)
def test_the_machine_moved_if_most_pieces_did_in_one_direction(
    factors: tuple[float, ...], moved: bool, said: str
) -> None:
    found = last([*STEADY, night(8, *factors)])
    assert found.machine_moved is moved
    assert verdict(found).endswith(said)


def test_what_scatters_needs_more_to_have_moved() -> None:
    noisy = [night(n, *((1.0, 1.15)[n % 2] for _ in PIECES)) for n in range(8)]
    assert not last([*noisy, night(8, 1.25, 1.25, 1.25)]).machine_moved
    assert last([*noisy, night(8, 1.6, 1.6, 1.6)]).machine_moved
    assert not last([STEADY[0], night(1, 1.08, 1.08, 1.08)]).machine_moved  # scatter not known


def test_machines_subjects_and_pythons_are_looked_at_apart() -> None:
    other = night(8, 2.0, 2.0, 2.0, machine="another")
    newer = night(8, 2.0, 2.0, 2.0, subject=subject("3.3.8"))
    found = looks([*STEADY, other, newer])
    assert [one.machine_moved for one in found] == [False] * 10


def test_what_changed_since_the_night_before_is_named() -> None:
    versions = header().versions.model_copy(update={"packages": {"numpy": "9.9"}})
    now = night(8, 1.3, 1.3, 1.3, system={"kernel": "6.2", "governor": "x"}, versions=versions)
    found = last([*STEADY, now])
    told = changed(found)
    assert "governor absent → x, kernel 6.1 → 6.2" in told
    assert "→ 9.9" in told
    assert of_the_night(found).endswith("; counts and work are still right")
    assert "kernel 6.1 → 6.2" in of_the_night(found)
    assert changed(last(STEADY)) == ""


def test_a_measurement_belongs_to_the_night_that_is_near() -> None:
    found = looks([*STEADY, night(8, 1.3, 1.3, 1.3)])
    at = NOON + timedelta(days=8)
    assert moved_near(found, "bench", at + timedelta(hours=5)) is found[-1]
    assert moved_near(found, "bench", at - timedelta(hours=13)) is None  # the night before
    assert moved_near(found, "bench", at + timedelta(days=2)) is None
    assert moved_near(found, "another", at) is None
