"""The documentation in a real Chromium, from file://, without network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import Visitor, stays_quiet, violations
from tests.docs_examples import build

pytestmark = pytest.mark.browser
PAGES = ("index.html", "tutorial.html", "how-to/add-a-model.html", "reference/costs.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "site"
    assert build(out) == ""
    return out


def test_pages_are_quiet_local_and_no_wider_than_a_phone(visit: Visitor, site: Path) -> None:
    # 404.html is for servers: only there a link from the root leads anywhere.
    found = sorted(set(site.rglob("*.html")) - {site / "404.html"})
    for seen in visit.each([(page, "") for page in found], width=390, scheme="dark"):
        wide = seen.settle().page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, seen.page.url
        stays_quiet(seen)


def test_the_search_finds_what_is_in_a_page(visit: Visitor, site: Path) -> None:
    seen = visit(site / "index.html").settle()
    seen.page.click(".md-search__input")
    seen.page.keyboard.type("uncacheable")
    found = seen.page.locator(".md-search-result__article h1").first
    found.wait_for()
    seen.page.wait_for_selector(".md-search-result__meta:has-text('matching')")
    assert seen.complaints == []


def test_pages_have_no_serious_violation(visit: Visitor, site: Path) -> None:
    for seen in visit.each([(site / name, "") for name in PAGES], bypass_csp=True):
        assert violations(seen.settle().page) == [], seen.page.url
