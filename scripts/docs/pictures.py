"""Take the pictures of the README and the docs: the pages built from results/, and the plots.

    make pictures

It needs Chromium (Debian: the package chromium), except with `--plots`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from scripts.docs.pictures_of_findings import findings

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
PICTURES = ROOT / "docs" / "pictures"
CARD = ROOT / "dashboard" / "assets" / "card.png"
SETTLED = 1500  # ms; the charts are drawn by then


def views(site: Path) -> Iterator[tuple[str, str, int, int]]:
    """Name, page, width and height of each picture: every kind of page, the overview by phone too.

    A name that ends in "-dark" is a picture in dark colours.
    """
    index, lines, subjects = (
        json.loads((site / f"data/{name}.js").read_text().split(",", 1)[1].removesuffix(");\n"))
        for name in ("index", "lines", "subjects")
    )
    ids = {
        (name, metric): id_
        for name, metric, id_ in zip(
            _long(index["name"]), _long(index["metric"]), _long(index["id"]), strict=True
        )
    }
    labels = [subjects["label"][k] for k in lines["lines"][0]["subjects"]]
    chosen = "&".join(f"s={ids[name, 'compile_time']}" for name in SERIES)
    base, head = (labels.index(label) for label in COMPARED)
    alerts = json.loads((ROOT / "results/alerts.json").read_text())["alerts"]
    alert = next(one["id"] for one in alerts if one["kind"] == "wrong results")
    yield "overview", "index.html", 1280, 800
    yield "overview-dark", "index.html", 1280, 800
    yield "overview-phone", "index.html", 390, 844
    yield "story", "index.html", 1280, 800
    yield "history", "releases.html", 1280, 1130
    yield "series", f"series.html#{chosen}&scale=log", 1280, 800
    yield "compare", f"compare.html#a=0-{base}&b=0-{head}", 1280, 1000
    yield "alert", f"alerts/{alert}.html", 1280, 1000
    before, after = (labels.index(label) for label in PROFILED)
    (page,) = site.glob(f"profiles/0-{before}--0-{after}-*.html")
    for name, width, height in (
        ("flame", 1280, 900), ("flame-dark", 1280, 900), ("flame-phone", 390, 1200)
    ):  # fmt: skip
        yield name, f"profiles/{page.name}", width, height


def _long(column: list[str] | dict[str, list[Any]]) -> list[str]:
    """A column of a data file in which values that recur are numbers."""
    return column if isinstance(column, list) else [column["of"][k] for k in column["at"]]


SERIES = ("radon warm_process C fork", "radon warm_process NUMBA fork")
COMPARED = ("2.35.1", "2.36.0")
PROFILED = ("3.3.4", "3.3.7")


def draw_plots() -> None:
    """Draw the plots of docs/how-to/use-in-a-notebook.md."""
    from observatory import app

    comparison = app.compare(f"{RESULTS}:2.35.1", f"{RESULTS}:2.36.0", backends=["C", "NUMBA"])
    tracks = app.series(
        RESULTS, models=["radon"], scenarios=["warm_process"], backends=["C", "NUMBA"],
        launches=["fork"],
    )  # fmt: skip
    drawn = {
        "history": lambda: app.plot.history(app.frame(RESULTS)),
        "series": lambda: app.plot.series(tracks),
        "compare": lambda: app.plot.compare(comparison, metric="cache_misses", most=10),
        "ledger": lambda: app.plot.ledger(app.ledger("3.3.7", results=RESULTS), most=12),
    }
    for name, draw in drawn.items():
        print(app.plot.save(draw(), PICTURES / f"plot-{name}.png").relative_to(ROOT))


def draw_card() -> None:
    """Draw the picture that other sites show beside a link: 1200 by 630 pixels, of no project."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="#173f5f")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 12), ylim=(0, 6.3))
    axes.set_axis_off()
    axes.step(
        [1.1, 4.6, 8, 10.9], [2.9, 2.9, 1.1, 1.1], where="post", color="#f2a93b", linewidth=16
    )
    for height, size, text in (
        (4.95, 50, "Observatory"),
        (4.05, 25, "Benchmarks: what changed, since when, and why"),
    ):
        axes.text(1.05, height, text, color="white", fontsize=size, va="center")
    figure.savefig(CARD, dpi=100)
    print(CARD.relative_to(ROOT))


COUNTED = ("2.38.3", "3.1.3", "3.3.8")
FREEZING = ("freeze.*", "hash.*", "compare.*")


def draw_topics() -> None:
    """Draw the pictures of docs/topics.md: what is counted of the graphs of each topic."""
    from observatory import app
    from observatory.benchmarks.models.topics import TOPICS

    for name, topic in TOPICS.items():
        like = [f"{name}.{case}" for case in topic.cases]
        rows = app.graphs("topics", results=RESULTS, like=like, subjects=COUNTED)
        rows["graph"] = rows["graph"].str.removeprefix(f"{name}.")
        drawn = app.plot.graphs(rows, title=topic.title)
        print(app.plot.save(drawn, PICTURES / f"topic-{name}.svg").relative_to(ROOT))
    rows = app.graphs(
        "frozen", results=RESULTS, scenario="freezing", like=FREEZING, subjects=COUNTED
    )
    rows = rows[rows["counted"] == "calls"]
    drawn = app.plot.graphs(rows, title="Frozen graphs: Python calls, by nodes", log=True)
    print(app.plot.save(drawn, PICTURES / "topic-frozen.svg").relative_to(ROOT))


def main() -> int:
    """Draw the plots, build the pages from the committed results, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plots", action="store_true", help="draw only the plots")
    given = parser.parse_args()
    PICTURES.mkdir(parents=True, exist_ok=True)
    draw_plots()
    for path in findings(RESULTS, PICTURES):
        print(path.relative_to(ROOT))
    draw_topics()
    draw_card()
    if given.plots:
        return 0
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("no chromium is on PATH: install it (Debian and Ubuntu: the package chromium)")
        return 1
    with tempfile.TemporaryDirectory(prefix="observatory-pictures-") as scratch:
        site = Path(scratch, "html")
        command = [str(ROOT / ".venv/bin/observatory"), "dashboard", "--out", str(site)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=browser, args=["--no-sandbox", "--disable-gpu"]
            )
            for name, address, width, height in views(site):
                page = chromium.new_page(
                    viewport={"width": width, "height": height},
                    color_scheme="dark" if name.endswith("-dark") else "light",
                )
                page.goto(f"{site.as_uri()}/{address}")
                page.wait_for_timeout(SETTLED)
                part = page.locator(f"section.{name}")  # a picture of a part is named like it
                (part if part.count() else page).screenshot(path=PICTURES / f"{name}.png")
                print(f"docs/pictures/{name}.png")
            chromium.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
