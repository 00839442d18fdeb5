"""The badge: one line for a README, an SVG that needs nothing else."""

from __future__ import annotations

from observatory.analyze.history.standing import standing
from observatory.dashboard.rendering import rendered
from observatory.store.records.alerts import Alerts
from observatory.text.words import several

PATH = "badge.svg"
_LABEL = "observatory"
_RED, _AMBER, _GREEN, _GREY = "#b3261e", "#8a5300", "#1a7f37", "#57606a"
"""White text has a contrast of at least 4.5:1 on each."""
_CHARACTER = 6.6
"""Pixels; the text is fitted to this width in every font."""
_MARGIN = 10


def badge(alerts: Alerts) -> bytes:
    """What the alerts say, in four words: new ones in red, older open ones in amber."""
    said, colour = _said(alerts)
    left, right = (round(len(text) * _CHARACTER) + _MARGIN for text in (_LABEL, said))
    values = {"label": _LABEL, "said": said, "colour": colour, "left": left, "right": right}
    return rendered("badge.svg", values)


def _said(alerts: Alerts) -> tuple[str, str]:
    now = standing(alerts)
    if fresh := sum(one.state == "new" for one in (*now.failed, *now.new, *now.late)):
        return several(fresh, "new alert"), _RED
    if others := len((*now.failed, *now.new, *now.waiting, *now.late)):
        return several(others, "open alert"), _AMBER
    if alerts.untold:
        return "something is wrong", _RED
    if not alerts.judged:
        return "nothing judged yet", _GREY
    return "no open alert", _GREEN
