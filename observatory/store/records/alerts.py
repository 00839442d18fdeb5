"""Alerts as a file: ``results/alerts.json``, which `observatory alerts` writes.

These models are the published schema ``docs/schemas/alerts-1.json``. What is in the file follows
from the results, from the triage file, from the alerts before and from the time; `observatory
alerts` makes it anew each time. Nothing that alarmed once ever leaves it silently.
"""

from __future__ import annotations

import math
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import Field, FiniteFloat

from observatory.benchmarks.catalogue import Kind
from observatory.store.base.moments import Moment
from observatory.store.base.record import Record, load_record, save_record
from observatory.store.base.strict_json import LARGEST_JSON
from observatory.store.records import layout
from observatory.store.records.comparison import FunctionChange, GraphChange
from observatory.store.records.sample import Count, Text, Word

FILE = layout.ALERTS

AlertId = Annotated[str, Field(pattern=r"^[0-9a-f]{10}$")]
State = Literal["new", "open", "acknowledged", "expired", "event", "resolved"]
"""What has become of an alert.

It is new (first seen in what was measured last), open (seen before, and it still holds),
acknowledged (a person said why and until when), expired (that time is over, and it still holds), an
event (somebody changed it on purpose, such as another default: it waits for nobody) or resolved (it
no longer holds; `resolution` says since when or why).
"""
STATES: tuple[State, ...] = (
    "new", "expired", "open", "acknowledged", "event", "resolved",
)  # fmt: skip
"""In the order in which they need a person."""
Reason = Literal["small", "went back"]
"""Why a change is not an alert: its impact is too small, or it was over before it was one."""
SeriesId = tuple[str, str, str, str]
"""Machine, environment, benchmark and metric of a series: what no other series has."""
_WORD, _TEXT = 200, 4000
"""Characters that a `Word` and a `Text` hold at most."""


def cut(text: str, most: int = _WORD) -> str:
    """The text if it is short enough; else its beginning and a hash of the whole text."""
    if len(text) <= most:
        return text
    digest = blake2b(text.encode(errors="replace"), digest_size=6).hexdigest()
    return f"{text[: most - len(digest) - 1]}~{digest}"


def series_id(machine: str, env_name: str, benchmark: str, metric: str) -> SeriesId:
    """The key of a series, as every record, alert and page has it."""
    return series_on((cut(machine), cut(env_name)), benchmark, metric)


def series_on(line: tuple[str, str], benchmark: str, metric: str) -> SeriesId:
    """The same for a machine and environment as keys have them."""
    return *line, cut(benchmark, _TEXT), cut(metric)


class At(Record):
    """A subject in a history."""

    label: Word
    commit: Annotated[str, Field(max_length=100)]
    date: Moment


class _Dated(Protocol):
    """A subject as journals have it, or as result files of other projects do."""

    @property
    def label(self) -> str: ...
    @property
    def commit(self) -> str: ...
    @property
    def date(self) -> datetime: ...


def at_of(subject: _Dated) -> At:
    """The subject in its history."""
    return At(label=cut(subject.label), commit=subject.commit[:100], date=subject.date)


def line_name(machine: str, env_name: str) -> str:
    """How a machine and environment are named in texts."""
    return f"{machine}, {env_name}" if env_name else machine


USELESS = 1.5


def described_by_ratio(medians: float, low: float, high: float) -> bool:
    """Whether one ratio with its interval describes a step whose medians have ratio ``medians``."""
    return low <= medians <= high and high <= low * USELESS


class Modes(Record):
    """Two modes of the values around a step, where no single ratio describes it."""

    lower: FiniteFloat = Field(description="median of the lower mode, in the unit of the metric")
    upper: FiniteFloat = Field(description="median of the upper mode")
    before: FiniteFloat = Field(ge=0, le=1, description="share of the upper mode before the step")
    after: FiniteFloat = Field(ge=0, le=1, description="its share after the step")
    moved: tuple[FiniteFloat, FiniteFloat] | None = Field(
        None,
        description="where not the shares changed but both modes moved: their medians after the "
        "step; `lower` and `upper` are those before it",
    )


class SeriesChange(Record):
    """What one series did, in the unit of its metric.

    ``before``, ``after`` and ``now`` are observed: medians of levels; of a drifting series medians
    of its values nearest to the step, or first and last between two steps. Without a last good
    subject ``before`` is the right value.
    """

    machine: Word
    env_name: Word
    benchmark: Text = Field(description="model, scenario, backend and launch; or asv's name")
    metric: Word
    unit: Word
    kind: Kind
    before: FiniteFloat
    after: FiniteFloat
    now: FiniteFloat | None = Field(None, description="newest level; None if not measured since")
    ratio: FiniteFloat | None = Field(
        None,
        description="estimate of new to old level (Hodges and Lehmann), or of a drift from first "
        "to last; noisy only; absent in older files",
    )
    low: FiniteFloat | None = Field(None, description="95 % interval of the ratio; noisy only")
    high: FiniteFloat | None = None
    modes: Modes | None = Field(None, description="where the values of a step have two modes")
    last_good: At | None
    first_bad: At
    newest: At = Field(description="newest subject with a value")
    holds: bool = Field(description="whether the newest level is still off the one before")
    counts_from: FiniteFloat | None = Field(
        None, ge=0, description="relative change from which one counts; near exact only; absent in "
        "older files",
    )  # fmt: skip
    learned_from: Count = Field(
        0, description="samples from which the noise in it was learned; 0: it is the default"
    )

    @property
    def key(self) -> SeriesId:
        """The machine, environment, benchmark and metric: together they name one series."""
        return self.machine, self.env_name, self.benchmark, self.metric

    @property
    def size(self) -> float:
        """How large the change is: the absolute logarithm of new to old value."""
        if self.ratio is not None and self.ratio > 0:
            return abs(math.log(self.ratio))
        if self.before > 0 and self.after > 0:
            return abs(math.log(self.after / self.before))
        return math.inf if self.after != self.before else 0.0

    @property
    def worse(self) -> bool:
        """Whether it went up: higher is worse, always."""
        return self.after > self.before if self.ratio is None else self.ratio > 1


class Change(Record):
    """Something that happened in one or more series at one subject, for one reason."""

    id: AlertId
    kind: Word = Field(description="kind of the cause, or slower, more memory, slow drift, ...")
    about: Text = Field("", description="of runs: what fails or is late; empty for series")
    sentence: Text = Field(description="in words, with numbers")
    last_good: At | None = Field(description="newest subject before it; None if there is none")
    first_bad: At
    between: Count = Field(description="subjects between the two that gave no value")
    series: list[SeriesChange] = Field([], max_length=10_000, description="the largest first")
    functions: list[FunctionChange] = Field([], max_length=5000)
    graphs: list[GraphChange] = Field([], max_length=5000, description="those that it concerns")

    @property
    def ends(self) -> tuple[str, str] | None:
        """The commits between which it lies; None if nothing was good before it."""
        good = self.last_good
        return None if good is None else (good.commit, self.first_bad.commit)


class Acknowledgement(Record):
    """What a person said of an alert: an entry of the triage file."""

    id: AlertId
    who: Word
    why: Text
    at: Moment
    until: Moment


class Alert(Change):
    """A change for the worse, and its state."""

    state: State
    first_seen: Moment = Field(description="when `observatory alerts` first said it")
    seen_with: Moment = Field(description="the newest sample there was then")
    state_since: Moment = Field(description="when `observatory alerts` first said its state")
    resolution: Text | None = None
    resolved_by: At | None = None
    acknowledged: Acknowledgement | None = None
    notes: list[Text] = Field([], max_length=100)


class SmallerChange(Change):
    """A change that is not an alert: it stands in the weekly digest and on the pages."""

    worse: bool
    impact: FiniteFloat = Field(
        description="size times certainty times the root of the number of series; 0.095 for a sure "
        "+10 % in one series"
    )
    reason: Reason = Field(description="why it is not an alert")
    recovered: At | None = Field(None, description="the subject by which it was over")


class Unjudged(Record):
    """Series of which nothing could be said, and why."""

    reason: Text
    count: Count
    examples: list[Text] = Field(max_length=10)


class WrongCount(Record):
    """A count of the newest subject that is not the right one."""

    benchmark: Text
    metric: Word


class Alerts(Record):
    """Everything that was found in one results directory."""

    schema_: Literal["observatory/alerts/1"] = Field("observatory/alerts/1", alias="schema")
    observatory: Word
    newest: Moment | None = Field(description="of the newest sample; None: no results")
    until: Moment | None = Field(
        None, description="the date of the newest subject; None: not known, as in older files"
    )
    last_good: Moment | None = Field(description="of the newest run without a failure")
    made_of: Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")] = Field(
        "", description="hash of the results and of what people said; empty: not known"
    )
    judged: Count = Field(description="noisy series that were judged")
    compared: Count = Field(0, description="pairs of subjects whose counts were compared")
    wrong: list[WrongCount] | None = Field(
        None, max_length=100_000, description="of the newest subject, with an alert or without; "
        "None: not known, as in older files",
    )  # fmt: skip
    retired: list[AlertId] | None = Field(
        None, max_length=100_000, description="the alerts whose series are no longer measured: "
        "nobody needs to decide about them; None: not known, as in older files",
    )  # fmt: skip
    alerts: list[Alert] = Field(max_length=100_000)
    improvements: list[Change] = Field([], max_length=100_000)
    smaller: list[SmallerChange] = Field(
        [], max_length=100_000, description="changes that are not alerts, the newest first"
    )
    unjudged: list[Unjudged] = Field([], max_length=100)
    environments: list[Text] = Field([], max_length=1000, description="changes of a machine")
    orphans: list[AlertId] = Field([], max_length=1000, description="acknowledged, but no alert")

    def in_state(self, *states: State) -> list[Alert]:
        """The alerts whose state is one of ``states``, in the order of the file."""
        return [alert for alert in self.alerts if alert.state in states]

    def measured(self, *states: State) -> list[Alert]:
        """Those in one of ``states`` whose series are still measured."""
        retired = set(self.retired or ())
        return [one for one in self.in_state(*states) if one.id not in retired]

    def needing(self) -> list[Alert]:
        """Those about which nobody has decided, and whose series are still measured."""
        return self.measured("new", "expired", "open")


def save(results: Path, alerts: Alerts) -> Path:
    """Write the alerts to ``results/alerts.json`` and return that path. Raises OSError."""
    return save_record(results / FILE, alerts)


def load(results: Path) -> Alerts | None:
    """Read ``results/alerts.json``; None if there is no such file. Raises RecordError if broken."""
    advice = "restore it from git, or remove it: its alerts then count as first seen today"
    wrong = "is not what `observatory alerts` writes"
    return load_record(Alerts, results / FILE, LARGEST_JSON, wrong, advice)
