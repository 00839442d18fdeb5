"""Work beside time on the pages."""

import json
from pathlib import Path

import pytest

from observatory.app.observed import site_data
from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.data import data_files
from observatory.dashboard.drawing import geometry
from observatory.dashboard.kept import Later
from observatory.dashboard.pages.cell_values import cell_values_of
from observatory.dashboard.pages.health import health_page
from observatory.dashboard.pages.history import history
from observatory.dashboard.pages.matrix import matrices
from observatory.dashboard.pages.overview import overview
from observatory.dashboard.pages.summary import newest
from observatory.dashboard.pages.work import WORK, WorkHistory, newest_work, work_history
from observatory.dashboard.site import build
from observatory.dashboard.site_input import SiteInput
from observatory.text.counting import not_followed
from observatory.text.forge import Forge
from observatory.text.words import SHOWN_METRICS
from tests import factories_work as factory
from tests.factories import sample
from tests.factories_work import CALLGRIND, HARDWARE, NOTHING, SPAWNED


def site(results: Path) -> SiteInput:
    observed, problems = site_data([results])
    assert problems == []
    return observed


def past(results: Path) -> WorkHistory:
    observed = site(results)
    values = cell_values_of(observed, frozenset(SHOWN_METRICS))
    subject = newest(values)
    assert subject is not None
    found = history(values, subject)
    return work_history(observed, subject, found.own, found.times[0].releases)


def test_a_line_breaks_where_the_source_changes_and_the_table_has_every_count(
    tmp_path: Path,
) -> None:
    counts = ((2.0e9, CALLGRIND), (2.001e9, CALLGRIND), (2.2e9, HARDWARE), (2.21e9, HARDWARE))
    found = past(factory.history(tmp_path, *counts))
    (panel,) = found.panels
    assert panel.title == "warm_process: instructions"
    numba = panel.table.header.index("NUMBA")
    assert [row[numba] for row in panel.table.rows] == [
        "2,000,000,000", "2,001,000,000", "2,200,000,000", "2,210,000,000",
    ]  # fmt: skip
    (drawing,) = geometry.time_drawings((panel,))
    assert drawing is not None
    (stroke,) = (one for one in drawing.strokes if one.name == "NUMBA")
    assert [len(piece.split()) for piece in stroke.paths] == [2, 2]
    assert stroke.label == "2.21 G"
    assert {tick.text for tick in drawing.y_ticks} <= {"", "2 G", "5 G", "1 G"}
    assert found.in_words[-1] == (
        "Counts of two sources are not compared: the lines break where the source changes."
    )
    whole = past(factory.history(tmp_path / "one", *((2.0e9, CALLGRIND),) * 3))
    assert whole.in_words[-1] == f"Instructions were counted by {CALLGRIND}."
    of_c = Cell("radon", "warm_process", "C_VM", "spawn")
    factory.recorded(tmp_path / "one", 3, [factory.work(1.4e9, CALLGRIND, of_c)])
    assert past(tmp_path / "one").in_words[-1] == f"{not_followed({'C_VM'})}."


@pytest.mark.parametrize(
    ("newest_count", "said"),
    [
        (
            2.1e9,
            "does more work than THEN: warm_process NUMBA instructions (+5 %).",
        ),
        (
            1.9e9,
            "does less work than THEN: warm_process NUMBA instructions (−5 %).",
        ),
        (2.001e9, "No count of its work got worse or better."),
    ],
)
def test_the_newest_subject_is_said_in_words(
    tmp_path: Path, newest_count: float, said: str
) -> None:
    found = past(factory.history(tmp_path, (2.0e9, CALLGRIND), (newest_count, CALLGRIND)))
    said = said.replace("THEN", "the subject before it that was counted")
    assert found.in_words[0].removeprefix("3.3.1 ") == said
    assert found.smallest == "0.6 %"


def test_across_sources_nothing_is_said_to_be_more(tmp_path: Path) -> None:
    found = past(factory.history(tmp_path, (2.0e9, CALLGRIND), (2.6e9, HARDWARE)))
    assert found.in_words == (
        f"Instructions were counted by {CALLGRIND}; and by {HARDWARE}.",
        "Counts of two sources are not compared: the lines break where the source changes.",
    )


def test_work_stands_beside_the_time_of_its_cell(tmp_path: Path) -> None:
    observed = site(factory.history(tmp_path, (2.0e9, CALLGRIND), (2.1e9, CALLGRIND)))
    subject = newest(cell_values_of(observed, frozenset(SHOWN_METRICS)))
    assert subject is not None
    view = newest_work(observed, subject)[SPAWNED]
    assert (view.value, view.change.state) == ("2.10 G", "bad")
    assert view.change.words == "higher: +5 %"
    assert CALLGRIND in view.title
    shown = overview(observed, subject, None)
    assert shown.has_work
    assert [tile.work for row in shown.rows for tile in row.tiles if tile] == [view]
    (matrix,) = matrices(subject)
    texts = {cell.work for group in matrix.groups for row in group.rows for cell in row.cells}
    assert texts == {"", "2,100,000,000 instructions"}


def test_a_change_of_work_below_the_floor_is_none(tmp_path: Path) -> None:
    observed = site(factory.history(tmp_path, (2.0e9, CALLGRIND), (2.001e9, CALLGRIND)))
    subject = newest(cell_values_of(observed, frozenset(SHOWN_METRICS)))
    assert subject is not None
    assert newest_work(observed, subject)[SPAWNED].change.words == "unchanged"


def test_work_is_shown_where_the_newest_subject_has_no_times(tmp_path: Path) -> None:
    factory.recorded(factory.history(tmp_path, (2.0e9, CALLGRIND)), 1, [factory.work(2.1e9)])
    observed = site(tmp_path)
    subject = newest(cell_values_of(observed, frozenset(SHOWN_METRICS)))
    assert subject is not None
    shown = [tile for row in overview(observed, subject, None).rows for tile in row.tiles if tile]
    assert [(tile.value, tile.work and tile.work.value) for tile in shown] == [("-", "2.10 G")]
    page = build(observed, tmp_path / "html").with_name("matrix.html").read_text("utf-8")
    assert '>no time recorded</span> <small class="work">2,100,000,000 instructions<' in page


def test_the_page_of_a_series_says_what_counted_it_and_leads_to_the_other_source(
    tmp_path: Path,
) -> None:
    counts = ((2.0e9, CALLGRIND), (2.1e9, CALLGRIND), (2.6e9, HARDWARE))
    observed = site(factory.history(tmp_path, *counts))
    files = dict(data_files(observed, Forge()))
    later = files["data/series-.js"]
    assert isinstance(later, Later)
    content = later.make()
    found = json.loads(content[content.index(b",") + 1 : content.rindex(b")")])
    found = {id_: json.loads(text) for id_, text in found.items()}
    sources = {one["source"]: one for one in found.values() if one["metric"] == "instructions"}
    assert {source: one["v"] for source, one in sources.items()} == {
        CALLGRIND: [2.0e9, 2.1e9], HARDWARE: [2.6e9],
    }  # fmt: skip
    assert sources[CALLGRIND]["reason"] == (
        "each value is compared only with the one before it, and a change counts from 0.6 % on "
        "(default noise)"
    )
    assert [found[id_]["source"] for id_ in sources[CALLGRIND]["kin"]["environments"]] == [HARDWARE]
    assert {one["source"] for one in found.values() if one["metric"] == "compile_time"} == {""}


def test_where_nothing_counts_the_pages_say_so_once(tmp_path: Path) -> None:
    cells = [SPAWNED.__class__("radon", name, "NUMBA", "spawn") for name in ("warm_disk", "call")]
    samples = [sample(SPAWNED, metrics={"compile_time": 0.25}), factory.uncounted()]
    for cell in cells:
        samples += [sample(cell, "counting", {"cache_misses": 0}), factory.uncounted(cell)]
    factory.recorded(tmp_path, 7, samples)
    found = past(tmp_path)
    assert found.panels == ()
    assert found.in_words == (f"No instructions were counted for 3.3.7: {NOTHING}.",)
    observed = site(tmp_path)
    subject = newest(cell_values_of(observed, frozenset(SHOWN_METRICS)))
    notes = health_page(observed, subject)["notes"]
    said = [(title, text) for title, each in notes for _, text in each if NOTHING in text]
    assert said == [("Metrics without a value", NOTHING)]


def test_of_results_without_work_the_page_says_that_there_is_none(tmp_path: Path) -> None:
    factory.recorded(tmp_path, 7, [sample(SPAWNED, metrics={"compile_time": 0.25})])
    assert past(tmp_path).in_words == ("No instructions were counted for 3.3.7.",)


def test_memory_is_no_work() -> None:
    assert WORK == ("instructions", "python_calls", "llvm_pass_runs")
