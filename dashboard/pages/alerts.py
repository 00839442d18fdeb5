"""All alerts, by what a person has to do about them, and the changes that are no alerts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from observatory.analyze.history.standing import standing
from observatory.dashboard.pages.overview import alert_line
from observatory.dashboard.site_input import SiteInput
from observatory.store.records.alerts import Change
from observatory.text import units
from observatory.text.alerts import with_page
from observatory.text.plain import clean, shorten
from observatory.text.standing import news, waiting

_CHANGES = 200
"""The most small changes, and the most improvements, that are listed."""


def alerts_page(observed: SiteInput) -> dict[str, Any]:
    """The values of `alerts.html.j2`."""
    alerts = observed.alerts
    now, shown = standing(alerts), with_page(alerts)
    pages = {one.id for one in shown}
    titles = {
        "New": (*now.failed, *now.new), "Waiting for a decision": now.waiting,
        "Sends nothing new": now.late, "Acknowledged": now.acknowledged,
        "Events: changed on purpose": now.events, "No longer measured": now.retired,
        "Resolved": [one for one in shown if one.state == "resolved"],
    }  # fmt: skip
    groups = [
        (title, [alert_line(one, observed.found) for one in own if one.id in pages])
        for title, own in titles.items()
    ]
    small, better = alerts.smaller, alerts.improvements
    return {
        "standing": " ".join(filter(None, (news(now), waiting(now)))).removesuffix("."),
        "judged": units.count(alerts.judged),
        "compared": units.count(alerts.compared),
        "groups": groups,
        "left_out": len(alerts.alerts) - len(shown),
        "small": _lines(small),
        "more_small": max(0, len(small) - _CHANGES),
        "improvements": _lines(better),
        "more_improvements": max(0, len(better) - _CHANGES),
        "unjudged": [
            {"count": units.count(one.count), "reason": clean(one.reason)}
            for one in alerts.unjudged
        ],
    }


def _lines(changes: Sequence[Change]) -> list[tuple[Any, str, str]]:
    return [
        (one.first_bad.date, shorten(one.first_bad.label, 60), clean(one.sentence))
        for one in changes[:_CHANGES]
    ]
