"""The tidy frame as a file that other tools read: one interface, one small writer a format."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Literal, get_args

import pandas as pd

from observatory.benchmarks.catalogue import no_such
from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordUsageError

Format = Literal["csv", "json", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)


def exported(frame: pd.DataFrame, format_: str) -> bytes:
    """The frame as csv with a header line, json (a list of objects) or parquet.

    Missing numbers are an empty field in csv, else null; dates in csv and json are ISO 8601 in UTC.
    Raises RecordError for another format.
    """
    if format_ == "csv":
        return _texts(frame).to_csv(index=False, lineterminator="\n").encode()
    if format_ == "json":
        return _json(frame)
    if format_ == "parquet":
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    raise RecordUsageError(no_such("format", format_, FORMATS))


def export(frame: pd.DataFrame, format_: str, path: Path) -> None:
    """Write what `exported` returns to a file, as a whole. Raises RecordError, OSError."""
    write_atomic(path, exported(frame, format_))


def _texts(frame: pd.DataFrame) -> pd.DataFrame:
    dates = frame["date"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    return frame.assign(date=dates)


def _json(frame: pd.DataFrame) -> bytes:
    plain = _texts(frame).astype(object)
    rows = plain.where(plain.notna(), None).to_dict("records")
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return f"[{lines}]\n".encode()
