"""The first page in a real Chromium, from file://, without network and without JavaScript."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dashboard.site import build
from tests import factories_frame as factory

playwright = pytest.importorskip("playwright.sync_api", reason="the playwright package is absent")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not on PATH"),
]
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
HOSTILE = "3.3.7\"><img src=x onerror=alert(1)><script>console.error('x')</script>"


@dataclass
class Visit:
    """What the browser complained about and asked for."""

    page: object
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture(params=["full", "empty", "hostile"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    rows = factory.release_rows("3.3.7", subject=HOSTILE, machine="<b>m</b>")
    frame = {
        "full": factory.frame(),
        "empty": factory.as_frame([]),
        "hostile": factory.as_frame(rows),
    }[request.param]
    problems = ["results/<script>alert(1)</script>.json: not JSON"]
    return build(frame, tmp_path / "html", problems=problems, measured_at={}, version="0.1.0")


def visit(browser, site: Path, *, width: int, scheme: str) -> Visit:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    seen = Visit(page)
    page.on("console", lambda message: seen.complaints.append(message.text))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("requestfailed", lambda request: seen.complaints.append(f"failed: {request.url}"))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.goto(site.as_uri())
    return seen


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_quiet_local_and_no_wider_than_the_screen(browser, site, width, scheme):
    seen = visit(browser, site, width=width, scheme=scheme)
    for details in seen.page.query_selector_all("details > summary"):
        details.click()
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith(("file://", "data:"))] == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    # The stylesheet arrived although the policy names no origin but the page's own.
    ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(246, 245, 241)", "dark": "rgb(17, 21, 27)"}[scheme]
    assert seen.page.evaluate("document.scripts.length") == 0
    assert seen.page.evaluate("document.images.length") == 0


def test_the_policy_of_the_page_refuses_a_script_put_into_it(browser, tmp_path):
    site = build(factory.frame(), tmp_path / "html", problems=[], measured_at={}, version="0.1.0")
    text = site.read_text("utf-8")
    site.write_text(text.replace("</main>", "<script>document.title='owned'</script></main>"))
    seen = visit(browser, site, width=1280, scheme="light")
    assert "owned" not in seen.page.title()
    assert any("Content Security Policy" in each for each in seen.complaints)


def test_every_link_within_the_page_leads_somewhere(browser, tmp_path):
    site = build(factory.frame(), tmp_path / "html", problems=[], measured_at={}, version="0.1.0")
    seen = visit(browser, site, width=1280, scheme="light")
    lost = seen.page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"], [aria-labelledby]')].flatMap(e =>"
        " (e.getAttribute('href') || '').slice(1).split(' ')"
        " .concat((e.getAttribute('aria-labelledby') || '').split(' ')))"
        ".filter(id => id && !document.getElementById(id))"
    )
    assert lost == []
    twice = seen.page.evaluate(
        "(ids => ids.filter((id, i) => ids.indexOf(id) !== i))"
        "([...document.querySelectorAll('[id]')].map(e => e.id))"
    )
    assert twice == []
