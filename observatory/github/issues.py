"""One issue for each alert.

`decide` concludes from the alerts and the existing issues what is left to do; `deliver` does it.

The text of an issue begins with a hidden marker that names its alert, and the state and title that
we gave the issue. Where the issue differs, a person has changed it, and that stays: an issue closed
by hand stays closed, a reopened one stays open, an edited title stays, and a locked issue is not
touched at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Literal, TypeAlias

from observatory.github.body import SETTLING, cut, digest, unix
from observatory.github.client import GitHub
from observatory.github.http import GitHubError, MissingError, UnsureError
from observatory.github.models import Issue
from observatory.text.comment import LIMIT
from observatory.text.words import first_of, several

NIGHT = timedelta(hours=20)
"""Issues opened within this span count as opened in one night."""
_ROUNDS = 4
_NAMED = 50
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
    # Other programs may open issues with the same account.
    ours = (one.issue for found in existing.values() for one in found)
    spare = most - sum(issue.created_at > now - NIGHT for issue in ours)
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
        return _changed(alert, one, "closed", "closed: it is over")
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


def look(
    github: GitHub, alerts: Sequence[Wanted], most: int, made: Mapping[int, Issue]
) -> tuple[Plan, list[int]]:
    """The remaining plan, and the numbers of issues just ``made`` that GitHub does not list yet."""
    listed = {issue.number: issue for issue in github.issues()}
    now = datetime.fromtimestamp(github.transport.clock.now(), UTC)
    plan = decide(alerts, list({**made, **listed}.values()), most, now)
    return plan, sorted(made.keys() - listed.keys())


def deliver(
    github: GitHub, alerts: Sequence[Wanted], labels: Sequence[str], most: int
) -> tuple[list[str], Plan]:
    """Open, update and close issues until nothing is left to do.

    Returns what was done, a line each, and the remaining plan. Raises GitHubError.
    """
    made: dict[int, Issue] = {}
    done: list[str] = []
    missing: list[int] = []
    for _ in range(_ROUNDS):
        plan, missing = look(github, alerts, most, made)
        if not plan.actions and not missing:
            return done, plan
        if not plan.actions:
            github.transport.clock.sleep(SETTLING)
        for action in plan.actions:
            try:
                done.append(_do(github, action, labels, made))
            except MissingError:
                if isinstance(action, Wanted):
                    raise  # there is no such repository, or issues are switched off
            except UnsureError:
                github.transport.clock.sleep(SETTLING)
                break
    if missing:
        raise GitHubError(
            f"GitHub does not list {_numbers(missing)}, which {github.viewer.login} has just "
            "opened; look there before the next run, which would open them again"
        )
    raise GitHubError(
        f"after {_ROUNDS} attempts, the issues still differ from what was written, because "
        "something else changes them; run the command again"
    )


def describe(action: Wanted | Change) -> str:
    """One planned action as a line: "#12 closed: it is resolved"."""
    if isinstance(action, Wanted):
        return f"an issue for alert {action.id} opened: {action.title}"
    return f"#{action.issue.number} {action.why}"


def remaining(plan: Plan, most: int) -> Iterator[str]:
    """What was not done, and why: a sentence each."""
    if plan.postponed:
        yield (
            f"{several(len(plan.postponed), 'alert')} without an issue, because at most {most} are "
            f"opened in a night: {first_of(plan.postponed, _NAMED)}"
        )
    if plan.respected:
        yield f"not changed, because people changed them: {first_of(plan.respected, _NAMED)}"
    if plan.unknown:
        yield f"not changed, because their alerts are not in the file: {_numbers(plan.unknown)}"


def _do(
    github: GitHub, action: Wanted | Change, labels: Sequence[str], made: dict[int, Issue]
) -> str:
    if isinstance(action, Wanted):
        issue = github.add_issue(action.title, action.body("open"), labels)
        made[issue.number] = issue
        return f"#{issue.number} opened: {issue.title}"
    fields = {"body": action.body, "title": action.title, "state": action.state,
              "state_reason": action.reason}  # fmt: skip
    github.edit_issue(action.issue.number, {k: v for k, v in fields.items() if v is not None})
    return describe(action)


def _numbers(numbers: Sequence[int]) -> str:
    return first_of([f"#{number}" for number in numbers], _NAMED)
