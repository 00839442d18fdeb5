"""The files that pytest-benchmark saves (`--benchmark-json`): what is used of them, as a schema.

They may come from strangers: nothing of them is believed that does not fit these models.
"""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    StringConstraints,
)

from observatory.store.base.moments import within_calendar


def _moment(text: Any) -> datetime:
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        found = datetime.fromisoformat(text)
        return within_calendar(found).astimezone(UTC)
    raise ValueError(f"{str(text)[:100]!r} is no time")


def _moment_or_none(text: Any) -> datetime | None:
    try:
        return _moment(text)
    except ValueError:
        return None


def _minor(version: str) -> str:
    found = re.match(r"(\d+\.\d+)\b", version)
    if found is None:
        raise ValueError(f"{version!r} is not a Python version")
    return found[1]


_Word = Annotated[str, StringConstraints(max_length=500)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Stats(_Model):
    """Of the rounds of one test, in seconds for one iteration."""

    median: FiniteFloat
    q1: FiniteFloat | None = None
    q3: FiniteFloat | None = None
    rounds: Annotated[int, Field(ge=1, lt=2**31)]
    iterations: Annotated[int, Field(ge=1, lt=2**63)] = 1
    data: list[FiniteFloat] | None = None


class Benchmark(_Model):
    """One test with one combination of parameters."""

    fullname: Annotated[str, StringConstraints(min_length=1, max_length=800)]
    param: _Word | None = None
    params: dict[_Word, Any] | None = Field(None, max_length=50)
    extra_info: dict[str, Any] = {}
    stats: Stats


class Commit(_Model):
    """What was measured."""

    id: _Word | None = None  # `unversioned` or `unknown` where it is not known
    time: Annotated[datetime | None, BeforeValidator(_moment_or_none)] = None
    dirty: bool | None = None


class Machine(_Model):
    """Where it was measured."""

    node: _Word | None = None
    system: _Word = ""
    release: _Word = ""
    machine: _Word = ""
    python_version: Annotated[_Word, AfterValidator(_minor)]
    python_implementation: _Word = "CPython"
    cpu: dict[str, Any] = {}


class File(_Model):
    """The whole."""

    machine_info: Machine
    commit_info: Commit
    benchmarks: list[Any] = Field(max_length=100_000)  # each is checked on its own
    measured_at: Annotated[datetime, BeforeValidator(_moment)] = Field(alias="datetime")
    version: _Word
