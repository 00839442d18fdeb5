"""What becomes of one pin of numba, form by form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from observatory.numba_bound.pins import quoted
from observatory.numba_bound.plan import Change, requirement_of, spelled

END = Version("0.68.1")

MOVED = {
    "numba": "numba<=0.68.1",
    "numba<1": "numba<=0.68.1",
    "numba<0.63": "numba<=0.68.1",
    "numba>=0.58": "numba>=0.58,<=0.68.1",
    "numba>=0.58,<0.63": "numba>=0.58,<=0.68.1",
    "numba>=0.58,<1": "numba>=0.58,<=0.68.1",
    "numba>=0.58.1,<=0.66.0": "numba>=0.58.1,<=0.68.1",
    "numba<=0.66.0,>=0.58": "numba>=0.58,<=0.68.1",
    " numba >= 0.58 , <= 0.66.0 ": "numba>=0.58,<=0.68.1",
    "Numba>=0.58,<0.63": "numba>=0.58,<=0.68.1",
    "numba (>=0.58,<0.63)": "numba>=0.58,<=0.68.1",
    "numba>=0.55,>=0.58,<0.63,<1": "numba>=0.58,<=0.68.1",
    "numba~=0.60": "numba>=0.60,<=0.68.1",
    "numba~=0.60.1": "numba>=0.60.1,<=0.68.1",
    "numba==0.60.*": "numba>=0.60,<=0.68.1",
    "numba==0.62.1": "numba>=0.62.1,<=0.68.1",
    "numba==0.68.1": "numba>=0.68.1,<=0.68.1",
    "numba>0.57,<1": "numba>=0.57.1,<=0.68.1",
    "numba>0.57.2,<=0.66.0": "numba>=0.57.3,<=0.68.1",
    "numba>0.57.0.post1,<1": "numba>0.57.0.post1,<=0.68.1",
    "numba>=0.58,!=0.61.1,!=0.61.0,<0.63": "numba>=0.58,<=0.68.1,!=0.61.0,!=0.61.1",
    "numba[cuda,tbb]>=0.58,<0.63": "numba[cuda,tbb]>=0.58,<=0.68.1",
    "numba>=0.58,<1; python_version<'3.13'": "numba>=0.58,<=0.68.1; python_version<'3.13'",
    'numba<1 ;  python_version  < "3.13"': 'numba<=0.68.1; python_version  < "3.13"',
}
SPELLED = {
    "numba >=0.58, <=0.68.1": "numba>=0.58,<=0.68.1",
    "numba<=0.68.1,>=0.58": "numba>=0.58,<=0.68.1",
    "numba>0.57,<=0.68.1": "numba>=0.57.1,<=0.68.1",
    "numba>=0.58,<=0.68.1 ;python_version<'3.13'": "numba>=0.58,<=0.68.1; python_version<'3.13'",
    "numba>=0.58,<=0.68.1,<0.70": "numba>=0.58,<=0.68.1",
}
LEFT = {
    "numba>=0.58,<=0.69.0": "already allows more than numba 0.68.1",
    "numba==0.69.0": "already allows more than numba 0.68.1",
    "numba>=0.70": "its lower bound `>=0.70` is above numba 0.68.1",
    "numba>0.68.1": "its lower bound `>=0.68.2` is above numba 0.68.1",
    "numba>=0.58,!=0.68.1": "`!=0.68.1` excludes numba 0.68.1 by name",
    "numba>=0.58,!=0.68.*": "excludes numba 0.68.1 by name",
    "numba===0.66.0": "compares text instead of versions",
    "numba @ file:///wheels/numba-0.66.0.whl": "names a file or a repository",
}


@pytest.mark.parametrize(("before", "after"), MOVED.items(), ids=list(MOVED))
def test_a_bound_moves_and_the_rest_of_the_pin_stays(before: str, after: str) -> None:
    made = spelled(before, END)
    assert (made.text, made.change) == (after, Change.MOVED)
    assert made.why


@pytest.mark.parametrize(("before", "after"), SPELLED.items(), ids=list(SPELLED))
def test_a_pin_that_says_the_same_is_only_spelled_anew(before: str, after: str) -> None:
    made = spelled(before, END)
    assert (made.text, made.change) == (after, Change.SPELLED)


@pytest.mark.parametrize(("pin", "why"), LEFT.items(), ids=list(LEFT))
def test_what_must_not_be_touched_is_left_with_the_reason(pin: str, why: str) -> None:
    made = spelled(pin, END)
    assert (made.text, made.change) == (pin, Change.LEFT)
    assert why in made.why


def test_the_documentation_says_what_becomes_of_a_pin() -> None:
    told = Path(__file__).parents[3] / "docs" / "numba-bound.md"
    rows = re.findall(r"^\| (`.*?numba.*?) \| `(.*?)` \|", told.read_text(), re.MULTILINE)
    assert len(rows) == 7
    for pins, after in rows:
        for pin in re.findall("`(.*?)`", pins):
            bare = pin[1:-1] if pin.startswith("'") else pin
            assert after in (spelled(bare, END).text, quoted(spelled(bare, END).text))


@pytest.mark.parametrize("before", [*MOVED, *SPELLED])
def test_what_is_canonical_stays_as_it_is(before: str) -> None:
    made = spelled(spelled(before, END).text, END)
    assert (made.text, made.change) == (spelled(before, END).text, Change.NONE)


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("numba>=0.58", "it had no upper bound"),
        ("numba>=0.58,<0.63", "`<0.63` excludes numba 0.68.1"),
        ("numba>=0.58,<1", "`<1` allows releases that nobody can have tried"),
        ("numba==0.68.1", "`==0.68.1` is not a range"),
    ],
)
def test_the_reason_is_that_of_the_pin(before: str, why: str) -> None:
    assert spelled(before, END).why == why


@pytest.mark.parametrize("pin", ["numba>=0.58,<1", "numba<0.70", "numba~=0.60", "numba==0.*"])
def test_a_pin_that_lets_in_a_newer_release_is_not_lowered(pin: str) -> None:
    made = spelled(pin, Version("0.66.0"), reach=Version("0.68.1"))
    assert (made.text, made.change) == (pin, Change.LEFT)
    assert "allows numba 0.68.1, which is newer than 0.66.0" in made.why


def test_a_pin_without_upper_bound_has_none_that_could_be_lowered() -> None:
    made = spelled("numba>=0.58", Version("0.66.0"), reach=Version("0.68.1"))
    assert made.text == "numba>=0.58,<=0.66.0"


@pytest.mark.parametrize("before", ["numba", "numba<1", "numba==0.62.1", "numba>0.57,<1"])
def test_the_lower_bound_asked_for_goes_where_there_is_none(before: str) -> None:
    made = spelled(before, END, lower=Version("0.58"))
    assert made.text == "numba>=0.58,<=0.68.1"
    assert made.note == "its lower bound is 0.58, from --lower"


def test_a_missing_lower_bound_alone_is_reason_enough_to_rewrite() -> None:
    assert spelled("numba<=0.68.1", END).change is Change.NONE
    made = spelled("numba<=0.68.1", END, lower=Version("0.58"))
    assert (made.text, made.change) == ("numba>=0.58,<=0.68.1", Change.MOVED)
    assert "--lower is 0.58" in made.why


@pytest.mark.parametrize("before", ["numba>=0.55,<1", "numba~=0.55"])
def test_the_lower_bound_asked_for_replaces_none_that_is_there(before: str) -> None:
    assert spelled(before, END, lower=Version("0.58")).text == "numba>=0.55,<=0.68.1"


def test_a_pin_without_lower_bound_says_how_to_get_one() -> None:
    assert "`--lower X.Y`" in spelled("numba<1", END).note


@pytest.mark.parametrize("version", ["0.69", "1"])
def test_the_upper_bound_has_three_parts(version: str) -> None:
    parts = spelled("numba>=0.58", Version(version)).text.partition("<=")[2].split(".")
    assert len(parts) == 3


@pytest.mark.parametrize("pin", ["numba>=0.58,<", "numba 0.58", "numba>=0.58;", "numba>=x"])
def test_a_pin_that_pip_would_not_understand_is_a_sentence(pin: str) -> None:
    with pytest.raises(ValueError, match="is not a requirement that pip understands"):
        requirement_of(pin)


CLAUSES = st.lists(
    st.builds(
        "{}0.{}{}".format,
        st.sampled_from([">=", ">", "<", "<=", "!=", "==", "~="]),
        st.integers(50, 75),
        st.sampled_from(["", ".0", ".1", ".2"]),
    ).filter(lambda clause: not (clause.startswith("~=") and clause.count(".") < 1)),
    max_size=4,
).map(",".join)
RELEASES = [Version(f"0.{minor}.{patch}") for minor in range(48, 78) for patch in range(4)]


@given(CLAUSES)
def test_nothing_older_and_nothing_excluded_comes_in_and_the_end_always_does(bounds: str) -> None:
    made = spelled(f"numba{bounds}", END)
    before, after = SpecifierSet(bounds), Requirement(made.text).specifier
    if made.change in (Change.LEFT, Change.NONE):
        assert made.text == f"numba{bounds}"
        return
    assert END in after
    assert not any(release in after for release in RELEASES if release > END)
    for release in RELEASES:
        below = all(release in SpecifierSet(str(c)) for c in before if c.operator in (">=", ">"))
        excluded = any(release not in SpecifierSet(str(c)) for c in before if c.operator == "!=")
        assert not (release in after and (excluded or not below))
        lets_in = release in before and release <= END
        assert not lets_in or release in after
    assert spelled(made.text, END).change is Change.NONE


def test_the_lower_bound_asked_for_lowers_none() -> None:
    assert spelled("numba>0.57,<1", END, lower=Version("0.50")).text == "numba>=0.57.1,<=0.68.1"
