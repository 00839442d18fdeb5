"""Issues for alerts, against a GitHub that loses answers and lists late."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from observatory.github.client import GitHub
from observatory.github.http import GitHubError, MissingError
from observatory.github.issues import Need, Plan, Wanted, deliver, describe, remaining
from observatory.github.transport import Transport
from tests.fake_github import BOT, PERSON, REPO, TOKEN, FakeClock, FakeGitHub, Trouble

LABELS = ["observatory"]
POST = ("POST", "/issues$")


def alert(number: int = 1, state: Need = "open", text: str = "35 files.") -> Wanted:
    return Wanted(f"{number:010x}", state, f"Files leaked {number}", lambda: text)


def test_the_life_of_an_issue(fake: FakeGitHub, github: GitHub) -> None:
    assert deliver(github, [alert()], LABELS, 5)[0] == ["#100 opened: Files leaked 1"]
    (issue,) = fake.issues
    assert issue["labels"] == [{"name": "observatory"}]
    assert deliver(github, [alert()], LABELS, 5)[0] == []
    assert deliver(github, [alert(text="36 files.")], LABELS, 5)[0] == ["#100 updated"]
    assert "36 files." in issue["body"]
    assert deliver(github, [alert(state="over")], LABELS, 5)[0] == ["#100 closed: it is over"]
    assert (issue["state"], issue["state_reason"]) == ("closed", "completed")
    assert deliver(github, [alert(state="over")], LABELS, 5)[0] == []
    assert deliver(github, [alert()], LABELS, 5)[0] == ["#100 reopened: it came back"]
    assert issue["state"] == "open"
    assert len(fake.issues) == 1


def test_nothing_is_written_where_nothing_changed(fake: FakeGitHub, github: GitHub) -> None:
    deliver(github, [alert(), alert(2)], LABELS, 5)
    before = len(fake.writes())
    deliver(github, [alert(), alert(2)], LABELS, 5)
    assert len(fake.writes()) == before


def test_an_issue_is_found_behind_hundreds_of_others_and_when_it_is_closed(
    fake: FakeGitHub, github: GitHub
) -> None:
    deliver(github, [alert(state="open")], LABELS, 5)
    fake.issues[0]["state"] = "closed"
    for number in range(250):
        fake.issue(f"another {number}", "by the same bot", by=BOT)
        fake.issue(f"another {number}", "by a person")
    fake.pull()
    assert deliver(github, [alert()], LABELS, 999)[1].respected == ("#100 was closed by hand",)
    assert all("search" not in path for _, path in fake.asked)


def test_a_stranger_cannot_take_an_alert_away(fake: FakeGitHub, github: GitHub) -> None:
    """Who writes our marker into an issue and closes it does not silence the alert."""
    fake.issue("Files leaked 1", alert().body("open"), by=PERSON, state="closed")
    fake.issue("Files leaked 1", alert().body("open"), by={**BOT, "id": 8}, state="closed")
    deliver(github, [alert()], LABELS, 5)
    assert [one["state"] for one in fake.issues if one["user"] == BOT] == ["open"]


def test_an_issue_whose_author_is_gone_is_nobodys(fake: FakeGitHub, github: GitHub) -> None:
    fake.issues.append({**fake.issue("t", alert().body("open"), by=BOT), "user": None, "number": 5})
    assert len(github.issues()) == 1


@pytest.mark.parametrize("trouble", [Trouble(502, done=True), Trouble(0, done=True), Trouble(502)])
def test_a_write_without_an_answer_opens_no_second_issue(
    fake: FakeGitHub, github: GitHub, trouble: Trouble
) -> None:
    fake.trouble(*POST, trouble)
    deliver(github, [alert(), alert(2)], LABELS, 5)
    assert [one["title"] for one in fake.issues] == ["Files leaked 1", "Files leaked 2"]


def test_a_list_that_lags_opens_no_second_issue(fake: FakeGitHub, github: GitHub) -> None:
    fake.unlisted = {100}
    looks = iter(range(9))
    fake.meanwhile("GET", "/issues", lambda: next(looks) == 2 and fake.unlisted.clear(), times=3)
    deliver(github, [alert()], LABELS, 5)
    assert len(fake.issues) == 1


def test_what_github_never_lists_is_said_before_it_is_opened_every_night(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.unlisted = {100}
    with pytest.raises(GitHubError, match="does not list #100, which github-actions"):
        deliver(github, [alert()], LABELS, 5)
    assert len(fake.issues) == 1


def test_two_runs_at_once_come_to_one_open_issue(fake: FakeGitHub, clock: FakeClock) -> None:
    both = threading.Barrier(2, timeout=120)
    fake.meanwhile(*POST, both.wait, times=2)

    def run() -> None:
        deliver(GitHub(Transport(fake.url, TOKEN, clock), REPO), [alert()], LABELS, 5)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(run) for _ in range(2)]:
            done.result(30)
    first, second = fake.issues
    assert (first["state"], second["state"]) == ("open", "closed")
    assert second["state_reason"] == "not_planned"
    assert second["body"].endswith(f"The same alert as #{first['number']}.")


def test_a_night_opens_no_more_than_allowed_however_often_it_runs(
    fake: FakeGitHub, github: GitHub, clock: FakeClock
) -> None:
    alerts = [alert(number) for number in range(9)]
    first = deliver(github, alerts, LABELS, 4)
    assert len(fake.issues) == 4
    (said,) = remaining(first[1], 4)
    assert said.startswith("5 alerts without an issue, because at most 4 are opened in a night: ")
    assert said.endswith("0000000004, 0000000005, 0000000006, 0000000007, 0000000008")
    deliver(github, alerts, LABELS, 4)
    assert len(fake.issues) == 4
    clock.time += 24 * 3600
    deliver(github, alerts, LABELS, 4)
    assert len(fake.issues) == 8


def test_an_issue_that_is_deleted_meanwhile_is_no_failure(fake: FakeGitHub, github: GitHub) -> None:
    deliver(github, [alert()], LABELS, 5)
    fake.meanwhile("PATCH", "/issues/", fake.issues.clear)
    deliver(github, [alert(text="36 files."), alert(2)], LABELS, 5)
    assert sorted(one["title"] for one in fake.issues) == ["Files leaked 1", "Files leaked 2"]


def test_a_repository_without_issues_is_an_error(fake: FakeGitHub, github: GitHub) -> None:
    fake.trouble(*POST, Trouble(410, message="Issues are disabled for this repo"))
    with pytest.raises(MissingError, match="Issues are disabled"):
        deliver(github, [alert()], LABELS, 5)


def test_people_and_unknown_alerts_are_said() -> None:
    plan = Plan((), (), ("#7 is locked", "#8 was closed by hand"), (9, 10))
    assert list(remaining(plan, 5)) == [
        "not changed, because people changed them: #7 is locked, #8 was closed by hand",
        "not changed, because their alerts are not in the file: #9, #10",
    ]
    many = Plan((), tuple(f"{n:010x}" for n in range(80)), (), ())
    assert next(remaining(many, 5)).endswith("and 30 more")
    assert describe(alert()) == "an issue for alert 0000000001 opened: Files leaked 1"
