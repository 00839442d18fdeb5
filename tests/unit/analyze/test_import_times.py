"""By which module importing takes longer."""

from __future__ import annotations

from observatory.analyze.profiles.import_times import import_change, imports_of
from observatory.store.records.profile import ImportedModule, Profile
from tests.factories import sample


def modules(*given: tuple[str, int, float]) -> list[ImportedModule]:
    return [ImportedModule(name=name, depth=depth, seconds=own) for name, depth, own in given]


BASE = modules(("numba", 0, 0.3), ("numpy", 1, 0.2))


def test_a_new_module_counts_with_the_new_ones_that_it_imports() -> None:
    head = modules(("numba", 0, 0.35), ("pandas", 1, 0.1), ("numpy", 2, 0.2),
                   ("pandas.io", 2, 0.11), ("other", 1, 0.05))  # fmt: skip
    found = import_change(BASE, head)
    assert found is not None
    assert (found.name, found.base, round(found.head, 3)) == ("pandas", None, 0.21)


def test_without_a_new_module_it_is_the_one_that_grew_most() -> None:
    found = import_change(BASE, modules(("numba", 0, 0.31), ("numpy", 1, 0.4)))
    assert found is not None
    assert (found.name, found.base, found.head) == ("numpy", 0.2, 0.4)


def test_nothing_is_said_where_nothing_grew_or_a_side_is_not_known() -> None:
    assert import_change(BASE, BASE) is None
    assert import_change([], BASE) is None


def test_the_newest_sample_that_knows_its_imports_counts() -> None:
    known = [sample(profile=Profile(imports=one)) for one in (BASE[:1], BASE)]
    assert imports_of([*known, sample()]) == BASE
    assert imports_of([sample()]) == []
