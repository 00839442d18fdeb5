"""A site is built where something changed, and comes out as if it were built from nothing."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.analyze.history.segments import SegmentedSeries, levels_of
from observatory.app import built, kept_levels, observed
from observatory.app.site import build_site
from observatory.app.source import Source
from observatory.dashboard import data, publish, shelves, site, subject_values, views
from observatory.dashboard.publish import MARKER
from observatory.dashboard.site_input import SiteInput
from observatory.dashboard.views import Views
from observatory.store.asv.files import project
from observatory.store.base import signatures
from observatory.store.reading import aside, cache
from observatory.store.reading.parts import Part
from tests.factories import NOON, RUN, WARM, header, journal, ledger, sample
from tests.factories_asv import COLUMNS, foreign, row

pytestmark = pytest.mark.long

PROBLEM = "broken.json"


def measured(results: Path, day: int, misses: int, seconds: float = 1.0) -> None:
    start = NOON + timedelta(days=day)
    taken = [
        sample(WARM, "counting", {"cache_misses": misses}, ledger=ledger("Add"), started_at=start),
        sample(WARM, "timing", {"compile_time": seconds}, started_at=start),
    ]
    under = header(f"3.3.{day}", commit=f"{day:02d}" * 20, date=start)
    project(results, journal(results, taken, RUN, under).read())


@pytest.fixture
def results(tmp_path: Path) -> Path:
    found = tmp_path / "results"
    measured(found, 1, 0)
    measured(found, 2, 3)
    (found / "a-machine").mkdir(exist_ok=True)
    (found / "a-machine" / PROBLEM).write_text("{")
    return found


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one with each site that is drawn."""
    found: list[str] = []
    drawn = observed.drawn

    def noted(*arguments: object) -> object:
        found.append("drawn")
        return drawn(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(observed, "drawn", noted)
    return found


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_a_site_that_would_be_the_same_is_not_built(
    results: Path, tmp_path: Path, drawings: list[str]
) -> None:
    first = build_site([results], tmp_path / "html")
    assert [PROBLEM in str(one) for one in first[1]] == [True]
    for path in results.rglob("*"):  # a clone of the results gives other times of change
        if path.is_file():
            os.utime(path, (1, 1))
    assert build_site([results], tmp_path / "html") == first
    assert drawings == ["drawn"]


def _acknowledge(results: Path, _: Path) -> None:
    (results / "acknowledged.json").write_text("{}")


def _grow(results: Path, _: Path) -> None:
    measured(results, 3, 0)


def _repair(results: Path, _: Path) -> None:
    (results / "a-machine" / PROBLEM).unlink()


def _edit(_: Path, html: Path) -> None:
    (html / "index.html").write_text("mine")


def _lose(_: Path, html: Path) -> None:
    (html / "alerts.html").unlink()


def _configure(results: Path, _: Path) -> None:
    (results.parent / "asv.conf.json").write_text('{"project": "another"}')


@pytest.mark.parametrize("change", [_acknowledge, _grow, _repair, _edit, _lose, _configure])
def test_a_site_is_built_after(
    change: Callable[[Path, Path], None], results: Path, tmp_path: Path, drawings: list[str]
) -> None:
    html = tmp_path / "html"
    build_site([results], html)
    change(results, html)
    build_site([results], html)
    assert drawings == ["drawn"] * 2


def test_other_options_give_another_site(
    results: Path, tmp_path: Path, drawings: list[str]
) -> None:
    html = tmp_path / "html"
    for source, url in ((None, ""), (None, "https://here/"), (Source(addresses={"name": "x"}), "")):
        build_site([results], html, source, url=url)
    assert len(drawings) == 3


def test_other_code_gives_another_site(
    results: Path, tmp_path: Path, drawings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    monkeypatch.setattr(built, "_CODE", code)
    for text in ("one", "two", "two"):
        (code / "page.html.j2").write_text(text)
        build_site([results], tmp_path / "html")
    assert len(drawings) == 2


def test_a_new_reference_of_the_clone_gives_another_site(
    results: Path, tmp_path: Path, drawings: list[str]
) -> None:
    clone = tmp_path / "clone"
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    source = Source(clone=clone)
    build_site([results], tmp_path / "html", source)
    build_site([results], tmp_path / "html", source)
    assert len(drawings) == 1
    subprocess.run([*git, "tag", "new"], check=True)
    build_site([results], tmp_path / "html", source)
    assert len(drawings) == 2


def test_a_damaged_record_is_made_again(
    results: Path, tmp_path: Path, drawings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for damage in (b"", b"{}", b'{"asked": 1, "inputs": {"a": 1}}', b"[]"):
        build_site([results], tmp_path / "html")
        records = sorted((tmp_path / "cache" / "observatory" / "sites").iterdir())
        assert [one.suffixes for one in records] == [[".json"], [".views", ".json"]]
        for record in records:
            record.write_bytes(damage)
    build_site([results], tmp_path / "html")
    assert len(drawings) == 5


nights = st.lists(
    st.tuples(st.integers(1, 30), st.integers(0, 2), st.floats(0.5, 2)), min_size=12, max_size=24
)


@settings(max_examples=5)
@given(nights, st.integers(1, 3), st.randoms())
def test_in_pieces_and_in_any_order_it_equals_a_site_from_nothing(
    nights: list[tuple[int, int, float]], pieces: int, random: object
) -> None:
    days = list({day: (day, misses, seconds) for day, misses, seconds in nights}.values())
    random.shuffle(days)  # type: ignore[attr-defined]
    place = Path(tempfile.mkdtemp())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        for piece in range(pieces):
            for day in days[piece::pieces]:
                measured(place / "results", *day)
            build_site([place / "results"], place / "html")
        patch.setenv("XDG_CACHE_HOME", str(place / "empty"))
        build_site([place / "results"], place / "fresh")
    assert files_of(place / "html") == files_of(place / "fresh")
    shutil.rmtree(place)


def foreign_night(results: Path, machine: int, day: int, series: int) -> None:
    """The values of a night of another project; some have a step in the middle of the days."""
    rng = np.random.default_rng((machine, day))
    values = rng.normal(1, 0.01, series) * np.where((day > 20) & (np.arange(series) == 1), 1.4, 1)
    rows = {
        f"suite.time_{number}": row(result=[value], params=[], stats_repeat=[7],
                                    stats_ci_99_a=[value * 0.99], stats_ci_99_b=[value * 1.01])
        for number, value in enumerate(values.tolist())
    }  # fmt: skip
    content = foreign(
        rows, commit_hash=f"{day:08x}" * 5, date=1_700_000_000_000 + day * 86_400_000,
        params={"machine": f"m{machine}", "python": "3.12"},
    )  # fmt: skip
    path = results / f"m{machine}" / f"{day:08x}-x.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


foreign_nights = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 40), st.integers(1, 4)),
    min_size=30, max_size=90, unique_by=lambda night: night[:2],
)  # fmt: skip


@settings(max_examples=4)
@given(foreign_nights, st.integers(2, 4), st.randoms())
def test_nights_of_many_machines_in_pieces_equal_a_site_from_nothing(
    nights: list[tuple[int, int, int]], pieces: int, random: object
) -> None:
    """And one for which each series is looked at alone, and nothing is ever forgotten."""
    random.shuffle(nights)  # type: ignore[attr-defined]
    place = Path(tempfile.mkdtemp())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patch.setattr(kept_levels, "PART", 3)
        patch.setattr(kept_levels, "ALONE", 3)
        # So few values are read, and sorted by subject, at once: the rest is in files meanwhile.
        patch.setattr(cache, "MOST", 20)
        patch.setattr(aside, "_RANGE", 5)
        patch.setattr(subject_values, "MOST", 10)
        for piece in range(pieces):
            for night in nights[piece::pieces]:
                foreign_night(place / "results", *night)
            build_site([place / "results"], place / "html")
        patch.setenv("XDG_CACHE_HOME", str(place / "empty"))
        for module in (cache, subject_values):
            patch.setattr(module, "MOST", 10**6)
        patch.setattr(kept_levels, "levels_of_many", lambda many: list(map(levels_of, many)))
        patch.setattr(SegmentedSeries, "forget", lambda _: None)
        patch.setattr(Part, "let_go", lambda _: None)
        build_site([place / "results"], place / "fresh")
    assert files_of(place / "html") == files_of(place / "fresh")
    shutil.rmtree(place)


def change(place: Path, what: str, which: int) -> None:
    """Something happens to the results, or to what was kept of an earlier build."""
    files = sorted((place / "results").glob("*/*.json"))
    kept = sorted(path for path in (place / "cache").rglob("*") if path.is_file())
    pages = sorted(
        path for path in (place / "html").rglob("*") if path.is_file() and path.name != MARKER
    )
    if what == "a file is removed" and len(files) > 1:
        files[which % len(files)].unlink()
    elif what == "a file is changed" and files:
        path = files[which % len(files)]
        path.write_text(path.read_text().replace("1.0", "1.2"))
    elif what == "a file is another's copy" and files:
        path = files[which % len(files)]
        (path.parent / f"copy-{path.name}").write_bytes(path.read_bytes())
    elif what == "kept is damaged" and kept:
        path, content = kept[which % len(kept)], bytearray(kept[which % len(kept)].read_bytes())
        content[which % len(content)] ^= 0xFF
        path.write_bytes(content)
    elif what == "kept is cut" and kept:
        path = kept[which % len(kept)]
        path.write_bytes(path.read_bytes()[: which % 200])
    elif what == "kept is lost" and kept:
        kept[which % len(kept)].unlink()
    elif what == "a page is edited" and pages:
        content = bytearray(pages[which % len(pages)].read_bytes())
        content[which % len(content)] ^= 0xFF
        pages[which % len(pages)].write_bytes(content)
    elif what == "a page is lost" and pages:
        pages[which % len(pages)].unlink()


def build_interrupted(place: Path, which: int) -> None:
    """A build is killed when it has written some files, kept ones or pages."""
    left = which % 25

    def dying(*arguments: Any, write: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return write(*arguments)

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        for module, name in (
            (cache, "write_atomic"), (kept_levels, "write_atomic"), (built, "write_atomic"),
            (publish, "_put"),
        ):  # fmt: skip
            patch.setattr(module, name, partial(dying, write=getattr(module, name)))
        build_site([place / "results"], place / "html")


HAPPENS = (
    "a file is removed", "a file is changed", "a file is another's copy", "kept is damaged",
    "kept is cut", "kept is lost", "interrupted", "another version", "a page is edited",
    "a page is lost",
)  # fmt: skip
pieces = st.lists(
    st.tuples(foreign_nights, st.sampled_from(HAPPENS), st.integers(0, 10**6)),
    min_size=2, max_size=4,
)  # fmt: skip


@settings(max_examples=8)
@given(pieces)
def test_whatever_happens_between_builds_the_site_equals_one_from_nothing(
    pieces: list[tuple[list[tuple[int, int, int]], str, int]],
) -> None:
    place = Path(tempfile.mkdtemp())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        for module in (cache, built, signatures):  # files have rested
            patch.setattr(module, "_clock", lambda: time.time_ns() + 3600 * 10**9)
        for nights, what, which in pieces:
            for night in nights:
                foreign_night(place / "results", *night)
            if what == "interrupted":
                build_interrupted(place, which)
            build_site([place / "results"], place / "html")
            change(place, what, which)
            if what == "another version":
                patch.setattr(cache, "version", lambda which=which: str(which))
        build_site([place / "results"], place / "html")
        patch.setenv("XDG_CACHE_HOME", str(place / "empty"))
        build_site([place / "results"], place / "fresh")
    assert files_of(place / "html") == files_of(place / "fresh")
    shutil.rmtree(place)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts, by machine, the series whose view was made, those whose text was, and the lines
    whose values were sorted by subject."""
    found: Counter[str] = Counter()
    view, text, run = Views._made, data._series, subject_values._Blocks._run

    def viewed(self: Views, number: int) -> object:
        found[f"row of {self._observed.tracks[number].series.line.machine}"] += 1
        return view(self, number)

    def told(observed: Any, track: Any, *rest: Any) -> object:
        found[f"text of {track.series.line.machine}"] += 1
        return text(observed, track, *rest)

    def sorted_(self: Any, *of: Any) -> object:
        found[f"subjects of {self._observed.tracks[self._series[0]].series.line.machine}"] += 1
        return run(self, *of)

    monkeypatch.setattr(Views, "_made", viewed)
    monkeypatch.setattr(data, "_series", told)
    monkeypatch.setattr(subject_values._Blocks, "_run", sorted_)
    return found


def test_of_all_series_nothing_is_remembered_but_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After no file: else memory would grow with what was asked of each of them."""
    remembered: list[int] = []

    def look(found: SiteInput) -> None:
        alerted = {one.key for alert in found.alerts.alerts for one in alert.series}
        quiet = [track for track in found.tracks if track.series.key not in alerted]
        assert len(quiet) >= 5
        remembered.append(sum(bool(vars(track)) for track in quiet))
        assert not any(hasattr(track.series, "__dict__") for track in found.tracks)

    monkeypatch.setattr(site, "_AT_ONCE", 1)
    monkeypatch.setattr(SiteInput, "let_go", look)
    for day in range(30):
        foreign_night(tmp_path / "results", 0, day, 6)
    for _ in range(2):
        build_site([tmp_path / "results"], tmp_path / "html")
        foreign_night(tmp_path / "results", 1, 1, 6)
    assert len(remembered) > 50
    assert set(remembered) == {0}


def test_one_new_file_makes_its_own_series_again_and_no_others(
    tmp_path: Path, made: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results, html = tmp_path / "results", tmp_path / "html"
    monkeypatch.setattr(shelves, "MOST", 0)  # each series has a data file of its own
    for day in range(12):
        foreign_night(results, 0, day, 3)
        foreign_night(results, 1, day, 3)
    build_site([results], html)
    each = {"row": 3, "text": 3, "subjects": 1}
    assert made == {f"{what} of m{n}": many for what, many in each.items() for n in (0, 1)}
    made.clear()
    foreign_night(results, 1, 12, 3)
    build_site([results], html)
    assert made == {"row of m1": 3, "text of m1": 3, "subjects of m1": 1}
    made.clear()
    (html / "index.html").write_text("mine")
    build_site([results], html)
    assert made == {}


def test_a_new_benchmark_leaves_those_beside_it_as_they_are(
    tmp_path: Path, made: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands between others, whose numbers change: what is shown of them does not."""
    results, html = tmp_path / "results", tmp_path / "html"
    monkeypatch.setattr(shelves, "MOST", 0)
    for day in range(12):
        foreign_night(results, 0, day, 3)
        foreign_night(results, 1, day, 3)
    build_site([results], html)
    made.clear()
    foreign_night(results, 0, 12, 4)
    build_site([results], html)
    assert made == {"row of m0": 4, "text of m0": 4, "subjects of m0": 1}
    made.clear()
    foreign_night(results, 1, 12, 4)  # a kin of the other machine's
    build_site([results], html)
    both = {"subjects of m0": 1, "subjects of m1": 1}
    assert made == {"row of m1": 4, "text of m1": 4, "row of m0": 1, "text of m0": 1} | both
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    build_site([results], tmp_path / "fresh")
    assert files_of(html) == files_of(tmp_path / "fresh")


def test_the_picture_of_an_alert_is_drawn_once_for_its_page_and_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: Counter[str] = Counter()
    picture = views.picture

    def counted(*of: Any) -> object:
        drawn[repr(of[1:])] += 1
        return picture(*of)

    monkeypatch.setattr(views, "picture", counted)
    for day in range(1, 41):
        foreign_night(tmp_path / "results", 0, day, 3)
    build_site([tmp_path / "results"], tmp_path / "html")
    assert list((tmp_path / "html/alerts").glob("*.svg"))
    assert set(drawn.values()) == {1}


def test_pages_that_only_got_another_name_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each build gives the files that it keeps another name, which changes when `stat` says so."""
    results, html = tmp_path / "results", tmp_path / "html"
    for day in range(12):
        foreign_night(results, 0, day, 3)
    build_site([results], html)
    style = html / "assets" / "style.css"
    os.utime(style, (1, 1))  # it was written long ago
    foreign_night(results, 0, 12, 3)
    build_site([results], html)
    assert style.stat().st_mtime == 1
    read: list[Path] = []

    def noted(path: Path) -> str:
        read.append(path)
        return digest_of(path)

    digest_of = signatures.digest_of
    monkeypatch.setattr(signatures, "digest_of", noted)
    build_site([results], html)
    assert html / "index.html" in read, "it is too new to be trusted"
    assert style not in read


def test_whoever_edits_pages_has_them_written_again(tmp_path: Path) -> None:
    results, html = tmp_path / "results", tmp_path / "html"
    for day in range(12):
        foreign_night(results, 0, day, 3)
    build_site([results], html)
    before = files_of(html)
    for name, content in before.items():
        if name != MARKER:
            (html / name).write_bytes(bytes([content[0] ^ 1]) + content[1:])
    build_site([results], html)
    assert files_of(html) == before


def test_other_code_makes_everything_again(
    tmp_path: Path, made: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    monkeypatch.setattr(built, "_CODE", code)
    foreign_night(tmp_path / "results", 0, 1, 3)
    for text in ("one", "two"):
        (code / "page.html.j2").write_text(text)
        build_site([tmp_path / "results"], tmp_path / "html")
    assert made == {"row of m0": 6, "text of m0": 6, "subjects of m0": 2}


def _another_end(content: dict[str, Any]) -> None:
    content["results"]["suite.time_0"][COLUMNS.index("stats_ci_99_b")] = [1.5]


def _another_number_of_samples(content: dict[str, Any]) -> None:
    content["results"]["suite.time_0"][COLUMNS.index("stats_repeat")] = [9]


def _another_commit(content: dict[str, Any]) -> None:
    content["commit_hash"] = "f" * 40


def _another_date(content: dict[str, Any]) -> None:
    content["date"] += 3_600_000


def _another_cpu(content: dict[str, Any]) -> None:
    content["params"]["cpu"] = "another one"


def _a_value_less(content: dict[str, Any]) -> None:
    del content["results"]["suite.time_1"]


@pytest.mark.parametrize(
    ("change", "day"),
    [(_another_end, 20), (_another_number_of_samples, 20), (_another_commit, 20),
     (_another_commit, 27), (_another_date, 20), (_another_cpu, 20), (_a_value_less, 20)],
)  # fmt: skip
def test_whatever_changes_in_a_file_is_on_the_pages(
    change: Callable[[dict[str, Any]], None],
    day: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    results, html = tmp_path / "results", tmp_path / "html"
    for machine, night in itertools.product(range(2), range(14, 28)):
        foreign_night(results, machine, night, 2)
    build_site([results], html)
    before = files_of(html)
    path = results / "m1" / f"{day:08x}-x.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    build_site([results], html)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    build_site([results], tmp_path / "fresh")
    assert files_of(html) == files_of(tmp_path / "fresh") != before


def test_an_acknowledged_alert_is_told_on_every_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    results, html = tmp_path / "results", tmp_path / "html"
    for day in range(10, 30):
        foreign_night(results, 0, day, 2)
    build_site([results], html)
    (alert,) = (html / "alerts").glob("*.html")
    (results / "triage.toml").write_text(
        f'[[acknowledged]]\nid = "{alert.stem}"\nwho = "me"\nwhy = "wanted"\n'
        "at = 2023-12-20T00:00:00Z\nuntil = 2100-01-01T00:00:00Z\n"
    )
    build_site([results], html)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    build_site([results], tmp_path / "fresh")
    assert files_of(html) == files_of(tmp_path / "fresh")
    assert "acknowledged" in (html / "list" / "001.html").read_text()
