"""The check on a commit."""

from __future__ import annotations

import pytest

from observatory.github.client import GitHub
from observatory.github.http import GitHubError
from observatory.github.sticky import State, conclusion, put_check
from tests.fake_github import PERSON, FakeGitHub, Trouble

SHA = "a" * 40


def check(github: GitHub, concluded: str = "neutral", run: str = "900.1", text: str = "x") -> None:
    put_check(github, SHA, "compile caches", concluded, "Slower", text, run)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("came", "concluded"),
    [("better", "success"), ("unaffected", "success"), ("undecided", "neutral")],
)
def test_only_what_is_worse_follows_the_settings(came: State, concluded: str) -> None:
    assert conclusion(came, "failure") == conclusion(came, "neutral") == concluded


def test_what_is_worse_is_what_the_repository_says() -> None:
    assert conclusion("worse", "failure") == "failure"
    assert conclusion("worse", "neutral") == "neutral"


def test_a_run_has_one_check_however_often_it_is_set(fake: FakeGitHub, github: GitHub) -> None:
    check(github)
    check(github, "failure")
    (one,) = fake.checks
    assert (one["conclusion"], one["status"], one["head_sha"]) == ("failure", "completed", SHA)
    check(github, run="901.1")
    assert len(fake.checks) == 2


@pytest.mark.parametrize("done", [True, False])
def test_a_write_without_an_answer_sets_no_second_check(
    fake: FakeGitHub, github: GitHub, done: bool
) -> None:
    fake.trouble("POST", "/check-runs", Trouble(502, done=done))
    check(github)
    assert len(fake.checks) == 1


def test_a_text_that_is_too_long_is_cut(fake: FakeGitHub, github: GitHub) -> None:
    check(github, text="row\n" * 50_000)
    assert len(fake.checks[0]["output"]["summary"]) <= 65_000


def test_a_token_that_may_not_set_checks_is_told_what_it_needs(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.accounts = dict.fromkeys(fake.accounts, PERSON)
    with pytest.raises(GitHubError, match="You must authenticate via a GitHub App"):
        check(github)
