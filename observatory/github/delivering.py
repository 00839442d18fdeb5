"""Alerts brought to GitHub: does what `observatory.github.issues` decides, and looks again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from observatory.github.client import GitHub
from observatory.github.errors import GitHubError, MissingError, UnsureError
from observatory.github.issues import Change, Open, Plan, Wanted, decide
from observatory.github.models import Issue

_ROUNDS = 4
_NAMED = 50
_SETTLING = 3.0
"""Seconds after which what was just written is in the lists."""


@dataclass(frozen=True)
class Delivery:
    """What was done, a line each, and what was left."""

    done: tuple[str, ...]
    plan: Plan


def look(
    github: GitHub, alerts: Sequence[Wanted], most: int, made: Mapping[int, Issue]
) -> tuple[Plan, frozenset[int]]:
    """What is left to do, and which of the issues just ``made`` GitHub does not list yet."""
    listed = {issue.number: issue for issue in github.issues()}
    now = datetime.fromtimestamp(github.transport.clock.now(), UTC)
    plan = decide(alerts, list({**made, **listed}.values()), most, now)
    return plan, frozenset(made) - frozenset(listed)


def deliver(github: GitHub, alerts: Sequence[Wanted], labels: Sequence[str], most: int) -> Delivery:
    """Bring the issues to what the alerts say, until nothing is left to do. Raises GitHubError."""
    made: dict[int, Issue] = {}
    done: list[str] = []
    missing: frozenset[int] = frozenset()
    for _ in range(_ROUNDS):
        plan, missing = look(github, alerts, most, made)
        if not plan.actions and not missing:
            return Delivery(tuple(done), plan)
        if not plan.actions:
            github.transport.clock.sleep(_SETTLING)
        for action in plan.actions:
            try:
                done.append(_do(github, action, labels, made))
            except MissingError:
                if isinstance(action, Open):
                    raise  # there is no such repository, or issues are switched off
            except UnsureError:
                github.transport.clock.sleep(_SETTLING)
                break
    if missing:
        raise GitHubError(
            f"GitHub does not list {_numbers(missing)}, which were just opened, as opened by "
            f"{github.viewer.login}: they would be opened again the next time; look there first"
        )
    raise GitHubError(
        f"the issues are not as they should be after {_ROUNDS} attempts; run it again"
    )


def told(action: Open | Change) -> str:
    """What is to be done, as a line: "#12 closed: it is resolved"."""
    if isinstance(action, Open):
        return f"an issue for alert {action.wanted.id} opened: {action.wanted.title}"
    return f"#{action.issue.number} {action.why}"


def left(plan: Plan, most: int) -> Iterator[str]:
    """What was not done, and why: a sentence each."""
    if plan.waiting:
        yield (
            f"{_several(len(plan.waiting), 'alert')} without an issue, as no more than {most} are "
            f"opened in a night: {_some(plan.waiting)}"
        )
    if plan.respected:
        yield f"left as people want it: {_some(plan.respected)}"
    if plan.unknown:
        numbers = [f"#{number}" for number in plan.unknown]
        yield f"of alerts that are not in the file, and left alone: {_some(numbers)}"


def _do(
    github: GitHub, action: Open | Change, labels: Sequence[str], made: dict[int, Issue]
) -> str:
    if isinstance(action, Open):
        wanted = action.wanted
        issue = github.add_issue(wanted.title, wanted.body("open"), labels)
        made[issue.number] = issue
        return f"#{issue.number} opened: {issue.title}"
    fields = {
        "body": action.body,
        "title": action.title,
        "state": action.state,
        "state_reason": action.reason,
    }
    github.edit_issue(action.issue.number, {k: v for k, v in fields.items() if v is not None})
    return told(action)


def _several(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _some(words: Sequence[str]) -> str:
    """The first of many words."""
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more


def _numbers(numbers: frozenset[int]) -> str:
    return ", ".join(f"#{number}" for number in sorted(numbers))
