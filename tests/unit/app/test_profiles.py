"""Profiles as files of other tools, with hostile names."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Annotated, Literal

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from observatory.analyze.profiles.cells import cell_profiles
from observatory.app.profiles import collapsed, exported, profile_of_cells, speedscope
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.profile import LlvmPass, Phase, Profile, Rewriter
from observatory.store.records.sample import Sample
from observatory.text.profile_tables import difference_tables, profile_tables
from tests.factories import WARM, sample, traced
from tests.factories_profiles import HOSTILE, profiles

NAMES = st.text(max_size=8) | st.sampled_from(["a;b", "a b 3", "\n", "\ud800", HOSTILE])
STACKS = st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=4), st.integers(0, 1000)))


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Frame(_Strict):
    name: str


class _Shared(_Strict):
    frames: list[_Frame]


class _Profile(_Strict):
    type: Literal["sampled"]
    name: str
    unit: Literal["none", "seconds"]
    startValue: int  # noqa: N815
    endValue: float  # noqa: N815
    samples: list[list[Annotated[int, Field(ge=0)]]]
    weights: list[Annotated[float, Field(gt=0)]]


class _File(_Strict):
    schema_: Literal["https://www.speedscope.app/file-format-schema.json"] = Field(alias="$schema")
    exporter: str
    activeProfileIndex: int  # noqa: N815
    shared: _Shared
    profiles: list[_Profile]


@given(STACKS)
def test_each_line_is_a_chain_and_a_count_and_no_weight_is_lost(stacks):
    text = collapsed(stacks)
    rows = text.splitlines()
    assert text.count("\n") == len(rows)
    assert all(re.fullmatch(r"[^;]+(;[^;]+)* [1-9]\d*", row) for row in rows)
    assert sum(int(row.rpartition(" ")[2]) for row in rows) == sum(n for _, n in stacks)
    depths = {len(names) for names, weight in stacks if weight}
    assert {row.count(";") + 1 for row in rows} == depths


@given(STACKS, STACKS)
def test_speedscope_reads_the_file_and_no_weight_is_lost(base, head):
    read = _File.model_validate_json(speedscope({"base": base, "head": head}))
    for profile, stacks in zip(read.profiles, (base, head), strict=True):
        assert len(profile.samples) == len(profile.weights)
        assert profile.endValue == sum(profile.weights) == sum(n for _, n in stacks)
        found = Counter()
        for chain, weight in zip(profile.samples, profile.weights, strict=True):
            found[len(chain)] += weight
            assert all(read.shared.frames[number].name for number in chain)
        assert found == +Counter(
            {depth: sum(n for names, n in stacks if len(names) == depth) for depth in range(1, 5)}
        )


def test_ordinary_names_are_written_as_they_are():
    stacks = [(("(build)", "m:f"), 3), (("(build)",), 1), (("(build)", "m:f"), 2)]
    assert collapsed(stacks) == "(build) 1\n(build);m:f 5\n"
    assert collapsed([(("a",), 0.0000125)], "seconds") == "a 12\n"
    file = json.loads(speedscope({"x": stacks}, "seconds"))
    assert [frame["name"] for frame in file["shared"]["frames"]] == ["(build)", "m:f"]
    assert file["profiles"][0]["samples"] == [[0, 1], [0], [0, 1]]
    assert file["profiles"][0]["unit"] == "seconds"


def test_several_profiles_are_told_apart_in_one_file():
    base, head = profiles(20)
    rows = exported({"3.3.6": base, "3.3.7": head}, "collapsed").splitlines()
    assert {row.split(";")[0].split(" ")[0] for row in rows} == {"3.3.6", "3.3.7"}
    assert exported({"x": base}, "collapsed") == collapsed(base)
    assert exported({"x": base}, "speedscope") == speedscope({"x": base})


def test_the_cell_that_got_worse_is_taken_before_the_one_that_changed_most():
    other = Cell("radon", "cold", "NUMBA", "fork")
    base, head = [traced(100), traced(100, other)], [traced(110), traced(200, other)]
    sides = [("3.3.6", base), ("3.3.7", head)]
    missing = Cell("radon", "call", "NUMBA", "fork")
    chosen = profile_of_cells(sides, [missing, WARM])
    assert (chosen.cell, chosen.others) == (WARM, (other,))
    assert profile_of_cells(sides).cell == other
    assert profile_of_cells([("3.3.6", base), ("3.3.7", [sample()])]) is None


def with_parts(lowering: int, seconds: float) -> list[Sample]:
    """A timing sample with a rewriter, a counting one with memory, and a tracing one."""
    rewriter = Rewriter(name="merge", seconds=seconds, applications=47, nodes_created=12)
    timed = Profile(phases=[Phase(name="rewriting", entries=1, seconds=0.3)], rewriters=[rewriter])
    memory = Profile(phases=[Phase(name="numba: lowering", entries=1, peak_bytes=lowering)])
    return [
        sample(WARM, metrics={"compile_time": 0.4}, profile=timed),
        sample(WARM, "counting", profile=memory),
        traced(100),
    ]


def test_one_subject_shows_what_each_pass_says_of_rewriters_and_the_memory_of_phases():
    found = cell_profiles(with_parts(16_000_000, 0.05))[WARM]
    tables = {one.title: one for one in profile_tables(found)}
    (row,) = tables["Rewriters, each with all that happens inside it"].rows
    assert row == ("merge", "50.0 ms", "47", "12", "-", "-")
    assert tables["Memory: by how much each phase raises the peak"].rows == (
        ("numba: lowering", "16.0 MB"),
    )


def test_two_subjects_show_the_memory_of_both_and_its_change():
    sides = [cell_profiles(with_parts(size, 0.05))[WARM] for size in (16_000_000, 32_000_000)]
    tables = {one.title: one for one in difference_tables(*sides)}
    assert tables["Memory: by how much each phase raises the peak"].rows == (
        ("numba: lowering", "16.0 MB", "32.0 MB", "larger: +16.0 MB"),
    )


def with_pass(seconds: float | None, runs: int | None = 12) -> list[Sample]:
    """A tracing sample of a build that ran one pass, which other passes are larger than."""
    one = traced(100)
    names = {"GVNPass": seconds, "SROAPass": 0.5}
    passes = None if seconds is None else [
        LlvmPass(name=name, phase="LLVM: passes", seconds=took, runs=runs)
        for name, took in names.items()
    ]  # fmt: skip
    return [
        one.model_copy(update={"profile": one.profile.model_copy(update={"llvm_passes": passes})})
    ]


def test_llvm_passes_are_shown_with_their_runs_and_by_how_much_they_changed():
    small, large = (cell_profiles(with_pass(one))[WARM] for one in (0.1, 0.3))
    (table,) = (one for one in profile_tables(small) if "LLVM" in one.title)
    assert table.rows[1] == ("GVNPass", "LLVM: passes", "100 ms", "12")
    (table,) = (one for one in difference_tables(small, large) if "LLVM" in one.title)
    first, second = table.rows
    assert first == ("GVNPass", "LLVM: passes", "100 ms", "300 ms", "slower: +200 ms", "12 → 12")
    assert second[0] == "SROAPass"


def test_passes_that_a_side_does_not_know_are_not_shown():
    old, new = (cell_profiles(with_pass(one))[WARM] for one in (None, 0.3))
    assert not any(
        "LLVM" in one.title for one in (*profile_tables(old), *difference_tables(old, new))
    )
    unsaid = cell_profiles(with_pass(0.1, None))[WARM]
    (table,) = (one for one in profile_tables(unsaid) if "LLVM" in one.title)
    assert table.rows[0][-1] == "-"
