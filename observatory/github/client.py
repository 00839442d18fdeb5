"""What the observatory asks of GitHub, in its own words and with types."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from pydantic import BaseModel, TypeAdapter, ValidationError

from observatory.github.errors import GitHubError, MissingError
from observatory.github.models import (
    ArtifactEntry,
    ArtifactList,
    CheckList,
    CheckRun,
    Comment,
    Commit,
    Hidden,
    Issue,
    Pull,
    Run,
    Viewer,
)
from observatory.github.retrying import LIMIT_REPEATS, until_reset
from observatory.github.transport import Transport, graphql_address, problems_of
from observatory.store.base.problems import reason_of

_Model = TypeVar("_Model", bound=BaseModel)
_MINUTE = 60.0
_VIEWER = "query { viewer { login databaseId } }"
_HIDDEN = """query($ids: [ID!]!) {
  nodes(ids: $ids) { ... on IssueComment { id isMinimized minimizedReason } }
}"""
_HIDE = """mutation($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { clientMutationId }
}"""


class GitHub:
    """One repository, asked with one token.

    Every method raises GitHubError with a sentence; those that name one thing raise MissingError
    where it is not there, those that make one UnsureError where it may be there.
    """

    def __init__(self, transport: Transport, repo: str) -> None:
        self.transport = transport
        self.repo = repo
        self._root = f"/repos/{repo}"

    @cached_property
    def viewer(self) -> Viewer:
        """Whose token it is: whose comments and issues are ours."""
        said = self._graphql(_VIEWER, {}, "say whose token it is").get("viewer")
        return _checked(Viewer, json.dumps(said).encode(), "say whose token it is")

    def run(self, number: int) -> Run:
        """A run of a workflow of this repository."""
        return self._get(Run, f"/actions/runs/{number}", f"show run {number}")

    def pull(self, number: int) -> Pull:
        """A pull request to this repository."""
        return self._get(Pull, f"/pulls/{number}", f"show pull request {number}")

    def commits(self, number: int) -> list[str]:
        """The commits of a pull request; GitHub lists the first 250."""
        doing = f"list the commits of pull request {number}"
        return [one.sha for one in self._list(Commit, f"/pulls/{number}/commits", doing)]

    def artifacts(self, run: int, name: str) -> list[ArtifactEntry]:
        """The artifacts of a run that have this name, the newest first."""
        path = f"{self._root}/actions/runs/{run}/artifacts?{urlencode({'name': name})}"
        doing = f"list the artifacts of run {run}"
        pages = [_checked(ArtifactList, page, doing) for page in self.transport.pages(path, doing)]
        found = [one for page in pages for one in page.artifacts if one.name == name]
        return sorted(found, key=lambda one: -one.id)

    def artifact_zip(self, artifact: int, most: int) -> bytes:
        """The archive, as it was uploaded; GitHubError if it is larger than ``most`` bytes."""
        path = f"{self._root}/actions/artifacts/{artifact}/zip"
        return self.transport.download(path, f"download artifact {artifact}", most)

    def comments(self, number: int) -> list[Comment]:
        """The comments on a pull request, the oldest first."""
        doing = f"list the comments on pull request {number}"
        return self._list(Comment, f"/issues/{number}/comments", doing)

    def hidden(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Of these comments those that are folded away: node id and reason, in small letters."""
        if not node_ids:
            return {}
        doing = "say which comments are hidden"
        # Of those that are gone meanwhile the answer holds null, and an error beside the rest.
        said = self._graphql(_HIDDEN, {"ids": list(node_ids)[:100]}, doing, partly=True)
        nodes = json.dumps([node for node in said.get("nodes") or () if node]).encode()
        found = _checked_list(Hidden, nodes, doing)
        return {one.id: (one.reason or "").lower() for one in found if one.is_minimized}

    def add_comment(self, number: int, body: str) -> Comment:
        """Comment on a pull request."""
        doing = f"comment on pull request {number}"
        path = f"{self._root}/issues/{number}/comments"
        answer = self.transport.send("POST", path, doing, {"body": body})
        return _checked(Comment, answer.content, doing)

    def edit_comment(self, comment: int, body: str) -> None:
        """Replace what a comment says."""
        path = f"{self._root}/issues/comments/{comment}"
        self.transport.send("PATCH", path, f"edit comment {comment}", {"body": body})

    def delete_comment(self, comment: int) -> None:
        """Delete a comment."""
        path = f"{self._root}/issues/comments/{comment}"
        self.transport.send("DELETE", path, f"delete comment {comment}")

    def hide_comment(self, node_id: str) -> None:
        """Fold a comment away as outdated."""
        self._graphql(_HIDE, {"id": node_id}, "hide an outdated comment")

    def remove_label(self, number: int, name: str) -> bool:
        """Take a label off a pull request; False if it was not there."""
        path = f"{self._root}/issues/{number}/labels/{quote(name, safe='')}"
        try:
            self.transport.send("DELETE", path, f"take a label off pull request {number}")
        except MissingError:
            return False
        return True

    def checks(self, sha: str, name: str) -> list[CheckRun]:
        """The newest checks of this name on a commit."""
        doing = f"list the checks of commit {sha[:7]}"
        path = f"/commits/{sha}/check-runs?{urlencode({'check_name': name})}"
        pages = self.transport.pages(f"{self._root}{path}", doing)
        return [one for page in pages for one in _checked(CheckList, page, doing).check_runs]

    def add_check(self, fields: dict[str, Any]) -> None:
        """Put a check on a commit. Only an app's token may, the one of a workflow for example."""
        path = f"{self._root}/check-runs"
        self.transport.send("POST", path, "put a check on the commit", fields)

    def edit_check(self, check: int, fields: dict[str, Any]) -> None:
        """Replace what a check says."""
        path = f"{self._root}/check-runs/{check}"
        self.transport.send("PATCH", path, f"edit check {check}", fields)

    def issues(self) -> list[Issue]:
        """Every issue that this token's account has opened, closed ones too; no pull requests.

        Lists, and never searches: the index of the search lags behind.
        """
        query = urlencode({"creator": self.viewer.login, "state": "all", "direction": "asc"})
        found = self._list(Issue, f"/issues?{query}", "list the issues")
        return [one for one in found if one.pull_request is None and self.viewer.wrote(one.user)]

    def add_issue(self, title: str, body: str, labels: Sequence[str]) -> Issue:
        """Open an issue."""
        fields = {"title": title, "body": body, "labels": list(labels)}
        answer = self.transport.send("POST", f"{self._root}/issues", "open an issue", fields)
        return _checked(Issue, answer.content, "open an issue")

    def edit_issue(self, number: int, fields: dict[str, Any]) -> None:
        """Replace the title, the body or the state of an issue."""
        path = f"{self._root}/issues/{number}"
        self.transport.send("PATCH", path, f"edit issue {number}", fields)

    def _get(self, model: type[_Model], path: str, doing: str) -> _Model:
        answer = self.transport.send("GET", f"{self._root}{path}", doing)
        return _checked(model, answer.content, doing)

    def _list(self, model: type[_Model], path: str, doing: str) -> list[_Model]:
        pages = self.transport.pages(f"{self._root}{path}", doing)
        return [one for page in pages for one in _checked_list(model, page, doing)]

    def _graphql(
        self, query: str, variables: dict[str, Any], doing: str, *, partly: bool = False
    ) -> dict[str, Any]:
        """The data of an answer; ``partly``: though errors say that some of it is missing.

        Everything that we ask for here may be done twice. A limit is said within a 200.
        """
        url, body = graphql_address(self.transport.api), {"query": query, "variables": variables}
        for _ in range(LIMIT_REPEATS):
            answer = self.transport.send("POST", url, doing, body, repeatable=True)
            try:
                said = json.loads(answer.content)
            except (ValueError, RecursionError) as error:
                raise GitHubError(f"GitHub's answer is no JSON when asked to {doing}") from error
            said = said if isinstance(said, dict) else {}
            kinds, words = problems_of(said)
            if kinds & {"RATE_LIMITED", "RATE_LIMIT"}:
                now = self.transport.clock.now()
                self.transport.wait(until_reset(answer.headers, now) or _MINUTE, doing)
                continue
            data = said.get("data")
            if isinstance(data, dict) and (not said.get("errors") or partly):
                return data
            kind = MissingError if kinds == {"NOT_FOUND"} else GitHubError
            raise kind(f"GitHub does not {doing} ({words or 'no reason given'})")
        raise GitHubError(f"GitHub's limits do not let us {doing}; run it again later")


def _checked(model: type[_Model], content: bytes, doing: str) -> _Model:
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        raise _strange(doing, error) from error


def _checked_list(model: type[_Model], content: bytes, doing: str) -> list[_Model]:
    try:
        # One adapter for each call: pages are few.
        return TypeAdapter(list[model]).validate_json(content)  # type: ignore[valid-type]
    except ValidationError as error:
        raise _strange(doing, error) from error


def _strange(doing: str, error: ValidationError) -> GitHubError:
    return GitHubError(
        f"GitHub's answer is not understood when asked to {doing}: {reason_of(error)}"
    )
