"""``results/alerts.json``: written whole, read back, and refused with a sentence if broken."""

from pathlib import Path

import pytest

from observatory.store.base.problems import RecordError
from observatory.store.records import alerts as record
from tests.factories_alerts import detected, line, moment, series, stepped, watched


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    found = detected(watched(80, series(line(80), stepped(80, 40))), moment(80))
    path = record.save(tmp_path, found)
    assert path == tmp_path / "alerts.json"
    assert record.load(tmp_path) == found
    assert len(found.alerts) == 1


def test_without_a_file_nothing_was_known(tmp_path: Path) -> None:
    assert record.load(tmp_path) is None


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"schema": "observatory/alerts/9"}'])
def test_a_broken_file_says_what_to_do(tmp_path: Path, content: str) -> None:
    (tmp_path / "alerts.json").write_text(content)
    with pytest.raises(RecordError, match="restore it from git, or remove it"):
        record.load(tmp_path)
