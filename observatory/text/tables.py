"""The tables that people read in a terminal, as plain data. Pure; ``observatory/cli`` draws them.

What went wrong comes before any number and before what is merely missing: wrong results, crashes,
then counts that are not deterministic, then absences with their reasons.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from observatory.analyze.series_keys import place_order
from observatory.benchmarks.catalogue import (
    BACKENDS,
    LAUNCHES,
    METRICS,
    SCENARIOS,
    headline_time,
    no_such,
)
from observatory.errors import SelectionError
from observatory.store.journal.latest import Note
from observatory.text.counting import leaves_out_compiler, not_followed
from observatory.text.units import MISSING, brief, count, human

if TYPE_CHECKING:  # pages use `Table` alone, and its import takes longer than most of them
    import pandas as pd

Notes = Mapping[tuple[str, str], Sequence[Note]]
"""What a reader must know of the cells that one machine measured with one Python."""
Sources = Mapping[tuple[str, str], Mapping[str, str]]
"""What counted work: by machine and subject, and then by cell and metric."""
_HASH = re.compile(r"[0-9a-f]{4,40}")
"""A commit in a label, or what a person gives of it."""
_WHERE = ["machine", "python", "model"]
_WORK = "instructions"
_TIMES = tuple(dict.fromkeys(map(headline_time, SCENARIOS)))
_NOTE_ORDER = ("failed", "disagrees", "unavailable", "absent")
_SHOWN_METRICS = (*_TIMES, "cache_misses", "wrong_results", "crashed")
DEFAULT_METRICS = (*_TIMES, _WORK, "cache_misses")
_NAMED = 5
"""Subjects named in the message if one is missing."""
_ABREAST = 2
"""Start methods that fit beside each other in 80 columns; more of them are rows."""


@dataclass(frozen=True)
class Table:
    """Rows of texts, each as long as ``header``; ``footnotes`` are sentences, the worst first."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    footnotes: tuple[str, ...] = ()


def subject_tables(
    frame: pd.DataFrame, subject: str, notes: Notes = MappingProxyType({})
) -> list[Table]:
    """One subject: scenario x backend, by start method the time, misses and wrong results.

    Where instructions were counted, they stand beside the time. One table for each machine, Python
    and model that it was measured with. The time is the one that a user waits for in the scenario
    (`headline_time`). Raises SelectionError where there is no result of the subject.
    """
    rows, subjects = _of_subjects(frame, [subject])
    return [
        _subject_table(part, _noted(notes, part, subjects))
        for _, part in rows.groupby(_WHERE, sort=False)
    ]


def comparison_tables(
    frame: pd.DataFrame,
    subjects: Sequence[str],
    metrics: Sequence[str] = DEFAULT_METRICS,
    notes: Notes = MappingProxyType({}),
    sources: Sources = MappingProxyType({}),
) -> list[Table]:
    """Several subjects, a column each in the given order, with a row for each cell and metric.

    One table for each machine, Python and model. Wrong results and crashes of any subject are
    footnotes even where their metrics are not asked for. Raises SelectionError where there is
    nothing to show, or nothing of one of the subjects.
    """
    rows, subjects = _of_subjects(frame, subjects)
    shown = rows[rows["metric"].isin(list(metrics))]
    if not len(shown):
        there = list(dict.fromkeys(rows["metric"]))
        raise SelectionError(f"of {', '.join(subjects)}, {no_such('metric', metrics[0], there)}")
    return [
        _comparison_table(part, subjects, metrics, _noted(notes, part, subjects), sources)
        for _, part in rows.groupby(_WHERE, sort=False)
    ]


def _noted(notes: Notes, part: pd.DataFrame, subjects: Sequence[str]) -> list[Note]:
    """The notes on subjects from the machine and Python of a table."""
    first = part.iloc[0]
    own = notes.get((str(first["machine"]), str(first["python"])), ())
    return [note for note in own if note.subject in subjects]


def _of_subjects(frame: pd.DataFrame, names: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """The rows of some subjects in our cells, and their labels; raises as `labels_of`."""
    ours = frame[frame["backend"] != ""]
    subjects = labels_of(ours, names)
    return ours[ours["subject"].isin(subjects)], subjects


def labels_of(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """The subjects that names mean: those of such a label, else those whose hash begins so.

    Raises SelectionError for a name without any.
    """
    newest = frame.sort_values("date", ascending=False, kind="stable")["subject"]
    known = [str(one) for one in dict.fromkeys(newest)]
    found: list[str] = []
    for name in names:
        begin = name.lower()
        hashes = [one for one in known if _HASH.fullmatch(one) and _HASH.fullmatch(begin)]
        # A label has the first digits of a hash; a person may give fewer digits, or all.
        own = [one for one in hashes if one.startswith(begin) or begin.startswith(one)]
        if not (own := [name] if name in known else own):
            named = no_such("subject", name, known, _NAMED)
            raise SelectionError(f"in the selected results, {named}")
        found += own
    return list(dict.fromkeys(found))


def _subject_table(part: pd.DataFrame, notes: Sequence[Note]) -> Table:
    first = part.iloc[0]
    launches = [name for name in LAUNCHES if name in set(part["launch"])]
    values = _by_place(part, ["scenario", "backend", "launch", "metric"])
    worked = {str(one) for one in part.loc[part["metric"] == _WORK, "launch"]}
    texts = {
        (scenario, backend, launch): _cell_texts(values, scenario, backend, launch)
        for scenario in SCENARIOS
        if scenario in set(part["scenario"])
        for backend in BACKENDS
        for launch in launches
        if (scenario, backend, launch, "crashed") in values
        or (scenario, backend, launch, headline_time(scenario)) in values
    }
    rows: list[tuple[str, ...]]
    if len(launches) > _ABREAST:
        header = ["scenario", "backend", "launch", *_shown_of("time", bool(worked))]
        rows = [(*place, *_without_work(cells, bool(worked))) for place, cells in texts.items()]
    else:
        header = ["scenario", "backend"]
        for launch in launches:
            header += _shown_of(f"{launch}: time", launch in worked)
        rows = [
            (*both, *(
                text
                for name in launches
                for text in _without_work(texts.get((*both, name), _NOTHING), name in worked)
            ))
            for both in dict.fromkeys(place[:2] for place in texts)
        ]  # fmt: skip
    numba = f", numba {first['numba']}" if first["numba"] else ""
    versions = f"pytensor {first['pytensor']}{numba}, Python {first['python']}"
    title = f"{first['subject']}: {first['model']}, {versions}, on {first['machine']}"
    footnotes = (*_footnotes(part, notes), *_samples(part))
    return Table(title, tuple(header), tuple(rows), footnotes)


def _comparison_table(
    part: pd.DataFrame,
    subjects: Sequence[str],
    metrics: Sequence[str],
    notes: Sequence[Note],
    sources: Sources,
) -> Table:
    first = part.iloc[0]
    model, machine = str(first["model"]), str(first["machine"])
    place = ["scenario", "backend", "launch", "metric"]
    shown = part[part["metric"].isin(list(metrics))]
    values = _by_place(shown, [*place, "subject"])
    rows = []
    of_two: dict[str, list[str]] = defaultdict(list)
    not_followed_in = set()
    keys = {tuple(row) for row in shown[place].itertuples(index=False)}
    for key in sorted(keys, key=lambda key: place_order((model, *key))):
        found = [values.get((*key, subject)) for subject in subjects]
        rows.append((*key, *(MISSING if row is None else _text(row) for row in found)))
        scenario, backend, launch, metric = key
        counted = {
            subject: sources.get((machine, subject), {}).get(" ".join((model, *key)), "")
            for subject, row in zip(subjects, found, strict=True)
            if row is not None
        }
        if len(set(counted.values())) > 1:
            by = ", those of ".join(f"{one} by {how or _UNNAMED}" for one, how in counted.items())
            of_two[f"{metric} of {by}"].append(f"{scenario} {backend} {launch}")
        if any(leaves_out_compiler(scenario, backend, how) for how in counted.values()):
            not_followed_in.add(backend)
    title = f"{model}, Python {first['python']}, on {machine}: higher is worse"
    footnotes = [
        f"{', '.join(cells)}: counts of two sources cannot be compared ({said})"
        for said, cells in of_two.items()
    ]
    footnotes += [*_footnotes(part, notes), *_samples(shown)]
    if not_followed_in:
        footnotes.append(not_followed(not_followed_in))
    return Table(title, (*place, *subjects), tuple(rows), tuple(footnotes))


_UNNAMED = "a version that named no source"
_NOTHING = (MISSING,) * 4
Rows = dict[tuple[str, ...], "pd.Series[Any]"]


def _by_place(part: pd.DataFrame, columns: list[str]) -> Rows:
    # Only files that claim to be the same subject share a key: the later one is shown.
    return {tuple(str(row[name]) for name in columns): row for _, row in part.iterrows()}


def _shown_of(time: str, worked: bool) -> list[str]:
    return [time, *(["work"] if worked else []), "misses", "wrong"]


def _without_work(texts: tuple[str, ...], worked: bool) -> tuple[str, ...]:
    return texts if worked else (texts[0], *texts[2:])


def _cell_texts(values: Rows, scenario: str, backend: str, launch: str) -> tuple[str, ...]:
    """Time, work, misses and wrong results of a cell."""

    def counted(metric: str) -> str:
        row = values.get((scenario, backend, launch, metric))
        return MISSING if row is None else count(float(row["value"]))

    crashed = values.get((scenario, backend, launch, "crashed"))
    time = values.get((scenario, backend, launch, headline_time(scenario)))
    text = "CRASHED" if crashed is not None and crashed["value"] > 0 else MISSING
    text = text if time is None else _text(time)
    wrong = counted("wrong_results")
    marked = f"{wrong} WRONG" if wrong not in ("0", MISSING) else wrong
    work = values.get((scenario, backend, launch, _WORK))
    shown = MISSING if work is None else brief(float(work["value"]), str(work["unit"]))
    return text, shown, counted("cache_misses"), marked


def _text(row: pd.Series[Any]) -> str:
    return human(float(row["value"]), str(row["unit"]))


def _samples(part: pd.DataFrame) -> list[str]:
    """A sentence on how many samples the times are medians of; none without times."""
    numbers = part.loc[(part["kind"] == "noisy") & part["metric"].isin(_TIMES), "n"]
    if not len(numbers):
        return []
    low, high = int(numbers.min()), int(numbers.max())
    if high == 1:
        return ["each time comes from one sample (one process)"]
    number = f"{high}" if low == high else f"{low} to {high}"
    return [f"each time is the median of {number} samples (processes)"]


def _footnotes(part: pd.DataFrame, notes: Sequence[Note]) -> tuple[str, ...]:
    several = part["subject"].nunique() > 1
    lines = []
    for metric, word in (("wrong_results", "WRONG RESULTS"), ("crashed", "CRASHED")):
        for _, row in part[(part["metric"] == metric) & (part["value"] > 0)].iterrows():
            subject = f"{row['subject']} " if several else ""
            place = f"{subject}{row['scenario']} {row['backend']} {row['launch']}"
            lines.append(f"{word}: {place}: {count(float(row['value']))} {METRICS[metric].unit}")
    model = str(part.iloc[0]["model"])
    grouped: dict[str, list[str]] = defaultdict(list)
    for note in sorted(notes, key=lambda note: _NOTE_ORDER.index(note.kind)):
        absent = note.metric if note.kind == "absent" else None
        cell = note.cell
        # The tables explain the absence of the numbers that they show; the journal has all notes.
        if cell.model == model and (absent is None or absent in _SHOWN_METRICS):
            what = f"no {absent}: " if absent else ""
            subject = f"{note.subject} " if several else ""
            grouped[f"{what}{note.text}"].append(
                f"{subject}{cell.scenario} {cell.backend} {cell.launch}"
            )
    lines += [f"{', '.join(places)}: {text}" for text, places in grouped.items()]
    return tuple(lines)
