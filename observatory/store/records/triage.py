"""Acknowledgements of alerts: ``results/triage.toml``, written by people and kept in git.

::

    [[acknowledged]]
    id = "3fa0c1d2e4"
    who = "Ada"
    why = "numba 0.66 compiles twice; fixed upstream in 0.66.1"
    at = 2026-11-20T09:12:00Z
    until = 2026-12-20T00:00:00Z

`observatory ack` appends an entry; any editor does as well. Of several for one alert the last
counts. To take one back, remove it.
"""

from __future__ import annotations

import json
import tomllib
from datetime import datetime
from pathlib import Path

from pydantic import Field, ValidationError

from observatory.store.base.files import read_bounded, write_atomic
from observatory.store.base.problems import RecordError, reason_of
from observatory.store.base.record import Record
from observatory.store.records.alerts import Acknowledgement

FILE = "triage.toml"
LARGEST_FILE = 4 * 2**20


class Triage(Record):
    """The whole file."""

    acknowledged: list[Acknowledgement] = Field([])

    def of(self, id_: str) -> Acknowledgement | None:
        """The last entry for an alert."""
        return next((one for one in reversed(self.acknowledged) if one.id == id_), None)


def load(results: Path) -> Triage:
    """The acknowledgements; none if there is no file. Raises RecordError, which names the entry."""
    return _parsed(results / FILE, _content(results / FILE))


def add(results: Path, acknowledgement: Acknowledgement) -> Path:
    """Append an entry; what is there stays as it was written. Raises RecordError."""
    path = results / FILE
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
    return read_bounded(path, LARGEST_FILE, "no person wrote that") or b""


def _parsed(path: Path, content: bytes) -> Triage:
    try:
        return Triage.model_validate(tomllib.loads(content.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"{path} is no TOML: {error}; mend it, nothing was changed") from error
    except ValidationError as error:
        raise RecordError(
            f"{path}: {reason_of(error)}; each [[acknowledged]] needs id, who, why, at and until, "
            "times like 2026-12-20T00:00:00Z"
        ) from error
