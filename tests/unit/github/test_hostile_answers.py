"""Whatever a forge answers, the client says a sentence; and the wait for it is never for ever."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from observatory.errors import ObservatoryError
from observatory.github import artifact, sticky
from observatory.github.client import GitHub
from observatory.github.transport import Transport
from observatory.text.comment import MARKER
from tests.fake_github import BOT, REPO, TOKEN, FakeClock, FakeGitHub
from tests.hostile_forge import answers

EACH = 1 if int(os.environ.get("OBSERVATORY_MUTATIONS", "500")) > 500 else 4
"""Each so many answers are tried to one request: all of them at night."""
WANTED = sticky.Wanted(f"{MARKER}\n### slower\n", (900, 1))


def published(github: GitHub) -> object:
    return sticky.publish(github, 12, WANTED)


def downloaded(github: GitHub) -> object:
    return artifact.downloaded(github, artifact.run_of(github, 900), "observatory-comparison")


def checked(github: GitHub) -> object:
    return sticky.put_check(github, "a" * 40, "caches", "success", "t", "text", "900.1")


def aimed(github: GitHub) -> object:
    found = artifact.Artifact.__new__(artifact.Artifact)
    object.__setattr__(found, "claim", 12)
    return artifact.target_of(github, found, artifact.run_of(github, 900), None)


STEPS: dict[str, Callable[[GitHub], object]] = {
    "publish": published, "download": downloaded, "check": checked, "target": aimed,
    "issues": GitHub.issues, "label": lambda github: github.remove_label(12, "run"),
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_each_answer_to_each_request_ends_in_a_sentence(step: str) -> None:
    said: set[str] = set()
    with FakeGitHub(FakeClock()) as fake:
        for place in range(4):
            for trouble in answers()[place % EACH :: EACH]:
                fake.comments.clear()
                fake.pull()
                fake.run(sha="c" * 40)
                fake.commits[12] = ["c" * 40, "a" * 40]
                fake.artifacts.clear()
                fake.artifact(b"{}")
                fake.comment(f"{MARKER}\nold", by=BOT)
                fake._rules.clear()
                fake.meanwhile("GET", "", lambda: None, place)
                fake.trouble("GET" if place < 3 else "POST", "", *[trouble] * 9)
                github = GitHub(Transport(fake.url, TOKEN, fake.clock), REPO)
                try:
                    STEPS[step](github)
                except ObservatoryError as error:
                    said.add(str(error))
    assert all(len(one) < 900 for one in said)
