"""How a repository wants to be told: ``.github/observatory.toml``, reviewed like its code.

::

    [comment]
    check = "neutral"               # or "failure", or "none": the check where HEAD is worse
    check_name = "compile caches"
    label = "run-benchmark"         # is taken off the pull request afterwards; "": none

    [issues]
    labels = ["observatory"]        # of new issues
    most_a_night = 5                # issues that are opened within 20 hours; the rest is named

Every key has the default shown here, and so has the whole file. It is read from the checkout of
the branch that the workflow belongs to, never from that of a pull request.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError, RecordUsageError, reason_of

FILE = Path(".github/observatory.toml")
_LARGEST = 2**16

Label = Annotated[str, Field(min_length=1, max_length=50, pattern=r"^[^,\x00-\x1f]+$")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CommentSettings(_Table):
    """Of `observatory comment`."""

    check: Literal["neutral", "failure", "none"] = "neutral"
    check_name: Annotated[str, Field(min_length=1, max_length=100)] = "compile caches"
    label: Label | Literal[""] = "run-benchmark"


class IssueSettings(_Table):
    """Of `observatory deliver`."""

    labels: Annotated[list[Label], Field(max_length=20)] = ["observatory"]
    most_a_night: Annotated[int, Field(ge=0, le=100)] = 5


class Settings(_Table):
    """The whole file."""

    comment: CommentSettings = CommentSettings()
    issues: IssueSettings = IssueSettings()


def load(path: Path | None) -> Settings:
    """The settings; None: those in FILE, if there is one. Raises RecordError, naming the key."""
    where = path or FILE
    content = read_bounded(where, _LARGEST, "no person wrote that")
    if content is None:
        if path is not None:
            raise RecordUsageError(
                f"there are no settings in {path}; leave --config out for defaults"
            )
        return Settings()
    try:
        return Settings.model_validate(tomllib.loads(content.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"{where} is no TOML: {error}") from error
    except ValidationError as error:
        raise RecordError(
            f"{where}: {reason_of(error)}; docs/github.md lists the keys and their values"
        ) from error
