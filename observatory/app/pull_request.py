"""Publish a comparison on its pull request: a comment, a removed label and a check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from observatory.errors import SelectionError
from observatory.github import artifact, sticky
from observatory.github.artifact import RefusedError, Target, with_origin
from observatory.github.client import GitHub
from observatory.github.http import GitHubError
from observatory.github.settings import CommentSettings
from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError
from observatory.text.document import Story
from observatory.text.plain import shorten


def artifact_of(file: Path) -> artifact.Artifact:
    """The artifact in a file. Raises SelectionError where there is none, and RefusedError."""
    try:
        most = max(artifact.LARGEST_ZIP, artifact.LARGEST_COMPARISON)
        content = read_bounded(file, most, "no comparison is")
    except RecordError as error:
        raise RefusedError(str(error)) from error
    if content is None:
        raise SelectionError(f"there is no file {file}")
    return artifact.read(content)


def publish(
    github: GitHub, target: Target, story: Story, text: str,
    wanted: CommentSettings, dry_run: bool, say: Callable[[str], None],
) -> None:  # fmt: skip
    """Publish the comment, remove the label and set the check; each is tried even if one fails.

    ``text``: the story as Markdown. ``say`` is called with a line for each change. Raises
    GitHubError if one failed.
    """
    number, run = target.pull.number, target.run
    comment = sticky.Wanted(
        with_origin(text, target), (run.id, run.run_attempt) if run is not None else None
    )
    title = shorten(story.title, 200)

    def the_comment() -> None:
        if target.pull.locked:
            say(f"pull request {number} is locked; no comment was written")
        elif dry_run:
            actions = sticky.look(github, number, comment, {}) or ()
            say(f"would be done: {', '.join(one.verb for one in actions)}")
        else:
            for line in sticky.publish(github, number, comment):
                say(f"pull request {number}: {line}")

    def the_label() -> None:
        if wanted.label and not dry_run and github.remove_label(number, wanted.label):
            say(f"pull request {number}: removed the label {wanted.label}")

    def the_check() -> None:
        if wanted.check == "none":
            return
        concluded = sticky.conclusion(story.state, wanted.check)
        if not dry_run:
            by = f"{run.id}.{run.run_attempt}" if run else "by hand"
            sticky.put_check(github, target.sha, wanted.check_name, concluded, title, text, by)
        say(f"commit {target.sha[:10]}: {wanted.check_name} is {concluded}")

    _each(the_comment, the_label, the_check)


def _each(*steps: Callable[[], None]) -> None:
    failed = []
    for step in steps:
        try:
            step()
        except GitHubError as error:
            failed.append(str(error))
    if failed:
        raise GitHubError("; ".join(failed))
