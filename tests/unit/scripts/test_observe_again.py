from __future__ import annotations

import json
from typing import Any

import pytest

from observatory.errors import Exit
from observatory.github.http import Answer, GitHubError, MissingError
from scripts.observe_again import main

SHA = "a" * 40


class FakeTransport:
    """Answers by the end of the path, without its query; what was written is remembered."""

    def __init__(self, permission: str | None = "write", *runs: Any) -> None:
        self.written: list[tuple[str, object]] = []
        self.runs = runs or (self.run(7),)
        self.permission = permission

    @staticmethod
    def run(number: int, status: str = "completed", sha: str = SHA) -> dict[str, Any]:
        return {
            "id": number, "status": status, "head_sha": sha, "event": "pull_request",
            "html_url": f"https://example.org/runs/{number}",
        }  # fmt: skip

    def send(self, method: str, path: str, doing: str, body: object = None, **_: object) -> Answer:
        if method == "POST":
            self.written.append((path, body))
            return Answer(201, {}, b"{}")
        if "/permission" in path:
            if self.permission is None:
                raise MissingError("nobody of that name")
            return self._json({"permission": self.permission})
        if "/pulls/" in path:
            return self._json(
                {"number": 12, "head": {"sha": SHA, "ref": "topic"}, "base": {"ref": "main"}}
            )
        assert f"head_sha={SHA}&event=pull_request" in path
        return self._json({"workflow_runs": list(self.runs)})

    @staticmethod
    def _json(content: object) -> Answer:
        return Answer(200, {}, json.dumps(content).encode())


def observe(transport: Any, *more: str) -> int:
    return main(["--repo", "a/b", "--pull", "12", "--who", "ada", *more], transport)


@pytest.mark.parametrize("permission", ["write", "maintain", "admin"])
def test_who_may_write_has_the_newest_run_again(permission: str) -> None:
    fake = FakeTransport(permission, FakeTransport.run(7), FakeTransport.run(9))
    assert observe(fake, "--comment", "5") == 0
    assert fake.written == [
        ("/repos/a/b/actions/runs/9/rerun", {}),
        ("/repos/a/b/issues/comments/5/reactions", {"content": "eyes"}),
    ]


@pytest.mark.parametrize("permission", ["read", "triage", "none", "", None])
def test_who_may_not_write_has_nothing(
    permission: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = FakeTransport(permission)
    assert observe(fake) == 1
    assert fake.written == []
    assert "ada may not write to a/b" in capsys.readouterr().err


def test_a_run_that_is_under_way_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    fake = FakeTransport("write", FakeTransport.run(7, "in_progress"))
    assert observe(fake) == 0
    assert fake.written == []
    assert "already under way" in capsys.readouterr().out


def test_a_run_of_another_commit_is_not_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    fake = FakeTransport("write", FakeTransport.run(7, sha="b" * 40))
    assert observe(fake) == 1
    assert fake.written == []
    assert "has no run for commit aaaaaaaaaa" in capsys.readouterr().err


def test_what_github_does_not_do_has_a_status(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(FakeTransport):
        def send(self, *_: object, **__: object) -> Answer:
            raise GitHubError("GitHub is away")

    assert observe(Broken()) == Exit.GITHUB
    assert "GitHub is away" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "text"),
    [("--who", "a/b"), ("--who", "../x"), ("--workflow", "../x.yml"), ("--workflow", "x"),
     ("--repo", "a"), ("--repo", "a/b/c")],
)  # fmt: skip
def test_what_could_lead_elsewhere_is_refused(option: str, text: str) -> None:
    fake = FakeTransport()
    with pytest.raises(SystemExit):
        observe(fake, option, text)
    assert fake.written == []
