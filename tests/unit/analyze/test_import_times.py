"""By which module importing takes longer."""

from __future__ import annotations

import pytest

from observatory.analyze.profiles.import_times import import_change, imports_of
from observatory.store.records.profile import ImportedModule, Profile
from tests.factories import sample


def modules(*given: tuple[str, int, float]) -> list[ImportedModule]:
    return [ImportedModule(name=name, depth=depth, seconds=own) for name, depth, own in given]


BASE = modules(("numba", 0, 0.3), ("numpy", 1, 0.2))


def test_a_new_module_counts_with_the_new_ones_that_it_imports() -> None:
    head = modules(("numba", 0, 0.35), ("pandas", 1, 0.1), ("numpy", 2, 0.2),
                   ("pandas.io", 2, 0.11), ("other", 1, 0.05))  # fmt: skip
    found = import_change(BASE, head, 0.3)
    assert found is not None
    assert (found.name, found.base, round(found.head, 3)) == ("pandas", None, 0.21)


def test_without_a_new_module_it_is_the_one_that_grew_most() -> None:
    found = import_change(BASE, modules(("numba", 0, 0.31), ("numpy", 1, 0.4)), 0.2)
    assert found is not None
    assert (found.name, found.base, found.head) == ("numpy", 0.2, 0.4)


@pytest.mark.parametrize("name", ["pytensor.new.core", "pytensor.fresh"])
def test_a_module_that_was_moved_or_renamed_counts_with_what_it_takes_longer(name: str) -> None:
    old = ("pytensor.old.core", 1, 0.2)
    base = modules(("pytensor", 0, 0.1), old, ("numpy", 1, 0.1))
    head = modules(("pytensor", 0, 0.1), (name, 1, 0.21), ("numpy", 1, 0.25))
    found = import_change(base, head, 0.16)
    assert found is not None
    assert (found.name, found.base, found.head) == ("numpy", 0.1, 0.25)
    longer = modules(("pytensor", 0, 0.1), ("pytensor.new.core", 1, 0.4), ("numpy", 1, 0.1))
    found = import_change(base, longer, 0.2)
    assert found is not None
    assert (found.replaces, found.base, found.head) == ("pytensor.old.core", 0.2, 0.4)


def test_a_module_that_explains_little_of_the_additional_time_is_not_named() -> None:
    head = modules(("numba", 0, 0.3), ("numpy", 1, 0.2004))
    assert import_change(BASE, head, 0.5) is None


def test_nothing_is_said_where_nothing_grew_or_a_side_is_not_known() -> None:
    assert import_change(BASE, BASE, 0.0) is None
    assert import_change([], BASE, 0.1) is None


def test_the_newest_sample_that_knows_its_imports_counts() -> None:
    known = [sample(profile=Profile(imports=one)) for one in (BASE[:1], BASE)]
    assert imports_of([*known, sample()]) == BASE
    assert imports_of([sample()]) == []
