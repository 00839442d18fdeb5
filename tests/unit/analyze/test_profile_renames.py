"""Parts that only one side has, paired."""

from __future__ import annotations

from typing import Literal

from observatory.analyze.profiles.difference import difference, main_part
from observatory.analyze.profiles.renames import replaced
from observatory.store.records.profile import (
    CallTree,
    PartChange,
    Profile,
    ProfileDifference,
    Rewriter,
)

MAIN, OTHERS = "compile:build", "link:others"


def tree(**counts: int) -> CallTree:
    """A build that enters each of these functions from one place; `__` stands for a colon."""
    entries = {MAIN: 1, OTHERS: 50_000, **{k.replace("__", ":"): n for k, n in counts.items()}}
    modules: dict[str, list[str]] = {"": ["(build)", "(other)"]}
    for name in entries:
        module, _, function = name.partition(":")
        modules.setdefault(module, []).append(function)
    order = [f"{m}:{f}" if m else f for m, fs in modules.items() for f in fs]
    return CallTree(
        calls=sum(entries.values()), floor=1, modules=modules,
        entries=[entries.get(name, 0) for name in order],
        depths=[0, 1, *[2] * (len(entries) - 1)],
        functions=[0, *map(order.index, entries)], counts=[0, *entries.values()],
    )  # fmt: skip


def begins(base: Profile, head: Profile) -> PartChange | None:
    found = difference(base, head)
    assert found is not None
    return main_part(found)


def test_what_moved_keeps_the_end_of_its_name_and_the_rest_its_size() -> None:
    come = {"b:walk": ("x", 30.0), "b:new": ("x", 95.0), "b:far": ("x", 50.0)}
    gone = {"a:walk": ("x", 10.0), "a:old": ("x", 100.0), "a:other": ("y", 50.0)}
    assert replaced(come, gone, lambda name: name.partition(":")[2]) == {
        "b:walk": "a:walk", "b:new": "a:old",
    }  # fmt: skip


def test_a_function_that_moved_to_another_module_is_not_new() -> None:
    part = begins(Profile(tree=tree(basic__walk=10_000)), Profile(tree=tree(other__walk=30_000)))
    assert part is not None
    assert (part.name, part.replaces, part.new) == ("other:walk", "basic:walk", False)
    assert (part.base, part.head, part.calls) == (10_000, 30_000, 20_000)


def test_a_function_that_came_as_another_went_is_not_told_as_its_new_name() -> None:
    before, after = tree(graph__check=1_000), tree(graph__hash=1_900, link__key=200)
    part = begins(Profile(tree=before), Profile(tree=after))
    assert part is not None
    # The new one has many more calls than were added: it did not make them alone.
    assert (part.name, part.replaces) == ("link:key", None)


def rewriting(hashed: int, name: str, calls: int) -> Profile:
    whole = tree(rewriting__walk=calls, link__hash=hashed)
    return Profile(tree=whole, rewriters=[Rewriter(name=name, tries=200, calls=calls)])


def test_a_rewriter_that_was_renamed_is_not_the_main_part() -> None:
    part = begins(rewriting(40_000, "local_old", 60_000), rewriting(48_000, "local_new", 60_100))
    assert part is not None
    assert (part.name, part.calls) == ("link:hash", 8_000)


def test_a_renamed_rewriter_that_does_more_is_named_with_the_old_one() -> None:
    part = begins(rewriting(40_000, "local_old", 60_000), rewriting(40_000, "local_new", 63_000))
    assert part is not None
    assert (part.kind, part.name, part.replaces) == ("rewriter", "local_new", "local_old")
    assert (part.own, part.calls) == (60_000, 3_000)


def test_a_function_with_more_of_the_growth_is_named_before_a_rewriter() -> None:
    part = begins(rewriting(10_000, "local_mul", 10_000), rewriting(17_400, "local_mul", 12_600))
    assert part is not None
    assert (part.kind, part.name, part.calls) == ("function", "link:hash", 7_400)
    part = begins(rewriting(10_000, "local_mul", 10_000), rewriting(12_600, "local_mul", 17_400))
    assert part is not None
    assert (part.kind, part.name, part.calls) == ("rewriter", "local_mul", 7_400)


def test_a_build_that_does_no_more_has_no_main_part() -> None:
    before, after = tree(a__one=10_000, b__two=9_000), tree(a__one=11_000, b__two=5_000)
    assert begins(Profile(tree=before), Profile(tree=after)) is None


def part(kind: Literal["function", "module"], name: str, calls: int, base: int = 0) -> PartChange:
    return PartChange(kind=kind, name=name, base=base, head=1, calls=calls, share=0, new=not base)


def test_a_module_with_more_calls_than_were_added_is_named_where_others_saved_some() -> None:
    found = ProfileDifference(
        base=100_000, head=120_000, modules=[part("module", "pandas", 60_000)],
        functions=[part("function", "m:tiny", 600, base=100)],
    )  # fmt: skip
    named = main_part(found)
    assert named is not None
    assert named.name == "pandas"


def test_imports_that_are_gone_are_taken_off_those_that_are_new() -> None:
    found = ProfileDifference(
        base=100_000, head=130_000,
        modules=[*(part("module", f"new{n}", 10_000) for n in range(4)),
                 *(part("module", f"old{n}", -10_000, base=1) for n in range(3))],
        functions=[part("function", "m:slow", 20_000, base=10)],
    )  # fmt: skip
    named = main_part(found)
    assert named is not None
    assert named.name == "m:slow"


def test_a_function_with_little_of_the_growth_is_not_the_main_part_beside_a_phase_with_most() -> (
    None
):
    found = ProfileDifference(
        base=100_000, head=120_000, functions=[part("function", "m:tiny", 600, base=100)],
        phases=[PartChange(kind="phase", name="walk", base=5, head=9, calls=19_000, share=0.9)],
    )  # fmt: skip
    named = main_part(found)
    assert named is not None
    assert named.name == "walk"
