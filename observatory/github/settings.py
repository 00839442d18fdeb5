"""The settings of a repository: ``.github/observatory.toml``; docs/github.md lists the keys.

The file and every key in it are optional. It is read from the checkout of the workflow's own
branch, never from that of a pull request, and so it is reviewed like the code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from observatory.store.base.decode import NotTomlError, decoded_toml
from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError, RecordUsageError, reason_of

FILE = Path(".github/observatory.toml")
_LARGEST = 2**16

Label = Annotated[str, Field(min_length=1, max_length=50, pattern=r"^[^,\x00-\x1f]+$")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CommentSettings(_Table):
    """The settings of `observatory comment`."""

    check: Literal["neutral", "failure", "none"] = "neutral"
    check_name: Annotated[str, Field(min_length=1, max_length=100)] = "compile caches"
    label: Label | Literal[""] = "run-benchmark"
    page: Annotated[
        str, Field(max_length=500, pattern=r"^(https://[A-Za-z0-9.-]+(/[A-Za-z0-9._~/-]*)?)?$")
    ] = ""
    """The address of the dashboard, to which comments link."""


class IssueSettings(_Table):
    """The settings of `observatory deliver`."""

    labels: Annotated[list[Label], Field(max_length=20)] = ["observatory"]
    most_a_night: Annotated[int, Field(ge=0, le=100)] = 5


class Settings(_Table):
    """The whole file."""

    comment: CommentSettings = CommentSettings()
    issues: IssueSettings = IssueSettings()


def _keys() -> str:
    tables = {name: field.default for name, field in Settings.model_fields.items()}
    return ", ".join(
        f"{name}.{key}" for name, one in tables.items() for key in type(one).model_fields
    )


def load(path: Path | None) -> Settings:
    """The settings in a file, by default FILE if it exists. Raises RecordError, naming the key."""
    where = path or FILE
    content = read_bounded(where, _LARGEST, "settings are shorter")
    if content is None:
        if path is not None:
            raise RecordUsageError(
                f"there are no settings in {path}; leave --config out for defaults"
            )
        return Settings()
    try:
        return Settings.model_validate(decoded_toml(content))
    except NotTomlError as error:
        raise RecordError(f"{where} is not valid TOML: {error}") from error
    except ValidationError as error:
        raise RecordError(f"{where}: {reason_of(error)}; the keys are {_keys()}") from error
