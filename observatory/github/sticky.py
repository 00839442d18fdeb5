"""One comment on a pull request and one check on its commit, however often they are published.

`decide` concludes from the comments on the pull request what is left to do; `publish` does it,
looks again, and stops when nothing is left. So the result is the same if somebody deletes a comment
in between, if a write gets no answer, or if two runs write at once: the oldest comment has the
content of the newest run, and other copies are hidden. `put_check` does the same for a check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from observatory.github.body import SETTLING, cut, digest, unix
from observatory.github.client import GitHub
from observatory.github.http import GitHubError, MissingError, UnsureError
from observatory.github.models import Comment, Viewer

_ROUNDS = 6
State = Literal["worse", "better", "unaffected", "undecided"]
Conclusion = Literal["success", "neutral", "failure"]
_LONGEST_TITLE = 200
_STAMP = re.compile(r"<!-- observatory: run (\d{1,20})\.(\d{1,6}), text ([0-9a-f]{16}) -->")

RunNumber: TypeAlias = tuple[int, int]
"""Number and attempt of a run: the later is the larger."""


@dataclass(frozen=True)
class Wanted:
    """The text to publish; its first line is the marker that identifies the comment.

    ``run`` is the run that publishes it; None: a person, who overrides every run.
    """

    text: str
    run: RunNumber | None

    @property
    def marker(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0]

    @property
    def body(self) -> str:
        """The whole comment: the marker, a stamp with run and digest, and the text."""
        number, attempt = self.run or (0, 0)
        rest = self.text.partition("\n")[2]
        stamp = f"<!-- observatory: run {number}.{attempt}, text {digest(rest)} -->"
        return cut(f"{self.marker}\n{stamp}\n{rest}")


class Action(NamedTuple):
    """One thing to do; ``delete`` is for a second comment that this run itself has made."""

    verb: Literal["create", "update", "hide", "delete"]
    comment: Comment | None = None


def ours(comments: Sequence[Comment], marker: str, me: Viewer) -> list[Comment]:
    """Our own comments that begin with the marker, the oldest first.

    Anybody can write the marker, so comments of other accounts are not ours.
    """
    found = (
        one
        for one in comments
        if me.wrote(one.user) and unix(one.body).partition("\n")[0] == marker
    )
    return sorted(found, key=lambda one: one.id)


def decide(
    found: Sequence[Comment], hidden: Mapping[str, str], wanted: Wanted, made: frozenset[int]
) -> list[Action] | None:
    """The actions that are left, in order; None: nothing, because a newer run has commented.

    ``found``: our comments, oldest first; ``hidden``: node ids and reasons of hidden ones;
    ``made``: ids of those that this run has made. A comment that is hidden as outdated is never
    used again. A comment that a person hid for another reason is updated and stays hidden.
    """
    living = [one for one in found if hidden.get(one.node_id) != "outdated"]
    if not living:
        return [Action("create")]
    first, *others = living
    mine = [one for one in others if one.id in made]
    if wanted.run is not None and any(_stamp(one)[0] > wanted.run for one in living):
        return [Action("delete", one) for one in mine] or None
    actions = [] if _is_current(first, wanted) else [Action("update", first)]
    for one in others:
        if one in mine:
            actions.append(Action("delete", one))
        elif one.node_id not in hidden:
            actions.append(Action("hide", one))
    return actions


def look(
    github: GitHub, pull: int, wanted: Wanted, made: Mapping[int, Comment]
) -> list[Action] | None:
    """Read the comments on a pull request, and `decide`. Raises GitHubError."""
    listed = {one.id: one for one in github.own_comments(pull)}
    # A comment that was just made can be missing from the list; it must not be made twice.
    found = ours([*({**made, **listed}).values()], wanted.marker, github.viewer)
    hidden = github.hidden([one.node_id for one in found])
    return decide(found, hidden, wanted, frozenset(made))


def publish(github: GitHub, pull: int, wanted: Wanted) -> list[str]:
    """Make the pull request have one comment with the wanted text; returns what was done.

    Raises GitHubError.
    """
    made: dict[int, Comment] = {}
    done: list[str] = []
    for _ in range(_ROUNDS):
        actions = look(github, pull, wanted, made)
        if actions is None:
            return [*done, "a newer run has already commented; its comment stays"]
        if not actions:
            return done or ["the comment is already up to date"]
        wrote = False
        for action in actions:
            try:
                done.append(_do(github, pull, wanted, action, made))
                wrote = wrote or action.verb in ("create", "update")
            except MissingError:
                # Somebody deleted it after it was listed; the next look decides what to do.
                if action.comment is None:
                    raise
                made.pop(action.comment.id, None)
            except UnsureError:
                wrote = True
                break
        if wrote:
            # An older run may have looked before this one wrote, and write after it: GitHub has no
            # write that depends on what is there. Whoever wrote the newest looks once more.
            github.transport.clock.sleep(SETTLING)
    raise GitHubError(
        f"after {_ROUNDS} attempts, the comments on pull request {pull} still differ from what was "
        "written, because something else changes them; run the command again"
    )


def _do(github: GitHub, pull: int, wanted: Wanted, action: Action, made: dict[int, Comment]) -> str:
    comment = action.comment
    if comment is None:
        comment = github.add_comment(pull, wanted.body)
        made[comment.id] = comment
        return "commented"
    if action.verb == "update":
        github.edit_comment(comment.id, wanted.body)
        if comment.id in made:
            made[comment.id] = comment.model_copy(update={"body": wanted.body})
        return "updated the comment"
    if action.verb == "hide":
        github.hide_comment(comment.node_id)
        return "hid an outdated comment"
    made.pop(comment.id)
    github.delete_comment(comment.id)
    return "removed a second comment that was made at the same moment"


def _stamp(comment: Comment) -> tuple[RunNumber, str]:
    """Run and digest of a comment; one without a stamp is older than all."""
    lines = unix(comment.body).split("\n", 2)
    found = _STAMP.fullmatch(lines[1]) if len(lines) > 1 else None
    return ((int(found[1]), int(found[2])), found[3]) if found else ((0, 0), "")


def _is_current(comment: Comment, wanted: Wanted) -> bool:
    """Whether a comment has the wanted text, and is of the same run; a person counts as a run.

    The stamp is compared instead of the text, which GitHub may trim.
    """
    return _stamp(comment) == (wanted.run or (0, 0), digest(wanted.text.partition("\n")[2]))


def conclusion(state: State, worse: Literal["neutral", "failure"]) -> Conclusion:
    """The conclusion for the state of a comparison; ``worse`` is the repository's setting.

    A comparison that could not judge never fails.
    """
    if state == "worse":
        return worse
    return "neutral" if state == "undecided" else "success"


def put_check(
    github: GitHub, sha: str, name: str, concluded: Conclusion, title: str, text: str, run: str
) -> None:
    """Set the check of this name on a commit; an earlier one of the same ``run`` is replaced.

    Raises GitHubError.
    """
    fields: dict[str, object] = {
        "name": name,
        "external_id": run,
        "status": "completed",
        "conclusion": concluded,
        "output": {"title": title[:_LONGEST_TITLE], "summary": cut(text)},
    }
    for is_last in (False, True):
        found = [one for one in github.checks(sha, name) if one.external_id == run]
        if found:
            return github.edit_check(found[0].id, fields)
        try:
            return github.add_check({**fields, "head_sha": sha})
        except UnsureError:  # it may be there
            if is_last:
                raise
    return None
