"""What came of runs of the tests, as rows, and the table of docs/explanation/hostile-input.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from observatory.text.units import about
from observatory.text.words import several
from scripts.docs.markdown import code, table, wrapped
from scripts.docs.rows import Row, blocks, measured, read

SUITE_RUNS = "suite_runs"


class SuiteRun(Row):
    """What came of one run of `scripts/suite_run.py`."""

    commit: str
    paths: tuple[str, ...] = Field(description="of tests; empty: all")
    workers: int = Field(ge=1, description="processes that run tests")
    loops: int = Field(ge=0, description="busy loops beside the tests")
    kills: int | None = Field(description="how often each command is killed; None: as usual")
    passed: int
    failed: int
    skipped: int
    seconds: float


def suite_runs(rows: Sequence[SuiteRun]) -> Iterator[str]:
    """Yield the blocks of what was run; of the same tests and load the newest row counts."""
    newest = {(one.paths, one.workers, one.loops, one.kills): one for one in rows}.values()
    header = ("tests", "workers", "beside", "kills of each command, at most", "passed", "failed",
              "skipped", "took", "commit")  # fmt: skip
    yield table(header, map(_line, newest))
    yield wrapped(measured(newest))


def _line(one: SuiteRun) -> tuple[str, ...]:
    beside = several(one.loops, "busy loop") if one.loops else "-"
    return (
        ", ".join(map(code, one.paths)) or "all", str(one.workers), beside,
        str(one.kills or "as in `make test`"),
        f"{one.passed:,}", f"{one.failed:,}", f"{one.skipped:,}", about(one.seconds),
        code(one.commit),
    )  # fmt: skip


def suite_tables() -> dict[str, str]:
    """The part of the page, by name; empty without rows."""
    return {SUITE_RUNS.replace("_", " "): blocks(suite_runs, read(SuiteRun, SUITE_RUNS))}
