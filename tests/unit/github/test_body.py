"""Bodies that fit, and digests that tell texts apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from observatory.github.body import cut, digest, unix
from observatory.text.comment import LIMIT

PIECES = st.sampled_from((
    "word ", "\n", "\n\n", "<details><summary>x</summary>\n\n", "</details>\n", "\n```\n",
    "\n````\n", "\N{SNOWMAN}", "x" * 90,
))  # fmt: skip


def test_what_fits_stays_as_it_is() -> None:
    assert cut("x" * LIMIT) == "x" * LIMIT


def test_what_does_not_fit_is_cut_at_a_line_and_says_so() -> None:
    made = cut("a line of words\n" * 10_000)
    assert len(made) <= LIMIT
    assert made.endswith(
        "a line of words\n\n*Cut here, because GitHub accepts at most 65,000 characters.*\n"
    )


def test_a_fold_that_was_open_is_closed() -> None:
    made = cut("<details><summary>x</summary>\n\n" + "row\n" * 50_000)
    assert made.count("</details>") == 1


def test_a_fence_that_was_open_is_closed_by_one_as_long() -> None:
    made = cut("````\n" + "row\n" * 50_000)
    assert made.count("\n````\n") == 1


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(1000, 2000))
def test_no_text_is_ever_longer_than_allowed(text: str, most: int) -> None:
    assert len(cut(text * 5, most)) <= most


def test_a_browser_does_not_change_what_a_text_is() -> None:
    assert unix("a\r\nb") == "a\nb"
    assert unix(None) == ""


def test_any_text_has_a_digest() -> None:
    assert digest("\ud800") != digest("")
    assert len(digest("x")) == 16
