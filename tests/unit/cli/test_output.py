from __future__ import annotations

import io

import pytest
from rich.text import Text

from observatory.app.progress import Update
from observatory.cli.output import Console, TerminalProgress, grid, render, say
from observatory.text.tables import Table


def _drawn(table: Table, width: int = 120) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width).print(render(table, width))
    return stream.getvalue()


def test_title_rows_and_footnotes_are_drawn() -> None:
    table = Table("3.3.7", ("scenario", "fork: time"), (("cold", "4.20 s"),), ("no spawn",))
    text = _drawn(table)
    assert [word in text for word in ("3.3.7", "fork: time", "4.20 s", "no spawn")] == [True] * 4


def test_nothing_controls_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, order = io.StringIO(), "a\x1b]52;c;eA==\x07\x9b2K"
    console = Console(file=stream, width=120)
    console.print(order)
    cells = (order, Text(order, style="red"))
    console.print(grid((order, "b"), [cells], title=order))
    assert not {one for one in stream.getvalue() if not one.isprintable()} - {"\n"}
    assert stream.getvalue().count("]52;c;eA==") == 5


def test_markup_in_a_name_is_shown_and_not_obeyed() -> None:
    table = Table("[bold]x[/]", ("[red]h",), (("[link=http://e]a[/link]",),), ("[blink]f",))
    text = _drawn(table)
    for word in ("[bold]x[/]", "[red]h", "[link=http://e]a[/link]", "[blink]f"):
        assert word in text


def test_a_table_without_footnotes_has_no_caption() -> None:
    assert render(Table("t", ("scenario",), ()), 80).caption is None


def test_a_subject_is_never_cut_off() -> None:
    header = ("from", "to", "model", "reused", "rebuilt", "stale")
    row = ("3.2.3", "3.2.4 numba==0.65.1", "randoms", "23", "2", "1 STALE")
    text = _drawn(Table("t", header, (row,), ()), width=40)
    assert "…" not in text
    assert "randoms" in text


def test_at_80_columns_the_table_of_a_subject_breaks_no_word_and_no_number() -> None:
    times = ("fork: time", "misses", "wrong", "spawn: time", "work", "misses", "wrong")
    rows = (
        ("warm_process", "NUMBA_OPS_ONLY", "323 ms", "0", "0", "344 ms", "1.99 G", "0", "0"),
        ("call", "NUMBA", "6.30 µs", "-", "0", "6.23 µs", "58.2 M", "-", "0"),
    )
    text = _drawn(Table("t", ("scenario", "backend", *times), rows), width=80)
    for word in ("misses", "spawn:", "warm_process", "NUMBA_OPS_ONLY", "6.23 µs", "1.99 G"):
        assert word in text
    assert text.count("misses") == text.count("wrong") == 2


def test_the_name_of_a_benchmark_is_broken_behind_its_dots_and_loses_nothing() -> None:
    name = "form_benchmarks.form_validate.Validate.time_form_invalid"
    table = Table("t", ("benchmark", "1.0"), ((name, "219 ms ±1.7 %"), ("short", "1 s")))
    wide, narrow = (_drawn(table, width) for width in (100, 50))
    assert name in wide
    lines = [line.split("  ")[0].strip() for line in narrow.splitlines()]
    assert "form_benchmarks.form_validate." in lines
    assert "Validate.time_form_invalid" in lines
    assert "219 ms ±1.7 %" in narrow


def test_a_table_that_fits_breaks_no_value_and_loses_nothing_at_its_edge() -> None:
    header = ("backend", "wrong", "spawn: time", "scenario", "work", "fork: time", "misses")
    rows = (
        ("NUMBA_OPS_ONLY", "C_VM", "6.30 µs", "1,234", "C_VM", "warm_process", "DEFAULT"),
        ("323 ms", "variants", "-", "1,234", "323 ms", "-", "-"),
        ("warm_disk", "0", "1.99 G", "C_VM", "323 ms", "last in 3.3.7", "warm_disk"),
    )
    lines = _drawn(Table("t", header, rows), width=80).splitlines()
    assert all(any(value in line for line in lines) for row in rows for value in row)
    assert sum("warm_disk" in line and line.count("warm_disk") == 2 for line in lines) == 1


def _progress(terminal: bool) -> str:
    """What a run of two samples writes, the second of which fails."""
    stream = io.StringIO()
    show = TerminalProgress(Console(file=stream, width=120, force_terminal=terminal))
    show(Update("3.3.7  cold counting", "activity", 0, 2))
    show(Update("3.3.7 [1/2] cold counting 2 s", "sample", 1, 2))
    show(Update("3.3.7: cold (timing) crashed", "error", 2, 2))
    show(Update("", "activity"))
    return stream.getvalue()


def test_a_bar_counts_the_samples_of_the_step_that_is_going_on() -> None:
    stream = io.StringIO()
    show = TerminalProgress(Console(file=stream, width=80, force_terminal=True))
    show(Update("first step", "activity", 3, 4))
    show(Update("about 4 min left: " + "BASE radon warm_process NUMBA " * 4, "activity", 2, 14))
    show(Update("", "activity"))
    drawn = stream.getvalue()
    assert "2/14" in drawn
    assert "about 4 min left: BASE radon" in drawn


def test_a_log_has_a_line_for_each_sample() -> None:
    assert _progress(False) == "3.3.7 [1/2] cold counting 2 s\n3.3.7: cold (timing) crashed\n"


def test_a_terminal_has_a_bar_and_lines_only_for_what_went_wrong() -> None:
    text = _progress(True)
    assert "3.3.7: cold (timing) crashed" in text
    assert "[1/2]" not in text
    assert "1/2" in text


def test_plain_texts_cannot_control_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\x1b[2Jb", "::error::c", end="|")
    assert capsys.readouterr().out == "a\N{REPLACEMENT CHARACTER}[2Jb|: :error::c|"
