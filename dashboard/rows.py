"""A series as a row of the lists. There are as many rows as series, so that no template makes them.

A template takes several times as long for so small a piece. Texts may come from anybody.
"""

from __future__ import annotations

from markupsafe import Markup, escape

from observatory.dashboard.colours import colour_of
from observatory.dashboard.drawing.series import Spark
from observatory.dashboard.pages.newest_value import NewestChange
from observatory.dashboard.rendering import termed
from observatory.dashboard.site_input import SiteInput
from observatory.text import units
from observatory.text.plain import shorten

_ROOT = "../"
_LONGEST = 140


def row(
    observed: SiteInput, number: int, change: NewestChange, drawn: Spark | None, of_caches: bool
) -> Markup:
    """HTML of the row of a series; ``of_caches``: whether words of the glossary are linked."""
    track, id_ = observed.tracks[number], observed.ids[number]
    series, place = track.series, track.series.place
    name = escape(shorten(series.benchmark, _LONGEST))
    metric = termed(shorten(place.metric, 40), _ROOT, of_caches)
    value = escape(units.human(track.series.values[-1], place.unit))
    at = escape(shorten(series.subject(len(series.values) - 1).label, 24))
    picture = "" if drawn is None else _spark(drawn, f"b-{colour_of(track, id_)}")
    noise = f' <span class="noise">{escape(change.noise)}</span>' if change.noise else ""
    moved = f'<span class="move {change.state}">{escape(change.words)}</span>{noise}'
    return Markup(  # noqa: S704 every text in it is escaped
        f'<tr id="s-{id_}"><th scope="row"><a href="{_ROOT}series.html#s={id_}">{name}</a></th>'
        f'<td>{escape(metric)}</td><td class="number">{value}</td><td>{at}</td>'
        f"<td>{picture}</td><td>{moved}</td></tr>"
    )


def _spark(s: Spark, css: str) -> str:
    """As `_spark.html.j2` has it."""
    steps = "".join(f'<path class="step" d="M{x} 1V{s.height - 1}"/>' for x in s.steps)
    return (
        f'<svg class="spark {css}" viewBox="0 0 {s.width} {s.height}" aria-hidden="true">{steps}'
        f'<polyline points="{s.path}"/><circle cx="{s.x}" cy="{s.y}" r="2.2"/></svg>'
    )
