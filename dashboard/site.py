"""The static site: a tidy frame in, a directory of pages out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from dashboard import charts
from dashboard.history import history
from dashboard.matrix import matrices
from dashboard.publish import publish, refuse_foreign
from dashboard.readings import Reading, read
from dashboard.summary import headline, newest
from dashboard.words import MAIN_BACKENDS, SHOWN_METRICS, css_name, glossaries

STYLESHEET = "assets/style.css"


def build(
    frame: pd.DataFrame,
    out: Path,
    *,
    problems: Sequence[str],
    measured_at: Mapping[tuple[str, str], datetime],
    version: str,
    machine: str | None = None,
) -> Path:
    """Write the site into ``out`` and return the path of its first page.

    Args:
        frame: the tidy frame, columns as in ``dashboard.readings.COLUMNS``; may be empty.
        out: a directory that is absent, empty, or was made by an earlier call; it is replaced.
        problems: sentences that name the files that could not be read.
        measured_at: by subject and machine, when its newest sample was taken, with a time zone.
        version: of this tool.
        machine: whose matrix is shown, if it measured the newest subject; default: the one with
            the longest history.

    Raises:
        ValueError: the frame lacks a column.
        dashboard.publish.NotOurDirectoryError: ``out`` holds something that was not written here.

    """
    refuse_foreign(out)
    page = first_page(
        read(frame, frozenset(SHOWN_METRICS)),
        problems=problems, measured_at=measured_at, version=version,
        foreign=not frame.empty, machine=machine,
    )  # fmt: skip
    style = (files("dashboard") / STYLESHEET).read_text("utf-8")
    publish({"index.html": page, STYLESHEET: style}, out)
    return out / "index.html"


def first_page(
    readings: tuple[Reading, ...],
    *,
    problems: Sequence[str],
    measured_at: Mapping[tuple[str, str], datetime],
    version: str,
    foreign: bool = False,
    machine: str | None = None,
) -> str:
    """Return the HTML of the first page. The same arguments give the same bytes.

    ``foreign``: there were results, but none speaks of a metric that this page shows.
    """
    common = {
        "problems": list(problems),
        "version": version,
        "glossaries": glossaries(),
        "stylesheet": STYLESHEET,
    }
    subject = newest(readings, machine)
    longest = newest(readings)
    if subject is None or longest is None:
        return _environment().get_template("empty.html.j2").render(common, foreign=foreign)
    past = history(readings, longest)
    return _environment().get_template("index.html.j2").render(
        common,
        headline=headline(
            subject, measured_at.get((subject.subject, subject.setting.machine))
        ),
        subject=subject.subject,
        matrices=matrices(subject),
        history=past,
        times=tuple(zip(past.times, charts.time_drawings(past.times), strict=True)),
        misses=tuple(zip(past.misses, charts.count_drawings(past.misses), strict=True)),
        wrong=(past.wrong, *charts.count_drawings((past.wrong,))),
        legend=tuple((name, css_name(name), charts.shape_of(name)) for name in MAIN_BACKENDS),
    )  # fmt: skip


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
