"""What a site is built of, from synthetic frames. FOR TESTS ONLY: no value here was measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from observatory.analyze.history.alerts import AlertContext
from observatory.analyze.history.detection import Histories, detect_changes
from observatory.analyze.history.recorded import Run
from observatory.analyze.history.segments import segmented
from observatory.analyze.history.series import Era, Line, Series, Subject
from observatory.analyze.history.standing import retired_alerts
from observatory.analyze.history.wrong_counts import wrong_counts
from observatory.analyze.series_keys import SeriesKey, place_order
from observatory.dashboard.site_input import SiteInput
from observatory.store.reading.read import ResultFile
from observatory.store.records.alerts import at_of
from observatory.store.records.triage import Triage
from observatory.text.records import alerts_of
from tests.factories import header

MEASURED = datetime(2026, 8, 14, 6, 12, tzinfo=UTC)
_LONG_AGO = pd.Timestamp("2020-01-01", tz="UTC")


def observed(frame: pd.DataFrame, problems: Sequence[str] = (), **changes: Any) -> SiteInput:
    """The input of the site: a line for each machine and Python of the frame."""
    series: list[Series] = []
    files: list[ResultFile] = []
    known = frame.assign(date=frame["date"].fillna(_LONG_AGO))
    for (machine, python), rows in known.groupby(["machine", "python"], sort=True):
        series += _series(_line(machine, python, rows, files), rows)
    tracks = list(segmented(series))
    given: dict[str, Any] = {
        "measured_at": {(f.header.subject.label, f.machine): MEASURED for f in files if f.header},
        "version": "0.1.0", "problems": problems,
    } | changes  # fmt: skip
    alerts = given.pop("alerts", None) or _alerts(tracks)
    return SiteInput(tracks, files, alerts, **given)


def _series(line: Line, rows: pd.DataFrame) -> list[Series]:
    """The series of a line, in the order of the vocabulary."""
    # Once for all of them: in pandas, the same for each costs more than all else.
    places = {subject.label: number for number, subject in enumerate(line.subjects)}
    there = rows.assign(at=rows["subject"].map(places))[rows["value"].notna()]
    there = there.sort_values("at", kind="stable")
    at, n = there["at"].to_numpy(np.int64), there["n"].to_numpy(np.int32)
    value, low, high = (there[name].to_numpy(float) for name in ("value", "ci_low", "ci_high"))
    own: dict[SeriesKey, list[int]] = defaultdict(list)
    for number, words in enumerate(zip(*(there[name] for name in SeriesKey._fields), strict=True)):
        own[SeriesKey(*map(str, words))].append(number)
    return [
        Series.of(line, key, at[i], value[i], n=n[i], ci_low=low[i], ci_high=high[i])
        for key, i in sorted(own.items(), key=lambda one: place_order(one[0]))
    ]


def _line(machine: str, python: str, rows: pd.DataFrame, files: list[ResultFile]) -> Line:
    subjects = []
    labels = rows.drop_duplicates("subject").sort_values(["date", "pytensor", "subject"])
    for row in labels.to_dict("records"):
        label = str(row["subject"])
        commit = sha1(f"{label}{machine}{python}".encode(), usedforsecurity=False).hexdigest()
        date = row["date"].to_pydatetime()
        head = header("3.3.7", commit=commit, date=date)
        head = head.model_copy(update={
            "subject": head.subject.model_copy(update={"label": label, "python": python}),
            "versions": head.versions.model_copy(
                update={"pytensor": row["pytensor"], "numba": row["numba"]}
            ),
        })  # fmt: skip
        subjects.append(Subject(label, commit, date, len(files)))
        files.append(
            ResultFile(Path("x.json"), machine, commit, f"py{python}", date, python, {}, head)
        )
    era = Era("Some CPU", "2", "x86_64", "Linux 6.8", python)
    return Line(machine, f"py{python}", era, tuple(subjects))


def _alerts(tracks: Sequence[Any]) -> Any:
    lines = {id(t.series.line): t.series.line for t in tracks}.values()
    runs = [Run(line.machine, line.env_name, at_of(line.subjects[-1]), MEASURED) for line in lines]
    moment = AlertContext(MEASURED, timedelta(days=2), Triage(), None)
    good = MEASURED if runs else None
    found = detect_changes(Histories(list(tracks), (), runs, good), moment)
    retired = retired_alerts((one.alert for one in found.alerts), tracks)
    return alerts_of(found, "0.1.0", wrong=wrong_counts(tracks), retired=retired)
