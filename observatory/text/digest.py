"""The weekly digest: what got worse and better, as Markdown for a forum or an issue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from benchmarks.catalogue import CORRECTNESS
from observatory.store.records.alerts import Alerts, Change, SeriesChange, SmallerChange
from observatory.text import document as doc
from observatory.text.markdown import inline, markdown
from observatory.text.words import several

_REASONS = {
    "small": "Smaller changes for the worse, which are no alerts",
    "machine": "Most series of a machine moved at once: probably the machine or its dependencies",
    "found late": "Found long after they began",
    "went back": "Went back by themselves",
}
_SHOWN = 10


@dataclass(frozen=True)
class Digest:
    """The changes of a span of time, which ends with the newest subject that changed anything."""

    since: datetime
    until: datetime
    wrong: Sequence[Change]
    right: Sequence[Change]
    worse: Sequence[Change]
    better: Sequence[Change]
    smaller: Sequence[SmallerChange]

    @property
    def sized(self) -> list[SeriesChange]:
        """The changes of times, memory and work that have a size, the largest of each change."""
        changes = (*self.worse, *self.better, *self.smaller)
        sizes = ((one for one in change.series if one.kind != "exact" and one.before > 0)
                 for change in changes)  # fmt: skip
        return [one for one in (next(each, None) for each in sizes) if one is not None]


def digest_of(alerts: Alerts, span: timedelta) -> Digest:
    """The changes whose first subject is at most ``span`` older than the newest subject."""
    every = (*alerts.alerts, *alerts.improvements, *alerts.smaller)
    dates = [one.newest.date for change in every for one in change.series]
    until = max(dates, default=alerts.newest or datetime.now(UTC))
    since = until - span

    def within(changes: Iterable[Change], correct: bool | None = None) -> list[Change]:
        recent = (one for one in changes if since <= one.first_bad.date <= until)
        return [one for one in recent if correct is None or _of_numbers(one) == correct]

    return Digest(
        since, until, within(alerts.alerts, True), within(alerts.improvements, True),
        within(alerts.alerts, False), within(alerts.improvements, False),
        [one for one in alerts.smaller if since <= one.first_bad.date <= until],
    )  # fmt: skip


def _of_numbers(change: Change) -> bool:
    """Whether it is about right or wrong values."""
    return any(one.metric in CORRECTNESS for one in change.series)


def digest_text(digest: Digest, title: str, picture: str = "") -> str:
    """The digest as Markdown; ``picture``: where its picture is."""
    blocks = [f"## {inline((title,))}", f"{digest.since:%Y-%m-%d} to {digest.until:%Y-%m-%d}"]
    sections = {
        "Wrong": digest.wrong, "Right again": digest.right,
        "Slower, larger or missing the cache": digest.worse, "Faster or smaller": digest.better,
    }  # fmt: skip
    if not any(sections.values()) and not digest.smaller:
        blocks.append("Nothing changed.")
    if picture and digest.sized:
        blocks.append(f"![The changes by size]({picture})")
    for name, changes in sections.items():
        blocks += _section(name, changes)
    for reason, sentence in _REASONS.items():
        blocks += _section(sentence, [one for one in digest.smaller if one.reason == reason])
    return "\n\n".join(blocks) + "\n"


def _section(name: str, changes: Sequence[Change]) -> Iterator[str]:
    if not changes:
        return
    yield markdown(doc.Heading((f"{name} ({len(changes)})",)))
    yield markdown(doc.Points(tuple(
        (doc.Name(one.first_bad.label), f" {one.kind}: {one.sentence}")
        for one in changes[:_SHOWN]
    )))  # fmt: skip
    if (rest := len(changes) - _SHOWN) > 0:
        yield f"and {several(rest, 'more change')}"
