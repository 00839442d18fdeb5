from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.text.document import (
    Command,
    Folded,
    Heading,
    Link,
    Name,
    Paragraph,
    Points,
    Strong,
    Table,
)
from observatory.text.markdown import code, inline, markdown, prose
from observatory.text.plain import clean
from tests.gfm import codes, parse, problems

TEXTS = st.text(alphabet=st.one_of(st.sampled_from("`|\\*_[]<>&@#:. \n1a-"), st.characters()))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("35 functions miss, e.g. two (of 40).", "35 functions miss, e.g. two (of 40)."),
        ("the Op's key: half-done!", "the Op's key: half-done!"),
        ("0 → 35 in warm_disk.", "0 → 35 in `warm_disk`."),
        ("ping @user about #12 and GH-12", "ping `@user` about `#12` and `GH-12`"),
        ("since deadbeef, not 1234567", "since `deadbeef`, not `1234567`"),
        ("<b> or **bold** text", "`<b>` or `**bold**` text"),
        ("see https://e.vil/x or www.", "see `https://e.vil/x` or `www`."),
        ("a `tick` b", "a `` `tick` `` b"),
        ("  spaced  ", " spaced "),
        ("", ""),
    ],
)
def test_plain_words_are_written_as_they_are_and_the_rest_as_code(text: str, written: str) -> None:
    assert prose(text) == written


def test_a_number_keeps_its_unit_beside_it() -> None:
    written = prose("251 ms or 8 % in 4 sets")
    assert written.split(" ") == ["251\u00a0ms", "or", "8\u00a0%", "in", "4", "sets"]


@pytest.mark.parametrize(
    ("text", "written"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a``", "``` a`` ```"), ("", "`?`"),
     ("a\nb\x1b", "`a b\ufffd`")],
)  # fmt: skip
def test_the_fence_of_a_code_span_is_longer_than_any_run_inside(text: str, written: str) -> None:
    assert code(text) == written


@given(TEXTS)
def test_a_name_is_shown_whole_and_as_nothing_but_code(text: str) -> None:
    assert codes(inline((Name(text),))) == [clean(text) or "?"]


@given(st.lists(st.one_of(TEXTS, TEXTS.map(Name), TEXTS.map(Strong)), max_size=6))
def test_no_sentence_is_obeyed(parts: list[str | Name | Strong]) -> None:
    # Bold words have spaces around them, as every sentence of ours has.
    words = tuple(piece for part in parts for piece in (part, " "))
    for block in (Paragraph(words), Heading(words), Points((words, words))):
        assert problems(markdown(block)) == []


@given(TEXTS, TEXTS)
def test_a_table_keeps_its_shape_and_its_names(first: str, second: str) -> None:
    rows = (((Name(first),), (Name(second),)), ((second,), (first,)))
    written = markdown(Table((first, "b"), rows))
    assert problems(written) == []
    cells = [token for token in parse(written) if token.type == "td_open"]
    assert len(cells) == 4
    assert written.count("\n") == 3
    shown = codes("\n".join(written.splitlines()[:3]))
    assert shown[-2:] == [clean(first) or "?", clean(second) or "?"]


@given(TEXTS)
def test_a_summary_and_a_command_hold_their_text(text: str) -> None:
    written = markdown(Folded(text, (Command(text),)))
    assert problems(written) == []
    fences = [token.content for token in parse(written) if token.type == "fence"]
    assert fences == [f"{clean(text)}\n"]


def test_a_paragraph_that_begins_with_a_number_is_no_list() -> None:
    assert parse(inline(("1. and 2) too",)))[0].type == "paragraph_open"
    assert inline(("1. and 2) too",)) == r"1\. and 2) too"
    assert inline(("4.90 of it",)) == "4.90 of it"


def test_a_text_with_brackets_is_no_link() -> None:
    url = "https://example.org/a"
    assert inline((Link("a report", url),)) == f"[a report]({url})"
    for text in ("a]b", "[a", "<b>"):
        assert inline((Link(text, url),)) == f"`{text}`"


def test_code_spans_that_touch_are_kept_apart() -> None:
    assert inline((Name("a"), Name("b"), "c_d")) == "`a` `b` `c_d`"
