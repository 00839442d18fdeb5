"""The files that pytest-benchmark saves (`--benchmark-json`): what is used of them, as a schema.

They may come from strangers: nothing of them is believed that does not fit these models.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, ValidationError

from observatory.store.base.decode import NotJsonError, decoded
from observatory.store.base.problems import RecordError, reason_of

Word = Annotated[str, StringConstraints(max_length=500)]
MOST_BENCHMARKS = 100_000


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
    param: Word | None = None
    params: dict[Word, Any] | None = Field(None, max_length=50)
    extra_info: dict[str, Any] = {}
    stats: Stats


class Commit(_Model):
    """What was measured; `id` is `unversioned` or `unknown` where that is not known."""

    id: Word | None = None
    time: Word | None = None
    dirty: bool | None = None


class MachineInfo(_Model):
    """Where it was measured."""

    node: Word | None = None
    system: Word = ""
    release: Word = ""
    machine: Word = ""
    python_version: Word
    python_implementation: Word = "CPython"
    cpu: dict[str, Any] = {}


class File(_Model):
    """The whole. Its benchmarks are checked one by one."""

    machine_info: MachineInfo
    commit_info: Commit
    benchmarks: list[Any] = Field(max_length=MOST_BENCHMARKS)
    datetime: Word
    version: Word


def load(content: bytes) -> File:
    """A file. Raises RecordError, with the reason, for anything that is not pytest-benchmark's."""
    try:
        return File.model_validate(decoded(content))
    except NotJsonError as error:
        raise RecordError(f"it is not a file of pytest-benchmark: {error}") from error
    except ValidationError as error:
        raise RecordError(f"it is not a file of pytest-benchmark: {reason_of(error)}") from error
