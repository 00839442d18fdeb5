"""Take the README's pictures: the page built from results/, in light, dark and at phone width.

    make pictures

Needs a Chromium (Debian: the package chromium).
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
# Name: window size in CSS pixels, whether dark, and where on the page.
VIEWS = {
    "page": ((1280, 1500), False, ""),
    "page-dark": ((1280, 1500), True, ""),
    "page-phone": ((500, 1100), False, ""),  # Chromium's smallest window; the test covers 390
    "history": ((1280, 860), False, "#releases"),
}
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def main() -> int:
    """Build the page from the committed results and photograph it."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("no chromium is on PATH: install it (Debian and Ubuntu: the package chromium)")
        return 1
    with tempfile.TemporaryDirectory(prefix="observatory-pictures-") as scratch:
        site = Path(scratch, "html")
        command = [str(ROOT / ".venv/bin/observatory"), "dashboard", "--out", str(site)]
        subprocess.run(command, check=True, cwd=ROOT)
        PICTURES.mkdir(parents=True, exist_ok=True)
        for name, ((width, height), dark, place) in VIEWS.items():
            picture = PICTURES / f"{name}.png"
            flags = [*_FLAGS, f"--user-data-dir={scratch}/{name}"]
            if dark:
                flags.append("--blink-settings=preferredColorScheme=0")
            flags += [f"--window-size={width},{height}", f"--screenshot={picture}"]
            page = (site / "index.html").as_uri() + place
            subprocess.run([browser, *flags, page], check=True, capture_output=True)
            print(picture.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
