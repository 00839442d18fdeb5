"""The requests to GitHub that the observatory makes, with typed answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from pydantic import TypeAdapter, ValidationError

from observatory.github import models
from observatory.github.http import LONGEST, GitHubError, MissingError
from observatory.github.transport import LIMIT_REPEATS, Transport, until_reset
from observatory.store.base.problems import reason_of
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.text.plain import shorten

_Type = TypeVar("_Type")
_MINUTE = 60.0
_VIEWER = "query { viewer { login databaseId } }"
_HIDDEN = """query($ids: [ID!]!) {
  nodes(ids: $ids) { ... on IssueComment { id isMinimized minimizedReason } }
}"""
_HIDE = """mutation($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { clientMutationId }
}"""


class GitHub:
    """One repository, with one token.

    Every method raises GitHubError with a sentence. If the named thing does not exist, it is a
    MissingError; if a thing may have been made, an UnsureError.
    """

    def __init__(self, transport: Transport, repo: str) -> None:
        self.transport = transport
        self.repository = repo
        self._root = f"/repos/{repo}"

    @cached_property
    def viewer(self) -> models.Viewer:
        """The account of the token, which wrote our comments and issues."""
        doing = "name the account of the token"
        return _checked(models.Viewer, self._graphql(_VIEWER, {}, doing).get("viewer"), doing)

    def run(self, number: int) -> models.Run:
        """A run of a workflow of this repository."""
        return self._get(models.Run, f"/actions/runs/{number}", f"show run {number}")

    def pull(self, number: int) -> models.Pull:
        """A pull request to this repository."""
        return self._get(models.Pull, f"/pulls/{number}", f"show pull request {number}")

    def commits(self, number: int) -> list[str]:
        """The commits of a pull request; GitHub lists the first 250."""
        doing = f"list the commits of pull request {number}"
        return [one.sha for one in self._list(models.Commit, f"/pulls/{number}/commits", doing)]

    def artifacts(self, run: int, name: str) -> list[models.ArtifactEntry]:
        """The artifacts of a run that have this name, the newest first."""
        path = f"/actions/runs/{run}/artifacts?{urlencode({'name': name})}"
        pages = self._pages(models.Page[models.ArtifactEntry], path, f"list artifacts of run {run}")
        found = [one for page in pages for one in page.entries if one.name == name]
        return sorted(found, key=lambda one: -one.id)

    def artifact_zip(self, artifact: int, most: int) -> bytes:
        """The archive as it was uploaded; GitHubError if it is larger than ``most`` bytes."""
        path = f"{self._root}/actions/artifacts/{artifact}/zip"
        return self.transport.download(path, f"download artifact {artifact}", most)

    def own_comments(self, number: int) -> list[models.Comment]:
        """The comments of this account on a pull request, the oldest first.

        Those of others are forgotten page by page: anybody can write thousands of long ones.
        """
        doing, path = f"list the comments on pull request {number}", f"/issues/{number}/comments"
        pages = self._pages(list[models.Comment], path, doing)
        return [one for page in pages for one in page if self.viewer.wrote(one.user)]

    def hidden(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Those of these comments that are hidden: node id -> reason, in lower case."""
        if not node_ids:
            return {}
        doing = "show which comments are hidden"
        # For a comment that was just deleted, the answer contains null and an error.
        ids = {"ids": list(node_ids)[:100]}
        nodes = self._graphql(_HIDDEN, ids, doing, partly=True).get("nodes") or []
        found = _checked(list[models.Hidden | None], nodes, doing)
        return {one.id: (one.reason or "").lower() for one in found if one and one.is_minimized}

    def add_comment(self, number: int, body: str) -> models.Comment:
        """Comment on a pull request."""
        doing = f"comment on pull request {number}"
        content = self._send("POST", f"/issues/{number}/comments", doing, {"body": body})
        return _checked(models.Comment, content, doing)

    def edit_comment(self, comment: int, body: str) -> None:
        """Replace the text of a comment."""
        path = f"/issues/comments/{comment}"
        self._send("PATCH", path, f"edit comment {comment}", {"body": body})

    def delete_comment(self, comment: int) -> None:
        """Delete a comment."""
        self._send("DELETE", f"/issues/comments/{comment}", f"delete comment {comment}")

    def hide_comment(self, node_id: str) -> None:
        """Hide a comment as outdated."""
        self._graphql(_HIDE, {"id": node_id}, "hide an outdated comment")

    def remove_label(self, number: int, name: str) -> bool:
        """Remove a label from a pull request; False if it was not there."""
        path = f"/issues/{number}/labels/{quote(name, safe='')}"
        try:
            self._send("DELETE", path, f"remove a label from pull request {number}")
        except MissingError:
            return False
        return True

    def checks(self, sha: str, name: str) -> list[models.CheckRun]:
        """The newest checks of this name on a commit."""
        path = f"/commits/{sha}/check-runs?{urlencode({'check_name': name})}"
        pages = self._pages(models.Page[models.CheckRun], path, f"list checks of commit {sha[:7]}")
        return [one for page in pages for one in page.entries]

    def add_check(self, fields: dict[str, Any]) -> None:
        """Add a check to a commit. GitHub demands the token of an app, such as a workflow's."""
        self._send("POST", "/check-runs", "put a check on the commit", fields)

    def edit_check(self, check: int, fields: dict[str, Any]) -> None:
        """Replace fields of a check."""
        self._send("PATCH", f"/check-runs/{check}", f"edit check {check}", fields)

    def issues(self) -> list[models.Issue]:
        """Every issue that the token's account has opened, closed ones too; no pull requests.

        It lists and does not search, because the search index lags behind.
        """
        query = urlencode({"creator": self.viewer.login, "state": "all", "direction": "asc"})
        found = self._list(models.Issue, f"/issues?{query}", "list the issues")
        return [one for one in found if one.pull_request is None and self.viewer.wrote(one.user)]

    def add_issue(self, title: str, body: str, labels: Sequence[str]) -> models.Issue:
        """Open an issue."""
        fields = {"title": title, "body": body, "labels": list(labels)}
        doing = "open an issue"
        return _checked(models.Issue, self._send("POST", "/issues", doing, fields), doing)

    def edit_issue(self, number: int, fields: dict[str, Any]) -> None:
        """Replace the title, the text or the state of an issue."""
        self._send("PATCH", f"/issues/{number}", f"edit issue {number}", fields)

    def _send(self, method: str, path: str, doing: str, body: object = None) -> bytes:
        return self.transport.send(method, f"{self._root}{path}", doing, body).content

    def _get(self, model: type[_Type], path: str, doing: str) -> _Type:
        return _checked(model, self._send("GET", path, doing), doing)

    def _list(self, model: type[_Type], path: str, doing: str) -> list[_Type]:
        items = list[model]  # type: ignore[valid-type]
        return [one for page in self._pages(items, path, doing) for one in page]

    def _pages(self, kind: type[_Type], path: str, doing: str) -> Iterator[_Type]:
        for page in self.transport.pages(f"{self._root}{path}", doing):
            yield _checked(kind, page, doing)

    def _graphql(
        self, query: str, variables: dict[str, Any], doing: str, *, partly: bool = False
    ) -> dict[str, Any]:
        """The data of an answer; with ``partly`` also if errors say that some of it is missing.

        All these requests may be repeated. GraphQL reports a rate limit in an answer of status 200.
        """
        url, body = graphql_address(self.transport.api), {"query": query, "variables": variables}
        for _ in range(LIMIT_REPEATS):
            answer = self.transport.send("POST", url, doing, body, repeatable=True)
            found = _checked(dict[str, Any], answer.content, doing)
            errors = _objects(found.get("errors"))
            kinds = {str(error.get("type", "")) for error in errors}
            if kinds & {"RATE_LIMITED", "RATE_LIMIT"}:
                now = self.transport.clock.now()
                self.transport.wait(until_reset(answer.headers, now) or _MINUTE, doing)
                continue
            data = found.get("data")
            if isinstance(data, dict) and (not found.get("errors") or partly):
                return data
            reason = shorten("; ".join(str(error.get("message", "")) for error in errors), LONGEST)
            kind = MissingError if kinds == {"NOT_FOUND"} else GitHubError
            raise kind(f"GitHub rejected the request to {doing} ({reason or 'no reason given'})")
        raise GitHubError(f"GitHub's limits do not let us {doing}; run it again later")


def graphql_address(api: str) -> str:
    """The address of GraphQL: beside the REST API, or in place of v3 on GitHub Enterprise Server.

    >>> graphql_address("https://api.github.com"), graphql_address("https://ghe.example/api/v3")
    ('https://api.github.com/graphql', 'https://ghe.example/api/graphql')
    """
    return f"{api.removesuffix('/v3')}/graphql"


def _objects(found: object) -> list[dict[str, Any]]:
    """The objects of a list; nothing of what is no list."""
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _checked(kind: type[_Type], answer: object, doing: str) -> _Type:
    """The answer, which is JSON or was parsed, as a value of a type. Raises GitHubError."""
    adapter = TypeAdapter(kind)
    try:
        if isinstance(answer, bytes):
            return read_json(adapter, answer)
        return adapter.validate_python(answer)
    except (InvalidError, ValidationError) as error:
        reason = reason_of(error) if isinstance(error, ValidationError) else str(error)
        raise GitHubError(
            f"GitHub's answer is not understood when asked to {doing}: {reason}"
        ) from error
