"""Acknowledgements of alerts: ``results/triage.toml`` and ``results/triage/*.toml``.

People write them, and they are kept in git. The page of an alert leads to a form of the forge that
adds a file to the directory; an editor and `observatory ack` add to the first file.

::

    [[acknowledged]]
    id = "3fa0c1d2e4"
    who = "Ada"
    why = "numba 0.66 compiles twice; fixed upstream in 0.66.1"
    at = 2026-11-20T09:12:00Z
    until = 2026-12-20T00:00:00Z

Of several for one alert the one of the latest time (``at``) counts, of equals the last. To take one
back, remove it.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from pydantic import Field, ValidationError

from observatory.store.base.decode import MOST_TOML, NotTomlError, decoded_toml
from observatory.store.base.files import read_bounded, write_atomic
from observatory.store.base.locking import in_turn
from observatory.store.base.problems import RecordError, reason_of
from observatory.store.base.record import Record
from observatory.store.records.alerts import Acknowledgement

FILE = "triage.toml"
DIRECTORY = "triage"
_MOST_FILES = 10_000


class Triage(Record):
    """The whole file."""

    acknowledged: list[Acknowledgement] = Field([])

    def of(self, id_: str) -> Acknowledgement | None:
        """The latest entry for an alert."""
        found = [one for one in reversed(self.acknowledged) if one.id == id_]
        return max(found, key=lambda one: one.at, default=None)


def load(results: Path) -> Triage:
    """The acknowledgements; none if there is no file. Raises RecordError, which names the entry."""
    return Triage(acknowledged=[
        entry for path in files(results) for entry in _parsed(path, _content(path)).acknowledged
    ])  # fmt: skip


def files(results: Path) -> list[Path]:
    """The files that there are. Raises RecordError if there are more than people write."""
    more = sorted((results / DIRECTORY).glob("*.toml"))
    if len(more) > _MOST_FILES:
        raise RecordError(f"{results / DIRECTORY} has more than {_MOST_FILES} files")
    return [path for path in (results / FILE, *more) if path.is_file()]


def add(results: Path, acknowledgement: Acknowledgement) -> Path:
    """Append an entry; what is there stays as it was written. Raises RecordError."""
    with in_turn(results):
        return _appended(results / FILE, acknowledgement)


def _appended(path: Path, acknowledgement: Acknowledgement) -> Path:
    content = _content(path)
    _parsed(path, content)
    moments = {
        name: getattr(acknowledgement, name).replace(microsecond=0) for name in ("at", "until")
    }
    entry = acknowledgement.model_dump() | moments
    lines = [f"{name} = {_toml(value)}\n" for name, value in entry.items()]
    added = "".join(["[[acknowledged]]\n", *lines]).encode()
    separator = b"" if not content else b"\n" if content.endswith(b"\n") else b"\n\n"
    written = content + separator + added
    if _parsed(path, written).acknowledged[-1:] != [Acknowledgement.model_validate(entry)]:
        raise RecordError(f"{path} does not take an entry at its end; add it by hand")
    write_atomic(path, written)
    return path


def _toml(value: str | datetime) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    # A string of JSON is one of TOML, but TOML does not take a bare DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")


def _content(path: Path) -> bytes:
    return read_bounded(path, MOST_TOML, "spread its entries over files in triage/") or b""


def _parsed(path: Path, content: bytes) -> Triage:
    try:
        return Triage.model_validate(decoded_toml(content))
    except NotTomlError as error:
        raise RecordError(
            f"{path} is not valid TOML: {error}; correct it, nothing was changed"
        ) from error
    except ValidationError as error:
        raise RecordError(
            f"{path}: {reason_of(error)}; each [[acknowledged]] needs id, who, why, at and until, "
            "times like 2026-12-20T00:00:00Z"
        ) from error
