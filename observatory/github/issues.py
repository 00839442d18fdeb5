"""One issue for each alert: what is to be done, from what alerts and from what issues say.

The body of an issue begins with a hidden marker that says of which alert it is, in which state we
left the issue and which title we gave it. Where the issue is otherwise, a person did that, and it
stays: closed by hand stays closed, opened again stays open, a title stays as it was edited, and of
a locked issue nothing is touched at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal, TypeAlias

from observatory.github.bodies import LIMIT, cut, digest, unix
from observatory.github.models import Issue

NIGHT = timedelta(hours=20)
"""Issues opened within this span count as of one night."""
_END = "<!-- observatory: end of alert -->"
_MARKER = re.compile(
    r"^<!-- observatory: alert ([0-9a-f]{10}), left (open|closed), title ([0-9a-f]{16}), "
    r"text ([0-9a-f]{16}) -->$",
    re.MULTILINE,
)

Left: TypeAlias = Literal["open", "closed"]
Standing: TypeAlias = Literal["open", "known", "over"]
"""What an alert asks of its issue.

open: there has to be an open one. known: a person knows, one that is there goes on. over: one
that is there is closed.
"""


@dataclass(frozen=True)
class Wanted:
    """An alert as an issue; ``write`` makes its text, which few that are over ever need."""

    id: str
    state: Standing
    title: str
    write: Callable[[], str] = field(compare=False)

    @cached_property
    def text(self) -> str:
        """What is known of it, as Markdown."""
        return self.write()

    def body(self, left: Left) -> str:
        """The block of the body that is ours."""
        noted = f"left {left}, title {digest(self.title)}, text {digest(self.text)}"
        return cut(f"<!-- observatory: alert {self.id}, {noted} -->\n{self.text}\n{_END}", LIMIT)


@dataclass(frozen=True)
class Known:
    """An issue of ours, and what we noted in it when we wrote it last."""

    issue: Issue
    id: str
    left: Left
    title: str
    text: str


@dataclass(frozen=True)
class Open:
    """Open an issue."""

    wanted: Wanted


@dataclass(frozen=True)
class Change:
    """Change an issue: only the fields that are not None."""

    issue: Issue
    body: str
    why: str
    title: str | None = None
    state: Left | None = None
    reason: Literal["completed", "not_planned", "reopened"] | None = None


@dataclass(frozen=True)
class Plan:
    """What is to be done, and what is not, for the people who read the log."""

    actions: tuple[Open | Change, ...]
    waiting: tuple[str, ...]
    """Ids of alerts that get no issue tonight."""
    respected: tuple[str, ...]
    """What people decided, a clause each: "#12 was closed by hand"."""
    unknown: tuple[int, ...]
    """Issues of alerts that are not in the file."""


def known(issues: Iterable[Issue]) -> dict[str, list[Known]]:
    """Our issues by the id of their alert, the oldest first; none without a marker."""
    found: dict[str, list[Known]] = defaultdict(list)
    for issue in sorted(issues, key=lambda one: one.number):
        if (marker := _MARKER.search(unix(issue.body))) is not None:
            left: Left = "open" if marker[2] == "open" else "closed"
            found[marker[1]].append(Known(issue, marker[1], left, marker[3], marker[4]))
    return dict(found)


def decide(alerts: Sequence[Wanted], issues: Sequence[Issue], most: int, now: datetime) -> Plan:
    """What is to be done about alerts, given all issues of ours; ``alerts`` the most urgent first.

    ``most``: issues that may be opened in one night, those of earlier runs included.
    """
    there = known(issues)
    spare = most - sum(issue.created_at > now - NIGHT for issue in issues)
    actions: list[Open | Change] = []
    waiting: list[str] = []
    respected: list[str] = []
    for alert in alerts:
        found = there.pop(alert.id, [])
        if not found:
            if alert.state == "open" and spare > 0:
                actions.append(Open(alert))
                spare -= 1
            elif alert.state == "open":
                waiting.append(alert.id)
            continue
        one = _the_one(found)
        change, clause = _about(alert, one)
        actions += [change] if change else []
        respected += [clause] if clause else []
        actions += [_duplicate(other, one) for other in found if _is_spare(other, one)]
    unknown = tuple(one.issue.number for found in there.values() for one in found)
    return Plan(tuple(actions), tuple(waiting), tuple(respected), unknown)


def _about(alert: Wanted, one: Known) -> tuple[Change | None, str | None]:
    """What to change in the issue of an alert, and what a person decided about it."""
    number, is_open = one.issue.number, one.issue.state == "open"
    by_hand = one.issue.state != one.left
    if one.issue.locked:
        return None, f"#{number} is locked"
    if alert.state == "open" and not is_open:
        if by_hand:
            return None, f"#{number} was closed by hand"
        return _changed(alert, one, "open", "reopened: it came back"), None
    if alert.state == "over" and is_open:
        if by_hand:
            return None, f"#{number} was opened again by hand"
        return _changed(alert, one, "closed", "closed: it is resolved"), None
    if alert.state == "known" and by_hand:
        return None, None  # the marker keeps what we know of it until that matters
    same_title = _is_edited(one) or one.issue.title == alert.title
    if same_title and not by_hand and one.text == digest(alert.text):
        return None, None
    return _changed(alert, one, None, "updated"), None


def _changed(alert: Wanted, one: Known, state: Left | None, why: str) -> Change:
    """The change that makes an issue say what the alert says; an edited title stays."""
    left: Left = state or one.issue.state
    retitled = not _is_edited(one) and one.issue.title != alert.title
    return Change(
        one.issue,
        _with_block(unix(one.issue.body), alert.body(left)),
        why,
        title=alert.title if retitled else None,
        state=state,
        reason=None if state is None else "reopened" if state == "open" else "completed",
    )


def _is_edited(one: Known) -> bool:
    """Whether the title is another than the one that we gave."""
    return digest(one.issue.title) != one.title


def _with_block(body: str, block: str) -> str:
    """The body with our block replaced; what people wrote before and after it stays."""
    marker = _MARKER.search(body)
    if marker is None:
        return block
    end = body.rfind(_END, marker.end())  # the last: a name may hold the same words
    after = "" if end < 0 else body[end + len(_END) :]
    whole = f"{body[: marker.start()]}{block}{after}"
    return whole if len(whole) <= LIMIT else block


def _the_one(found: Sequence[Known]) -> Known:
    """Which of several issues of an alert counts: the oldest open one, else the oldest."""
    return next((one for one in found if one.issue.state == "open"), found[0])


def _is_spare(other: Known, one: Known) -> bool:
    return other is not one and other.issue.state == "open" and not other.issue.locked


def _duplicate(other: Known, one: Known) -> Change:
    body = other.issue.body or ""
    said = body.replace(f"{other.id}, left open", f"{other.id}, left closed", 1)
    return Change(
        other.issue,
        f"{said}\n\nThe same alert as #{one.issue.number}.",
        f"closed: the same alert as #{one.issue.number}",
        state="closed",
        reason="not_planned",
    )
