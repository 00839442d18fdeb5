"""What the fake GitHub answers to each request, if nothing goes wrong. For tests only."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

if TYPE_CHECKING:
    from tests.fake_github import FakeGitHub as Fake

Json: TypeAlias = Any
REPO = "pymc-devs/pytensor"
PERSON = {"id": 7, "login": "ada", "type": "User"}
LONGEST_BODY = 65_536


class Refused(Exception):
    def __init__(self, status: int, message: str, **more: Json) -> None:
        super().__init__(message)
        self.status, self.body = status, {"message": message, **more}


def answer(
    fake: Fake, method: str, target: str, token: str, body: Json
) -> tuple[int, dict[str, str], Json]:
    """Status, headers and body."""
    who = fake.accounts.get(token.removeprefix("Bearer "))
    if who is None:
        return 401, {}, {"message": "Bad credentials"}
    parts = urlsplit(target)
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    if (method, parts.path) == ("POST", "/graphql"):
        return _graphql(fake, body, who)
    for wanted, pattern, handle in ROUTES:
        found = re.fullmatch(pattern.replace("REPO", f"/repos/{REPO}"), parts.path)
        if wanted == method and found:
            try:
                return handle(fake, *map(unquote, found.groups()), query, body, who)
            except Refused as refused:
                return refused.status, {}, refused.body
    return 404, {}, {"message": "Not Found"}


def _page(fake: Fake, found: list[Json], query: Json, path: str, key: str = "") -> Json:
    size = min(int(query.get("per_page", 30)), 100)
    number = int(query.get("page", 1))
    shown = found[(number - 1) * size : number * size]
    headers = {}
    if number * size < len(found):
        rest = urlencode({key: value for key, value in query.items() if key != "page"})
        here = f"{fake.url}/repos/{REPO}{path}?{rest}"
        last = -(-len(found) // size)
        headers["Link"] = (
            f'<{here}&page={number + 1}>; rel="next", <{here}&page={last}>; rel="last"'
        )
    return 200, headers, {"total_count": len(found), key: shown} if key else shown


def _list_comments(fake: Fake, pull: str, query: Json, *_: Json) -> Json:
    found = [one for one in fake.comments if one["pull"] == int(pull)]
    return _page(fake, found, query, f"/issues/{pull}/comments")


def _add_comment(fake: Fake, pull: str, _query: Json, body: Json, who: Json) -> Json:
    if int(pull) not in fake.pulls:
        raise Refused(404, "Not Found")
    if fake.pulls[int(pull)]["locked"]:
        raise Refused(403, "Unable to create comment because issue is locked.")
    _check_length(body["body"], "IssueComment")
    return 201, {}, fake.comment(body["body"], int(pull), who)


def _edit_comment(fake: Fake, number: str, _query: Json, body: Json, _who: Json) -> Json:
    comment = _comment(fake, number)
    _check_length(body["body"], "IssueComment")
    comment["body"] = body["body"]
    return 200, {}, comment


def _delete_comment(fake: Fake, number: str, *_: Json) -> Json:
    fake.comments.remove(_comment(fake, number))
    return 204, {}, None


def _comment(fake: Fake, number: str) -> Json:
    found = [one for one in fake.comments if one["id"] == int(number)]
    if not found:
        raise Refused(404, "Not Found")
    return found[0]


def _remove_label(fake: Fake, pull: str, name: str, *_: Json) -> Json:
    if name not in fake.labels.get(int(pull), ()):
        raise Refused(404, "Label does not exist")
    fake.labels[int(pull)].remove(name)
    return 200, {}, []


def _list_issues(fake: Fake, query: Json, *_: Json) -> Json:
    found = [
        one for one in [*fake.issues, *({**pull, "title": "t", "user": PERSON,
                        "pull_request": {}, "created_at": fake.time(), "body": None}
                        for pull in fake.pulls.values())]
        if query.get("creator") in (None, one["user"] and one["user"]["login"])
        and query.get("state", "open") in ("all", one["state"])
        and one["number"] not in fake.unlisted
    ]  # fmt: skip
    found.sort(key=lambda one: one["number"], reverse=query.get("direction") != "asc")
    return _page(fake, found, query, "/issues")


def _add_issue(fake: Fake, _query: Json, body: Json, who: Json) -> Json:
    _check_length(body["body"], "Issue")
    labels = [{"name": name} for name in body.get("labels", ())]
    return 201, {}, fake.issue(body["title"], body["body"], who, labels=labels)


def _edit_issue(fake: Fake, number: str, _query: Json, body: Json, _who: Json) -> Json:
    found = [one for one in fake.issues if one["number"] == int(number)]
    if not found:
        raise Refused(410, "This issue was deleted")
    _check_length(body.get("body", ""), "Issue")
    found[0].update(body)
    return 200, {}, found[0]


def _list_checks(fake: Fake, sha: str, query: Json, *_: Json) -> Json:
    found = [
        one for one in fake.checks
        if one["head_sha"] == sha and one["name"] == query.get("check_name", one["name"])
    ]  # fmt: skip
    return _page(fake, found, query, f"/commits/{sha}/check-runs", "check_runs")


def _add_check(fake: Fake, _query: Json, body: Json, who: Json) -> Json:
    if who["type"] != "Bot":
        raise Refused(403, "You must authenticate via a GitHub App.")
    made = {"id": next(fake.ids), "external_id": None, **body}
    fake.checks.append(made)
    return 201, {}, made


def _edit_check(fake: Fake, number: str, _query: Json, body: Json, _who: Json) -> Json:
    found = next(one for one in fake.checks if one["id"] == int(number))
    found.update(body)
    return 200, {}, found


def _list_artifacts(fake: Fake, run: str, query: Json, *_: Json) -> Json:
    found = [
        one for one in fake.artifacts
        if one["workflow_run"]["id"] == int(run) and one["name"] == query["name"]
    ]  # fmt: skip
    return _page(fake, found, query, f"/actions/runs/{run}/artifacts", "artifacts")


def _artifact_zip(fake: Fake, number: str, *_: Json) -> Json:
    if next(one for one in fake.artifacts if one["id"] == int(number))["expired"]:
        raise Refused(410, "Artifact has expired")
    there = f"http://127.0.0.1:{fake.storage.server_port}/{number}.zip?sig=secret"
    return 302, {"Location": there}, None


def _graphql(fake: Fake, body: Json, who: Json) -> Json:
    query, variables = body["query"], body["variables"]
    if "viewer" in query:
        viewer = {"login": who["login"], "databaseId": who["id"]}
        return 200, {}, {"data": {"viewer": viewer}}
    there = {one["node_id"] for one in fake.comments}
    if "minimizeComment" in query:
        assert "classifier: OUTDATED" in query
        if variables["id"] not in there:
            return (
                200,
                {},
                {"data": {"minimizeComment": None}, "errors": [_lost(variables["id"])]},
            )
        fake.hidden[variables["id"]] = "OUTDATED"
        return 200, {}, {"data": {"minimizeComment": {"clientMutationId": None}}}
    nodes = [
        {"id": one, "isMinimized": one in fake.hidden,
         "minimizedReason": fake.hidden.get(one, "").lower() or None}
        if one in there else None
        for one in variables["ids"]
    ]  # fmt: skip
    errors = [_lost(one) for one in variables["ids"] if one not in there]
    return 200, {}, {"data": {"nodes": nodes}, **({"errors": errors} if errors else {})}


def _one_of(where: str) -> Callable[..., Json]:
    def handle(fake: Fake, number: str, *_: Json) -> Json:
        found = getattr(fake, where).get(int(number))
        if found is None:
            raise Refused(404, "Not Found")
        return 200, {}, found

    return handle


def _list_commits(fake: Fake, number: str, query: Json, *_: Json) -> Json:
    found = [{"sha": sha} for sha in fake.commits[int(number)][:250]]
    return _page(fake, found, query, f"/pulls/{number}/commits")


ROUTES: list[tuple[str, str, Callable[..., Json]]] = [
    ("GET", r"REPO/pulls/(\d+)", _one_of("pulls")),
    ("GET", r"REPO/pulls/(\d+)/commits", _list_commits),
    ("GET", r"REPO/actions/runs/(\d+)", _one_of("runs")),
    ("GET", r"REPO/actions/runs/(\d+)/artifacts", _list_artifacts),
    ("GET", r"REPO/actions/artifacts/(\d+)/zip", _artifact_zip),
    ("GET", r"REPO/issues/(\d+)/comments", _list_comments),
    ("POST", r"REPO/issues/(\d+)/comments", _add_comment),
    ("PATCH", r"REPO/issues/comments/(\d+)", _edit_comment),
    ("DELETE", r"REPO/issues/comments/(\d+)", _delete_comment),
    ("DELETE", r"REPO/issues/(\d+)/labels/([^/]+)", _remove_label),
    ("GET", r"REPO/issues", _list_issues),
    ("POST", r"REPO/issues", _add_issue),
    ("PATCH", r"REPO/issues/(\d+)", _edit_issue),
    ("GET", r"REPO/commits/([0-9a-f]+)/check-runs", _list_checks),
    ("POST", r"REPO/check-runs", _add_check),
    ("PATCH", r"REPO/check-runs/(\d+)", _edit_check),
]


def _check_length(body: str, resource: str) -> None:
    if len(body) > LONGEST_BODY:
        raise Refused(422, "Validation Failed", errors=[{
            "resource": resource, "code": "unprocessable", "field": "data",
            "message": f"Body is too long (maximum is {LONGEST_BODY} characters)",
        }])  # fmt: skip


def _lost(node_id: str) -> Json:
    said = f"Could not resolve to a node with the global id of '{node_id}'"
    return {"type": "NOT_FOUND", "message": said}
