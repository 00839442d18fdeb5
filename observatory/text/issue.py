"""An alert as an issue on GitHub: its title, and its text as Markdown of bounded length.

The newest subject and the current level change every night. Only the page of the alert has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from observatory.store.records.alerts import Alert, At, SeriesChange
from observatory.store.records.found import NOTHING, Found
from observatory.text import document as doc
from observatory.text import sizes, units
from observatory.text.alerts import between, unmeasured
from observatory.text.comparison.phrases import folded_functions, folded_graphs, name, sentence
from observatory.text.crossings import told as crossing_told
from observatory.text.culprits import headline
from observatory.text.markdown import markdown
from observatory.text.plain import shorten
from observatory.text.searches import told
from observatory.text.titles import title_of

_LONGEST_TITLE = 200
_SERIES = 20
_FUNCTIONS = 60
_NOTES = 10
_CROSSINGS = 1
_PAGE = re.compile(r"https?://[A-Za-z0-9._~:/?#@!$&'*+,;=%-]+")


def issue_title(alert: Alert) -> str:
    """What happens and since when: one line of plain text, of at most 200 characters."""
    title = f"{title_of(alert.kind)}, {between(alert)}"
    return shorten(f"{title[:1].upper()}{title[1:]}", _LONGEST_TITLE)


def issue_text(alert: Alert, page: str | None = None, found: Found = NOTHING) -> str:
    """The evidence for an alert in Markdown; ``page`` is the address of its page.

    ``found``: what searches found about it.

    Names and texts of the alert are escaped, see `observatory.text.markdown`; an invalid address
    is no link.
    """
    written = [markdown(block) for block in _blocks(alert, found)]
    if page is not None and _PAGE.fullmatch(page):
        written.insert(1, f"[All details of this alert]({page})")
    return "\n\n".join(written)


def _blocks(alert: Alert, found: Found) -> Iterator[doc.Block]:
    yield doc.Paragraph(sentence(alert.sentence) or (f"Alert {alert.id}.",))
    if who := headline(found):
        yield doc.Paragraph((doc.Strong("Culprit"), ": ", *who, "."))
    yield doc.Points(tuple(_facts(alert)))
    if found.searches:
        content = tuple(block for one in found.searches for block in told(one))
        yield doc.Folded("What a search found", content)
    for one in found.crossings[-_CROSSINGS:]:
        yield doc.Folded("PyTensor, or another package?", tuple(crossing_told(one)))
    if alert.series:
        yield _folded_series(alert.series)
    if alert.functions:
        yield folded_functions(alert.functions, _FUNCTIONS, timed=False)
    if alert.graphs:
        yield folded_graphs(alert.graphs, _FUNCTIONS)
    if alert.state != "resolved":
        yield doc.Paragraph(("To acknowledge this alert for two weeks:",))
        yield doc.Command(f'observatory ack {alert.id} --why "..." --until 2w')


def _facts(alert: Alert) -> Iterator[doc.Words]:
    yield (doc.Strong("First bad"), ": ", *_at(alert.first_bad))
    if alert.last_good is not None:
        yield (doc.Strong("Last good"), ": ", *_at(alert.last_good), unmeasured(alert))
    if alert.about:
        yield (doc.Strong("Concerns"), ": ", *sentence(alert.about))
    if (given := alert.acknowledged) is not None and alert.state in ("acknowledged", "expired"):
        over = "was acknowledged" if alert.state == "expired" else "is acknowledged"
        until = f" until {_day(given.until)}: "
        yield (f"It {over} by ", name(given.who), until, *sentence(given.why))
    if alert.resolution:
        yield (doc.Strong("Resolved"), ": ", *sentence(alert.resolution))
    for note in alert.notes[:_NOTES]:
        yield sentence(note)


def _at(at: At) -> doc.Words:
    commit: tuple[doc.Piece, ...] = (", commit ", name(at.commit[:10])) if at.commit else ()
    return (name(at.label), f" of {_day(at.date)}", *commit)


def _day(moment: datetime) -> str:
    """The date without hyphens, because Markdown would show those as code."""
    return f"{moment.day} {moment:%B %Y}"


def _folded_series(series: list[SeriesChange]) -> doc.Folded:
    rest = len(series) - _SERIES
    rows: tuple[tuple[doc.Words, ...], ...] = tuple(
        ((name(one.benchmark),), (name(one.metric),),
         (sizes.levels(one),), (name(one.machine),))
        for one in series[:_SERIES]
    )  # fmt: skip
    # The plural of series is series.
    more = [doc.Paragraph((f"and {units.count(rest)} more",))] * (rest > 0)
    table = doc.Table(("benchmark", "metric", "before → after", "machine"), rows)
    return doc.Folded(f"{units.count(len(series))} series", (table, *more))
