"""A GitHub on loopback that behaves like the real one where that hurts. For tests only.

Pages with `Link` headers, primary and secondary limits, failures before and after a write was done,
bodies that are too long, locked conversations, comments that somebody deletes, forks that are
gone, artifacts behind a redirect to a storage that refuses tokens. Shapes and messages are those
of the REST API of 2022-11-28 and of GraphQL, of which as much is here as the observatory uses.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from types import TracebackType
from typing import Any

from observatory.github.transport import Clock
from tests import fake_github_routes as routes

REPO = routes.REPO
BOT = {"id": 41898282, "login": "github-actions[bot]", "type": "Bot"}
PERSON = routes.PERSON
TOKEN = "a-token-of-the-tests"
START = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()

Json = Any
Headers = dict[str, str]


class FakeClock(Clock):
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.time = START
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self.time += seconds


@dataclass
class Trouble:
    """An answer instead of the right one. ``done``: what was asked for was done all the same.

    Status 0: the connection is closed without a word. ``content``: the body, whatever it is.
    """

    status: int
    headers: Headers = field(default_factory=dict)
    message: str = "Server Error"
    done: bool = False
    content: bytes | None = None


@dataclass
class _Rule:
    method: str
    path: re.Pattern[str]
    what: list[Trouble]
    hook: Callable[[], object] | None = None


class FakeGitHub:
    """The server and everything it knows; a context manager."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.accounts = {TOKEN: BOT}
        self.pulls: dict[int, Json] = {}
        self.commits: dict[int, list[str]] = {}
        self.comments: list[Json] = []
        self.issues: list[Json] = []
        self.hidden: dict[str, str] = {}
        self.labels: dict[int, set[str]] = {}
        self.checks: list[Json] = []
        self.runs: dict[int, Json] = {}
        self.artifacts: list[Json] = []
        self.archives: dict[int, bytes] = {}
        self.asked: list[tuple[str, str]] = []
        self.tokens_at_storage: list[str] = []
        self.unlisted: set[int] = set()
        self._rules: list[_Rule] = []
        self.ids = itertools.count(100)
        self.lock = threading.RLock()
        self._api = _server(self, _Api)
        self.storage = _server(self, _Storage)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._api.server_port}"

    def __enter__(self) -> FakeGitHub:
        for server in (self._api, self.storage):
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        for server in (self._api, self.storage):
            server.shutdown()
            server.server_close()

    # What tests put in and look at.

    def trouble(self, method: str, path: str, *what: Trouble) -> None:
        """The next requests that match get these answers, one each."""
        self._rules.append(_Rule(method, re.compile(path), list(what)))

    def meanwhile(self, method: str, path: str, hook: Callable[[], object], times: int = 1) -> None:
        """Call the hook before the next requests that match are answered."""
        for _ in range(times):
            self._rules.append(_Rule(method, re.compile(path), [], hook))

    def pull(
        self, number: int = 12, sha: str = "a" * 40, ref: str = "fix", fork: str | None = "ada",
        gone: bool = False, locked: bool = False,
    ) -> Json:  # fmt: skip
        """A pull request; ``fork``: the account that it comes from; ``gone``: it is deleted."""
        made = {
            "number": number, "state": "open", "locked": locked,
            "head": {"sha": sha, "ref": ref, "label": f"{fork}:{ref}", "user": account(fork),
                     "repo": None if gone else repository(fork)},
            "base": {"sha": "b" * 40, "ref": "main", "repo": repository("pymc-devs")},
        }  # fmt: skip
        self.pulls[number] = made
        self.commits.setdefault(number, [sha])
        return made

    def run(
        self, number: int = 900, sha: str = "a" * 40, branch: str = "fix",
        fork: str | None = "ada", event: str = "pull_request", attempt: int = 1,
        gone: bool = False,
    ) -> Json:  # fmt: skip
        made = {
            "id": number, "run_attempt": attempt, "event": event, "head_sha": sha,
            "head_branch": branch, "head_repository": None if gone else repository(fork),
            "html_url": f"https://github.com/{REPO}/actions/runs/{number}", "pull_requests": [],
        }  # fmt: skip
        self.runs[number] = made
        return made

    def artifact(self, content: bytes, run: int = 900, **changes: Json) -> int:
        number = next(self.ids)
        self.artifacts.append({
            "id": number, "name": "observatory-comparison", "size_in_bytes": len(content),
            "expired": False, "workflow_run": {"id": run}, **changes,
        })  # fmt: skip
        self.archives[number] = content
        return number

    def comment(self, body: str, pull: int = 12, by: Json = PERSON) -> Json:
        with self.lock:
            number = next(self.ids)
            made = {"id": number, "node_id": f"IC_{number}", "body": body, "user": by,
                    "pull": pull, "html_url": f"https://github.com/{REPO}/pull/{pull}"}  # fmt: skip
            self.comments.append(made)
            return made

    def issue(self, title: str, body: str, by: Json = PERSON, **changes: Json) -> Json:
        with self.lock:
            number = next(self.ids)
            made = {
                "number": number, "title": title, "body": body, "state": "open", "locked": False,
                "user": by, "labels": [], "state_reason": None, "created_at": self.time(),
                **changes,
            }  # fmt: skip
            self.issues.append(made)
            return made

    def bodies(self, pull: int = 12) -> list[str]:
        """What can be read on a pull request without unfolding."""
        return [
            one["body"] for one in self.comments
            if one["pull"] == pull and one["node_id"] not in self.hidden
        ]  # fmt: skip

    def writes(self) -> list[tuple[str, str]]:
        """Everything that was asked for and is no question."""
        return [
            one for one in self.asked
            if one[0] != "GET" and one != ("POST", "/graphql")
        ]  # fmt: skip

    def answer(
        self, method: str, target: str, token: str, body: Json
    ) -> tuple[int, Headers, Json] | None:
        """What the server says; None: nothing, and the connection is closed."""
        rule = self._rule(method, target)
        if rule is not None and rule.hook is not None:
            rule.hook()
        trouble = rule.what.pop(0) if rule is not None and rule.what else None
        with self.lock:
            self.asked.append((method, target))
            if trouble is None or trouble.done:
                answered = routes.answer(self, method, target, token, body)
        if trouble is None:
            return answered
        if trouble.status == 0:
            return None
        if trouble.content is not None:
            return trouble.status, trouble.headers, trouble.content
        return trouble.status, trouble.headers, {"message": trouble.message}

    def _rule(self, method: str, target: str) -> _Rule | None:
        with self.lock:
            for rule in self._rules:
                if rule.method == method and rule.path.search(target):
                    if rule.hook is not None or len(rule.what) == 1:
                        self._rules.remove(rule)
                    return rule
        return None

    def time(self) -> str:
        """Now, as GitHub writes it."""
        return datetime.fromtimestamp(self.clock.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def account(name: str | None) -> Json:
    if name is None:
        return None
    return {"id": sum(name.encode()), "login": name, "type": "User"}


def repository(owner: str | None) -> Json:
    if owner is None:
        return None
    return {"id": 1000 + sum(owner.encode()), "full_name": f"{owner}/pytensor",
            "owner": account(owner)}  # fmt: skip


class _Quiet(BaseHTTPRequestHandler):
    fake: FakeGitHub

    def log_message(self, *_: object) -> None:
        pass

    def _send(self, status: int, headers: Headers, content: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


class _Api(_Quiet):
    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        token = self.headers.get("Authorization", "")
        answer = self.fake.answer(self.command, self.path, token, body)
        if answer is not None:
            status, headers, said = answer
            if not isinstance(said, bytes):
                said = b"" if said is None else json.dumps(said).encode()
            self._send(status, headers, said)

    do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815


class _Storage(_Quiet):
    def do_GET(self) -> None:
        if token := self.headers.get("Authorization"):
            self.fake.tokens_at_storage.append(token)
            self._send(400, {}, b"Authentication information is not given in the correct format")
            return
        number = int(self.path.strip("/").partition(".")[0])
        self._send(200, {}, self.fake.archives[number])


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(
        self, request: socket | tuple[bytes, socket], client_address: tuple[str, int]
    ) -> None:
        """Say nothing of a client that hung up: that may happen in the middle of another test."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _server(fake: FakeGitHub, handler: type[_Quiet]) -> ThreadingHTTPServer:
    bound = type(handler.__name__, (handler,), {"fake": fake})
    return _Server(("127.0.0.1", 0), bound)
