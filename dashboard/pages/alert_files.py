"""An alert for other pages and programs: its record as JSON, and its first chart as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from observatory.dashboard.colours import tokens
from observatory.dashboard.drawing.series import Picture
from observatory.dashboard.kept import Later, hashed
from observatory.dashboard.rendering import rendered
from observatory.store.records.alerts import Alert
from observatory.text.plain import shorten

_LONGEST = 100
"""Characters that fit across the picture."""


def alert_files(
    alert: Alert, shown: tuple[str, Callable[[], Picture]] | None
) -> Iterator[tuple[str, bytes | Later]]:
    """Files beside the page of an alert: their paths and contents.

    ``shown``: the key of its first picture and what makes it; None if it has none.
    """
    yield f"alerts/{alert.id}.json", alert.model_dump_json(indent=1).encode() + b"\n"
    if shown is None:
        return
    key, made = shown
    said = shorten(alert.sentence.replace("`", ""), _LONGEST)

    def drawn() -> bytes:
        first = made()
        own = tokens()[first.css.removeprefix("b-")]
        return rendered("evidence.svg", {"p": first, "ink": tokens(), "own": own, "said": said})

    yield f"alerts/{alert.id}.svg", Later(hashed(key, said), drawn)
