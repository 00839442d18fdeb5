"""The tree of two profiles, its picture and its page, with hostile names."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.benchmarks.profiles import OTHER
from observatory.dashboard.drawing.flame import change_class, flame_picture, flame_tree
from observatory.dashboard.pages.flame import fitting, graph
from tests.factories_profiles import HOSTILE, profiles, write_page

NAMES = st.sampled_from(["a", "b", "m:c", HOSTILE, "", "x\ny", "\u202e", OTHER])
STACKS = st.lists(st.tuples(st.lists(NAMES, max_size=5).map(tuple), st.integers(0, 1000)))


@given(STACKS, STACKS)
def test_no_weight_is_lost_and_each_frame_lies_inside_its_caller(base, head):
    frames = flame_tree(base, head)
    sums = tuple(sum(weight for _, weight in stacks) for stacks in (base, head))
    assert frames[0].total == sums
    assert tuple(map(sum, zip(*(one.own for one in frames), strict=True))) == sums
    for frame in frames:
        inside = frame.left
        for callee in sorted(frame.callees.values(), key=lambda one: one.name):
            assert callee.depth == frame.depth + 1
            assert callee.left == pytest.approx(inside)
            inside += callee.total[1] / (sums[1] or 1)
        assert inside <= frame.left + frame.total[1] / (sums[1] or 1) + 1e-9


@given(STACKS, STACKS)
def test_small_frames_are_summed_into_other(base, head):
    frames = flame_tree(base, head, 3)
    sums = tuple(sum(weight for _, weight in stacks) for stacks in (base, head))
    assert len(frames) <= 6
    assert tuple(map(sum, zip(*(one.own for one in frames), strict=True))) == sums


@given(STACKS, STACKS)
def test_the_rows_for_the_script_are_the_whole_tree(base, head):
    frames = flame_tree(base, head)
    picture = flame_picture(frames, "calls")
    names = str(picture["names"]).split("\n")
    read = []
    for row in str(picture["rows"]).split("\n"):
        depth, name, *own = row.split(" ")
        read.append((int(depth), names[int(name)], tuple(map(float, own))))
    assert read == [(one.depth, one.name, one.own) for one in frames]


def test_the_colour_follows_the_own_change_and_has_a_mark_beside_it():
    base = [(("r", "caller"), 100.0), (("r", "caller", "m:f"), 500.0), (("r", "less"), 400.0)]
    head = [(("r", "caller"), 100.0), (("r", "caller", "m:f"), 800.0), (("r", "less"), 300.0)]
    boxes = flame_picture(flame_tree(base, head), "calls")["boxes"]
    assert [(box["label"], box["css"]) for box in boxes] == [
        ("r", ""), ("caller", ""), ("▲ f", "m3"), ("▼ less", "l3")
    ]  # fmt: skip
    assert boxes[2]["about"] == "m:f: own 500 → 800, with callees 500 → 800"


@pytest.mark.parametrize(
    ("change", "css"), [(0, ""), (-0.00001, ""), (0.0001, "m1"), (-0.001, "l2"), (2, "m3")]
)
def test_levels_of_change(change, css):
    assert change_class(change, 1) == css


def test_the_table_has_the_largest_changes_of_functions_first():
    table = graph(*profiles(), "calls")["table"]
    assert [row[0] for row in table.rows[:3]] == ["grown", HOSTILE, "gone"]
    assert table.rows[0][1:] == ("20,000", "80,000", "higher: +60,000")


def test_seconds_have_their_unit():
    drawn = graph([(("a",), 0.25)], [(("a",), 0.5)], "seconds")
    assert drawn["picture"]["whole"] == "250 → 500 ms"
    assert drawn["table"].rows == (("a", "250 ms", "500 ms", "slower: +250 ms"),)


@pytest.mark.parametrize("stacks", [[], [((), 0.0)], [(("a",), 0.0)]])
def test_an_empty_side_is_drawn(stacks):
    assert graph(stacks, stacks, "calls")["picture"]["boxes"] == []
    full = [(("a",), 1.0)]
    assert graph(full, stacks, "calls")["table"].rows
    assert graph(stacks, full, "calls")["picture"]["boxes"]


@pytest.mark.parametrize("letter", ["f", "<", "🙂"])
def test_a_page_with_both_graphs_has_at_most_250_kb_whatever_the_names(tmp_path, letter):
    long = [((*names, f"{number} {letter * 200}"), weight)
            for number, (names, weight) in enumerate(profiles(4000)[0])]  # fmt: skip
    graphs = fitting({unit: (long, profiles(4000)[1]) for unit in ("calls", "seconds")})
    assert len(graphs) == 2
    size = write_page(tmp_path, graphs=graphs).stat().st_size
    assert 150_000 < size <= 250_000


def test_a_small_profile_keeps_all_of_its_frames():
    (small,) = fitting({"calls": profiles(300)})
    assert small == graph(*profiles(300), "calls")


def test_the_page_is_small_has_a_policy_and_hostile_names_stay_text(tmp_path):
    path = write_page(tmp_path, title=HOSTILE, labels=(HOSTILE, HOSTILE), sentence=HOSTILE)
    text = path.read_text("utf-8")
    assert len(text.encode()) < 250_000
    drawn = text[: text.index("<script>")]
    assert re.findall(r"<script|\son[a-z]+=\"|style=", drawn) == []
    assert "<img" not in text
    assert Counter(re.findall("<title>", text[: text.index("</head>")])) == {"<title>": 1}
