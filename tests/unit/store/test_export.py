from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from observatory.analyze.frame import COLUMNS, frame
from observatory.store.asv.files import project
from observatory.store.base.problems import RecordError
from observatory.store.reading.export import export, exported
from observatory.store.reading.read import read_results
from tests.factories import journal, sample


@pytest.fixture
def tidy(tmp_path: Path) -> pd.DataFrame:
    project(tmp_path, journal(tmp_path, [sample(metrics={"compile_time": 0.25})]).read())
    return frame(read_results(tmp_path))


def test_csv_has_the_columns_and_empty_fields_for_what_is_missing(tidy: pd.DataFrame) -> None:
    lines = exported(tidy, "csv").decode().splitlines()
    assert lines[0].split(",") == list(COLUMNS)
    time = next(line for line in lines if ",compile_time," in line)
    assert time.endswith(",seconds,noisy,0.25,1,,,2026-08-14T00:00:00Z")


def test_json_is_strict_and_says_null_for_what_is_missing(tidy: pd.DataFrame) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    rows = json.loads(exported(tidy, "json"), parse_constant=refuse)
    row = next(row for row in rows if row["metric"] == "compile_time")
    assert list(row) == list(COLUMNS)
    assert (row["value"], row["n"], row["ci_low"]) == (0.25, 1, None)
    assert row["date"] == "2026-08-14T00:00:00Z"


def test_parquet_comes_back_as_the_same_frame(tidy: pd.DataFrame) -> None:
    back = pd.read_parquet(io.BytesIO(exported(tidy, "parquet")))
    pd.testing.assert_frame_equal(back, tidy)


def test_an_empty_frame_is_exported_too(tidy: pd.DataFrame) -> None:
    empty = tidy[tidy["value"] > math.inf]
    assert json.loads(exported(empty, "json")) == []
    assert exported(empty, "csv").decode().splitlines() == [",".join(COLUMNS)]


def test_a_file_is_written_and_another_format_refused(tmp_path: Path, tidy: pd.DataFrame) -> None:
    export(tidy, "csv", tmp_path / "out" / "frame.csv")
    assert (tmp_path / "out" / "frame.csv").read_bytes() == exported(tidy, "csv")
    with pytest.raises(RecordError, match="csv, json, parquet"):
        exported(tidy, "xls")
