"""Records: strict models, and the files that hold one of them as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from observatory.store.base.files import read_bounded, write_atomic
from observatory.store.base.problems import RecordError
from observatory.store.base.strict_json import InvalidError, read_json

_MOST_FILES = 2_000


def _fail_fast(schema: Any) -> None:
    if isinstance(schema, dict):
        if schema.get("type") == "list":
            schema["fail_fast"] = True
        for part in schema.values():
            _fail_fast(part)
    elif isinstance(schema, list | tuple):
        for part in schema:
            _fail_fast(part)


class Record(BaseModel):
    """A model that accepts no unknown fields and does not change after it is made."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A list in a record ends at its first mistake: thousands would be reported otherwise."""
        schema = handler(source)
        _fail_fast(schema)
        return schema


Model = TypeVar("Model", bound=Record)


def save_record(path: Path, record: Record) -> Path:
    """Write a record in place of the file at ``path``, which is returned. Raises OSError."""
    write_atomic(path, record.model_dump_json(by_alias=True, indent=1).encode() + b"\n")
    return path


def load_record(kind: type[Model], path: Path, most: int, wrong: str, advice: str) -> Model | None:
    """Read the record in a file of at most ``most`` bytes; None if there is no such file.

    Raises RecordError for a file that is larger or holds no record: "PATH ``wrong``: reason;
    ``advice``".
    """
    content = read_bounded(path, most, advice)
    try:
        return None if content is None else read_json(kind, content)
    except InvalidError as error:
        raise RecordError(f"{path} {wrong}: {error}; {advice}") from error


@dataclass(frozen=True)
class RecordFiles(Generic[Model]):
    """The records of one kind in a results directory, a file each: ``<directory>/<name>.json``."""

    kind: type[Model]
    directory: str
    name: Callable[[Model], str]
    """The file name of a record; raises RecordError if it cannot have one."""
    wrong: str  # what is said of a file that holds no such record: "is no calibration"
    advice: str
    most: int = 4 * 2**20  # bytes of one file
    moment: str = "taken_at"  # the field that says when a record was taken

    def path_of(self, results: Path, record: Model) -> Path:
        """The path of a record, there or not. Raises RecordError for unusable names."""
        return results / self.directory / f"{self.name(record)}.json"

    def taken_at(self, record: Model) -> datetime:
        """When a record was taken."""
        moment: datetime = getattr(record, self.moment)
        return moment

    def save(self, results: Path, record: Model) -> Path:
        """Write a record in place of an older one; return its path. Raises RecordError, OSError."""
        return save_record(self.path_of(results, record), record)

    def load(self, path: Path) -> Model | None:
        """Read one record; None if there is no such file. Raises RecordError for a broken file."""
        record = load_record(self.kind, path, self.most, self.wrong, self.advice)
        if record is not None:
            try:
                self.name(record)
            except RecordError as error:
                raise RecordError(f"{path}: {error}") from error
        return record

    def readable(self, results: Path) -> list[Model]:
        """Every record of a results directory that can be read, by file name."""
        return [one for one in self.load_all(results) if not isinstance(one, RecordError)]

    def load_all(self, results: Path) -> Iterator[Model | RecordError]:
        """Every record of a results directory, or its RecordError if broken, by file name.

        Of more than 2,000 files, the last ones are read, which are the newest if names begin with
        their dates.
        """
        paths = sorted((results / self.directory).glob("*.json"))
        for path in paths[-_MOST_FILES:]:
            try:
                record = self.load(path)
            except RecordError as error:
                yield error
            else:
                if record is not None:
                    yield record
        if len(paths) > _MOST_FILES:
            yield RecordError(
                f"{results / self.directory} holds {len(paths)} files; the last {_MOST_FILES} "
                "were read"
            )
