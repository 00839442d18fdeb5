"""One comment on a pull request, however often and by however many runs at once it is published.

What is to be done follows from the comments that are there: `decide` says it, `publish` does it,
looks again, and stops when nothing is left to do. So a comment that somebody deletes meanwhile, a
write that got no answer and two runs at the same moment all come to the same end: the oldest
comment says what the newest run found, and other copies are folded away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from observatory.github.bodies import LIMIT, cut, digest, unix
from observatory.github.client import GitHub
from observatory.github.errors import GitHubError, MissingError, UnsureError
from observatory.github.models import Comment, Viewer

_ROUNDS = 6
_SETTLING = 3.0
"""Seconds after which a write that got no answer is in the lists, if it was done."""
_OUTDATED = "outdated"
_STAMP = re.compile(r"<!-- observatory: run (\d{1,20})\.(\d{1,6}), text ([0-9a-f]{16}) -->")

Run: TypeAlias = tuple[int, int]
"""Number and attempt of a run: the later is the larger."""


@dataclass(frozen=True)
class Wanted:
    """What the comment is to say. The first line of ``text`` is the marker that it is found by.

    ``run``: which run says it; None: a person does, which outweighs every run.
    """

    text: str
    run: Run | None

    @property
    def marker(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0]

    @property
    def body(self) -> str:
        """The whole comment: the marker, who says it, the text."""
        number, attempt = self.run or (0, 0)
        rest = self.text.partition("\n")[2]
        stamp = f"<!-- observatory: run {number}.{attempt}, text {digest(rest)} -->"
        return cut(f"{self.marker}\n{stamp}\n{rest}", LIMIT)


@dataclass(frozen=True)
class Create:
    """Make the comment."""


@dataclass(frozen=True)
class Update:
    """Replace what a comment says."""

    comment: Comment


@dataclass(frozen=True)
class Hide:
    """Fold an outdated comment away."""

    comment: Comment


@dataclass(frozen=True)
class Delete:
    """Delete a comment that this very run has made, and that another one came before."""

    comment: Comment


Action: TypeAlias = Create | Update | Hide | Delete


@dataclass(frozen=True)
class Decision:
    """What is to be done, in this order; ``superseded``: a newer run has spoken already."""

    actions: tuple[Action, ...]
    superseded: bool = False


def ours(comments: Sequence[Comment], marker: str, me: Viewer) -> list[Comment]:
    """Our own comments that begin with the marker, the oldest first.

    Anybody may write the marker: what others wrote is theirs.
    """
    found = (
        one
        for one in comments
        if me.wrote(one.user) and unix(one.body).partition("\n")[0] == marker
    )
    return sorted(found, key=lambda one: one.id)


def decide(
    found: Sequence[Comment], hidden: Mapping[str, str], wanted: Wanted, made: frozenset[int]
) -> Decision:
    """What is left to do.

    ``found``: our comments, oldest first; ``hidden``: node ids and reasons of those that are
    folded away; ``made``: ids of those that this run has made. A comment that was hidden as
    outdated is over. One that a person hid for another reason stays the one, and stays hidden.
    """
    living = [one for one in found if hidden.get(one.node_id) != _OUTDATED]
    if not living:
        return Decision((Create(),))
    first, *others = living
    mine = [one for one in others if one.id in made]
    if wanted.run is not None and any(_run_of(one) > wanted.run for one in living):
        return Decision(tuple(Delete(one) for one in mine), superseded=True)
    actions: list[Action] = [] if _says(first, wanted) else [Update(first)]
    actions += [
        Delete(one) if one in mine else Hide(one) for one in others if one.node_id not in hidden
    ]
    return Decision(tuple(actions))


def look(github: GitHub, pull: int, wanted: Wanted, made: Mapping[int, Comment]) -> Decision:
    """Read the comments on a pull request, and decide. Raises GitHubError."""
    listed = {one.id: one for one in github.comments(pull)}
    # A comment just made may be missing from a list for a moment, and is not made twice for it.
    found = ours([*({**made, **listed}).values()], wanted.marker, github.viewer)
    hidden = github.hidden([one.node_id for one in found])
    return decide(found, hidden, wanted, frozenset(made))


def publish(github: GitHub, pull: int, wanted: Wanted) -> list[str]:
    """Bring the pull request to one comment that says what is wanted; returns what was done.

    Raises GitHubError.
    """
    made: dict[int, Comment] = {}
    done: list[str] = []
    for _ in range(_ROUNDS):
        decision = look(github, pull, wanted, made)
        if not decision.actions:
            if decision.superseded:
                done.append("a newer run has commented already: its comment stays")
            return done or ["the comment says this already"]
        for action in decision.actions:
            try:
                done.append(_do(github, pull, wanted, action, made))
            except MissingError:
                # Somebody deleted it after it was listed: the next look finds what to do then.
                if isinstance(action, Create):
                    raise
                if isinstance(action, Update):
                    made.pop(action.comment.id, None)
            except UnsureError:
                github.transport.clock.sleep(_SETTLING)
                break
    raise GitHubError(
        f"the comments on pull request {pull} are not as they should be after {_ROUNDS} attempts; "
        "run it again"
    )


def _do(github: GitHub, pull: int, wanted: Wanted, action: Action, made: dict[int, Comment]) -> str:
    match action:
        case Create():
            comment = github.add_comment(pull, wanted.body)
            made[comment.id] = comment
            return "commented"
        case Update(comment):
            github.edit_comment(comment.id, wanted.body)
            if comment.id in made:
                made[comment.id] = comment.model_copy(update={"body": wanted.body})
            return "updated the comment"
        case Hide(comment):
            github.hide_comment(comment.node_id)
            return "hid an outdated comment"
        case Delete(comment):
            made.pop(comment.id)
            github.delete_comment(comment.id)
            return "removed a second comment that was made at the same moment"


def _stamp(comment: Comment) -> re.Match[str] | None:
    lines = unix(comment.body).split("\n", 2)
    return _STAMP.fullmatch(lines[1]) if len(lines) > 1 else None


def _run_of(comment: Comment) -> Run:
    """Which run a comment is of; one without a stamp is older than all."""
    found = _stamp(comment)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _says(comment: Comment, wanted: Wanted) -> bool:
    """Whether a comment says what is wanted, and is of the same run.

    The stamp is compared, not the text: GitHub may trim that. A person's run counts as one.
    """
    found = _stamp(comment)
    return (
        found is not None
        and found[3] == digest(wanted.text.partition("\n")[2])
        and _run_of(comment) == (wanted.run or (0, 0))
    )
