"""Which imports are new in a build, and what they enter."""

from __future__ import annotations

from observatory.analyze.profiles.difference import difference, main_part
from observatory.analyze.profiles.modules import imported
from observatory.store.records.profile import CallTree, Profile

FIND, HEAVY, PART, OWN = ("find", "heavy:<module>", "heavy.part:<module>", "work")


def tree(*nodes: tuple[int, str, int]) -> CallTree:
    """A tree of (depth, function, count) below the root."""
    names = list(dict.fromkeys(name for _, name, _ in nodes))
    modules: dict[str, list[str]] = {"": ["(build)", "(other)"]}
    for name in names:
        module, _, function = name.rpartition(":")
        modules.setdefault(module or "m", []).append(function)
    order = [f"{m}:{f}" if m else f for m, fs in modules.items() for f in fs]
    full = [name if ":" in name else f"m:{name}" for _, name, _ in nodes]
    counts = [count for _, _, count in nodes]
    entries = [0] * len(order)
    for name, count in zip(full, counts, strict=True):
        entries[order.index(name)] += count
    return CallTree(
        calls=sum(counts), floor=1, modules=modules, entries=entries,
        depths=[0, *(depth for depth, _, _ in nodes)],
        functions=[0, *map(order.index, full)], counts=[0, *counts],
    )  # fmt: skip


WITHOUT = tree((1, OWN, 1000))
WITH = tree(
    (1, OWN, 1000), (2, FIND, 5), (3, HEAVY, 1), (4, OWN, 20), (4, FIND, 9), (5, PART, 1),
    (6, FIND, 70), (1, FIND, 2),
)  # fmt: skip


def test_an_import_has_all_calls_below_it_and_those_inside_it_are_part_of_it() -> None:
    (found,) = imported([WITHOUT], [WITH])
    assert (found.kind, found.name, found.calls) == ("module", "heavy", 1 + 20 + 9 + 1 + 70)


def test_what_base_imports_or_one_head_does_not_is_not_new() -> None:
    assert list(imported([WITHOUT, WITH], [WITH])) == []
    assert list(imported([WITHOUT], [WITH, WITHOUT])) == []


def test_an_import_that_moved_or_has_another_name_counts_with_what_it_enters_more() -> None:
    def of(module: str, calls: int) -> CallTree:
        return tree((1, OWN, 1000), (2, FIND, 5), (3, f"{module}:<module>", 1), (4, OWN, calls))

    for name, calls in (("new.heavy", 500), ("other", 108)):
        (found,) = imported([of("old.heavy", 100)], [of(name, calls)])
        assert (found.name, found.replaces, found.calls) == (name, "old.heavy", calls - 100)
    # What is imported no more is taken off what importing adds.
    found = {one.name: one.calls for one in imported([of("old.heavy", 100)], [of("other", 300)])}
    assert found == {"other": 301, "old.heavy": -101}


def test_a_new_import_is_the_main_part_and_not_the_functions_that_import() -> None:
    found = difference(Profile(tree=WITHOUT), Profile(tree=WITH))
    assert found is not None
    part = main_part(found)
    assert part is not None
    assert (part.kind, part.name) == ("module", "heavy")
