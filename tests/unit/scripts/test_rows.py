"""Rows say when and where they were measured, and their tables say it too."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from scripts.docs.rows import Row, Taken, keep, measured, now, read


class Counted(Row):
    """A row of a table that there is not."""

    number: int


def taken(day: int = 28, load: float | None = 2.4, cpu: str = "EPYC") -> Taken:
    return Taken(at=datetime(2026, 11, day, 12, tzinfo=UTC), cpu=cpu, cpus=2, load=load)


def test_rows_are_read_as_they_were_kept(tmp_path: Path) -> None:
    path = tmp_path / "tables" / "counted.jsonl"
    rows = [Counted(taken=now(), number=number) for number in range(3)]
    for row in rows:
        keep(path, row)
    assert read(Counted, "counted", path.parent) == rows
    assert len(path.read_text().splitlines()) == 3


def test_a_table_that_nothing_was_measured_for_has_no_rows(tmp_path: Path) -> None:
    keep(None, Counted(taken=now(), number=1))
    assert read(Counted, "counted", tmp_path) == []


@pytest.mark.parametrize("line", ['{"number": 1}', "{"])
def test_a_row_without_its_date_and_machine_is_refused_and_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "counted.jsonl"
    keep(path, Counted(taken=taken(), number=1))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ValueError, match=r"line 2 of .*counted\.jsonl"):
        read(Counted, "counted", tmp_path)


def test_the_facts_of_rows_are_one_sentence() -> None:
    one = Counted(taken=taken(), number=1)
    assert measured([one]) == "Measured on 28 November 2026 on 2 CPUs (EPYC), under a load of 2."
    later = Counted(taken=taken(29, 7.6, "Xeon"), number=1)
    assert measured([later, one]) == (
        "Measured from 28 November 2026 to 29 November 2026 on 2 CPUs (EPYC) and 2 CPUs (Xeon), "
        "under a load of 2 to 8."
    )
    unknown = Counted(taken=taken(load=None), number=1)
    assert measured([unknown]) == "Measured on 28 November 2026 on 2 CPUs (EPYC)."
    assert measured([one, unknown]) == (
        "Measured on 28 November 2026 on 2 CPUs (EPYC), under a load of 2; the load of some rows "
        "is not known."
    )
