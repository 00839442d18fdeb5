"""Pages with flame graphs: of alerts and of the newest subjects, and links to them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from observatory.app.observed import site_data
from observatory.dashboard.site import build
from observatory.store.asv.files import project
from observatory.store.records.sample import Sample
from tests.factories import NOON, WARM, header, journal, ledger, sample, traced

PAGE = "profiles/0-0--0-1-radon-warm_disk-NUMBA-fork.html"


def measured(results: Path, label: str, day: int, *more: Sample) -> None:
    found = [
        sample(WARM, "counting", {"cache_misses": 35 * day}, ledger=ledger("Add"),
               started_at=NOON + timedelta(days=day)), *more,
    ]  # fmt: skip
    under = header(label, commit=f"{day}" * 40, date=NOON + timedelta(days=day))
    project(results, journal(results, found, under=under).read())


def site(results: Path) -> Path:
    return build(site_data([results])[0], results / "html").parent


def test_an_alert_and_the_comparison_lead_to_the_flame_graph(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0, traced(100))
    measured(tmp_path, "3.3.7", 1, traced(150))
    html = site(tmp_path)
    (alert,) = html.glob("alerts/*.html")
    text = alert.read_text("utf-8")
    assert f'href="../{PAGE}"' in text
    assert "<code>f</code> was entered 100 times, now 150" in text
    assert f'href="{PAGE}"' in (html / "compare.html").read_text("utf-8")
    data = (html / "data/profiles.js").read_text("utf-8")
    assert json.loads(data[data.index("{") : data.rindex("}") + 1]) == {
        "0-0 0-1": [str(WARM), PAGE]
    }
    page = (html / PAGE).read_text("utf-8")
    assert "compare.html#a=0-0&amp;b=0-1" in page
    assert "<code>f</code> was entered 100 times" in page
    assert page.count('<figure class="flame"') == 1


def test_without_profiles_of_both_there_is_no_page_and_no_link(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0)
    measured(tmp_path, "3.3.7", 1, traced(150))
    html = site(tmp_path)
    assert not (html / "profiles").exists()
    (alert,) = html.glob("alerts/*.html")
    assert "Where the work went" not in alert.read_text("utf-8")
    assert "flame" not in (html / "compare.html").read_text("utf-8")


def test_names_in_the_sentence_of_an_alert_are_code(tmp_path: Path) -> None:
    for day, calls in enumerate((1000, 1500)):
        when = NOON + timedelta(days=day)
        under = header(f"3.3.{6 + day}", commit=f"{day}" * 40, date=when)
        project(tmp_path, journal(tmp_path, [traced(calls)], under=under).read())
    (alert,) = site(tmp_path).glob("alerts/*.html")
    text = alert.read_text("utf-8").partition("<main")[2]
    assert "More work, since 3.3.7" in text
    assert "(1,000 → 1,500); <code>f</code> was entered 1,000 times, now 1,500" in text
