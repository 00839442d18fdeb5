"""Every page of a whole site in a real Chromium, from file://, without network."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from observatory.dashboard.site import build
from observatory.store.reading.fates import Fate
from observatory.store.records.alerts import Alert
from tests import factories_frame as factory
from tests.browser.conftest import Visit, Visitor, stays_quiet, violations
from tests.factories_contracts import many_contracts
from tests.factories_site import observed
from tests.unit.dashboard.test_pages import alert, functions

pytestmark = pytest.mark.browser
HOSTILE = "3.3.7\"><img src=x onerror=alert(1)><script>console.error('x')</script>"
ANSWER = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
REST = """() => new Promise(found => {
  new PerformanceObserver(seen => found(seen.getEntries()[0].renderTime))
    .observe({type: "element", buffered: true});
  setTimeout(() => found(-1), 1000);
})"""
CLICKS = """() => {
  window.clicked = [];
  addEventListener("click", (event) => { clicked.push(event.target.href); }, true);
}"""
FOCUSED = "tag => document.body.appendChild(document.createElement(tag)).focus()"
CELLS = ("radon cold NUMBA fork", "radon cold NUMBA spawn", "radon warm_disk C fork")


def everything(rows: Any = None) -> Any:
    """A frame with open and resolved alerts, what was compiled, and contracts of every status."""
    frame = factory.frame() if rows is None else rows
    base = observed(frame)
    alerts: list[Alert] = [
        alert(base), alert(base, "resolved", id="b" * 10), alert(base, "acknowledged", id="c" * 10)
    ]  # fmt: skip
    record = base.alerts.model_copy(update={"alerts": alerts})
    line = base.lines[0]
    fates = {
        (line.machine, line.env_name, one.commit): {
            "ops census_warm NUMBA spawn": [
                Fate(f"family.a_graph_with_a_long_name_{n}",
                     *(("uncacheable", f"a reason {n % 3}") if n % 29 == at else ("hit", "")))
                for n in range(60)
            ]
        }
        for at, one in enumerate(line.subjects)
    }  # fmt: skip
    return observed(
        frame, alerts=record, functions=functions(base, *CELLS), contracts=many_contracts(),
        fates=fates,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(everything(), tmp_path_factory.mktemp("site") / "html").parent


def pages(site: Path) -> list[str]:
    return sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))


def address(site: Path, page: str) -> tuple[Path, str]:
    """A page, with a choice in its fragment if it is about a choice and the site has a series."""
    first = re.search('id="s-([^"]*)"', (site / "list/001.html").read_text())
    return site / page, f"#s={first[1]}" if first and page == "series.html" else ""


def toured(
    visit: Visitor, site: Path, of: Sequence[str] | None = None, **options: Any
) -> Iterator[tuple[str, Visit]]:
    """Each page of a site, by its name, in one window."""
    names = pages(site) if of is None else of
    yield from zip(names, visit.each([address(site, one) for one in names], **options), strict=True)


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_pages_are_quiet_local_and_no_wider_than_the_screen(
    visit: Visitor, site: Path, width: int, scheme: str
) -> None:
    for page, seen in toured(visit, site, width=width, scheme=scheme):
        seen.settle()
        for summary in seen.page.query_selector_all("details > summary"):
            if summary.is_visible():
                summary.click()
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, page
        ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(246, 245, 241)", "dark": "rgb(17, 21, 27)"}[scheme], page
        stays_quiet(seen)


def test_pages_can_be_read_without_a_script(visit: Visitor, site: Path) -> None:
    for page, seen in toured(visit, site, java_script_enabled=False):
        assert seen.page.locator("h1").is_visible(), page
        assert len(seen.page.locator("main").inner_text()) > 100, page


def test_the_first_page_answers_above_the_fold(visit: Visitor, site: Path) -> None:
    seen = visit(site / "index.html").settle()
    for place in ("#verdict", "#tiles", "#open", ".safety"):
        box = seen.page.locator(place).bounding_box()
        assert box["y"] + box["height"] <= 800, place
    last = seen.page.locator(".strips p").last.bounding_box()
    assert last["y"] + last["height"] <= 800
    age = seen.page.locator(".run").inner_text()
    assert "h ago" in age or "days ago" in age


def test_the_first_page_paints_its_answer_before_the_rest(visit: Visitor, site: Path) -> None:
    seen = visit(site / "index.html").settle()
    assert seen.page.evaluate(ANSWER) < seen.page.evaluate(REST)
    bare = visit(site / "index.html", java_script_enabled=False).page.locator(".fold")
    assert "How long a user waits" in bare.inner_text()
    assert bare.locator(".tile").first.is_visible()


def test_a_link_to_a_place_on_the_first_page_leads_there(visit: Visitor, site: Path) -> None:
    for scripts in (True, False):
        page = visit(site / "index.html", "#strip", width=390, java_script_enabled=scripts).page
        top = math.inf
        for _ in range(25):  # asked from here: without scripts a page cannot tell that it is drawn
            before, top = top, page.locator("#strip").bounding_box()["y"]
            if before == top < 400:
                break
            page.wait_for_timeout(400)
        assert before == top < 400, scripts


def test_paper_has_the_tables_and_nothing_to_click_on(visit: Visitor, site: Path) -> None:
    for name, kept, left_out in (
        ("index.html", ".tile", ".top"),
        ("alerts/0123456789.html", "#evidence", "details"),
    ):
        page = visit(site / name).settle().page
        assert page.locator(left_out).first.is_visible()
        page.emulate_media(media="print")
        assert page.locator(kept).first.is_visible()
        assert not any(one.is_visible() for one in page.locator(left_out).all())


def test_a_page_that_is_old_says_so(visit: Visitor, site: Path, tmp_path: Path) -> None:
    for name in ("index.html", "alerts.html"):
        seen = visit(site / name).settle()
        assert seen.page.locator("#site-age").inner_text().startswith("Stale: the newest sample")
        assert seen.page.locator("footer time").inner_text().endswith(" days ago")
    found = everything()
    calm = replace(found, alerts=found.alerts.model_copy(update={"alerts": []}))
    page = visit(build(calm, tmp_path / "html")).settle().page
    assert page.locator(".verdict > .status").inner_text() == "? Stale"
    assert page.get_attribute(".verdict", "class") == "verdict unknown"


def test_hostile_names_are_text(visit: Visitor, tmp_path: Path) -> None:
    rows = factory.release_rows("3.3.7", subject=HOSTILE, machine="<b>m</b>")
    site = build(observed(factory.as_frame(rows), ["<script>alert(1)</script>.json: x"]),
                 tmp_path / "html").parent  # fmt: skip
    for page, seen in toured(visit, site):
        assert seen.settle().complaints == [], page
        assert seen.page.locator("img").count() == 0, page
        assert "m" not in seen.page.locator("main b").all_text_contents(), page


@pytest.mark.parametrize("frame", ["empty", "one subject", "one series"])
def test_little_gives_pages_that_say_what_is_missing(
    visit: Visitor, tmp_path: Path, frame: str
) -> None:
    rows = factory.release_rows("3.3.7")
    frames = {
        "empty": [],
        "one subject": rows,
        "one series": [row for row in rows if row["metric"] == "call_time"][:1],
    }
    site = build(observed(factory.as_frame(frames[frame])), tmp_path / "html").parent
    for page, seen in toured(visit, site):
        assert seen.settle().complaints == [], page
        assert len(seen.page.locator("main").inner_text()) > 30, page


def test_the_policy_of_a_page_refuses_a_script_put_into_it(visit: Visitor, tmp_path: Path) -> None:
    page = build(observed(factory.frame()), tmp_path / "html")
    text = page.read_text("utf-8")
    page.write_text(text.replace("</main>", "<script>document.title='owned'</script></main>"))
    seen = visit(page)
    assert "owned" not in seen.page.title()
    assert any("Content Security Policy" in each for each in seen.complaints)


def test_every_id_that_is_named_is_there_once(visit: Visitor, site: Path) -> None:
    for page, seen in toured(visit, site):
        seen.settle()
        lost = seen.page.evaluate(
            "[...document.querySelectorAll('a[href^=\"#\"], [aria-labelledby], [aria-controls]')]"
            ".flatMap(e => ['href', 'aria-labelledby', 'aria-controls'].flatMap(name =>"
            " (e.getAttribute(name) || '').replace(/^#/, '').split(' ')))"
            ".filter(id => id && !id.includes('/') && !id.includes('.html')"
            " && !document.getElementById(id))"
        )
        assert lost == [], page
        twice = seen.page.evaluate(
            "(ids => ids.filter((id, i) => ids.indexOf(id) !== i))"
            "([...document.querySelectorAll('[id]')].map(e => e.id))"
        )
        assert twice == [], page


def test_no_serious_violation_of_accessibility(visit: Visitor, site: Path) -> None:
    found = {}
    shown = [page for page in pages(site) if not page.startswith("list/") or "001" in page]
    for page, seen in toured(visit, site, shown, bypass_csp=True):
        bad = violations(seen.settle().page)
        if bad:
            found[page] = bad
    assert found == {}


def test_the_search_finds_every_series_and_leads_to_it(visit: Visitor, site: Path) -> None:
    seen = visit(site / "index.html", bypass_csp=True).settle()
    page = seen.page
    page.keyboard.press("/")
    page.keyboard.type("warm_process numba spawn compile_time")
    page.wait_for_selector("#search-found [role=option]")
    texts = page.locator("#search-found [role=option]").all_inner_texts()
    assert texts[0] == "radon warm_process NUMBA spawn compile_time"  # whole words first
    assert len(texts) == 3
    page.keyboard.press("ArrowDown")
    assert violations(page) == []
    box = page.locator("#search-words")
    assert box.get_attribute("aria-activedescendant") == "search-0"
    page.keyboard.press("ArrowUp")
    assert box.get_attribute("aria-activedescendant") == "search-2"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/series.html#s=*")
    seen.settle()
    assert "radon warm_process NUMBA spawn" in page.locator("main").inner_text()
    assert seen.complaints == []


def test_what_is_not_there_is_said_by_the_search(visit: Visitor, site: Path) -> None:
    seen = visit(site / "alerts/0123456789.html").settle()
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("zebra")
    seen.page.wait_for_selector(".found p:not(:empty)")
    assert seen.page.locator(".found").inner_text().strip() == "No series contains all these words."
    seen.page.keyboard.press("Tab")
    assert not seen.page.locator(".found").is_visible()
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("s")
    seen.page.wait_for_selector(".found p:not(:empty)")
    seen.page.keyboard.press("Escape")
    assert not seen.page.locator(".found").is_visible()
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("radon")
    note = seen.page.locator(".found p:not(:empty)")
    note.wait_for()
    all_of_them = sum(page.read_text().count('id="s-') for page in (site / "list").glob("*.html"))
    assert note.inner_text() == f"and {all_of_them - 12} more: type another word"
    note.click()
    assert note.is_visible()
    seen.page.locator("h1").click()
    assert not seen.page.locator(".found").is_visible()


def test_keys_lead_to_pages_and_a_list_of_them(visit: Visitor, site: Path) -> None:
    seen = visit(site / "index.html").settle()
    seen.page.keyboard.press("?")
    assert "search all series" in seen.page.locator("dialog").inner_text()
    seen.page.evaluate(CLICKS)
    seen.page.keyboard.type("gr")
    seen.page.keyboard.press("Escape")
    seen.page.wait_for_selector("dialog", state="detached")
    for control in ("input", "select", "textarea"):
        seen.page.evaluate(FOCUSED, control)
        seen.page.keyboard.type("gr?")
    seen.page.evaluate("document.activeElement.blur()")
    for held in ("Control", "Alt", "Meta"):
        seen.page.keyboard.press(f"{held}+g")
        seen.page.keyboard.press("r")
    assert seen.page.evaluate("clicked") == []  # no key led to another page
    assert seen.page.locator("dialog").count() == 0
    seen.page.keyboard.press("g")
    seen.page.keyboard.press("r")
    seen.page.wait_for_url("**/health.html")


def test_tab_reaches_every_link_and_button(visit: Visitor, site: Path) -> None:
    for page in ("index.html", "alerts/0123456789.html", "compare.html"):
        seen = visit(*address(site, page)).settle()
        wanted = seen.page.evaluate(
            "[...document.querySelectorAll('a[href], button, select, input, summary')]"
            ".filter(e => e.checkVisibility() && e.tabIndex >= 0 && !e.disabled).length"
        )
        reached = set()
        for _ in range(wanted + 60):
            seen.page.keyboard.press("Tab")
            found = seen.page.evaluate(
                "(e => { if (!e || e === document.body) return '';"
                " e.dataset.n ??= String(Math.random()); return e.dataset.n + '|' + e.tagName; })"
                "(document.activeElement)"
            )
            if found.split("|")[-1] in ("A", "BUTTON", "SELECT", "INPUT", "SUMMARY"):
                reached.add(found)
        assert len(reached) >= wanted, page


def test_a_command_is_copied(visit: Visitor, site: Path) -> None:
    seen = visit(site / "alerts/0123456789.html").settle()
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = seen.page.locator("button.copy").first
    button.click()
    seen.page.wait_for_function("document.querySelector('button.copy').textContent == 'Copied'")
    copied = seen.page.evaluate("navigator.clipboard.readText()")
    assert copied == button.get_attribute("data-copy") != ""


def test_the_census_is_filtered_and_tells_why(visit: Visitor, site: Path) -> None:
    path = site / "census" / "ops-numba.html"
    page = visit(path, width=390, has_touch=True).settle().page
    assert page.locator("#census-count").inner_text() == "60 of 60 graphs"
    page.fill("#census-words", "name_5")
    assert page.locator("#census tbody tr:visible").count() == 11
    page.check("#census-changed")
    shown = page.locator("#census tbody tr:visible")
    assert 0 < shown.count() < 11
    places, note = shown.locator("td.f-uncacheable"), page.locator("#census-note")
    places.first.tap()
    assert "uncacheable (a reason" in note.inner_text()
    before = note.inner_text()
    places.last.hover()
    page.wait_for_function("old => document.querySelector('#census-note').innerText !== old",
                           arg=before)  # fmt: skip
    assert note.inner_text().startswith(f"{shown.last.locator('th').inner_text()} with ")
    again = visit(path, "#changed=1&q=name_5", width=390).settle().page
    assert again.locator("#census tbody tr:visible").count() == shown.count()
    bare = visit(path, width=390, java_script_enabled=False).page
    assert bare.locator("#census-controls").is_hidden()
    assert bare.locator("#census tbody tr:visible").count() == 60
    bare.get_by_text("Every reason").click()  # as Enter does
    assert "a reason" in bare.locator("#census-reasons dt").first.inner_text()
    assert "name_5" in bare.locator("#census-reasons").inner_text()


def test_names_of_graphs_stay_in_sight_on_a_phone(visit: Visitor, site: Path) -> None:
    page = visit(site / "census" / "ops-numba.html", width=390).settle().page
    name = page.locator("#census tbody th").nth(20)
    before = name.bounding_box()["x"]
    page.evaluate("document.querySelector('.census-scroll').scrollBy(200, 0)")
    assert page.evaluate("document.querySelector('.census-scroll').scrollLeft") > 0
    assert abs(name.bounding_box()["x"] - before) < 2
    assert name.bounding_box()["width"] <= 0.6 * 390
