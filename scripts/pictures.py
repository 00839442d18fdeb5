"""Take the README's pictures: the page built from results/, in light, dark and at phone width.

    make pictures

Needs a Chromium (Debian: the package chromium).
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"


@dataclass(frozen=True)
class View:
    """One picture: a window, or one element of the page."""

    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"] = "light"
    element: str | None = None


VIEWS = (
    View("page", 1280, 1500),
    View("page-dark", 1280, 1500, scheme="dark"),
    View("page-phone", 390, 844),
    View("history", 1280, 900, element="section[aria-labelledby=releases]"),
)


def main() -> int:
    """Build the page from the committed results and photograph it."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("no chromium is on PATH: install it (Debian and Ubuntu: the package chromium)")
        return 1
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="observatory-pictures-") as scratch:
        site = Path(scratch, "html")
        command = [str(ROOT / ".venv/bin/observatory"), "dashboard", "--out", str(site)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=browser, args=["--no-sandbox", "--disable-gpu"]
            )
            for view in VIEWS:
                page = chromium.new_page(
                    viewport={"width": view.width, "height": view.height},
                    color_scheme=view.scheme,
                )
                page.goto((site / "index.html").as_uri())
                target = page.locator(view.element) if view.element else page
                target.screenshot(path=PICTURES / f"{view.name}.png")
                print(f"docs/pictures/{view.name}.png")
            chromium.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
