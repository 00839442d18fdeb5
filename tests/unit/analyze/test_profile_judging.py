"""Which parts changed for sure: chance is not named, and one doubled part is."""

from __future__ import annotations

import numpy as np
import pytest

from observatory.analyze.profiles.judging import grown_parts, judged, p_values
from observatory.store.records.profile import (
    CallTree,
    LlvmPass,
    PartChange,
    Phase,
    Profile,
    ProfileDifference,
    Rewriter,
)

PARTS = 150
SIZES = np.geomspace(20, 20_000, PARTS).astype(int)


def profile(rng: np.random.Generator, noise: float = 0.0, **changed: int) -> Profile:
    """One sample: ``noise`` is the standard deviation of every count; ``changed`` are means."""
    sizes = {f"part{number}": int(size) for number, size in enumerate(SIZES)} | changed
    counts = {
        name: max(1, round(size + rng.normal(0, noise * np.sqrt(size))))
        for name, size in sizes.items()
    }
    listed = list(counts.values())
    return Profile(
        phases=[Phase(name="rewriting", entries=1, calls=sum(listed))],
        rewriters=[Rewriter(name=name, tries=1, calls=count) for name, count in counts.items()],
        tree=CallTree(
            calls=sum(listed),
            floor=1,
            modules={"": ["(build)", "(other)"], "m": list(counts)},
            entries=[0, 0, *listed],
            depths=[0] + [1] * len(listed),
            functions=[0, *range(2, 2 + len(listed))],
            counts=[0, *listed],
        ),
    )


def named(bases: list[Profile], heads: list[Profile]) -> set[str]:
    found = judged(bases, heads)
    assert found is not None
    return {change.name for change in [*found.functions, *found.rewriters]}


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_between_samples_of_one_subject_hardly_anything_is_named(noise: float) -> None:
    rng = np.random.default_rng(1)
    comparisons = [
        named([profile(rng, noise) for _ in range(3)], [profile(rng, noise) for _ in range(3)])
        for _ in range(100)
    ]
    assert sum(map(bool, comparisons)) <= 8  # a false discovery rate of 0.05 per comparison


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_part_of_a_thousandth_of_the_build_that_doubles_is_named_alone(noise: float) -> None:
    rng = np.random.default_rng(2)
    small = int(np.searchsorted(SIZES, 0.001 * SIZES.sum()))
    double = {f"part{small}": 2 * int(SIZES[small])}
    heads = [profile(rng, noise, **double) for _ in range(3)]
    found = named([profile(rng, noise) for _ in range(3)], heads)
    assert found in ({f"part{small}"}, {f"part{small}", f"m:part{small}"})


def test_one_sample_a_side_names_what_is_a_thousandth_of_all_calls() -> None:
    rng = np.random.default_rng(3)
    total = int(SIZES.sum())
    more, less = int(0.0015 * total), int(0.0005 * total)
    head = profile(rng, part100=int(SIZES[100]) + more, part120=int(SIZES[120]) + less)
    assert named([profile(rng)], [head]) == {"part100", "m:part100"}


def test_without_profiles_of_both_sides_nothing_is_judged() -> None:
    rng = np.random.default_rng(4)
    assert judged([], [profile(rng)]) is None
    assert judged([profile(rng)], [Profile()]) is None


def test_of_llvm_a_sample_that_knows_nothing_is_not_one_without_passes() -> None:
    known = Profile(llvm_passes=[LlvmPass(name="GVNPass", phase="LLVM", seconds=0.1, runs=100)])
    assert p_values([Profile()] * 3, [known] * 3, ("pass",)) == {}
    assert p_values([Profile(), known], [known], ("pass",)) == {}
    assert p_values([known] * 2, [known], ("pass",)) == {("pass", "GVNPass"): 1.0}


def remarked(bases: list[Profile], heads: list[Profile]) -> set[str]:
    found = judged(bases, heads)
    assert found is not None
    return {change.name for change in grown_parts(found)}


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_between_samples_of_one_subject_no_part_is_remarked(noise: float) -> None:
    rng = np.random.default_rng(5)
    sides = [[profile(rng, noise) for _ in range(2)] for _ in range(200)]
    assert [remarked(*pair) for pair in zip(sides[::2], sides[1::2], strict=True)] == [set()] * 100


@pytest.mark.parametrize(("noise", "samples"), [(0.0, 2), (0.3, 3)])
def test_a_small_part_that_doubles_is_remarked_alone_in_a_calm_whole(
    noise: float, samples: int
) -> None:
    rng = np.random.default_rng(6)
    small = int(np.searchsorted(SIZES, 0.001 * SIZES.sum()))

    def side(**changed: int) -> list[Profile]:
        return [profile(rng, noise, **changed) for _ in range(samples)]

    base, head = side(), side(**{f"part{small}": 2 * int(SIZES[small])})
    assert remarked(base, head) == {f"part{small}"}
    # A large part that grows by as many calls is not "large in the part".
    assert remarked(base, side(part149=int(SIZES[149] + SIZES[small]))) == set()


@pytest.mark.parametrize(("head", "large"), [(158, False), (310, True)])
def test_a_function_that_is_entered_about_as_often_as_before_has_not_grown(
    head: int, large: bool
) -> None:
    """As `_find_and_load` from 2.38.2 to 2.38.3, with which 988 calls of its callees begin."""
    part = PartChange(kind="function", name="m:f", base=153, head=head, calls=988, share=0.5)
    found = ProfileDifference(base=700_000, head=700_988, samples=2, functions=[part])
    assert [one.name for one in grown_parts(found)] == ["m:f"] * large
