"""The pages' budgets, and asv's and asv-tachyon's over the same data in the same run.

In a real Chromium: time to first contentful paint, requests, bytes and errors of the first page,
median of five loads with an empty cache, taken in turns, beside that of a page of one word (what
the browser and the machine take by themselves); and how long until a series is drawn.
Building: whole processes in turn. Nothing here asserts a time; requests, bytes and errors are
exact, and are asserted.
"""

from __future__ import annotations

import functools
import shutil
import statistics
import subprocess
import sys
import tarfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.test_loading import DATA, ROOT, taken
from tests.benchmarks.test_watching import written

playwright = pytest.importorskip("playwright.sync_api", reason="the playwright package is absent")
CHROMIUM = shutil.which("chromium")
LOADS = 5
MOST_BYTES, MOST_REQUESTS = 250_000, 10
WHOLE = """() => new Promise(found => {
  new PerformanceObserver(seen => found(seen.getEntries()[0].renderTime))
    .observe({type: "element", buffered: true});
  setTimeout(() => found(null), 100);
})"""
"""Asked for afterwards: a script that is there from the start makes the first paint wait for it."""
SITE = """
import sys
from observatory.cli.main import main
sys.argv = ["observatory", "dashboard", "--results", sys.argv[1], "--out", sys.argv[2] + "/html"]
try:
    main()
finally:
    print(0)
"""
PUBLISH = str(Path(__file__).with_name("asv_publishing.py"))


@dataclass(frozen=True)
class Load:
    """One opening of a page. Times in milliseconds, bytes as they lie on disk."""

    paint: float
    requests: int
    bytes: int
    errors: int
    ready: float | None = None
    whole: float | None = None
    """When the rest of our first screen was painted, a frame after the answer."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("chromium is not on PATH")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def tachyon(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command of asv-tachyon, in an environment of its own."""
    place = tmp_path_factory.mktemp("tachyon") / "venv"
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, str(place)], check=True)
    asked = [uv, "pip", "install", "-q", "--python", str(place / "bin" / "python"), "asv-tachyon"]
    if subprocess.run(asked, check=False).returncode:
        pytest.skip("asv-tachyon cannot be installed here")
    return str(place / "bin" / "asv-tachyon")


@pytest.fixture(params=["own", "numba-benchmark", "django-asv", "synthetic"], scope="module")
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp(request.param)
    if request.param == "own":
        shutil.copytree(ROOT / "results", place / "results")
    elif request.param == "synthetic":
        written(place / "results")
    else:
        archive = DATA / f"{request.param}.tar.xz"
        if not archive.is_file():
            pytest.skip(f"{archive} is not there")
        with tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")
        return place / request.param / "results"
    return place / "results"


def built(results: Path, out: Path) -> Path:
    out.mkdir(parents=True)
    taken("-c", SITE, str(results), str(out))
    return out / "html" / "index.html"


def opened(browser: Any, address: str, base: str, folder: Path, ready: str = "") -> Load:
    """Open a page in a context of its own, wait until nothing moves, and ask what it took."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: wrong.append(request.url))
    page.on("response", lambda r: wrong.append(r.url) if r.status >= 400 else None)
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else 0)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    until = None
    if ready:
        page.wait_for_selector(ready)
        until = page.evaluate("performance.now()")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    paint = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
    )
    whole = page.evaluate(WHOLE)
    context.close()
    names = [url.removeprefix(base).split("?")[0].split("#")[0].lstrip("/") for url in asked]
    sizes = [(folder / (n or "index.html")) for n in names if not n.startswith("data:")]
    size = sum(path.stat().st_size for path in sizes if path.is_file())
    return Load(paint, len(sizes), size, len(set(wrong)), until, whole)


def median_of(loads: list[Load]) -> Load:
    ready = [load.ready for load in loads if load.ready is not None]
    whole = [load.whole for load in loads if load.whole is not None]
    return Load(
        statistics.median(load.paint for load in loads),
        max(load.requests for load in loads), max(load.bytes for load in loads),
        max(load.errors for load in loads), statistics.median(ready) if ready else None,
        statistics.median(whole) if whole else None,
    )  # fmt: skip


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A directory on loopback: asv-tachyon needs a server."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    folder = tmp_path / "published"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()


@pytest.mark.benchmark(group="first page")
def test_the_first_page_keeps_its_budget(
    benchmark: BenchmarkFixture,
    results: Path,
    browser: Any,
    tachyon: str,
    served: tuple[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    page = built(results, tmp_path / "ours")
    empty = tmp_path / "empty" / "index.html"
    empty.parent.mkdir()
    empty.write_text("<!doctype html><title>empty</title><p>Nothing.")
    sides = {
        "an empty page": (empty.as_uri(), empty.parent.as_uri(), empty.parent),
        "ours, file": (page.as_uri(), page.parent.as_uri(), page.parent),
        "ours, http": (f"{served[0]}/ours/index.html", f"{served[0]}/ours", served[1] / "ours"),
    }
    shutil.copytree(page.parent, served[1] / "ours")
    if "synthetic" not in str(results) and "own" not in str(results):
        published(results, tmp_path / "asv")
        shutil.copytree(tmp_path / "asv" / "html", served[1] / "asv")
        subprocess.run(
            [tachyon, "install", str(served[1] / "asv")], check=True, capture_output=True
        )
        sides["asv-tachyon, http"] = (
            f"{served[0]}/asv/index.html", f"{served[0]}/asv", served[1] / "asv"
        )  # fmt: skip
    found: dict[str, list[Load]] = defaultdict(list)

    def load() -> None:
        for _ in range(LOADS):
            for name, side in sides.items():
                found[name].append(opened(browser, *side))

    benchmark.pedantic(load, rounds=1)  # type: ignore[no-untyped-call]
    ready = [
        opened(browser, f"{page.parent.as_uri()}/series.html#s={first_series(page.parent)}",
               page.parent.as_uri(), page.parent, "#chart canvas")
        for _ in range(LOADS)
    ]  # fmt: skip
    with capsys.disabled():
        print(f"\n{results.parent.name}: medians of {LOADS} loads")
        for name, loads in {**found, "ours, series page": ready}.items():
            one = median_of(loads)
            drawn = f", drawn after {one.ready:.0f} ms" if one.ready is not None else ""
            whole = f", all of the screen {one.whole:.0f} ms" if one.whole is not None else ""
            print(f"  {name:20} first paint {one.paint:4.0f} ms, {one.requests:4} requests, "
                  f"{one.bytes / 1000:7.0f} kB, {one.errors} errors{whole}{drawn}")  # fmt: skip
    ours = median_of(found["ours, file"])
    assert ours.requests <= MOST_REQUESTS
    assert ours.bytes <= MOST_BYTES
    assert ours.errors == 0
    assert median_of(ready).errors == 0


def first_series(site: Path) -> str:
    return (site / "list" / "001.html").read_text().split('id="s-')[1].split('"')[0]


def published(results: Path, scratch: Path) -> None:
    """What `asv update` and `asv publish` make of a copy of the results."""
    scratch.mkdir()
    shutil.copytree(results, scratch / "results")
    for what in ("update", "publish"):
        taken(PUBLISH, what, str(scratch / "results"), str(scratch))


@pytest.mark.benchmark(group="building the site")
def test_building_beside_asv_publish(
    benchmark: BenchmarkFixture,
    results: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From nothing, again, and with one new file; asv after its `update`, which is not counted."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    seconds: dict[str, list[float]] = defaultdict(list)
    copy = tmp_path / "results"
    shutil.copytree(results, copy)
    left_out = max(copy.glob("*/*-*.json"))
    content = left_out.read_bytes()
    against = "synthetic" not in str(results) and "own" not in str(results)
    if against:
        (tmp_path / "asv").mkdir()
        shutil.copytree(results, tmp_path / "asv" / "results")
        taken(PUBLISH, "update", str(tmp_path / "asv" / "results"), str(tmp_path / "asv"))

    def build(situation: str, out: Path) -> None:
        out.mkdir(exist_ok=True)
        seconds[situation].append(taken("-c", SITE, str(copy), str(out))[0].seconds)

    def rounds() -> None:
        for number in range(1 if "synthetic" in str(results) else 3):
            left_out.unlink()
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)
            out = tmp_path / f"ours-{number}"
            build("from nothing", out)
            build("again", out)
            left_out.write_bytes(content)
            build("one new result", out)
            if against:
                scratch = str(tmp_path / "asv")
                used, _ = taken(PUBLISH, "publish", f"{scratch}/results", scratch)
                seconds["asv publish"].append(used.seconds)

    benchmark.pedantic(rounds, rounds=1)  # type: ignore[no-untyped-call]
    asv = statistics.median(seconds["asv publish"]) if against else None
    with capsys.disabled():
        print(f"\n{results.parent.name}: seconds, medians of {len(seconds['again'])}")
        for name, each in seconds.items():
            one = statistics.median(each)
            ratio = f", {asv / one:.1f} times faster than asv publish" if asv and one != asv else ""
            print(f"  {name:16} {one:6.2f} s{ratio}")
