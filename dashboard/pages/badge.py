"""The badge: one line for a README, an SVG that needs nothing else."""

from __future__ import annotations

from observatory.analyze.history.standing import Light, standing
from observatory.dashboard.rendering import rendered
from observatory.store.records.alerts import Alerts
from observatory.text.words import several

PATH = "badge.svg"
_LABEL = "observatory"
_RED = "#b3261e"
_COLOURS: dict[Light, str] = {
    "bad": _RED, "open": "#8a5300", "good": "#1a7f37", "unknown": "#57606a"
}  # fmt: skip
"""White text has a contrast of at least 4.5:1 on each."""
_CHARACTER = 6.6
"""Pixels; the text is fitted to this width in every font."""
_MARGIN = 10


def badge(alerts: Alerts) -> bytes:
    """What the alerts say, in four words, in the colour of the first page's light."""
    said, colour = _said(alerts)
    left, right = (round(len(text) * _CHARACTER) + _MARGIN for text in (_LABEL, said))
    values = {"label": _LABEL, "said": said, "colour": colour, "left": left, "right": right}
    return rendered("badge.svg", values)


def _said(alerts: Alerts) -> tuple[str, str]:
    now = standing(alerts)
    # A machine that newly sends nothing is amber on the first page, too.
    if fresh := sum(one.state == "new" for one in (*now.failed, *now.new)):
        return several(fresh, "new alert"), _RED
    colour = _COLOURS[now.light]
    if now.untold:
        return "something is wrong", colour
    if now.needing:
        return several(len(now.needing), "open alert"), colour
    return "nothing judged yet" if now.light == "unknown" else "no open alert", colour
