"""The pages of the census."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks.catalogue import FATES
from observatory.dashboard.pages.census import MARKS, census_pages
from observatory.dashboard.site import build
from observatory.store.reading.fates import Fate
from observatory.store.records.sample import OpCoverage
from tests import factories_frame as factory
from tests.factories_site import observed

EVIL = "</th><script>alert(1)</script>\"'>"
CELL = "ops census_warm NUMBA spawn"
COLD = "ops census_cold NUMBA spawn"


def site_of(*subjects: dict[str, str | tuple[str, str]], cell: str = CELL) -> Any:
    """An input whose newest subjects have these graphs, the oldest first."""
    base = observed(factory.frame())
    line = base.lines[0]
    chosen = line.subjects[-len(subjects) :]
    found = {
        (line.machine, line.env_name, subject.commit): {
            cell: [
                Fate(name, *((what,) if isinstance(what, str) else what))
                for name, what in graphs.items()
            ]
        }
        for subject, graphs in zip(chosen, subjects, strict=True)
    }
    return replace(base, fates=found)


def values(*subjects: dict[str, str | tuple[str, str]]) -> dict[str, Any]:
    pages = census_pages(site_of(*subjects))
    return pages[0].values(pages)


def test_without_a_census_there_is_no_page_and_no_link_to_one(tmp_path: Path) -> None:
    build(observed(factory.frame()), tmp_path)
    assert not (tmp_path / "census").exists()
    assert "census/" not in (tmp_path / "index.html").read_text()


def test_with_one_its_section_leads_there_and_it_opens(tmp_path: Path) -> None:
    build(site_of({"exp": "hit"}, {"exp": "hit", "qr": ("uncacheable", "QR: a pointer")}), tmp_path)
    front = (tmp_path / "index.html").read_text()
    assert 'href="census/ops-numba.html"' in front
    assert "3.3.7: of 2 graphs, 1 comes from the cache, 1 cannot be stored" in front
    assert 'href="census/ops-numba.html"' in (tmp_path / "matrix.html").read_text()
    page = (tmp_path / "census" / "ops-numba.html").read_text()
    assert re.search(r'<th scope="row">qr</th><td class="f-uncacheable" data-n="0">U', page)
    assert "QR: a pointer" in page
    assert "of 2 graphs, 1 comes from the cache, 1 cannot be stored" in page


def test_the_newest_subject_comes_first_and_a_gap_stays_one() -> None:
    found = values({"exp": "hit"}, {"qr": "hit"})
    rows = {row.name: row for row in found["rows"]}
    assert [label for _, label, _ in found["columns"]] == ["3.3.7", "3.3.4"]
    assert [place.fate for place in rows["exp"].places] == ["none", "hit"]
    assert [place.fate for place in rows["qr"].places] == ["hit", "none"]


def test_what_is_lost_and_won_is_marked_and_told() -> None:
    found = values(
        {"exp": "hit", "qr": "uncacheable", "new": "absent", "old": "raised"},
        {"exp": "miss", "qr": "hit", "new": "uncacheable", "old": "wrong"},
    )
    assert {row.name: row.places[0].moved for row in found["rows"]} == {
        "exp": "lost", "qr": "won", "new": "", "old": "lost"
    }  # fmt: skip
    assert found["story"] == [("3.3.7", "1 is wrong: old; 1 is compiled again: exp", "1 graph: qr")]
    assert found["verdict"].text == "wrong values"


def test_every_reason_names_its_graphs_and_their_subjects() -> None:
    """Without a pointer and without a script, of older subjects too."""
    refused = ("uncacheable", "a pointer")
    found = values(
        {"qr": refused, "svd": refused, "inv": refused},
        {"qr": refused, "svd": refused, "inv": ("raised", "no such Op")},
        {"qr": refused, "svd": refused, "inv": refused},
        {"qr": "hit", "svd": "hit", "inv": refused},
    )
    assert found["reasons"] == [
        ("a pointer", [("inv", "3.3.4 to 3.3.7, 3.2.4"), ("qr, svd", "3.2.4 to 3.3.4")]),
        ("no such Op", [("inv", "3.3.0")]),
    ]


def test_only_the_good_fate_of_a_page_has_no_class() -> None:
    """What has none is told as that fate."""
    found = values({"sum": "right", "qr": "hit", "exp": "miss"})
    good = found["good"]
    assert {row.name: row.places[0].css(good) for row in found["rows"]} == {
        "sum": "", "qr": "f-hit", "exp": "f-miss"
    }  # fmt: skip


def test_a_graph_that_a_subject_lacks_is_compared_with_the_one_before() -> None:
    (row,) = values({"qr": "hit"}, {"qr": "absent"}, {"qr": "miss"})["rows"]
    assert [place.moved for place in row.places] == ["lost", "", ""]


def test_only_what_changed_after_it_was_cached_has_changed() -> None:
    rows = values(
        {"exp": "uncached", "qr": "hit", "svd": "absent"},
        {"exp": "hit", "qr": "uncacheable", "svd": "hit"},
    )["rows"]
    assert [row.name for row in rows if row.changed] == ["qr"]


def test_counts_stand_for_themselves_and_may_change() -> None:
    old, new = ({"chain": ("counted", "", 3000), "constant": ("counted", "", n)} for n in (30, 17))
    made = "key_cost key_making NUMBA spawn"
    pages = census_pages(site_of(old, new, cell=made))
    found = pages[0].values(pages)
    rows = {row.name: row for row in found["rows"]}
    assert [place.mark for place in rows["chain"].places] == ["3,000", "3,000"]
    assert [place.mark for place in rows["constant"].places] == ["17", "30"]
    assert [row.name for row in found["rows"] if row.changed] == ["constant"]
    assert found["how"].startswith("every graph is converted")
    assert found["standing"] == "of 2 graphs, 2 are counted"


@pytest.mark.parametrize(
    ("before", "after", "text", "state"),
    [("hit", "hit", "nothing lost", "good"), ("hit", "miss", "1 graph lost", "unknown"),
     ("hit", "collided", "wrong values", "bad"), ("raised", "raised", "1 graph raises", "unknown"),
     ("uncacheable", "uncacheable", "nothing lost",
                                                  "good")],
)  # fmt: skip
def test_the_verdict_is_on_what_was_lost(before: str, after: str, text: str, state: str) -> None:
    verdict = values({"exp": before}, {"exp": after})["verdict"]
    assert (verdict.text, verdict.state) == (text, state)


def test_graphs_that_a_subject_lacks_are_none_of_its_graphs() -> None:
    found = values({"exp": "hit", "log": "hit"}, {"exp": "hit", "log": "absent"})
    assert found["standing"] == "of 1 graph, 1 comes from the cache; 1 more is not in this version"


def test_graphs_of_one_reason_share_a_row() -> None:
    why = ("uncacheable", "a pointer")
    assert values({"a": why, "b": why, "c": "hit", "d": "absent"})["unlike"] == [
        ("uncacheable", "U", "a, b", "a pointer")
    ]


def with_coverage(site: Any, **untried: tuple[str, ...]) -> Any:
    """The same, whose newest subject says which Ops no graph has."""
    spot = max(site.fates_at)
    line = site.lines[spot[0]]
    key = line.machine, line.env_name, line.subjects[spot[1]].commit
    ops = {name.replace("__", "."): list(backends) for name, backends in untried.items()}
    found = OpCoverage(implemented={"numba": 40, "jax": 7, "c": 9}, untried=ops)
    return replace(site, coverage={key: {COLD: found}})


def test_ops_that_no_graph_has_are_listed_by_backend_with_the_reason(tmp_path: Path) -> None:
    site = with_coverage(
        site_of({"exp": "hit"}, {"exp": "hit"}),
        tensor__Einsum=("jax", "numba"), tensor__Erf=("numba",), scalar__ScalarOp=("numba",),
        printing__Print=(),
    )  # fmt: skip
    label, found = census_pages(site)[0].values([])["untried"]
    assert label == "3.3.7"
    assert [(one.backend, one.number, one.of) for one in found] == [
        ("numba", 3, "of 40 "), ("JAX", 1, "of 7 "), ("no backend", 1, "")
    ]  # fmt: skip
    assert found[0].groups == (
        ("tensor.Einsum, tensor.Erf", "nobody has written a graph"),
        ("scalar.ScalarOp", "a base class: no graph has it"),
    )
    build(site, tmp_path)
    page = (tmp_path / "census" / "ops-numba.html").read_text()
    assert "<summary>numba: 3 of 40 Ops</summary>" in page


def test_what_no_graph_has_is_only_told_where_it_was_measured_with_the_backend() -> None:
    site = with_coverage(site_of({"exp": "hit"}), tensor__Erf=("numba",))
    assert census_pages(site)[0].values([])["untried"] is not None
    other = replace(site, fates={
        key: {CELL.replace("NUMBA", "C_VM"): graphs for graphs in cells.values()}
        for key, cells in site.fates.items()
    })  # fmt: skip
    assert census_pages(other)[0].values([])["untried"] is None
    assert values({"exp": "hit"})["untried"] is None


def test_every_fate_has_a_mark_and_a_style() -> None:
    style = Path("dashboard/assets/pages.css").read_text()
    assert set(MARKS) == set(FATES)
    assert [fate for fate in FATES if f".f-{fate}" not in style] == []


def test_names_of_strangers_stay_text(tmp_path: Path) -> None:
    build(with_coverage(site_of({EVIL: ("miss", EVIL)}), **{EVIL: (EVIL,)}), tmp_path)
    page = (tmp_path / "census" / "ops-numba.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_the_registry_times_releases_stays_small(tmp_path: Path) -> None:
    """A page of 350 graphs, a third of them with a reason, may load no more than the first page."""
    why = [("uncacheable", f"a reason of some length, the number {n}") for n in range(20)]
    graphs = {f"family.some_graph_{n}": why[n % 20] if n % 3 == 0 else "hit" for n in range(350)}
    site = tmp_path / "html"
    build(site_of(*[graphs] * 8), site)
    page = (site / "census" / "ops-numba.html").read_text()
    assert page.count('<th scope="col" title=') == 2 * 8  # of the table of kinds, and of the matrix
    # The budget of tests/benchmarks/test_pages.py, for 16 subjects.
    cells = 350 * 8 * (page.count("<td") and len('<td class="f-uncacheable" data-n="19">U'))
    assets = sum((site / "assets" / name).stat().st_size
                 for name in ("style.css", "pages.css", "site.js", "census.js"))  # fmt: skip
    assert len(page.encode()) + cells + assets < 250_000


def test_kinds_have_their_share_of_good_graphs_in_each_subject() -> None:
    old = {f"linalg.{name}": "hit" for name in ("qr", "svd", "inv")}
    pairs = {f"differ.size.{name}": "hit" for name in ("one", "two", "three")}
    new: dict[str, str | tuple[str, str]] = {
        **old, **pairs, "linalg.qr": "miss", "linalg.inv": "wrong", "linalg.svd": "absent"
    }  # fmt: skip
    assert values({**old}, new)["kinds"] == [
        ("linalg", [("0 of 2", "wrong"), ("3", "")]),
        ("differ.size", [("3", ""), (MARKS["absent"], "absent")]),
    ]


def test_where_nearly_every_graph_is_a_kind_of_its_own_there_is_no_table_of_kinds() -> None:
    assert values({"linalg.qr": "hit", "special.erf": "hit"})["kinds"] == []
