from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from rich.console import Console, RenderableType

from observatory.store.records.comparison import Comparison
from observatory.text.comment import comment
from observatory.text.comparison.story import tell
from observatory.text.document import (
    Command,
    Folded,
    Heading,
    Link,
    Name,
    Paragraph,
    Part,
    Points,
    Status,
    Story,
    Strong,
    Table,
)
from observatory.text.terminal import blocks, drawn, terminal
from tests import factories_comparison as factory
from tests.hostile_comparisons import hostile_comparisons

GOLDEN = Path(__file__).parent / "golden"
RENEW = "renew with: pytest tests/unit/text --renew-golden"


def printed(comparison: Comparison, *, colour: bool = False) -> str:
    return shown(terminal(comparison), colour=colour)


def shown(what: RenderableType, *, colour: bool = False) -> str:
    stream = io.StringIO()
    system = "standard" if colour else None
    console = Console(file=stream, width=80, force_terminal=colour, color_system=system)
    console.print(what)
    return stream.getvalue()


@pytest.mark.parametrize("scene", ["cache-regression", "mixed", "half-missing"])
def test_the_terminal_shows_the_golden_text(scene: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / f"{scene}.txt"
    lines = [line.rstrip() for line in printed(factory.SCENES[scene]()).splitlines()]
    if request.config.getoption("--renew-golden", default=False):
        path.write_text("\n".join(lines) + "\n", "utf-8")
    assert lines == path.read_text("utf-8").splitlines(), RENEW


@pytest.mark.parametrize("scene", factory.SCENES)
def test_the_terminal_says_what_the_comment_says_within_eighty_columns(scene: str) -> None:
    comparison = factory.SCENES[scene]()
    text = printed(comparison)
    assert max(map(len, text.splitlines())) <= 80
    verdict = comment(comparison).splitlines()[1].removeprefix("### ").replace("`", "")
    assert verdict.startswith(str(tell(comparison).status))
    assert " ".join(verdict.split()) in " ".join(text.split())


def test_an_alarm_is_red_and_the_rest_is_calm() -> None:
    def first(scene: str) -> str:
        return printed(factory.SCENES[scene](), colour=True).splitlines()[0]

    assert "\x1b[1;31m" in first("wrong-results")
    assert "\x1b[1;32m" in first("faster")
    assert "\x1b[1;33m" in first("half-missing")


def test_folded_lists_are_cut_and_say_so() -> None:
    text = printed(factory.cache_regression())
    assert "and 8 more lines: see --markdown" in text
    assert "Scan" not in text


def test_markup_and_control_sequences_in_a_name_are_shown_and_not_obeyed() -> None:
    side = factory.side("3.3.7")
    label = "[red]x[/] \x1b[31my\x07 [link=http://e]z[/link]"
    strange = side.model_copy(update={"subject": side.subject.model_copy(update={"label": label})})
    text = printed(factory.comparison(head=strange))
    assert "[red]x[/] �[31my� [link=http://e]z[/link] vs 3.3.6" in " ".join(text.split())


def test_the_renderer_itself_trusts_no_text() -> None:
    bad = "\x1b[31m\x07[b]\u202e"
    words = (bad, Name(bad), Strong(bad), Link(bad, bad))
    inner = (
        Heading(words),
        Paragraph(words),
        Points((words,)),
        Table((bad,), ((words,),)),
        Command(bad),
    )
    status = Status("x", "Worse")
    parts = Part(1, bad, (*inner, Folded(bad, inner))), Part(9, bad, ())
    story = Story("worse", status, words, parts)
    text = shown(drawn(story))
    assert "\ufffd[31m\ufffd[b]\ufffd" in text
    assert all(c == "\n" or c.isprintable() for c in text)


def test_markup_in_the_header_of_a_table_is_shown_and_not_obeyed() -> None:
    assert "[b]x[/b]" in shown(blocks([Table(("[b]x[/b]",), ())]))


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(hostile_comparisons())
def test_no_comparison_reaches_the_terminal_with_a_control_character(strange: Comparison) -> None:
    assert all(c == "\n" or c.isprintable() for c in printed(strange))
