"""Our pages beside those of asv and asv-tachyon, of the same results, in Chromium and Firefox.

    python -m scripts.beside_asv.pages SITES [--loads 5] [--json FILE]

SITES holds a directory for each project, and in it one for each side: `ours` (of `observatory
dashboard`), `asv` (of `asv publish`) and `tachyon` (that of `asv publish` after `asv-tachyon
install`). `addresses.json` in a project's directory says which pages are opened: by side, the
`first` page and that of a `chart`. docs/beside-asv.md says how they were made.

Printed are medians over loads that are taken in turns, each with an empty cache, over HTTP on
loopback: the time to first contentful paint; the time until a chart has something in it; requests;
bytes as they lie on disk; and errors (scripts that fail, answers from 400 on). Times depend on what
else the machine does; counts do not. Every page is asked in the same way, and nothing of the page
is changed.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import shutil
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from playwright.sync_api import sync_playwright

from scripts.beside_asv.bidi import Firefox, firefox
from scripts.beside_asv.tables import Opened, pages
from scripts.docs.rows import add_option, keep, now

SIDES = ("ours", "asv", "tachyon")
QUIET = 1.5  # seconds without a request: the page has all that it asks for
PATIENCE = 40.0  # seconds until a chart counts as never drawn
WATCH = """() => {
  const large = (one) => one.width > 300 && one.height > 100;
  const inked = (one) => {
    const ctx = one.getContext("2d");
    const data = ctx?.getImageData(0, 0, one.width, one.height).data ?? [];
    for (let i = 3; i < data.length; i += 4 * 13) if (data[i]) return true;
    return false;
  };
  const look = () => {
    if ([...document.querySelectorAll("canvas")].some((one) => large(one) && inked(one))) {
      window.chartThere = performance.now();
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
"""Notes when the first large canvas has anything in it. All three sides draw charts on canvases."""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


@dataclass(frozen=True)
class Load:
    """One opening of a page. Times in milliseconds; None if it never came to that."""

    paint: float | None
    chart: float | None
    requests: int
    bytes: int
    errors: int


Opener = Callable[[str, bool], tuple[float | None, float | None, list[str], int]]
"""Opens an address, and waits for a chart or not; tells paint, chart, requests and errors."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder on loopback."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def waited(
    asked: Callable[[], int], there: Callable[[], bool], pause: Callable[[float], None]
) -> None:
    """Wait until nothing has been asked for a while and the chart is there, or patience ends."""
    end, since, before = time.monotonic() + PATIENCE, time.monotonic(), -1
    while time.monotonic() < end:
        pause(0.2)
        if (now := asked()) != before:
            since, before = time.monotonic(), now
        elif time.monotonic() - since > QUIET and there():
            return


@contextmanager
def chromium_opener() -> Iterator[Opener]:
    """Pages in Chromium, each in a context of its own."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=binary, args=["--no-sandbox", "--disable-gpu"]
        )

        def opened(address: str, chart: bool) -> Any:
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            page = context.new_page()
            page.add_init_script(f"({WATCH})()")
            asked: list[str] = []
            wrong: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            page.on("requestfailed", lambda request: wrong.append(request.url))
            page.on("response", lambda r: wrong.append(r.url) if r.status >= 400 else None)
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.goto(address, wait_until="commit")
            waited(lambda: len(asked),
                   lambda: not chart or bool(page.evaluate("!!window.chartThere")),
                   lambda seconds: page.wait_for_timeout(1000 * seconds))  # fmt: skip
            found = page.evaluate(PAINT), page.evaluate("window.chartThere ?? null")
            context.close()
            return *found, asked, len(wrong)

        yield opened
        browser.close()


@contextmanager
def firefox_opener() -> Iterator[Opener]:
    """Pages in Firefox, each in a user context of its own."""
    binary = shutil.which("firefox-esr") or shutil.which("firefox")
    if binary is None:
        raise SystemExit("no Firefox is on PATH (Debian and Ubuntu: the package firefox-esr)")
    with firefox(binary) as one:
        events = ["network.beforeRequestSent", "network.responseCompleted",
                  "network.fetchError", "log.entryAdded"]  # fmt: skip
        one.ask("session.subscribe", events=events)
        one.ask("script.addPreloadScript", functionDeclaration=WATCH)
        yield functools.partial(_in_firefox, one)


def _in_firefox(one: Firefox, address: str, chart: bool) -> Any:
    user = one.ask("browser.createUserContext")["userContext"]
    context = one.ask("browsingContext.create", type="tab", userContext=user)["context"]
    one.ask("browsingContext.setViewport", context=context, viewport={"width": 1280, "height": 800})
    one.events.clear()
    try:
        one.ask("browsingContext.navigate", context=context, url=address, wait="interactive")
    except RuntimeError as error:
        if "NS_BINDING_ABORTED" not in str(error):  # the page has gone on to another address
            raise

    def asked() -> list[str]:
        one.evaluate(context, "0")  # what happened meanwhile arrives before the answer
        return [event["params"]["request"]["url"] for event in one.events
                if event["method"] == "network.beforeRequestSent"]  # fmt: skip

    waited(
        lambda: len(asked()),
        lambda: not chart or bool(one.evaluate(context, "!!window.chartThere")),
        time.sleep,
    )
    paint, drawn = (one.evaluate(context, text) for text in (PAINT, "window.chartThere ?? null"))
    urls = [url for url in asked() if not url.endswith("/favicon.ico")]
    wrong = sum(_is_wrong(event) for event in one.events)
    one.ask("browser.removeUserContext", userContext=user)
    return paint, drawn, urls, wrong


def _is_wrong(event: dict[str, Any]) -> bool:
    told = event["params"]
    if event["method"] == "network.responseCompleted":
        return told["response"]["status"] >= 400 and not told["request"]["url"].endswith(".ico")
    script_failed = event["method"] == "log.entryAdded" and told.get("type") == "javascript"
    return event["method"] == "network.fetchError" or (script_failed and told["level"] == "error")


def size_of(folder: Path, base: str, urls: list[str]) -> int:
    """Bytes on disk of what was asked for; a file that was asked for twice counts once."""
    paths = {unquote(urlsplit(url).path) for url in urls if url.startswith(base)}
    files = [folder / path.lstrip("/") for path in paths]
    return sum(one.stat().st_size for one in files if one.is_file())


def median_of(loads: list[Load]) -> dict[str, float | None]:
    """The median of each figure; None of what most loads did not show in time."""
    found: dict[str, float | None] = {}
    for name in asdict(loads[0]):
        values = [math.inf if (v := getattr(load, name)) is None else v for load in loads]
        middle = statistics.median(values)
        found[name] = middle if math.isfinite(middle) else None
    return found


OPENERS = {"Chromium": chromium_opener, "Firefox": firefox_opener}


def measured(sites: Path, loads: int, browsers: Collection[str]) -> Iterator[Opened]:
    """Yield the medians of all loads, by project, page, browser and side."""
    with served(sites) as base:
        for name in browsers:
            with OPENERS[name]() as opened:
                for project in sorted(path.parent for path in sites.glob("*/addresses.json")):
                    pages = json.loads((project / "addresses.json").read_text())
                    for page in ("first", "chart"):
                        taken: dict[str, list[Load]] = defaultdict(list)
                        for _ in range(loads):
                            for side in SIDES:
                                address = f"{base}/{project.name}/{side}/{pages[side][page]}"
                                *times, urls, wrong = opened(address, page == "chart")
                                taken[side].append(
                                    Load(*times, len(urls), size_of(sites, base, urls), wrong)
                                )
                        for side, all_ in taken.items():
                            yield Opened(
                                taken=now(), project=project.name, page=page, browser=name,
                                side=side, loads=loads, **median_of(all_),
                            )  # fmt: skip


def main() -> None:
    """Measure all projects, and print their tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("sites", type=Path)
    parser.add_argument("--loads", type=int, default=5)
    parser.add_argument("--browser", choices=OPENERS, action="append", help="default: both")
    add_option(parser)
    given = parser.parse_args()
    rows = []
    for row in measured(given.sites, given.loads, given.browser or OPENERS):
        keep(given.json, row)
        rows.append(row)
        print(f"{row.project}, {row.page} page, {row.browser}, {row.side}", flush=True)
    for project in dict.fromkeys(row.project for row in rows):
        print(f"{project}:", *pages(rows, project), sep="\n\n")


if __name__ == "__main__":
    main()
