from __future__ import annotations

from pathlib import Path

import pytest

from observatory.store.base.problems import RecordError
from observatory.store.reading import sources
from observatory.store.reading.sources import benchmarks_of


def test_a_file_that_grew_beyond_the_bound_is_not_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "benchmarks.json"
    path.write_text("{}" + " " * 10)
    assert benchmarks_of(path).head == {}
    monkeypatch.setattr(sources, "LARGEST_FILE", 5)
    with pytest.raises(RecordError, match="larger than 5 bytes"):
        benchmarks_of(path)


def test_units_of_another_kind_than_text_are_none(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.json"
    path.write_bytes(b'{"a": {"unit": ' + b"[" * 900 + b"]" * 900 + b', "type": null}}')
    assert benchmarks_of(path).head == {"a": ["", ""]}
