"""What is said of a bump: the report, and the text of a pull request that obeys nobody."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from observatory.numba_bound.judges import Finding, Judged, Verdict
from observatory.numba_bound.pins import read
from observatory.numba_bound.plan import Plan, plan
from observatory.numba_bound.status import UnsafeError
from observatory.numba_bound.wording import NOT_JUDGED, pull_request, report
from observatory.text.comment import LIMIT
from tests.factories_numba_bound import PYPROJECT
from tests.gfm import codes, problems

OLD, NEW = Version("0.66.0"), Version("0.68.1")
SOURCE = "the newest final release with a wheel for a Python of this project"
GOOD = Verdict("contracts", Finding.GOOD, "what PyTensor relies on in numba holds")
WRONG = Verdict("canary", Finding.BAD, "processes that shared a cache returned wrong numbers")
WORSE = Verdict("compare", Finding.BAD, "something is worse than with the old numba")


def planned(text: str = PYPROJECT) -> Plan:
    return plan(read(text.encode()), NEW, lambda _: None)


def judged(*verdicts: Verdict, comment: str = "", subject: str = "newest") -> Judged:
    return Judged(subject, NEW, OLD, verdicts, comment)


def test_the_report_says_what_and_why_for_every_pin() -> None:
    text = (
        'project.dependencies = ["numba>=0.58,<=0.66.0", "numba>0.57,<=0.68.1", '
        '"numba<=0.69.0", "numba>=0.58,<=0.68.1"]\ntool.pixi.dependencies.numba = "*"'
    )
    first, *lines = report(planned(text), SOURCE)
    assert first == f"numba 0.68.1: {SOURCE}"
    place = "project.dependencies"
    expected = """\
[0], line 1: numba>=0.58,<=0.66.0 -> numba>=0.58,<=0.68.1  (a bound changes: `<=0.66.0` excludes
[1], line 1: numba>0.57,<=0.68.1 -> numba>=0.57.1,<=0.68.1  (only the spelling changes: it means
    note: `>0.57` is written `>=0.57.1`, the next possible release
[2], line 1: numba<=0.69.0  (left alone on purpose: `<=0.69.0` already allows more than
[3], line 1: numba>=0.58,<=0.68.1  (unchanged: it already ends at numba 0.68.1)
not rewritten, because not a list of requirements: tool.pixi.dependencies.numba"""
    for line, begins in zip(lines, expected.splitlines(), strict=True):
        assert line.removeprefix(place).startswith(begins)


def test_a_terminal_obeys_nothing_in_the_report() -> None:
    text = (
        'project.dependencies = ["numba<1; os_name == \'\\u001b[31m\\u202e\'", "numba===\\u001b["]'
    )
    lines = list(report(planned(text), SOURCE))
    assert len(lines) == 4
    assert all(line.isprintable() for line in lines)


def test_the_text_has_a_title_the_change_and_the_reason() -> None:
    text = pull_request(planned(), SOURCE, None)
    title, empty, *body = text.splitlines()
    assert (title, empty) == ("Bump numba upper bound to <=0.68.1", "")
    assert body[0] == f"numba 0.68.1: {SOURCE}."
    assert "| place | before | after | reason |" in body
    shown = codes("\n".join(body))
    assert shown.count("numba>=0.58,<=0.66.0") == shown.count("numba>=0.58,<=0.68.1") == 2
    assert NOT_JUDGED in body


def test_a_text_without_a_bump_has_another_title() -> None:
    text = pull_request(planned("project.dependencies = ['numba>=0.58,<=0.68.1']"), SOURCE, None)
    assert text.startswith("Respell numba's bounds\n")


def test_do_not_merge_comes_first_with_every_reason() -> None:
    text = pull_request(planned(), SOURCE, judged(GOOD, WRONG, WORSE))
    title, _, first, *_ = text.splitlines()
    assert title == "Do not merge: bump numba upper bound to <=0.68.1"
    assert first == (
        "**Do not merge:** canary reports that processes that shared a cache returned wrong "
        "numbers and compare reports that something is worse than with the old numba."
    )
    assert "- `contracts`: good: what PyTensor relies on in numba holds" in text


def test_verdicts_that_are_open_forbid_nothing() -> None:
    open_ = Verdict("compare", Finding.OPEN, "nothing is worse, but not every cell could be judged")
    text = pull_request(planned(), SOURCE, judged(GOOD, open_))
    assert "not merge" not in text.lower()
    assert "- `compare`: open: nothing is worse" in text


def test_the_comparison_is_folded_in() -> None:
    text = pull_request(planned(), SOURCE, judged(GOOD, comment="### Nothing is worse"))
    assert text.endswith(
        "<details><summary>numba 0.68.1 compared with numba 0.66.0</summary>\n\n"
        "### Nothing is worse\n\n</details>\n"
    )


def test_a_comparison_that_is_too_long_stays_out_and_is_missed() -> None:
    text = pull_request(planned(), SOURCE, judged(GOOD, comment="x " * (LIMIT // 2)))
    assert len(text) < LIMIT
    assert text.endswith("The comparison is too long for a pull request.\n")


def test_what_is_left_and_what_is_not_rewritten_is_told() -> None:
    text = 'project.dependencies = ["numba<1", "numba<=0.69.0"]\ntool.pixi.dependencies.numba = "*"'
    told = pull_request(planned(text), SOURCE, None)
    assert "- `project.dependencies[0]`: it has no lower bound" in told
    assert "- `project.dependencies[1]` stays `numba<=0.69.0`:" in told
    assert (
        "Not rewritten, because not a list of requirements: `tool.pixi.dependencies.numba`" in told
    )


def test_a_text_stays_within_what_github_takes() -> None:
    pins = ", ".join(f"\"numba<0.6; os_name == '{'x' * 3000}'\"" for _ in range(45))
    text = pull_request(planned(f"project.dependencies = [{pins}]"), SOURCE, None)
    assert len(text) < LIMIT
    assert "and 5 more" in text


MARKS = st.sampled_from("`|*_[]<>&@#:. -1a")
IN_FILES = st.text(alphabet=st.one_of(MARKS, st.characters(exclude_categories=("Cs",))))
"""A file in UTF-8 has no half of a surrogate pair; an argument of a command may have one."""
TYPED = st.text(alphabet=st.one_of(MARKS, st.characters()))


@settings(max_examples=50)
@given(IN_FILES, st.text(alphabet=MARKS), TYPED)
def test_no_text_from_a_file_or_a_command_line_is_obeyed(
    name: str, value: str, subject: str
) -> None:
    key = json.dumps(name, ensure_ascii=False)
    marker = f"os_name == '{value}'"
    text = (
        f'project.optional-dependencies.{key} = ["numba<1; {marker}", "numba<=0.69; {marker}"]\n'
        f'[tool.{key}.dependencies]\nnumba = "*"'
    )
    try:
        made = planned(text)
    except UnsafeError:  # a marker that there cannot be, or a character that TOML forbids
        return
    told = pull_request(made, SOURCE, judged(GOOD, WRONG, subject=subject))
    assert problems(told.partition("\n\n")[2]) == []
