"""The whole site from synthetic frames: what is in its pages, and where they are put."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from observatory.dashboard.feed import atom
from observatory.dashboard.publish import MARKER, NotOurDirectoryError, publish
from observatory.dashboard.site import build
from observatory.store.asv.config import AsvConfig
from observatory.text.forge import Forge, forge_of
from tests import factories_frame as factory
from tests.factories_site import MEASURED, observed
from tests.unit.dashboard.test_pages import alert, with_alerts


def built(frame: pd.DataFrame, out: Path, problems: tuple[str, ...] = ()) -> str:
    return build(observed(frame, problems), out).read_text("utf-8")


def pages(out: Path) -> dict[str, str]:
    return {str(p.relative_to(out)): p.read_text("utf-8") for p in out.rglob("*.html")}


def test_the_same_input_gives_the_same_bytes(tmp_path):
    frame = factory.frame()
    built(frame, tmp_path / "a")
    built(frame.sample(frac=1, random_state=3), tmp_path / "b")
    first, second = (
        {
            str(p.relative_to(tmp_path / name)): p.read_bytes()
            for p in sorted((tmp_path / name).rglob("*"))
            if p.is_file()
        }
        for name in ("a", "b")
    )
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_an_empty_frame_says_what_to_run(tmp_path):
    assert "observatory observe" in built(factory.as_frame([]), tmp_path / "html")


def test_results_of_another_project_are_shown_without_a_matrix(tmp_path):
    frame = factory.frame().assign(
        metric="time", numba=None, pytensor="", model="", backend="", launch="", kind="noisy",
        scenario=lambda f: f["scenario"] + f["backend"],
    )  # fmt: skip
    frame = frame[frame["value"] > 0].drop_duplicates(["subject", "scenario"])
    page = built(frame, tmp_path / "html")
    assert "Nothing has been measured" not in page
    assert "What was measured" in page
    assert "How long a user waits" not in page
    assert not (tmp_path / "html" / "releases.html").exists()


def test_every_cell_has_a_page_that_the_first_one_leads_to(tmp_path):
    first = built(factory.frame(), tmp_path)
    assert '<a href="matrix.html">All backends' in first  # beside the times, not only above
    assert "no time recorded" not in first  # it is painted sooner without
    found = pages(tmp_path)["matrix.html"]
    assert "All cells of 3.3.7" in found
    assert re.search(
        r'Model <b><a class="term" href="words.html#radon" title="[^"]+">radon</a>', found
    )
    assert "<dt>numba</dt><dd>0.68.0</dd>" in found


def test_every_page_leads_to_what_its_words_mean(tmp_path):
    built(factory.frame(), tmp_path)
    known = set(re.findall(r'<dt id="(.+?)">', pages(tmp_path)["words.html"]))
    for name, text in pages(tmp_path).items():
        assert "words.html" in text, name
        assert known.issuperset(re.findall(r"words\.html#([\w-]+)", text)), name
    assert '<dt id="warm_disk">warm_disk</dt>' in pages(tmp_path)["words.html"]


def test_every_page_is_reached_and_leads_somewhere(tmp_path):
    built(factory.frame(), tmp_path)
    found = pages(tmp_path)
    reached = set()
    for name, text in found.items():
        for target in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', text):
            path = (tmp_path / name).parent / target
            assert path.is_file(), f"{name} links to {target}, which is not there"
            reached.add(str(path.resolve().relative_to(tmp_path.resolve())))
    assert set(found) - reached == set()


def test_every_page_has_a_policy_and_no_script_of_its_own(tmp_path):
    built(factory.frame(), tmp_path)
    for name, text in pages(tmp_path).items():
        assert "script-src 'self'; img-src 'self' data:" in text, name
        assert "unsafe-eval" not in text, name
        assert "unsafe-inline" not in text, name
        assert re.findall(r"<script(?![^>]*src=)", text) == [], name
        assert re.findall(r"\son[a-z]+=|style=", text) == [], name


def test_broken_files_are_named(tmp_path):
    assert "results/x.json: cut off" in built(
        factory.frame(), tmp_path / "html", ("results/x.json: cut off",)
    )


def test_hostile_strings_stay_text(tmp_path):
    evil = "</title><script>alert(1)</script>\"'>"
    rows = factory.release_rows("3.3.7", subject=evil, machine=evil)
    for row in rows:
        row["numba"] = evil
        row["backend"] = evil if row["backend"] == "C" else row["backend"]
    page = built(factory.as_frame(rows), tmp_path / "html", (evil,))
    assert "&lt;script&gt;" in page
    for name, text in pages(tmp_path / "html").items():
        assert "<script>alert" not in text, name
        assert text[: text.index("</head>")].count("<title>") == 1, name
    for data in (tmp_path / "html" / "data").iterdir():
        assert data.read_text("utf-8").startswith('observatory.receive("'), data.name


def test_addresses_of_commits_reach_the_data(tmp_path):
    forge = Forge(compare="https://example.org/compare/", tag="https://example.org/tag/")
    build(observed(factory.frame()), tmp_path, forge)
    data = tmp_path / "data"
    told = (data / "lines.js").read_text()
    assert "https://example.org/compare/" in told
    assert '"https://example.org/tag/"' in told
    assert '"rel-3.3.7"' in (data / "subjects.js").read_text()


def test_a_card_beside_a_link_needs_the_address_of_the_pages(tmp_path):
    build(observed(factory.frame()), tmp_path / "without")
    assert "og:image" not in (tmp_path / "without" / "index.html").read_text()
    build(observed(factory.frame()), tmp_path / "with", url="https://example.org/pages")
    page = (tmp_path / "with" / "series.html").read_text()
    assert '<meta property="og:image" content="https://example.org/pages/assets/card.png">' in page
    assert '<meta property="og:url" content="https://example.org/pages/series.html">' in page
    assert (tmp_path / "with" / "assets" / "card.png").read_bytes().startswith(b"\x89PNG")


def test_the_feed_links_to_pages_whose_address_is_known(tmp_path):
    base = observed(factory.frame())
    one = alert(base)
    site = observed(factory.frame(), alerts=base.alerts.model_copy(update={"alerts": [one]}))
    build(site, tmp_path / "without")
    assert "<link" not in (tmp_path / "without" / "alerts.atom").read_text()
    build(site, tmp_path / "with", url="https://example.org/pages")
    feed = (tmp_path / "with" / "alerts.atom").read_text()
    assert f'href="https://example.org/pages/alerts/{one.id}.html"' in feed
    assert (tmp_path / "with" / "alerts" / f"{one.id}.html").is_file()
    # The step `feed` of a night writes these bytes again: the next build finds the site unchanged.
    assert feed == atom(site.alerts, datetime.now(UTC), "https://example.org/pages/").decode()


def test_an_alert_has_its_record_and_its_chart_as_files(tmp_path):
    base = observed(factory.frame())
    one = alert(base)
    site = observed(factory.frame(), alerts=base.alerts.model_copy(update={"alerts": [one]}))
    build(site, tmp_path)
    record = json.loads((tmp_path / "alerts" / f"{one.id}.json").read_text())
    assert (record["id"], record["sentence"]) == (one.id, one.sentence)
    picture = (tmp_path / "alerts" / f"{one.id}.svg").read_text()
    drawn = ElementTree.fromstring(picture)
    assert drawn.findall(".//{http://www.w3.org/2000/svg}circle")
    assert "var(" not in picture
    page = (tmp_path / "alerts" / f"{one.id}.html").read_text()
    assert f'href="{one.id}.svg"' in page
    assert f'href="{one.id}.json"' in page


def test_no_address_is_made_of_a_commit_that_no_forge_has(tmp_path):
    found = observed(factory.frame())
    forge = forge_of(AsvConfig("pytensor", repo="https://github.com/o/r.git"))
    build(found, tmp_path, forge)
    synthetic = {one.commit for line in found.lines for one in line.subjects}
    written = [
        path.read_text() for path in tmp_path.rglob("*.*") if path.suffix in (".html", ".js")
    ]
    assert any('"tag_url":"https://github.com/o/r/releases/tag/"' in text for text in written)
    (subjects,) = (text for text in written if text.startswith('observatory.receive("subjects"'))
    refs = json.loads(subjects.partition(",")[2].removesuffix(");\n"))["ref"]
    assert "rel-3.3.7" in refs
    assert 1 not in refs  # what the commit itself would be
    for text in written:
        assert not any(f"{forge.commit}{commit}" in text for commit in synthetic)


def test_building_again_replaces_only_what_was_built_before(tmp_path):
    out = tmp_path / "html"
    built(factory.as_frame([]), out)
    built(factory.frame(), out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["html"]
    there = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()} - {MARKER}
    assert set((out / MARKER).read_text().splitlines()) == there


def test_a_directory_of_somebody_else_is_refused_and_untouched(tmp_path):
    out = tmp_path / "html"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(NotOurDirectoryError, match="was not made by the observatory"):
        built(factory.frame(), out)
    assert [p.name for p in out.iterdir()] == ["thesis.txt"]


def test_a_file_added_to_our_directory_is_refused_and_named(tmp_path):
    out = tmp_path / "html"
    built(factory.frame(), out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(NotOurDirectoryError, match=r"notes\.txt"):
        built(factory.frame(), out)
    assert (out / "notes.txt").read_text() == "mine"


def test_a_file_with_the_same_content_is_not_written_again(tmp_path):
    out = tmp_path / "html"
    publish({"a.html": b"same", "b.html": b"old"}.items(), out)
    before = {path.name: path.stat() for path in out.iterdir()}
    publish({"a.html": b"same", "b.html": b"new", "c.html": b"more"}.items(), out)
    after = {path.name: path.stat() for path in out.iterdir()}
    assert (out / "b.html").read_bytes() == b"new"
    assert after["a.html"].st_ino == before["a.html"].st_ino
    assert after["a.html"].st_mtime_ns == before["a.html"].st_mtime_ns
    assert after["a.html"].st_nlink == 1


def test_an_error_while_writing_leaves_the_old_pages_and_no_rubbish(tmp_path):
    out = tmp_path / "html"
    publish({"index.html": b"old"}.items(), out)
    with pytest.raises(TypeError):
        publish([("index.html", None)], out)  # type: ignore[list-item]
    assert (out / "index.html").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["html"]


def test_the_page_says_when_its_own_subject_was_measured(tmp_path):
    frame = factory.frame()
    measured = {("3.3.7", "bench-2c"): MEASURED,
                ("3.3.4", "bench-2c"): MEASURED + timedelta(days=90)}  # fmt: skip
    page = build(observed(frame, measured_at=measured), tmp_path).read_text()
    assert f"{MEASURED:%Y-%m-%d %H:%M} UTC" in page
    assert f"{MEASURED + timedelta(days=90):%Y-%m-%d}" not in page


def test_what_became_of_an_alert_and_what_is_noted_are_sentences(tmp_path):
    base = observed(factory.frame())
    over = alert(base, "resolved", resolution="it has been over since 3.3.6")
    noted = alert(base, id="c" * 10, notes=["its machine is late", "1 series has no value"])
    build(with_alerts(over, noted), tmp_path / "html")
    found = pages(tmp_path / "html")
    for page in ("alerts.html", f"alerts/{over.id}.html"):
        assert ">It has been over since 3.3.6.</p>" in found[page]
    for note in ("Its machine is late.", "1 series has no value."):
        assert f">{note}</p>" in found[f"alerts/{noted.id}.html"]
