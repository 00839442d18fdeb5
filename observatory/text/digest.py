"""The weekly digest: what is wrong, right, worse and better, as Markdown for a forum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from observatory.benchmarks.catalogue import BACKENDS, CAUSES, FIRST_CAUSES, METRICS, MODELS, Cell
from observatory.store.records.alerts import Alert, Alerts, Change, SeriesChange, SmallerChange
from observatory.text import document as doc
from observatory.text import sizes, units
from observatory.text.alerts import found_still
from observatory.text.markdown import inline, markdown
from observatory.text.titles import title_of
from observatory.text.words import known_first, listed, several

_REASONS = {
    "small": "Small changes for the worse, which are no alerts",
    "went back": "Went back before they were alerts",
}
_SHOWN = 10
_LONGEST = 160
_WORDS = len(fields(Cell))
_Any = TypeVar("_Any", bound=Change)
_FIRST = frozenset(metric for name in FIRST_CAUSES for metric in CAUSES[name].shows_in)


@dataclass(frozen=True)
class Digest:
    """The changes of a span of time, which ends with the newest subject that was measured."""

    since: datetime
    until: datetime
    wrong: Sequence[Change]
    right: Sequence[Change]
    worse: Sequence[Change]
    better: Sequence[Change]
    smaller: Sequence[SmallerChange]
    others: Sequence[Change]
    """Alerts without a series: runs that failed or are late, faults and other settings."""
    judged: bool
    """Whether anything was judged or compared at all."""

    @property
    def bars(self) -> list[tuple[str, float]]:
        """A label and the ratio of the largest series of each change that has a size."""
        changes = (*self.worse, *self.better, *self.smaller)
        sized = ((change, _sized(change)) for change in changes)
        return [
            (f"{change.first_bad.label}: {title_of(change.kind)}, {where(series).replace('`', '')}",
             _ratio(series[0]))
            for change, series in sized if series
        ]  # fmt: skip


def digest_of(alerts: Alerts, span: timedelta) -> Digest:
    """The changes whose first subject is at most ``span`` older than the newest subject.

    Without alerts that the results do not show any more.
    """
    told = [one for one in alerts.alerts if found_still(one)]
    every = (*told, *alerts.improvements, *alerts.smaller)
    dates = [one.newest.date for change in every for one in change.series]
    dates += [one.first_bad.date for one in told]
    if alerts.until is not None:
        dates.append(alerts.until)
    until = max(dates, default=alerts.newest or datetime.now(UTC))
    since = until - span

    def within(changes: Iterable[_Any]) -> list[_Any]:
        return [one for one in changes if since <= one.first_bad.date <= until]

    def shown(changes: Iterable[Change], of_values: bool) -> list[Change]:
        recent = (one for one in within(changes) if one.series)
        return [one for one in recent if _of_values(one) == of_values]

    return Digest(
        since, until, shown(told, True), shown(alerts.improvements, True),
        shown(told, False), shown(alerts.improvements, False), within(alerts.smaller),
        [one for one in within(told) if not one.series],
        judged=bool(alerts.judged or alerts.compared),
    )  # fmt: skip


def _of_values(change: Change) -> bool:
    """Whether it is about wrong values or crashes, by what is counted."""
    return any(one.metric in _FIRST for one in change.series)


def digest_text(digest: Digest, title: str, picture: str = "") -> str:
    """The digest as Markdown; ``picture``: where its picture is."""
    blocks = [f"## {inline((title,))}", _summary(digest)]
    if picture and digest.bars:
        blocks.append(f"![The changes by size]({picture})")
    sections: dict[str, Sequence[Change]] = {
        "Wrong": digest.wrong, "Right again": digest.right,
        "Slower, larger or not found in the cache": digest.worse,
        "Faster, smaller or found again": digest.better,
        "Runs, faults and other settings": digest.others,
    }  # fmt: skip
    for name, changes in sections.items():
        blocks += _section(name, changes)
    for reason, sentence in _REASONS.items():
        blocks += _section(sentence, [one for one in digest.smaller if one.reason == reason])
    return "\n\n".join(blocks) + "\n"


def _summary(digest: Digest) -> str:
    span = f"From {digest.since:%Y-%m-%d} to {digest.until:%Y-%m-%d}"
    parts = [
        f"{several(len(changes), 'change')} {what}"
        for changes, what in (
            (digest.wrong, "to wrong values or crashes"), (digest.right, "back to right values"),
            (digest.worse, "for the worse"), (digest.better, "for the better"),
            (digest.smaller, "too small or too short for an alert"),
        ) if changes
    ]  # fmt: skip
    if digest.others:
        parts.append(f"{several(len(digest.others), 'alert')} about runs, faults or settings")
    calm = "nothing changed" if digest.judged else "nothing was judged"
    return f"{span}: {listed(parts) if parts else calm}."


def _section(name: str, changes: Sequence[Change]) -> Iterator[str]:
    if not changes:
        return
    yield markdown(doc.Heading((name,)))
    yield markdown(doc.Points(tuple(map(_point, changes[:_SHOWN]))))
    if (rest := len(changes) - _SHOWN) > 0:
        yield f"And {several(rest, 'more change')}."


def _point(change: Change) -> doc.Words:
    """One change in one sentence, and another one if it is over."""
    if isinstance(change, Alert) and change.resolved_by is not None:
        return (*_told(change), " Over since ", doc.Strong(change.resolved_by.label), ".")
    return _told(change)


def _told(change: Change) -> doc.Words:
    who = doc.Strong(change.first_bad.label)
    if sized := _sized(change):
        return who, *doc.written(f": {title_of(change.kind)}, {_by(sized)}, {_series(sized)}.")
    most = _largest(change)
    if most is not None and most.after < most.before and most.metric in METRICS:
        count = f"`{most.metric}` {sizes.levels(most)}, {where(change.series)}"
        return who, *doc.written(f": {title_of(change.kind)} ({count}).")
    return who, f": {title_of(change.kind)}: {_cut(change.sentence)}"


def _sized(change: Change) -> list[SeriesChange]:
    """Its series whose change has a size, the largest first; none if it is a change of counts."""
    if any(one.kind == "exact" for one in change.series):
        return []
    return [one for one in change.series if one.before > 0 and one.after > 0]


def _by(series: Sequence[SeriesChange]) -> str:
    ratios = [_ratio(one) for one in series]
    return units.span(min(ratios), max(ratios)) if len(ratios) > 1 else units.signed(ratios[0])


def _series(series: Sequence[SeriesChange]) -> str:
    name = f"`{series[0].metric}` " * bool(_words(series[0]))
    levels = f"{name}{sizes.levels(series[0])}"
    if len(series) == 1:
        return f"in {where(series)} ({levels})"
    return f"in {several(len(series), 'measurement')} of {where(series)} (the largest: {levels})"


def _ratio(one: SeriesChange) -> float:
    return sizes.medians(one) or one.after / one.before


def _largest(change: Change) -> SeriesChange | None:
    return max(change.series, key=lambda one: abs(one.after - one.before), default=None)


def _words(one: SeriesChange) -> list[str]:
    """The words of a cell of ours; none for a benchmark of another project."""
    words = one.benchmark.split()
    return words if len(words) == _WORDS and words[0] in MODELS else []


def where(series: Sequence[SeriesChange]) -> str:
    """Where a change is seen, in few words: models and backends, or the first benchmark.

    A reader who needs each series finds it on the page of the alert.
    """
    cells = [words for one in series if (words := _words(one))]
    if not cells:
        names = list(dict.fromkeys(one.benchmark for one in series))
        more = f" and {several(len(names) - 1, 'more benchmark')}" if len(names) > 1 else ""
        return f"`{names[0]}`{more}"
    models = known_first({words[0] for words in cells}, MODELS)
    backends = known_first({words[2] for words in cells}, BACKENDS)
    models, backends = ([f"`{word}`" for word in words] for words in (models, backends))
    return f"{listed(models)} with {listed(backends)}"


def _cut(text: str) -> str:
    """The first parts of a sentence: what it lists after them is on the page of the alert."""
    if len(text) <= _LONGEST:
        return f"{text}."
    kept = text[:_LONGEST]
    ends = (kept.rfind(mark) for mark in (": ", "; ", ", ", " ("))
    return f"{kept[: max(*ends, _LONGEST // 2)]} …"
