"""What searches found about an alert, as its page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from observatory.dashboard.pages.suspects import CommitView, commit_view
from observatory.store.records.crossings import Crossed
from observatory.store.records.searches import Culprit, Searched
from observatory.text.crossings import told
from observatory.text.document import Flat, Paragraph, Table, spoken
from observatory.text.forge import Forge
from observatory.text.plain import clean
from observatory.text.searches import CERTAIN, MOST, beside, change, nothing, range_of
from observatory.text.searches import value as in_words

_PROBES = 400


@dataclass(frozen=True)
class Dot:
    """A subject whose value is known: 0 is the first level of the range, None is no value."""

    label: str
    value: str
    level: int | None


@dataclass(frozen=True)
class CulpritView:
    """Where the value changes."""

    change: str
    sure: bool
    commits: Sequence[CommitView]
    beside: Sequence[str]
    """Sentences: what was skipped, what else changed, and the causes."""


def searches_view(searches: Sequence[Searched], forge: Forge) -> list[dict[str, Any]]:
    """Each search: a sentence, its culprits, and its subjects with their values.

    Those along commits, which say more, come before those along releases.
    """
    return [
        {
            "sentence": spoken(range_of(one)),
            "culprits": [_culprit(each, one.metric, forge) for each in one.culprits],
            "nothing": "" if one.culprits else nothing(one),
            "dots": _dots(one),
            "untried": one.subjects - len(one.probes),
        }
        for one in sorted(searches, key=lambda each: each.within is None)
    ]


def crossings_view(crossings: Sequence[Crossed]) -> list[dict[str, Any]]:
    """Each search for the package that made it: its sentences, and tables in between."""
    return [{"blocks": [_block(each) for each in told(one)]} for one in crossings]


def _block(block: Flat) -> dict[str, Any]:
    if isinstance(block, Table):
        rows = [[spoken(words) for words in row] for row in block.rows]
        return {"header": block.header, "rows": rows}
    assert isinstance(block, Paragraph)
    return {"sentence": spoken(block.words)}


def _culprit(culprit: Culprit, metric: str, forge: Forge) -> CulpritView:
    return CulpritView(
        spoken(change(culprit, metric)), CERTAIN[culprit.certainty] == "confirmed",
        [commit_view(one, forge) for one in culprit.commits if len(culprit.commits) <= MOST],
        [spoken(words) for words in beside(culprit)],
    )  # fmt: skip


def _dots(search: Searched) -> list[Dot]:
    ends = {one.after.commit for one in search.culprits}
    found, level = [], 0
    for probe in search.probes[:_PROBES]:
        level += probe.at.commit in ends
        missing = probe.value is None
        value = "no value" if probe.value is None else in_words(probe.value, search.metric)
        found.append(Dot(clean(probe.at.label), value, None if missing else level))
    return found
