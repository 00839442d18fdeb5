"""A forge that changes and fails at any moment, against the client: hypothesis chooses the moments.

Whatever happens, there is no traceback, nobody else's comment is touched, and there is at most one
comment of ours; and once the forge is well again, it says what the newest run says.
"""

from __future__ import annotations

import copy
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from observatory.errors import ObservatoryError
from observatory.github import sticky
from observatory.github.client import GitHub
from observatory.github.transport import Transport
from observatory.text.comment import MARKER
from tests.fake_github import BOT, PERSON, REPO, TOKEN, FakeClock, FakeGitHub, Trouble
from tests.hostile_forge import BODIES, answers

EXAMPLES = max(20, int(os.environ.get("OBSERVATORY_MUTATIONS", "500")) // 25)
REQUESTS = (
    ("GET", r"/comments"), ("POST", r"/comments$"), ("PATCH", "/comments/"), ("POST", "/graphql"),
    ("DELETE", "/comments/"), ("GET", ""), ("POST", ""),
)  # fmt: skip
# A list that is empty, or is not, as the forge likes, is a lie that nobody can see through.
TROUBLES = [one for one in answers() if not (one.status == 200 and one.content == b"[]")]


class Forge(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.fake = FakeGitHub(FakeClock()).__enter__()
        self.newest = 900
        self.others: dict[int, Any] = {}

    def teardown(self) -> None:
        self.fake.__exit__(None, None, None)

    @initialize()
    def a_pull_request(self) -> None:
        self.fake.pull()

    def own(self) -> list[Any]:
        """Comments of ours that can be read without unfolding."""
        return [
            one
            for one in self.fake.comments
            if one["user"] == BOT and one["node_id"] not in self.fake.hidden
        ]

    def publish(self, run: int) -> list[str] | None:
        """Publish as a run does; None: it ended with a sentence."""
        before = len(self.own())
        wanted = sticky.Wanted(f"{MARKER}\n### run {run}\n", (run, 1))
        try:
            github = GitHub(Transport(self.fake.url, TOKEN, self.fake.clock), REPO)
            return sticky.publish(github, 12, wanted)
        except ObservatoryError:
            return None
        finally:
            assert len(self.own()) <= max(1, before)

    # What others do.

    @rule(
        text=st.sampled_from((MARKER, f"{MARKER}\n<!-- observatory: run 9999.1, text 0 -->", "hi"))
    )
    def a_person_comments(self, text: str) -> None:
        made = self.fake.comment(text, by=PERSON)
        self.others[made["id"]] = copy.deepcopy(made)

    @rule()
    def somebody_deletes_ours(self) -> None:
        for one in self.own():
            self.fake.comments.remove(one)

    @rule()
    def ours_is_deleted_between_two_requests(self) -> None:
        self.fake.meanwhile("GET", r"/comments\?", lambda: None)
        self.fake.meanwhile("PATCH", "/comments/", self.somebody_deletes_ours)

    @rule()
    def somebody_hides_ours(self) -> None:
        for one in self.own():
            self.fake.hidden[one["node_id"]] = "OUTDATED"

    @rule()
    def an_older_version_of_ours_is_there(self) -> None:
        if not self.own():
            self.fake.comment(f"{MARKER}\nfrom before stamps", by=BOT)

    @rule(locked=st.booleans())
    def somebody_locks_it(self, locked: bool) -> None:
        self.fake.pulls[12]["locked"] = locked

    # What the forge does.

    @rule(request=st.sampled_from(REQUESTS), trouble=st.sampled_from(TROUBLES),
          times=st.integers(1, 6), done=st.booleans())  # fmt: skip
    def an_answer_is_none(
        self, request: tuple[str, str], trouble: Trouble, times: int, done: bool
    ) -> None:
        # What was answered with a failure may have been done all the same.
        maybe = Trouble(trouble.status, trouble.headers, trouble.message, done, trouble.content)
        self.fake.trouble(*request, *[maybe] * times)

    @rule(body=st.sampled_from(BODIES), request=st.sampled_from(REQUESTS[1:5]))
    def what_was_done_is_answered_with_nonsense(
        self, body: bytes, request: tuple[str, str]
    ) -> None:
        self.fake.trouble(*request, Trouble(200, done=True, content=body))

    # What we do.

    @rule(newer=st.integers(0, 2))
    def a_run_publishes(self, newer: int) -> None:
        self.newest += newer
        self.publish(self.newest)

    @rule(older=st.integers(1, 3))
    def an_older_run_publishes_late(self, older: int) -> None:
        self.publish(self.newest - older)

    @precondition(lambda self: not self.fake.pulls[12]["locked"])
    @rule()
    def the_forge_is_well_again(self) -> None:
        self.fake._rules.clear()
        self.newest += 1
        assert self.publish(self.newest) is not None
        assert [one["body"].splitlines()[-1] for one in self.own()] == [f"### run {self.newest}"]

    @invariant()
    def nobody_elses_comment_is_touched(self) -> None:
        there = {one["id"]: one for one in self.fake.comments if one["user"] == PERSON}
        assert there == self.others
        assert not {one["node_id"] for one in there.values()} & self.fake.hidden.keys()


Forge.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=12, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
TestForge = Forge.TestCase
