"""Records: strict models, and the files that hold one of them as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordError, reason_of

Model = TypeVar("Model", bound=BaseModel)


class Record(BaseModel):
    """A model that accepts no unknown fields and does not change after it is made."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def save_record(path: Path, record: Record) -> Path:
    """Write a record in place of the file at ``path``, which is returned. Raises OSError."""
    write_atomic(path, record.model_dump_json(by_alias=True, indent=1).encode() + b"\n")
    return path


def parse_record(kind: type[Model], content: bytes, wrong: str, advice: str = "") -> Model:
    """The record in the content of a file.

    Raises RecordError where it holds none: ``wrong`` begins the message, then comes the reason of
    the schema, then ``advice``.
    """
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        raise RecordError(f"{wrong}: {reason_of(error)}{advice}") from error


def each_record(
    paths: Iterable[Path], load: Callable[[Path], Model | None]
) -> Iterator[Model | RecordError]:
    """What ``load`` returns for each path except None; for a broken file, its RecordError."""
    for path in paths:
        try:
            found = load(path)
        except RecordError as error:
            yield error
        else:
            if found is not None:
                yield found
