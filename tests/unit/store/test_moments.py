"""Times at the ends of the calendar are refused where they are read."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from observatory.errors import Exit
from observatory.store.asv.columns import SeriesList
from observatory.store.asv.result import parse
from observatory.store.base.moments import Moment, MomentInUtc
from observatory.store.base.strict_json import InvalidError, read_json
from tests import factories
from tests.command import observatory
from tests.factories_asv import foreign

ENDS = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1969-12-31T23:59:59Z",
        "9900-01-01T00:00:00Z", "0001-01-01T00:00:00Z", -1, 10**18)  # fmt: skip


@pytest.mark.parametrize("kind", [Moment, MomentInUtc])
@pytest.mark.parametrize("end", ENDS)
def test_a_time_at_an_end_of_the_calendar_is_refused(kind: object, end: object) -> None:
    with pytest.raises(InvalidError):
        read_json(TypeAdapter(kind), json.dumps(end))


@pytest.mark.parametrize("good", ["1970-01-01T00:00:00Z", "9899-12-31T09:59:59-14:00"])
def test_with_every_other_time_one_can_reckon(good: str) -> None:
    found = read_json(TypeAdapter(Moment), json.dumps(good))
    assert found.astimezone(UTC) + timedelta(days=36500) > found - timedelta(days=36500)


def test_a_time_without_a_zone_is_in_utc_where_it_may_have_none() -> None:
    assert read_json(TypeAdapter(MomentInUtc), '"2026-01-01"') == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("end", [253_402_300_799_999, 2.51e14, -1, 1e400])
def test_a_result_file_of_the_end_of_the_calendar_is_named(end: float) -> None:
    content = json.dumps(foreign({"it": [[1.5]]}) | {"date": end}).encode()
    assert parse(content, SeriesList()).problems == (
        "its `date` is not a time in milliseconds from 1970 to 9899",
    )


@pytest.mark.parametrize("end", ENDS[:2])
def test_commands_name_a_sample_of_the_end_of_the_calendar(tmp_path: Path, end: str) -> None:
    results = tmp_path / "results"
    journal = factories.journal(results, [factories.sample()])
    line = journal.path.read_bytes().splitlines()[-1]
    written = json.loads(line)
    written["sample"]["started_at"] = end
    with journal.path.open("ab") as stream:
        stream.write(json.dumps(written, separators=(",", ":")).encode() + b"\n")
    for command in (["show"], ["alerts"]):
        done = observatory(*command, "--results", results)
        assert done.returncode != Exit.UNEXPECTED
        assert f"{journal.path}:3: " in done.stderr
        assert "not between 1970 and 9899" in done.stderr
