from __future__ import annotations

from pathlib import Path

import pytest

from observatory.store.asv.columns import Columns
from observatory.store.asv.listing import Listed, signature_of
from observatory.store.reading import sources
from observatory.store.reading.cache import Made
from observatory.store.reading.sources import JsonSource, benchmarks_of, problems_of


def source(path: Path, size: int | None = None) -> JsonSource:
    """A file as it was listed, perhaps when it had another size."""
    signature = signature_of(path.stat())
    listed = Listed(path, b"x", signature if size is None else signature._replace(size=size))
    return JsonSource(listed, lambda content: Made(content.decode(), "[]", Columns()))


@pytest.mark.parametrize("size", [None, 0, 3, 100])
def test_the_whole_content_is_hashed_and_parsed_whatever_size_was_listed(
    tmp_path: Path, size: int | None
) -> None:
    path = tmp_path / "x.json"
    path.write_text("whole content")
    found = source(path, size)
    assert found.digest() == source(path).digest()
    assert found.make().head == source(path).make().head == "whole content"


def test_a_file_that_grew_beyond_the_bound_is_not_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    path.write_text("whole content")
    monkeypatch.setattr(sources, "LARGEST_FILE", 5)
    made = source(path, 3).make()
    assert made.head == ""
    (problem,) = problems_of(path, made.problems)
    assert "grew beyond 5 bytes" in problem.reason


def test_units_of_another_kind_than_text_are_none() -> None:
    deep = b'{"a": {"unit": ' + b"[" * 900 + b"]" * 900 + b', "type": null}}'
    assert benchmarks_of(deep).head == '{"a":["",""]}'
