"""The flame graph in a real Chromium: zoom, search, keyboard, and the picture without a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Visitor, stays_quiet, violations
from tests.factories_profiles import HOSTILE, write_page

pytestmark = pytest.mark.browser
FOCUSED = "document.activeElement.getAttribute('aria-label')"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(tmp_path_factory.mktemp("flame"))


def widths(page: Any) -> dict[str, float]:
    """The names of the frames drawn, each with the width of its widest frame."""
    found = page.evaluate(
        "[...document.querySelectorAll('[role=treeitem]')].map(e =>"
        " [e.getAttribute('aria-label').split(': own')[0],"
        " e.querySelector('rect').getBoundingClientRect().width])"
    )
    return dict(sorted(found, key=lambda one: one[1]))


def focused(page: Any) -> str:
    return str(page.evaluate(FOCUSED)).split(": own")[0]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_graph_is_quiet_accessible_and_no_wider_than_the_screen(
    visit: Visitor, path: Path, width: int, scheme: str
) -> None:
    seen = visit(path, width=width, scheme=scheme, bypass_csp=True).settle()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(seen.page) == []
    stays_quiet(visit(path, width=width, scheme=scheme).settle())


def test_without_a_script_the_graph_is_there_and_controls_are_not(
    visit: Visitor, path: Path
) -> None:
    page = visit(path, java_script_enabled=False).page
    assert page.locator(".frames text", has_text="▲ grown").is_visible()
    assert not page.locator(".flame .controls").is_visible()


def test_python_and_the_script_draw_the_same(visit: Visitor, path: Path) -> None:
    static = visit(path, java_script_enabled=False).page
    drawn = visit(path).settle().page
    look = """[...document.querySelectorAll('.frames > svg')]
      .map(e => [e, e.querySelector('rect').getBoundingClientRect()])
      .filter(([, box]) => box.width > 4)
      .map(([e, box]) => [e.querySelector('title')?.textContent ?? e.getAttribute('aria-label'),
        e.getAttribute('class').trim(), Math.round(box.width), e.getAttribute('y'),
        Math.round(box.x)].join('|'))"""
    first, second = static.evaluate(look), drawn.evaluate(look)
    assert len(first) > 50
    assert set(first) - set(second) == set()
    labels = """Object.fromEntries([...document.querySelectorAll('.frames > svg')]
      .filter(e => e.querySelector('text'))
      .map(e => [e.querySelector('title')?.textContent ?? e.getAttribute('aria-label'),
        e.querySelector('text').textContent]))"""
    written, again = static.evaluate(labels), drawn.evaluate(labels)
    both = written.keys() & again.keys()
    assert len(both) > 5
    assert {name: written[name] for name in both} == {name: again[name] for name in both}


def test_a_graph_that_is_not_shown_yet_is_drawn_when_it_is(visit: Visitor, path: Path) -> None:
    text = path.read_text("utf-8").replace("<figure", "<details><summary>Graph</summary><figure")
    folded = path.with_name("folded.html")
    folded.write_text(text.replace("</figure>", "</figure></details>"), "utf-8")
    seen = visit(folded).settle()
    assert widths(seen.page) == {}
    seen.page.get_by_text("Graph", exact=True).click()
    seen.settle()
    assert widths(seen.page)["(build)"] > 1000
    seen.page.evaluate("document.querySelector('figure').hidden = true")
    seen.settle()
    assert seen.complaints == []


def test_keys_walk_zoom_and_return(visit: Visitor, path: Path) -> None:
    seen = visit(path).settle()
    page = seen.page
    page.locator("[role=treeitem][tabindex='0']").focus()
    assert focused(page) == "(build)"
    page.keyboard.press("ArrowDown")
    widest = focused(page)
    place = "Number(document.activeElement.getAttribute('x'))"
    from_left = page.evaluate(place)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(place) < from_left
    page.keyboard.press("ArrowRight")
    assert focused(page) == widest
    before = widths(page)[widest]
    page.keyboard.press("Enter")
    assert widths(page)[widest] > 1.5 * before
    assert widths(page)[widest] == pytest.approx(widths(page)["(build)"])
    assert focused(page) == widest
    page.keyboard.press("ArrowUp")
    assert focused(page) == "(build)"
    page.keyboard.press("Escape")
    assert widths(page)[widest] == pytest.approx(before)
    assert page.locator("#said").inner_text() == "Zoomed to (build)"
    assert seen.complaints == []


def test_a_click_zooms_and_the_button_zooms_out(visit: Visitor, path: Path) -> None:
    page = visit(path).settle().page
    before = widths(page)["grown"]
    page.locator("[aria-label^='grown:'] rect").last.click()
    assert widths(page).keys() == {"(build)", "grown"}
    page.get_by_role("button", name="Zoom out").click()
    assert widths(page)["grown"] == pytest.approx(before)


def test_search_marks_counts_and_zooms(visit: Visitor, path: Path) -> None:
    page = visit(path).settle().page
    field = page.get_by_label("Search functions")
    field.fill("GROWN")
    assert page.locator(".match").count() == 1
    assert page.locator("#said").inner_text().startswith("1 of ")
    assert "with callees 3.8 % of all calls" in page.locator(".about").inner_text()
    field.press("Enter")
    assert focused(page) == "grown"
    assert widths(page).keys() == {"(build)", "grown"}
    field.fill("rewriter1.trans")
    assert page.locator("#said").inner_text().split(" of ")[0] != "0"
    field.press("Escape")
    assert field.input_value() == ""
    assert page.locator(".match").count() == 0


def test_widths_by_base_show_what_is_gone(visit: Visitor, path: Path) -> None:
    page = visit(path).settle().page
    assert "gone" not in widths(page)
    assert HOSTILE in widths(page)
    page.locator("[aria-label^='</title>'] rect").last.click()
    page.get_by_text("3.3.6", exact=True).locator("visible=true").last.click()
    assert "gone" in widths(page)
    assert HOSTILE not in widths(page)
