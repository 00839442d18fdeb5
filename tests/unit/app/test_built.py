"""A site is built where something changed, and comes out as if it were built from nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.app import built, observed
from observatory.app.site import build_site
from observatory.app.source import Source
from observatory.store.asv.files import project
from tests.factories import NOON, RUN, WARM, header, journal, ledger, sample

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
