"""Pictures hold the values that were recorded, with their units, and the same bytes each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from observatory.analyze.comparison.comparing import compared
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.history.segments import segmented
from observatory.analyze.series_keys import SelectionError
from observatory.app import plot
from observatory.app.plot import style
from observatory.benchmarks.catalogue import BACKENDS
from observatory.dashboard.colours import stylesheet, tokens
from observatory.store.records.comparison import Comparison
from observatory.text.records import comparison_of
from tests.factories import WARM, sample
from tests.factories_alerts import CELL, line, series, stepped
from tests.unit.cli.commands.test_compare import setting

SUBJECTS = [f"3.{number}.0" for number in range(4)]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Without a window, and without figures that stay."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def rows(metric: str = "compile_time", unit: str = "seconds") -> pd.DataFrame:
    """Two backends along four subjects; C has no value of the second."""
    found = [
        {
            "subject": subject, "python": "3.13", "machine": "bench", "model": "radon",
            "scenario": "warm_process", "backend": backend, "launch": "fork", "metric": metric,
            "unit": unit, "value": first + number / 10, "ci_low": np.nan, "ci_high": np.nan,
            "date": pd.Timestamp(2026, 1, 1 + number, tz="UTC"),
        }
        for backend, first in (("C", 0.2), ("NUMBA", 3.0))
        for number, subject in enumerate(SUBJECTS)
        if (backend, number) != ("C", 1)
    ]  # fmt: skip
    return pd.DataFrame(found)


def lines_of(ax: Axes) -> dict[str, list[float]]:
    return {
        str(one.get_label()).split()[0]: np.asarray(one.get_ydata(), float).tolist()
        for one in ax.get_lines()
        if not str(one.get_label()).startswith("_")
    }


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def comparison(base: float = 0.25, head: float = 0.5) -> Comparison:
    def side(value: float, misses: int) -> Evidence:
        timed = [sample(WARM, metrics={"compile_time": value + n / 1000}) for n in range(9)]
        return Evidence.of([*timed, sample(WARM, "counting", {"cache_misses": misses})])

    return comparison_of(compared(setting(), side(base, 0), side(head, 35)), 1.0)


def test_a_history_has_a_line_for_each_backend_with_a_gap_where_nothing_is() -> None:
    ax = plot.history(rows())
    drawn = lines_of(ax)
    assert drawn["NUMBA"] == pytest.approx([3.0, 3.1, 3.2, 3.3])
    assert drawn["C"] == pytest.approx([0.2, np.nan, 0.4, 0.5], nan_ok=True)
    assert [label.get_text() for label in ax.get_xticklabels()] == SUBJECTS
    assert ax.get_yscale() == "log"


def test_the_legend_names_the_newest_value_in_its_unit() -> None:
    legend = plot.history(rows()).get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["NUMBA  3.30 s", "C  500 ms"]


def test_axes_carry_units() -> None:
    times, counts = plot.history(rows()), plot.history(rows("cache_misses", "functions"),
                                                       metric="cache_misses")  # fmt: skip
    format_of = times.yaxis.get_major_formatter()
    assert [format_of(value, 0) for value in (0.2, 2.0)] == ["200 ms", "2 s"]
    assert times.get_ylabel() == "compile time"
    assert counts.get_ylabel() == "cache misses (functions)"
    assert counts.get_ylim()[0] == 0


def test_an_interval_is_drawn_where_there_is_one() -> None:
    frame = rows()
    frame.loc[0, ["ci_low", "ci_high"]] = [0.15, 0.25]
    collections = [one for one in plot.history(frame).collections if one.get_paths()]
    drawn = [path.vertices[:, 1].tolist() for one in collections for path in one.get_paths()]
    assert drawn == [[0.15, 0.25]]


def test_colours_are_those_of_the_page() -> None:
    ax = plot.history(rows())
    colours = {str(one.get_label()).split()[0]: to_hex(one.get_color()) for one in ax.get_lines()}
    for backend in ("C", "NUMBA"):
        assert f": {colours[backend]};" in stylesheet()
        assert colours[backend] == BACKENDS[backend].light
    assert style.colour_of("of nobody") == tokens()["other"]
    assert all(style.mark_of(backend) for backend in BACKENDS)


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(SelectionError, match="there is no metric 'call_time'"):
        plot.history(rows(), metric="call_time")
    with pytest.raises(SelectionError, match="no values"):
        plot.series([])


def test_given_axes_are_drawn_on_and_settings_stay_as_they_were() -> None:
    before = dict(mpl.rcParams)
    figure = Figure()
    ax = figure.subplots()
    assert plot.history(rows(), ax=ax) is ax
    assert dict(mpl.rcParams) == before


def test_a_series_shows_values_levels_and_the_signed_change_of_the_median() -> None:
    values = stepped(40, 20, 0.7)
    (track,) = segmented([series(line(40), values)])
    (step,) = track.bounds[1:-1]
    ax = plot.series([track])
    (drawn,) = [one for one in ax.get_lines() if len(np.asarray(one.get_xdata())) == 40]
    assert np.asarray(drawn.get_ydata()) == pytest.approx(values)
    change = np.median(values[step:]) / np.median(values[:step]) - 1
    assert f"{100 * change:.0f} %" in texts(ax)
    levels = {round(float(one.get_ydata()[0]), 6) for one in ax.get_lines()}  # type: ignore[index]
    assert {round(level, 6) for level in track.levels} <= levels


def test_steps_that_lie_close_have_labels_on_several_rows() -> None:
    tracks = list(segmented([series(line(40), stepped(40, 20, 0.7, seed=s)) for s in (1, 2)]))
    labels = [text for text in plot.series(tracks).texts if "%" in text.get_text()]
    assert len({text.xy[1] for text in labels}) == 2  # type: ignore[attr-defined]


def test_series_of_two_units_are_refused() -> None:
    on = line(40)
    both = segmented([series(on, stepped(40)), series(on, stepped(40), metric="peak_rss")])
    with pytest.raises(SelectionError, match="these have bytes and seconds"):
        plot.series(list(both))


def test_a_comparison_has_a_mark_at_each_ratio_and_the_medians_beside_it() -> None:
    told = comparison()
    (verdict,) = [one for one in told.verdicts if one.metric == "compile_time"]
    assert verdict.ratio is not None
    ax = plot.compare(told)
    marks = [float(one.get_xdata()[0]) for one in ax.get_lines() if len(one.get_xdata()) == 1]  # type: ignore[arg-type, index]
    assert marks == [pytest.approx(verdict.ratio.estimate)]
    assert texts(ax)[0] == "254 → 504 ms"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["warm_disk NUMBA fork"]
    assert ax.xaxis.get_major_formatter()(1.5, 0) == "+50 %"


def test_counts_of_a_comparison_are_drawn_as_counts() -> None:
    ax = plot.compare(comparison(), metric="cache_misses")
    marks = [float(one.get_xdata()[0]) for one in ax.get_lines() if len(one.get_xdata()) == 1]  # type: ignore[arg-type, index]
    assert marks == [0, 35]
    assert ax.get_xlabel() == "cache misses (functions)"
    with pytest.raises(SelectionError, match="choose from cache_misses, compile_time"):
        plot.compare(comparison(), metric="call_time")


def test_a_ledger_stacks_outcomes_and_sums_up_the_rest() -> None:
    functions = pd.DataFrame(
        [("Add", "miss", 2, 0.5, 10), ("Add", "hit", 1, 0.1, 5), ("Mul", "hit", 3, 0.2, 7),
         ("Sub", "internal", 4, 0.05, 0)],
        columns=["function", "outcome", "count", "seconds", "bytes"],
    )  # fmt: skip
    ax = plot.ledger(functions, most=2)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "Add  (3)", "Mul  (3)", "1 other names  (4)",
    ]  # fmt: skip
    ends: dict[float, float] = {}
    for bar in ax.patches:
        place = round(bar.get_y() + bar.get_height() / 2)  # type: ignore[attr-defined]
        ends[place] = max(ends.get(place, 0), bar.get_x() + bar.get_width())  # type: ignore[attr-defined]
    assert ends == pytest.approx({0: 0.6, 1: 0.2, 2: 0.05})


def test_graphs_have_a_bar_for_each_subject_or_a_word() -> None:
    counted = pd.DataFrame(
        [("3.1.3", "one", "nodes", "counted", 2.0), ("3.1.3", "two", "", "raised", np.nan),
         ("3.3.8", "one", "nodes", "counted", 1.0), ("3.3.8", "two", "steps", "counted", 5.0)],
        columns=["subject", "graph", "counted", "fate", "value"],
    )  # fmt: skip
    ax = plot.graphs(counted, title="Topics")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["one: nodes", "two: steps"]
    assert [bar.get_width() for bar in ax.patches] == [2, 0, 1, 5]  # type: ignore[attr-defined]
    assert [text.get_text() for text in ax.texts] == ["2", "raised", "1", "5"]
    alone = plot.graphs(counted[counted["graph"] == "one"])
    assert [label.get_text() for label in alone.get_yticklabels()] == ["one"]
    with pytest.raises(SelectionError, match="no graph"):
        plot.graphs(counted[:0])


@pytest.mark.parametrize("ending", style.FORMATS)
def test_the_same_values_give_the_same_bytes(tmp_path: Path, ending: str) -> None:
    one, two = (plot.save(plot.history(rows()), tmp_path / f"{n}{ending}") for n in (1, 2))
    assert one.read_bytes() == two.read_bytes()
    if ending == ".svg":
        assert b"<dc:date>" not in one.read_bytes()


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match=r"\.png, \.svg, \.pdf"):
        plot.save(plot.history(rows()), tmp_path / "a.gif")


def test_too_many_series_are_refused() -> None:
    on = line(6)
    many = [series(on, [1.0] * 6, cell=(f"m{n}", *CELL[1:])) for n in range(13)]
    with pytest.raises(SelectionError, match="13 series cannot be told apart"):
        plot.series(list(segmented(many)))


def test_a_logarithmic_scale_that_cannot_be_is_refused() -> None:
    (track,) = segmented([series(line(6), [0.0, *[1.0] * 5])])
    with pytest.raises(SelectionError, match="only values above 0"):
        plot.series([track], log=True)
