"""Keys of real releases are taken apart, and a fault is found in the part that it changed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from observatory.analyze.keys import Difference, KeyChange, changes
from observatory.app.explained import Asked, taken_apart
from observatory.run.environments import Environment
from tests.integration.conftest import Shelf
from tests.integration.fault_rig import with_fault

pytestmark = pytest.mark.integration


def restless(environment: Environment, backend: str = "NUMBA") -> Sequence[KeyChange]:
    """The functions whose keys differ between two processes."""
    one, other = (
        taken_apart(environment, Asked("*", backend=backend), seed).functions for seed in (1, 2)
    )
    found = changes(one, other)
    assert len(found) > 10
    return [change for change in found if not change.same]


def differences(found: Sequence[KeyChange]) -> list[Difference]:
    return [difference for change in found for difference in change.differences]


@pytest.mark.parametrize("backend", ["NUMBA", "C_VM"])
def test_the_keys_of_the_newest_release_are_the_same_in_two_processes(
    newest: Environment, backend: str
) -> None:
    assert not restless(newest, backend)


def test_a_hash_of_python_in_keys_is_the_part_that_differs(
    newest: Environment, shelf: Shelf
) -> None:
    found = restless(with_fault(newest, "key_hash_seed", shelf))
    assert len(found) > 10
    assert all(one.base and one.base.startswith("_fastmath1") for one in differences(found))


def test_only_the_op_with_an_unstable_key_and_the_graph_around_it_differ(
    newest: Environment, shelf: Shelf
) -> None:
    found = restless(with_fault(newest, "op_key_unstable", shelf))
    names = {change.name.partition("{")[0] for change in found}
    assert names == {"Split", "outer graph"}


def test_a_version_in_the_key_of_a_c_module_is_the_part_that_differs(
    newest: Environment, shelf: Shelf
) -> None:
    found = restless(with_fault(newest, "c_key_salted", shelf), "C_VM")
    assert {one.path for one in differences(found)} == {("versions",)}
