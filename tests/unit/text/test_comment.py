"""The comment as a whole: golden files, order, bounded length, nothing of a stranger's obeyed.

Renew the golden files with `pytest tests/unit/text --renew-golden` and read the diff.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from observatory.store.records.comparison import Comparison, Workload
from observatory.text.comment import LIMIT, MARKER, comment
from tests import factories_comparison as factory
from tests.gfm import problems, visible_lines
from tests.hostile_comparisons import flood, hostile_comparisons

GOLDEN = Path(__file__).parent / "golden"
RENEW = "renew with: pytest tests/unit/text --renew-golden"


@pytest.mark.parametrize("scene", factory.SCENES)
def test_the_comment_is_the_golden_one(scene: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / f"{scene}.md"
    made = comment(factory.SCENES[scene]())
    if request.config.getoption("--renew-golden", default=False):
        path.write_text(made, "utf-8")
    assert made.splitlines() == path.read_text("utf-8").splitlines(), RENEW


@pytest.mark.parametrize("scene", factory.SCENES)
def test_the_comment_renders_to_the_allowed_elements_only(scene: str) -> None:
    assert problems(comment(factory.SCENES[scene]())) == []


@pytest.mark.parametrize("scene", [scene for scene in factory.SCENES if scene != "mixed"])
def test_a_common_comment_fits_a_screen(scene: str) -> None:
    assert visible_lines(comment(factory.SCENES[scene]())) <= 25


def test_the_marker_comes_first_and_then_the_verdict_in_words() -> None:
    marker, verdict, *_ = comment(factory.cache_regression()).splitlines()
    assert marker == MARKER
    assert verdict.startswith("### HEAD is worse: 35 functions stopped hitting the cache in 4 wa")


def _order(text: str, *words: str) -> list[int]:
    places = [text.index(word) for word in words]
    assert places == sorted(places), words
    return places


def test_everything_is_told_in_the_order_of_its_weight() -> None:
    _order(
        comment(factory.mixed()),
        "#### Not judged",
        "5 worse, 2 better",
        "#### Refused",
        "#### More Python work",
        "#### Call time",
        "#### Better",
        "<summary>Workload changed",
        "observatory compare 3.3.6",
    )


def test_wrong_results_come_before_causes_that_cost_more() -> None:
    wrong = factory.wrong_results()
    lost = factory.cache_regression()
    causes = [lost.causes[0], wrong.causes[0].model_copy(update={"id": "cause-2"})]
    changed = [v.model_copy(update={"cause": "cause-2"}) for v in wrong.worse if v.cause]
    made = comment(factory.comparison([*lost.worse, *changed], causes=causes))
    assert made.splitlines()[1].startswith("### Do not merge: 7 wrong values in")
    _order(made, "#### Wrong results", "#### Keys differ between processes")


# What a stranger's file may hold.


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(hostile_comparisons())
def test_no_text_of_a_stranger_is_obeyed(strange: Comparison) -> None:
    assert problems(comment(strange)) == []


@pytest.mark.parametrize("piece", ["x", "` ", "a_ ", "|@<", "\u202e"])
def test_no_comparison_makes_a_comment_longer_than_github_takes(piece: str) -> None:
    made = comment(flood(piece))
    assert len(made) <= LIMIT
    assert problems(made) == []
    assert made.startswith(f"{MARKER}\n### ")
    assert "This comment was cut to 65,000 characters and lacks " in made


def test_a_long_comment_loses_what_matters_least_and_says_so() -> None:
    lost = factory.cache_regression()
    names = [f"{'function' * 20}{number}" for number in range(100)]
    causes = [
        lost.causes[0].model_copy(
            update={"id": f"cause-{n}", "functions": factory.functions(*names)}
        )
        for n in range(1, 4)
    ]
    words = [(f"{'appeared' * 20}{number}", 1) for number in range(40)]
    workload = [Workload(model="radon", backend=str(n), appeared=words, vanished=[])
                for n in range(20)]  # fmt: skip
    made = comment(lost.model_copy(update={"causes": causes, "workload": workload}))
    assert len(made) <= LIMIT
    assert "the changes of the workload" in made.splitlines()[-1]
    assert "how it was measured" in made.splitlines()[-1]
    assert "<summary>Workload changed" not in made
    assert made.count("#### Keys differ between processes") == 3
    assert "observatory compare 3.3.6 3.3.7" in made


def test_a_comment_that_fits_leaves_nothing_out() -> None:
    assert "This comment was cut" not in comment(factory.mixed())
