"""Errors of requests to GitHub and of artifacts; every message is a sentence for a person."""

from __future__ import annotations

from observatory.errors import Exit, ObservatoryError


class GitHubError(ObservatoryError):
    """A request to GitHub failed; the message says what was asked, and what to do."""

    exit_code = Exit.GITHUB


class MissingError(GitHubError):
    """The thing does not exist, was deleted, or may not be seen with this token."""


class UnsureError(GitHubError):
    """A write got no answer: it may have been carried out or not."""


class RefusedError(ObservatoryError):
    """An artifact is invalid, or is not of the pull request that it names."""

    exit_code = Exit.ARTIFACT
