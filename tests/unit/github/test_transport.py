"""Requests against a GitHub that limits, fails, redirects and hangs up."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from observatory.github import transport
from observatory.github.client import GitHub, graphql_address
from observatory.github.http import GitHubError, MissingError, UnsureError
from observatory.github.transport import Transport
from tests.fake_github import BOT, REPO, START, TOKEN, FakeClock, FakeGitHub, Trouble

PULLS = r"/pulls/12$"


def used_up(seconds: int) -> dict[str, str]:
    """The headers of a primary limit that is lifted after so many seconds."""
    return {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{START + seconds:.0f}"}


def test_every_page_of_a_list_is_read(fake: FakeGitHub, github: GitHub) -> None:
    fake.pull()
    for number in range(250):
        fake.comment(f"comment {number}", by=BOT)
    found = github.own_comments(12)
    assert [one.body for one in found] == [f"comment {n}" for n in range(250)]
    pages = [path for method, path in fake.asked if method == "GET"]
    assert len(pages) == 3
    assert all("per_page=100" in path for path in pages)


def test_a_list_without_an_end_is_given_up(
    fake: FakeGitHub, github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "_MOST_PAGES", 2)
    fake.pull()
    for number in range(250):
        fake.comment(f"comment {number}")
    with pytest.raises(GitHubError, match="more than 2 pages to list the comments"):
        github.own_comments(12)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_compressed_answer_is_refused_before_it_is_unpacked(
    fake: FakeGitHub, github: GitHub, layers: int
) -> None:
    content = b" " * 2**28
    for _ in range(layers):
        content = gzip.compress(content)
    fake.pull()
    headers = {"Content-Encoding": ", ".join(["gzip"] * layers)}
    fake.trouble("GET", PULLS, Trouble(200, headers, content=content))
    tracemalloc.start()
    try:
        with pytest.raises(GitHubError, match="larger than 25,165,824 bytes"):
            github.pull(12)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**26


@pytest.mark.parametrize(
    ("trouble", "slept"),
    [
        (Trouble(429, {"Retry-After": "7"}), 7),
        (Trouble(403, {"Retry-After": "9"}), 9),
        (Trouble(403, used_up(30)), 31),
        (Trouble(403, message="You have exceeded a secondary rate limit"), 60),
        (Trouble(500), 1),
        (Trouble(503, {"Retry-After": "4"}), 4),
        (Trouble(0), 1),
    ],
)  # fmt: skip
def test_after_a_limit_or_a_failure_it_is_asked_again(
    fake: FakeGitHub, github: GitHub, clock: FakeClock, trouble: Trouble, slept: float
) -> None:
    fake.pull()
    fake.trouble("GET", PULLS, trouble)
    assert github.pull(12).number == 12
    assert clock.slept == [slept]


def test_a_server_that_goes_on_failing_is_given_up(
    fake: FakeGitHub, github: GitHub, clock: FakeClock
) -> None:
    fake.trouble("GET", PULLS, *[Trouble(502)] * 9)
    with pytest.raises(GitHubError, match=r"fails when asked to show pull request 12 \(502.*again"):
        github.pull(12)
    assert clock.slept == [1, 2, 4, 8]


def test_a_limit_of_an_hour_is_not_waited_for(
    fake: FakeGitHub, github: GitHub, clock: FakeClock
) -> None:
    fake.trouble("GET", PULLS, Trouble(403, used_up(2400)))
    with pytest.raises(GitHubError, match="asks to wait 40 min"):
        github.pull(12)
    assert clock.slept == []


def test_many_short_waits_are_not_waited_for_either(fake: FakeGitHub, github: GitHub) -> None:
    fake.trouble("GET", PULLS, *[Trouble(429, {"Retry-After": "400"})] * 5)
    with pytest.raises(GitHubError, match="run the command again after that"):
        github.pull(12)


@pytest.mark.parametrize("trouble", [Trouble(502), Trouble(0), Trouble(504, done=True)])
def test_what_makes_something_is_not_repeated_when_nobody_knows_whether_it_did(
    fake: FakeGitHub, github: GitHub, trouble: Trouble
) -> None:
    fake.pull()
    fake.trouble("POST", "/comments$", trouble)
    with pytest.raises(UnsureError):
        github.add_comment(12, "once")
    assert [one["body"] for one in fake.comments] == (["once"] if trouble.done else [])
    assert len(fake.writes()) == 1


def test_what_makes_something_is_repeated_when_a_limit_turned_it_away(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.pull()
    fake.trouble("POST", "/comments$", Trouble(403, {"Retry-After": "5"}))
    github.add_comment(12, "once")
    assert [one["body"] for one in fake.comments] == ["once"]


def test_writes_are_a_second_apart(fake: FakeGitHub, github: GitHub, clock: FakeClock) -> None:
    fake.pull()
    for number in range(3):
        github.add_comment(12, f"comment {number}")
    assert clock.slept == [1, 1]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (Trouble(401, message="Bad credentials"), "does not accept the token in GITHUB_TOKEN"),
        (
            Trouble(403, message="Resource not accessible by integration"),
            "may need the right to",
        ),
        (Trouble(422, message="Validation Failed"), r"to show pull request 12 \(422: Valid"),
        (Trouble(302, {"Location": "https://e.vil/"}), r"to show pull request 12 \(302"),
        (Trouble(301, {"Location": "https://e.vil/repositories/1"}), "leads to another host"),
        (Trouble(200, message="nothing else"), "not understood when asked to show pull request"),
    ],
)
def test_every_refusal_is_a_sentence_that_helps(
    fake: FakeGitHub, github: GitHub, trouble: Trouble, said: str
) -> None:
    fake.trouble("GET", PULLS, trouble)
    with pytest.raises(GitHubError, match=said):
        github.pull(12)


def test_what_is_not_there_is_told_apart(github: GitHub) -> None:
    with pytest.raises(MissingError, match="does not exist, or the token may not see it"):
        github.pull(12)


def test_a_repository_that_was_renamed_is_followed_on_the_same_host(
    fake: FakeGitHub, clock: FakeClock
) -> None:
    fake.pull()
    fake.trouble("GET", "/repos/old/name/pulls/12",
                 Trouble(301, {"Location": f"{fake.url}/repos/{REPO}/pulls/12"}))  # fmt: skip
    assert GitHub(Transport(fake.url, TOKEN, clock), "old/name").pull(12).number == 12


def test_a_list_that_leads_to_another_host_is_not_followed(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.trouble("GET", "/comments", Trouble(200, {"Link": '<https://e.vil/?page=2>; rel="next"'}))
    with pytest.raises(GitHubError, match="another host"):
        list(github.transport.pages(f"/repos/{REPO}/issues/12/comments", "list the comments"))


def test_a_redirect_with_an_empty_list_does_not_say_that_no_comment_is_there(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.trouble("GET", "/comments", Trouble(302, {"Location": ""}, content=b"[]"))
    with pytest.raises(GitHubError, match=r"to list the comments \(302"):
        list(github.transport.pages(f"/repos/{REPO}/issues/12/comments", "list the comments"))


def test_a_server_that_is_not_there_is_named(clock: FakeClock) -> None:
    github = GitHub(Transport("http://127.0.0.1:9", TOKEN, clock), REPO)
    with pytest.raises(
        GitHubError, match=r"does not answer when asked to show pull request 12: .*refused"
    ):
        github.pull(12)
    with pytest.raises(GitHubError, match="run it again") as unsent:
        github.add_comment(12, "never sent")
    assert not isinstance(unsent.value, UnsureError)


@pytest.mark.parametrize("api", ["http://api.github.com", "ftp://x", "api.github.com", ""])
def test_the_token_goes_nowhere_in_the_clear(api: str, clock: FakeClock) -> None:
    with pytest.raises(GitHubError, match="the token is not sent to"):
        Transport(api, TOKEN, clock)


def test_an_artifact_is_downloaded_without_the_token(fake: FakeGitHub, github: GitHub) -> None:
    number = fake.artifact(b"PK and more")
    assert github.artifact_zip(number, 100) == b"PK and more"
    assert fake.tokens_at_storage == []


def test_an_archive_is_read_no_further_than_allowed(fake: FakeGitHub, github: GitHub) -> None:
    number = fake.artifact(b"x" * 300_000)
    with pytest.raises(GitHubError, match="larger than 1,000 bytes"):
        github.artifact_zip(number, 1000)


def test_an_expired_artifact_is_missing(fake: FakeGitHub, github: GitHub) -> None:
    with pytest.raises(MissingError, match="Artifact has expired"):
        github.artifact_zip(fake.artifact(b"", expired=True), 1000)


def test_a_redirect_to_nowhere_is_no_download(fake: FakeGitHub, github: GitHub) -> None:
    fake.trouble("GET", "/zip$", Trouble(302, {"Location": "file:///etc/passwd"}))
    with pytest.raises(GitHubError, match="contains no address"):
        github.artifact_zip(fake.artifact(b""), 1000)


def test_graphql_is_asked_where_it_is() -> None:
    assert graphql_address("https://api.github.com") == "https://api.github.com/graphql"
    assert graphql_address("https://ghe.example/api/v3") == "https://ghe.example/api/graphql"


def test_no_error_and_no_representation_holds_the_token(
    fake: FakeGitHub, github: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.trouble("GET", PULLS, Trouble(401, message="Bad credentials"))
    with pytest.raises(GitHubError) as error:
        github.pull(12)
    assert TOKEN not in f"{error.value!r}{error.value.__cause__!r}{github!r}{github.transport!r}"
