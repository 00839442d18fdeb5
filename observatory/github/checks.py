"""The check on a commit: its conclusion, and one check however often it is set."""

from __future__ import annotations

from typing import Literal

from observatory.github.body import cut
from observatory.github.client import GitHub
from observatory.github.errors import UnsureError

State = Literal["worse", "better", "unaffected", "undecided"]
Conclusion = Literal["success", "neutral", "failure"]
_LONGEST_TITLE = 200


def conclusion(state: State, worse: Literal["neutral", "failure"]) -> Conclusion:
    """The conclusion for the state of a comparison; ``worse`` is the repository's setting.

    A comparison that could not judge never fails.
    """
    if state == "worse":
        return worse
    return "neutral" if state == "undecided" else "success"


def put(
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
