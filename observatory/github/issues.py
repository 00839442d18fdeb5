"""One issue for each alert: what to do, decided from the alerts and the existing issues.

The text of an issue begins with a hidden marker that names its alert, and the state and title that
we gave the issue. Where the issue differs, a person has changed it, and that stays: an issue closed
by hand stays closed, a reopened one stays open, an edited title stays, and a locked issue is not
touched at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal, TypeAlias

from observatory.github.body import cut, digest, unix
from observatory.github.models import Issue
from observatory.text.comment import LIMIT

NIGHT = timedelta(hours=20)
"""Issues opened within this span count as opened in one night."""
_END = "<!-- observatory: end of alert -->"
_MARKER = re.compile(
    r"^<!-- observatory: alert ([0-9a-f]{10}), left (open|closed), title ([0-9a-f]{16}), "
    r"text ([0-9a-f]{16}) -->$",
    re.MULTILINE,
)

IssueState: TypeAlias = Literal["open", "closed"]
Need: TypeAlias = Literal["open", "known", "over"]
"""What an alert needs: an open issue; no new issue, because a person knows; a closed issue."""


@dataclass(frozen=True)
class Wanted:
    """An alert as an issue; ``write`` makes its text, which is rarely needed once it is over."""

    id: str
    state: Need
    title: str
    write: Callable[[], str] = field(compare=False)

    @cached_property
    def text(self) -> str:
        """The text about the alert, in Markdown."""
        return self.write()

    def body(self, left: IssueState) -> str:
        """Our part of the issue's text, for an issue that we leave in this state."""
        noted = f"left {left}, title {digest(self.title)}, text {digest(self.text)}"
        return cut(f"<!-- observatory: alert {self.id}, {noted} -->\n{self.text}\n{_END}")


@dataclass(frozen=True)
class Tracked:
    """An issue of ours, and the notes in its marker: state, and digests of title and text."""

    issue: Issue
    id: str
    left: IssueState
    title: str
    text: str

    def new_title(self, title: str) -> str | None:
        """The title to give the issue; None if it has it, or a person has edited the title."""
        edited = digest(self.issue.title) != self.title
        return None if edited or self.issue.title == title else title


@dataclass(frozen=True)
class Change:
    """Change an issue: only the fields that are not None."""

    issue: Issue
    body: str
    why: str
    title: str | None = None
    state: IssueState | None = None
    reason: Literal["completed", "not_planned", "reopened"] | None = None


@dataclass(frozen=True)
class Plan:
    """What to do, and what is left as it is."""

    actions: tuple[Wanted | Change, ...]
    """Issues to open and to change."""
    postponed: tuple[str, ...]
    """Ids of alerts that get no issue tonight."""
    respected: tuple[str, ...]
    """What people decided, a clause each: "#12 was closed by hand"."""
    unknown: tuple[int, ...]
    """Issues of alerts that are not in the file."""


def tracked(issues: Iterable[Issue]) -> dict[str, list[Tracked]]:
    """The issues with a marker, by the id of their alert, the oldest first."""
    found: dict[str, list[Tracked]] = defaultdict(list)
    for issue in sorted(issues, key=lambda one: one.number):
        if (marker := _MARKER.search(unix(issue.body))) is not None:
            left: IssueState = "open" if marker[2] == "open" else "closed"
            found[marker[1]].append(Tracked(issue, marker[1], left, marker[3], marker[4]))
    return dict(found)


def decide(alerts: Sequence[Wanted], issues: Sequence[Issue], most: int, now: datetime) -> Plan:
    """What to do about alerts (the most urgent first), given all issues of ours.

    ``most``: issues that may be opened in one night, those of earlier runs included.
    """
    existing = tracked(issues)
    spare = most - sum(issue.created_at > now - NIGHT for issue in issues)
    actions: list[Wanted | Change] = []
    postponed: list[str] = []
    respected: list[str] = []
    for alert in alerts:
        found = existing.pop(alert.id, [])
        if not found:
            if alert.state == "open" and spare > 0:
                actions.append(alert)
                spare -= 1
            elif alert.state == "open":
                postponed.append(alert.id)
            continue
        # Of several, the oldest open one counts, or else the oldest.
        one = next((each for each in found if each.issue.state == "open"), found[0])
        match _about(alert, one):
            case Change() as change:
                actions.append(change)
            case str() as clause:
                respected.append(clause)
        actions += [
            _duplicate(other, one)
            for other in found
            if other is not one and other.issue.state == "open" and not other.issue.locked
        ]
    unknown = tuple(one.issue.number for found in existing.values() for one in found)
    return Plan(tuple(actions), tuple(postponed), tuple(respected), unknown)


def _about(alert: Wanted, one: Tracked) -> Change | str | None:
    """The change to the issue of an alert, or what a person decided about it."""
    number, is_open = one.issue.number, one.issue.state == "open"
    by_hand = one.issue.state != one.left
    if one.issue.locked:
        return f"#{number} is locked"
    if alert.state == "open" and not is_open:
        if by_hand:
            return f"#{number} was closed by hand"
        return _changed(alert, one, "open", "reopened: it came back")
    if alert.state == "over" and is_open:
        if by_hand:
            return f"#{number} was opened again by hand"
        return _changed(alert, one, "closed", "closed: it is resolved")
    if alert.state == "known" and by_hand:
        return None  # the marker keeps our notes until they matter
    is_current = one.new_title(alert.title) is None and one.text == digest(alert.text)
    if is_current and not by_hand:
        return None
    return _changed(alert, one, None, "updated")


def _changed(alert: Wanted, one: Tracked, state: IssueState | None, why: str) -> Change:
    """The change that brings an issue up to date; an edited title stays."""
    return Change(
        one.issue,
        _with_block(unix(one.issue.body), alert.body(state or one.issue.state)),
        why,
        title=one.new_title(alert.title),
        state=state,
        reason=None if state is None else "reopened" if state == "open" else "completed",
    )


def _with_block(body: str, block: str) -> str:
    """The text with our part replaced; what people wrote before and after it stays."""
    marker = _MARKER.search(body)
    if marker is None:
        return block
    end = body.rfind(_END, marker.end())  # the last: a name may contain the same words
    after = "" if end < 0 else body[end + len(_END) :]
    whole = f"{body[: marker.start()]}{block}{after}"
    return whole if len(whole) <= LIMIT else block


def _duplicate(other: Tracked, one: Tracked) -> Change:
    body = (other.issue.body or "").replace(f"{other.id}, left open", f"{other.id}, left closed", 1)
    return Change(
        other.issue,
        f"{body}\n\nThe same alert as #{one.issue.number}.",
        f"closed: the same alert as #{one.issue.number}",
        state="closed",
        reason="not_planned",
    )
