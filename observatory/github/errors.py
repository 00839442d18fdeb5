"""What goes wrong between here and GitHub; every error is a sentence for a person."""

from __future__ import annotations

from observatory.errors import Exit, ObservatoryError

_LONGEST = 300


class GitHubError(ObservatoryError):
    """GitHub did not do what was asked; the message says what, and what to do about it."""

    exit_code = Exit.GITHUB


class MissingError(GitHubError):
    """What was asked for is not there: never was, was deleted, or may not be seen."""


class UnsureError(GitHubError):
    """Something was to be written and no answer came: it may be written, and may not."""


class RefusedError(ObservatoryError):
    """An artifact, or its claim to a pull request, is not what it has to be."""

    exit_code = Exit.ARTIFACT


def printable(text: str, most: int = _LONGEST) -> str:
    """A text from elsewhere as part of a sentence: one line, no control characters, bounded."""
    shown = "".join(one if one.isprintable() else "?" for one in text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
