"""A real Chromium for the pages. Where there is none, CI fails and a laptop skips, with advice."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
UNCHANGED = """() => new Promise((found, never) => {
  let timer = setTimeout(found, 150);
  setTimeout(() => never(new Error("the page keeps changing")), 10000);
  new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(found, 150); })
    .observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})"""
IS_DARK = "matchMedia('(prefers-color-scheme: dark)').matches"
OF_COLORS = ("color-contrast", "link-in-text-block")
"""The rules of axe about colors that are on by default; its category of colors has others, too."""
ADVICE = "no chromium is on PATH: install it (Debian and Ubuntu: apt install chromium)"
BINARIES = "chromium-headless-shell", "chromium", "chromium-browser"
"""The same engine. The first one has no window, and takes a quarter less CPU time."""
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    # One renderer for all pages, which are all files of ours.
    "--renderer-process-limit=1",
)  # fmt: skip


@dataclass
class Visit:
    """A page, what the browser complained about, and what it asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    loading: int = 0

    def open(self, path: Path, fragment: str = "") -> Visit:
        """Go to a page. What was noted of the one before is forgotten."""
        self.complaints, self.requests = [], []
        self.page.goto(path.as_uri() + fragment)
        return self

    def settle(self) -> Visit:
        """Wait until nothing is loading and the page has not changed for a moment."""
        self.page.wait_for_load_state("load")
        for _ in range(100):
            asked = len(self.requests)
            self.page.evaluate(UNCHANGED)
            if len(self.requests) == asked and not self.loading:
                return self
        raise AssertionError(f"{self.page.url} is still loading")

    def begun(self, request: Any) -> None:
        """Note a request."""
        self.requests.append(request.url)
        self.loading += 1

    def ended(self, request: Any) -> None:
        """Note that a request was answered, or failed."""
        self.loading -= 1


def stays_quiet(seen: Visit) -> None:
    """The page does not complain or ask for anything but files, now or in a moment."""
    seen.page.wait_for_timeout(500)
    assert seen.complaints == [], seen.page.url
    elsewhere = [url for url in seen.requests if not url.startswith(("file://", "data:"))]
    assert elsewhere == [], seen.page.url


def violations(page: Any, *, every: bool = False) -> list[str]:
    """What axe-core finds serious or critical, or anything, of a page in light and in dark.

    The scheme changes nothing but colors, so that the other rules are tried once. Pages are opened
    with bypass_csp.
    """
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run({preload: false})")["violations"]
    dark = page.evaluate(IS_DARK)
    page.emulate_media(color_scheme="light" if dark else "dark")
    assert page.evaluate(IS_DARK) is not dark
    page.evaluate(UNCHANGED)
    found += page.evaluate(f"axe.run({{preload: false, runOnly: {list(OF_COLORS)}}})")["violations"]
    page.emulate_media(color_scheme="dark" if dark else "light")
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in found
        if every or one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def columns_of(lines: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The data files `lines` and `subjects` of lines whose subjects are rows of words."""
    rows = [row for line in lines for row in line["subjects"]]
    numbers = iter(range(len(rows)))
    bare = [line | {"subjects": [next(numbers) for _ in line["subjects"]]} for line in lines]
    yield "lines", {"lines": bare}
    texts = [row[3] if len(row) > 3 else "" for row in rows]
    refs = [row[5] if len(row) > 5 else "" for row in rows]
    yield "subjects", {
        "ref": [1 if ref == row[1] else ref for ref, row in zip(refs, rows, strict=True)],
        "label": [row[0] for row in rows], "commit": [row[1] for row in rows],
        "date": [datetime.fromisoformat(row[2]).timestamp() for row in rows],
        "versions": list(range(len(rows))), "texts": texts,
    }  # fmt: skip


class Visitor:
    """Opens pages of a site from file://, without network."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._contexts: list[Any] = []

    def __call__(
        self, path: Path, fragment: str = "", *, width: int = 1280, scheme: str = "light",
        **options: Any,
    ) -> Visit:  # fmt: skip
        context = self._browser.new_context(
            viewport={"width": width, "height": 800 if width > 400 else 844},
            color_scheme=scheme, offline=True, **options,
        )  # fmt: skip
        self._contexts.append(context)
        seen = Visit(context.new_page())
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.on("requestfailed", lambda r: seen.complaints.append(f"failed: {r.url}"))
        seen.page.on("request", seen.begun)
        seen.page.on("requestfinished", seen.ended)
        seen.page.on("requestfailed", seen.ended)
        return seen.open(path, fragment)

    def each(self, addresses: Iterable[tuple[Path, str]], **options: Any) -> Iterator[Visit]:
        """Open pages in turn in one window: a window for each takes twice the CPU time."""
        seen = None
        for path, fragment in addresses:
            seen = seen.open(path, fragment) if seen else self(path, fragment, **options)
            yield seen

    def close(self) -> None:
        """End what was opened."""
        for context in self._contexts:
            context.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try a test of a page again before it fails: on a busy machine, an event may come late.

    What is wrong fails three times. The summary names each test that was tried again.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    chromium = next(filter(None, map(shutil.which, BINARIES)), None)
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail(ADVICE)
        pytest.skip(ADVICE)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Visitor]:
    visitor = Visitor(browser)
    yield visitor
    visitor.close()
