"""The check on a commit: what it concludes, and that there is one however often it is set."""

from __future__ import annotations

from typing import Literal

from observatory.github.bodies import cut
from observatory.github.client import GitHub
from observatory.github.errors import UnsureError

Came = Literal["worse", "better", "unaffected", "undecided"]
Conclusion = Literal["success", "neutral", "failure"]
_LONGEST_TITLE = 200


def conclusion(came: Came, worse: Literal["neutral", "failure"]) -> Conclusion:
    """What the check says of a comparison; ``worse``: what the repository wants where it is.

    A comparison that could not judge never fails: nothing was found.
    """
    if came == "worse":
        return worse
    return "neutral" if came == "undecided" else "success"


def put(
    github: GitHub, sha: str, name: str, concluded: Conclusion, title: str, text: str, run: str
) -> None:
    """Set the check of this name on a commit, as made for ``run``.

    What is there already for that run is replaced. Raises GitHubError.
    """
    fields: dict[str, object] = {
        "name": name,
        "head_sha": sha,
        "external_id": run,
        "status": "completed",
        "conclusion": concluded,
        "output": {"title": title[:_LONGEST_TITLE], "summary": cut(text)},
    }
    if _replaced(github, sha, name, run, fields):
        return
    try:
        github.add_check(fields)
    except UnsureError:
        if not _replaced(github, sha, name, run, fields):
            github.add_check(fields)


def _replaced(github: GitHub, sha: str, name: str, run: str, fields: dict[str, object]) -> bool:
    found = [one for one in github.checks(sha, name) if one.external_id == run]
    for one in found[:1]:
        github.edit_check(one.id, {k: v for k, v in fields.items() if k != "head_sha"})
    return bool(found)
