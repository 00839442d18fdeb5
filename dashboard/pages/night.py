"""The result of a night as a job summary: Markdown, with a picture of the newest subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from observatory.analyze.history.standing import standing
from observatory.benchmarks.catalogue import BACKENDS
from observatory.dashboard.rendering import rendered
from observatory.store.records.alerts import Alerts
from observatory.text import units
from observatory.text.alerts import verdict
from observatory.text.comparison.phrases import sentence
from observatory.text.document import Block, Heading, Name, Paragraph, Points, Strong, Table
from observatory.text.markdown import markdown
from observatory.text.plain import shorten
from observatory.text.words import several

PICTURE = "pictures/newest.svg"
"""Where the picture is among the pages."""
_MOST_ALERTS = 20
_BAR, _LEFT, _RIGHT, _WIDTH, _TOP = 20, 190, 80, 640, 34
_OTHER = "#808080"


@dataclass(frozen=True)
class StepOutcome:
    """A step of a night in words."""

    name: str
    outcome: str
    took: float | None
    """Seconds."""
    good: bool


@dataclass(frozen=True)
class Bar:
    """One cell of the newest subject."""

    label: str
    backend: str
    seconds: float


def night_summary(
    steps: Sequence[StepOutcome], alerts: Alerts | None, now: datetime, link: str,
    picture: str | None, notes: Sequence[str] = (),
) -> str:  # fmt: skip
    """The summary as Markdown. ``picture``: where it is, published or beside the summary.

    ``link``: address of the site, or empty. ``notes``: what was measured and what was left out.
    """
    written = [markdown(block) for block in _blocks(steps, alerts, now, notes)]
    if picture is not None:
        written.append(f"![Compile times of the newest subject]({picture})")
    if link:
        written.append(f"[All pages]({link})")
    return "\n\n".join(written) + "\n"


def _blocks(
    steps: Sequence[StepOutcome], alerts: Alerts | None, now: datetime, notes: Sequence[str]
) -> Iterator[Block]:
    yield Heading((f"Night of {now:%Y-%m-%d}",))
    if alerts is not None:
        yield Paragraph((Strong(verdict(alerts, now)),))
    if notes:
        yield Paragraph((" ".join(notes),))
    rows = [
        ((Name(step.name),), (step.outcome if step.good else Strong(step.outcome),),
         ("" if step.took is None else units.seconds(step.took),))
        for step in steps
    ]  # fmt: skip
    yield Table(("step", "outcome", "took"), tuple(rows))
    new = [] if alerts is None else standing(alerts).new
    if new:
        yield Points(tuple(sentence(alert.sentence) for alert in new[:_MOST_ALERTS]))
    if len(new) > _MOST_ALERTS:
        yield Paragraph((f"And {several(len(new) - _MOST_ALERTS, 'more alert')}.",))


def night_picture(title: str, bars: Sequence[Bar]) -> bytes:
    """Bars of one scale, as an SVG that needs nothing else and is read in light and dark."""
    most = max((bar.seconds for bar in bars), default=0.0) or 1.0
    drawn = [
        {
            "y": _TOP + _BAR * number,
            "label": shorten(bar.label, 28),
            "width": round(max(1.0, (_WIDTH - _LEFT - _RIGHT) * bar.seconds / most), 1),
            "colour": BACKENDS[bar.backend].light if bar.backend in BACKENDS else _OTHER,
            "said": units.seconds(bar.seconds),
        }
        for number, bar in enumerate(bars)
    ]
    height = _TOP + _BAR * len(bars) + 8
    values = {
        "title": shorten(title, 80), "bars": drawn, "left": _LEFT, "width": _WIDTH,
        "height": height,
    }  # fmt: skip
    return rendered("night.svg", values)
