"""A real Chromium for the pages. Where there is none, CI fails and a laptop skips, with advice."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
ADVICE = "no chromium is on PATH: install it (Debian and Ubuntu: apt install chromium)"
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@dataclass
class Visit:
    """A page, what the browser complained about, and what it asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def violations(page: Any) -> list[str]:
    """What axe-core finds serious or critical. The page must have been opened with bypass_csp."""
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run({preload: false})")["violations"]
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


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
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.goto(path.as_uri() + fragment)
        return seen

    def close(self) -> None:
        """End what was opened."""
        for context in self._contexts:
            context.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
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
