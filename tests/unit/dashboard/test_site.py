from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from dashboard.publish import MARKER, NotOurDirectoryError, publish
from dashboard.readings import COLUMNS
from dashboard.site import build
from observatory.decide import frame as observatory_frame
from tests import factories_frame as factory

WHEN = datetime(2026, 8, 14, 6, 12, tzinfo=UTC)
MEASURED = {("3.3.7", "bench-2c"): WHEN, ("3.3.4", "bench-2c"): datetime(2026, 11, 20, tzinfo=UTC)}


def built(frame: pd.DataFrame, out: Path, problems: tuple[str, ...] = ()) -> str:
    return build(frame, out, problems=problems, measured_at=MEASURED, version="0.1.0").read_text(
        "utf-8"
    )


def test_the_same_frame_gives_the_same_bytes(tmp_path):
    frame = factory.frame()
    first = built(frame, tmp_path / "a")
    assert built(frame.sample(frac=1, random_state=3), tmp_path / "b") == first


def test_an_empty_frame_says_what_to_run(tmp_path):
    assert "make observe" in built(factory.as_frame([]), tmp_path / "html")


def test_results_of_another_project_are_not_called_nothing(tmp_path):
    frame = factory.frame().assign(metric="time", numba="", pytensor="", model="")
    page = built(frame, tmp_path / "html")
    assert "There are results" in page
    assert "Nothing has been measured" not in page


def test_the_columns_are_those_that_the_frame_promises():
    assert observatory_frame.COLUMNS == COLUMNS


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
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<title>") >= 1


def test_building_again_replaces_only_what_was_built_before(tmp_path):
    out = tmp_path / "html"
    built(factory.as_frame([]), out)
    built(factory.frame(), out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["html"]
    assert (out / MARKER).read_text() == "assets/style.css\nindex.html\n"


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


def test_an_error_while_writing_leaves_the_old_pages_and_no_rubbish(tmp_path):
    out = tmp_path / "html"
    publish({"index.html": "old"}, out)
    with pytest.raises(TypeError):
        publish({"index.html": None}, out)  # type: ignore[dict-item]
    assert (out / "index.html").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["html"]


def test_the_page_says_when_its_own_subject_was_measured(tmp_path):
    page = built(factory.frame(), tmp_path)
    assert "2026-08-14 06:12 UTC" in page
    assert "2026-11-20" not in page
