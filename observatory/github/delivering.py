"""Deliver alerts to GitHub: carry out the decisions of `observatory.github.issues`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from observatory.github.body import SETTLING
from observatory.github.client import GitHub
from observatory.github.errors import GitHubError, MissingError, UnsureError
from observatory.github.issues import Change, Plan, Wanted, decide
from observatory.github.models import Issue
from observatory.text.words import first_of, several

_ROUNDS = 4
_NAMED = 50


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
        f"the issues are not as they should be after {_ROUNDS} attempts; run it again"
    )


def describe(action: Wanted | Change) -> str:
    """One planned action as a line: "#12 closed: it is resolved"."""
    if isinstance(action, Wanted):
        return f"an issue for alert {action.id} opened: {action.title}"
    return f"#{action.issue.number} {action.why}"


def left(plan: Plan, most: int) -> Iterator[str]:
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
