"""One comment, whatever happens while it is published."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from observatory.github.body import SETTLING
from observatory.github.client import GitHub
from observatory.github.http import GitHubError, MissingError
from observatory.github.models import Comment, User, Viewer
from observatory.github.sticky import (
    Action,
    RunNumber,
    Wanted,
    decide,
    ours,
    publish,
)
from observatory.github.transport import Transport
from observatory.text.comment import LIMIT, MARKER, comment
from tests import factories_comparison as factory
from tests.fake_github import BOT, PERSON, REPO, TOKEN, FakeClock, FakeGitHub, Trouble

ME = User(id=BOT["id"], login=BOT["login"])
POST, PATCH, LIST = ("POST", "/comments$"), ("PATCH", "/comments/"), ("GET", r"/comments\?")


def wanted(words: str = "slower", run: RunNumber | None = (900, 1)) -> Wanted:
    return Wanted(f"{MARKER}\n### {words}\n", run)


def made(number: int, says: Wanted, by: User = ME) -> Comment:
    return Comment(id=number, node_id=f"IC_{number}", body=says.body, user=by)


def decided(
    *found: Comment, says: Wanted | None = None, hidden: str = "", mine: tuple[int, ...] = ()
) -> list[Action] | None:
    folded = dict(pair.split("=") for pair in hidden.split())
    return decide(found, folded, says or wanted(), frozenset(mine))


def at_once(run: Callable[[int], None], numbers: Sequence[int]) -> None:
    """Each in a thread of its own; what one raises is raised here."""
    with ThreadPoolExecutor(len(numbers)) as pool:
        for done in [pool.submit(run, number) for number in numbers]:
            done.result(30)


# What is to be done, without any GitHub.


def test_where_nothing_is_a_comment_is_made() -> None:
    assert decided() == [Action("create")]


def test_what_says_the_same_already_is_left_alone() -> None:
    assert decided(made(1, wanted())) == []


def test_a_comment_of_an_older_run_is_updated() -> None:
    old = made(1, wanted("faster", (899, 1)))
    assert decided(old) == [Action("update", old)]


def test_a_second_attempt_of_a_run_outweighs_the_first() -> None:
    first, second = wanted(run=(900, 1)), wanted(run=(900, 2))
    assert decided(made(1, first), says=second) == [Action("update", made(1, first))]
    assert decided(made(1, second), says=first) is None


def test_the_comment_of_a_newer_run_stays() -> None:
    newer = made(1, wanted("faster", (901, 1)))
    assert decided(newer) is None


def test_a_person_outweighs_every_run_and_the_next_run_the_person() -> None:
    by_hand = wanted(run=None)
    assert decided(made(1, wanted()), says=by_hand) == [Action("update", made(1, wanted()))]
    assert decided(made(1, by_hand)) == [Action("update", made(1, by_hand))]


def test_other_copies_are_hidden_and_the_oldest_is_kept() -> None:
    one, two, three = (made(n, wanted()) for n in (1, 2, 3))
    assert decided(one, two, three) == [Action("hide", two), Action("hide", three)]


def test_what_is_hidden_is_not_hidden_again() -> None:
    one, two = made(1, wanted()), made(2, wanted())
    assert decided(one, two, hidden="IC_2=outdated") == []


def test_a_second_comment_of_this_very_run_is_deleted() -> None:
    one, two = made(1, wanted()), made(2, wanted())
    assert decided(one, two, mine=(2,)) == [Action("delete", two)]


def test_a_run_that_a_newer_one_overtook_takes_its_own_comment_back() -> None:
    newer, own = made(1, wanted("faster", (901, 1))), made(2, wanted())
    assert decided(newer, own, mine=(2,)) == [Action("delete", own)]


def test_a_newer_run_that_is_about_to_take_over_is_left_to_it() -> None:
    """It has made a comment of its own, and will move what it says into the oldest."""
    old, newer = made(1, wanted("older", (899, 1))), made(2, wanted("newer", (901, 1)))
    assert decided(old, newer) is None


def test_a_copy_that_a_person_hid_is_not_hidden_again() -> None:
    one, two = made(1, wanted()), made(2, wanted())
    assert decided(one, two, hidden="IC_2=spam") == []


def test_a_comment_hidden_as_outdated_is_over() -> None:
    assert decided(made(1, wanted()), hidden="IC_1=outdated") == [Action("create")]


def test_a_comment_that_a_person_hid_stays_the_one_and_stays_hidden() -> None:
    old = made(1, wanted("faster", (899, 1)))
    assert decided(old, hidden="IC_1=resolved") == [Action("update", old)]


def test_only_what_this_account_wrote_at_the_beginning_is_ours() -> None:
    other, text = User(id=7, login="ada"), wanted().body
    nobody = made(1, wanted()).model_copy(update={"user": None})
    quoted = made(2, wanted()).model_copy(update={"body": f"> {text}"})
    browser = made(3, wanted()).model_copy(update={"body": text.replace("\n", "\r\n")})
    found = [made(5, wanted()), made(4, wanted(), by=other), browser, quoted, nobody]
    me = Viewer(login=ME.login, databaseId=ME.id)
    assert [one.id for one in ours(found, MARKER, me)] == [3, 5]
    assert [one.id for one in ours(found, MARKER, Viewer(login=ME.login))] == [3, 5]
    assert ours(found, MARKER, Viewer(login=ME.login, databaseId=1)) == []


def test_a_stamp_that_is_none_is_older_than_all() -> None:
    odd = Comment(id=1, node_id="IC_1", body=f"{MARKER}\n<!-- observatory: run x -->", user=ME)
    bare = Comment(id=1, node_id="IC_1", body=MARKER, user=ME)
    assert decided(odd) == [Action("update", odd)]
    assert decided(bare) == [Action("update", bare)]


# The same against a GitHub.


@pytest.mark.parametrize("scene", factory.SCENES)
def test_every_kind_of_verdict_sticks(scene: str, fake: FakeGitHub, github: GitHub) -> None:
    """Published, published again, overtaken by another verdict: one comment, up to date."""
    fake.pull()
    text = comment(factory.SCENES[scene]())
    assert publish(github, 12, Wanted(text, (900, 1))) == ["commented"]
    assert publish(github, 12, Wanted(text, (900, 1))) == ["the comment is already up to date"]
    (body,) = fake.bodies()
    assert body.startswith(f"{MARKER}\n<!-- observatory: run 900.1, text ")
    assert body.endswith(text.partition("\n")[2])
    publish(github, 12, Wanted(comment(factory.slower()), (901, 1)))
    (body,) = fake.bodies()
    assert "slower" in body
    assert len(fake.comments) == 1


def test_a_comment_is_found_behind_a_hundred_others(fake: FakeGitHub, github: GitHub) -> None:
    fake.pull()
    for number in range(120):
        fake.comment(f"talk {number}")
    publish(github, 12, wanted())
    for number in range(120):
        fake.comment(f"talk {number}")
    publish(github, 12, wanted("faster", (901, 1)))
    assert sum(MARKER in one["body"] for one in fake.comments) == 1


def test_a_comment_that_a_person_deleted_is_made_anew(fake: FakeGitHub, github: GitHub) -> None:
    fake.pull()
    publish(github, 12, wanted())
    fake.comments.clear()
    assert publish(github, 12, wanted("faster", (901, 1))) == ["commented"]
    assert len(fake.bodies()) == 1


def test_a_comment_deleted_between_two_requests_is_made_anew(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.pull()
    publish(github, 12, wanted())
    fake.meanwhile(*PATCH, fake.comments.clear)
    assert publish(github, 12, wanted("faster", (901, 1))) == ["commented"]
    assert "faster" in fake.bodies()[0]


@pytest.mark.parametrize("done", [True, False])
def test_a_write_without_an_answer_is_looked_for_and_not_repeated_blindly(
    fake: FakeGitHub, github: GitHub, done: bool
) -> None:
    fake.pull()
    fake.trouble(*POST, Trouble(502, done=done))
    publish(github, 12, wanted())
    assert len(fake.comments) == 1


def test_a_connection_that_breaks_after_the_write_makes_no_second_comment(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.pull()
    fake.trouble(*POST, Trouble(0, done=True))
    publish(github, 12, wanted())
    assert len(fake.comments) == 1


def test_a_list_that_lags_makes_no_second_comment(fake: FakeGitHub, github: GitHub) -> None:
    fake.pull()

    def forget() -> None:
        late = fake.comments.pop()
        fake.meanwhile(*LIST, lambda: fake.comments.append(late))

    fake.meanwhile(*LIST, lambda: fake.meanwhile(*LIST, forget))
    publish(github, 12, wanted())
    assert ("POST", f"/repos/{REPO}/issues/12/comments") in fake.asked
    assert len([one for one in fake.asked if one[0] == "POST" and "comments" in one[1]]) == 1


@pytest.mark.parametrize("first", [899, 901])
def test_two_runs_at_once_come_to_one_comment_of_the_newer(
    fake: FakeGitHub, first: int, clock: FakeClock
) -> None:
    """Both see that there is none, both make one; the oldest stays and says what is newer."""
    fake.pull()
    both = threading.Barrier(2, timeout=120)
    fake.meanwhile(*POST, both.wait, times=2)

    def run(number: int) -> None:
        github = GitHub(Transport(fake.url, TOKEN, clock), REPO)
        publish(github, 12, wanted(f"found by run {number}", (number, 1)))

    at_once(run, (first, 900))
    (body,) = fake.bodies()
    assert f"found by run {max(first, 900)}" in body
    assert body == min(fake.comments, key=lambda one: one["id"])["body"]


class Settling(FakeClock):
    """A sleep that ends when everything that was under way has been written."""

    def __init__(self, runs: int) -> None:
        super().__init__()
        self._active, self._asleep, self._woken = runs, 0, 0
        self._changed = threading.Condition()

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        with self._changed:
            self._asleep += 1
            before = self._woken
            self._wake()
            assert self._changed.wait_for(lambda: self._woken > before, timeout=120)

    def done(self) -> None:
        with self._changed:
            self._active -= 1
            self._wake()

    def _wake(self) -> None:
        if self._asleep == self._active:
            self._asleep, self._woken = 0, self._woken + 1
            self._changed.notify_all()


@pytest.mark.parametrize("seed", range(8))
def test_many_runs_at_once_come_to_one_comment_of_the_newest(fake: FakeGitHub, seed: int) -> None:
    fake.pull()
    runs = [900 + (seed * 7 + n * 5) % 6 for n in range(6)]
    all_ = threading.Barrier(len(runs), timeout=120)
    clock = Settling(len(runs))

    def run(number: int) -> None:
        github = GitHub(Transport(fake.url, TOKEN, clock), REPO)
        all_.wait()
        try:
            publish(github, 12, wanted(f"found by run {number}", (number, 1)))
        finally:
            clock.done()

    at_once(run, runs)
    (body,) = fake.bodies()
    assert "found by run 905" in body


def test_an_older_run_that_writes_last_is_written_over(
    fake: FakeGitHub, github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had looked before the newer one wrote, and its own write comes a moment later."""
    fake.pull()
    older = wanted("found by run 904", (904, 1))
    publish(github, 12, older)
    late = [older.body]

    def sleep(seconds: float) -> None:  # the transport sleeps between writes, for less
        if late and seconds == SETTLING:
            fake.comments[0]["body"] = late.pop()

    monkeypatch.setattr(github.transport.clock, "sleep", sleep)
    publish(github, 12, wanted("found by run 905", (905, 1)))
    (body,) = fake.bodies()
    assert not late
    assert "found by run 905" in body


def test_a_stranger_who_writes_the_marker_is_not_edited(fake: FakeGitHub, github: GitHub) -> None:
    fake.pull()
    theirs = fake.comment(wanted("nothing to see here", (10**9, 1)).body, by=PERSON)["body"]
    publish(github, 12, wanted())
    assert fake.comments[0]["body"] == theirs
    assert fake.comments[1]["user"] == BOT


def test_copies_of_an_accident_are_hidden(fake: FakeGitHub, github: GitHub) -> None:
    fake.pull()
    for run in (897, 898, 899):
        fake.comment(wanted(f"run {run}", (run, 1)).body, by=BOT)
    done = publish(github, 12, wanted())
    assert done == ["updated the comment", "hid an outdated comment", "hid an outdated comment"]
    assert len(fake.comments) == 3
    assert len(fake.bodies()) == 1
    assert set(fake.hidden.values()) == {"OUTDATED"}


def test_a_copy_that_is_deleted_while_it_is_hidden_is_no_failure(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.pull()
    publish(github, 12, wanted())
    copy = fake.comment(wanted("a copy").body, by=BOT)
    queries = iter(range(9))

    def at_the_second() -> None:
        if next(queries) == 1:
            fake.comments.remove(copy)

    fake.meanwhile("POST", "/graphql", at_the_second, times=2)
    publish(github, 12, wanted())
    assert len(fake.comments) == 1


def test_what_never_comes_to_rest_is_given_up(fake: FakeGitHub, github: GitHub) -> None:
    fake.pull()
    fake.meanwhile(*PATCH, fake.comments.clear, times=99)
    fake.meanwhile(*POST, lambda: fake.comment(wanted("other", (1, 1)).body, by=BOT), times=99)
    with pytest.raises(GitHubError, match=r"after 6 attempts, .* still differ"):
        publish(github, 12, wanted())


def test_a_pull_request_that_is_not_there_is_an_error(github: GitHub) -> None:
    with pytest.raises(MissingError, match="comment on pull request 12"):
        publish(github, 12, wanted())


def test_a_body_that_is_too_long_is_cut_before_github_refuses_it(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.pull()
    long = Wanted(f"{MARKER}\n" + "| a | b |\n" * 20_000, (900, 1))
    publish(github, 12, long)
    assert len(fake.bodies()[0]) <= LIMIT
    assert publish(github, 12, long) == ["the comment is already up to date"]


def test_what_github_finds_too_long_all_the_same_is_a_sentence(
    fake: FakeGitHub, github: GitHub
) -> None:
    fake.pull()
    with pytest.raises(GitHubError, match=r"422: Validation Failed; Body is too long"):
        github.add_comment(12, "x" * 70_000)
