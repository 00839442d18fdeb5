"""An alert for other pages and programs: its record as JSON, and its first chart as a picture."""

from __future__ import annotations

from collections.abc import Iterator

from observatory.dashboard.colours import tokens
from observatory.dashboard.drawing.series import Picture
from observatory.dashboard.rendering import rendered
from observatory.store.records.alerts import Alert
from observatory.text.plain import shorten

_LONGEST = 100
"""Characters that fit across the picture."""


def alert_files(alert: Alert, pictures: list[Picture]) -> Iterator[tuple[str, bytes]]:
    """Files beside the page of an alert: their paths and contents."""
    yield f"alerts/{alert.id}.json", alert.model_dump_json(indent=1).encode() + b"\n"
    if pictures:
        shown = pictures[0]
        own = tokens()[shown.css.removeprefix("b-")]
        said = shorten(alert.sentence.replace("`", ""), _LONGEST)
        values = {"p": shown, "ink": tokens(), "own": own, "said": said}
        yield f"alerts/{alert.id}.svg", rendered("evidence.svg", values)
