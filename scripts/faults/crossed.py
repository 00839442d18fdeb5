"""Try whether `observatory canary --settings` finds faults that one setting shows.

    .venv/bin/python -m scripts.faults.crossed [NAME ...] [--subject 3.3.8] [--json FILE]

The command is not told which setting that is. Without names it tries "no fault", of which nothing
may be worse, and all faults of the class `flags`. A fault is found if rows of settings are worse
and all of these have its setting, or if the usual row is worse for one that the usual settings
show. Exit status 1 if one was not found. A fault takes as long as the command, a quarter of an hour
on a quiet machine. Records are kept below --keep, by default .observatory/faults/crossed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from observatory.analyze.history.settings_changes import shared_settings
from observatory.app.conditions import ELSEWHERE
from observatory.app.settings import USUAL
from observatory.errors import Exit
from observatory.run.local import STATE
from observatory.store.records import settings as records
from observatory.store.records.settings import Settings
from observatory.text.units import about
from scripts.docs.markdown import cell, code, table, wrapped
from scripts.docs.rows import Row, add_option, keep, measured, now
from scripts.faults.compared import NOTHING
from scripts.faults.kit import build, fault

SHOWN_BY = {
    "fastmath_dropped": "",
    "locale_crashes": "LC_ALL=C",
    "optimised_loses_store": "python -O",
    "other_file_system_raises": ELSEWHERE,
    "shared_key_in_float32": "floatX=float32",
    "threads_change_keys": "NUMBA_NUM_THREADS=2",
    "warns_while_building": "warnings as errors",
}
"""The setting with which a fault shows, as the command calls it; empty: the usual ones."""
_JUDGED = (Exit.OK, Exit.SAMPLE_FAILED, Exit.WRONG_RESULTS, Exit.WORSE)
"""Exit statuses of a command that has measured every row."""


class Crossed(Row):
    """What the command found of one fault."""

    subject: str
    fault: str
    rows: int
    """Of settings."""
    worse: tuple[str, ...]
    """The names of the rows that are worse."""
    shared: tuple[str, ...]
    """The settings that all rows that are worse have: those that an alert names."""
    said: tuple[str, ...]
    """What is worse in the first of these rows."""
    status: int
    seconds: float

    @property
    def as_expected(self) -> bool:
        """Whether what is worse are rows with the fault's setting, or is as usual."""
        if self.fault == NOTHING or not self.worse:
            return self.fault == NOTHING and not self.worse
        setting = SHOWN_BY[self.fault]
        return setting in self.shared if setting else self.worse[0] == USUAL


def crossed_row(name: str, record: Settings, status: int) -> Crossed:
    """What a record says of a fault."""
    worse = dict(record.worse)
    bad = [row for row in record.rows if row.name in worse]
    return Crossed(
        taken=now(), subject=record.versions.pytensor, fault=name, rows=len(record.rows),
        worse=tuple(worse), shared=tuple(shared_settings(bad)) if bad else (),
        said=worse[bad[0].name] if bad else (), status=status, seconds=record.seconds,
    )  # fmt: skip


def crossed_table(rows: Iterable[Crossed]) -> Iterator[str]:
    """Yield the blocks of what was found, by fault; of a fault the newest row counts."""
    newest = {one.fault: one for one in rows}.values()
    header = ("fault", "what it does", "found", "rows that are worse", "settings that these share",
              "what is worse in the first of them", "status", "took")  # fmt: skip
    yield table(header, map(_line, newest))
    subjects = sorted({one.subject for one in newest})
    yield wrapped(f"PyTensor {', '.join(subjects)}. {measured(newest)}")


def _line(one: Crossed) -> tuple[str, ...]:
    nothing = one.fault == NOTHING
    right = "nothing" if nothing else "yes"
    return (
        NOTHING if nothing else code(one.fault),
        "the release itself" if nothing else cell(fault(one.fault).meaning),
        right if one.as_expected else "**no**", f"{len(one.worse)} of {one.rows}",
        ", ".join(map(code, one.shared)) or "-", cell(_first(one.said)) or "-",
        str(one.status), about(one.seconds),
    )  # fmt: skip


def _first(said: Sequence[str]) -> str:
    return "; ".join([*said[:1], *([f"{len(said) - 1} more"] if said[1:] else [])])


def main() -> int:
    """Cross the settings of every chosen fault and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], NOTHING, *SHOWN_BY])
    parser.add_argument("--subject", default="3.3.8")
    parser.add_argument("--keep", type=Path, default=STATE / "faults" / "crossed", metavar="DIR")
    add_option(parser)
    options = parser.parse_args()
    rows = []
    for name in options.names or [NOTHING, *SHOWN_BY]:
        row = crossed(name, options.subject, options.keep.absolute())
        keep(options.json, row)
        rows.append(row)
        print("; ".join(_line(row)), file=sys.stderr, flush=True)
    print(*crossed_table(rows), sep="\n\n")
    return 0 if all(row.as_expected for row in rows) else 1


def crossed(name: str, subject: str, directory: Path) -> Crossed:
    """Run the command on a release with a fault. ``directory``: of wheels and records.

    Raises SystemExit if the command did not measure every row.
    """
    directory.mkdir(parents=True, exist_ok=True)
    # A fixed directory, because the path of a wheel identifies its environment.
    head = subject if name == NOTHING else f"{subject} {build(name, directory)}"
    results = directory / name.replace(" ", "_")
    command = [sys.executable, "-m", "observatory", "canary", head, "--settings"]
    command += ["--results", str(results)]
    status = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
    if status not in _JUDGED:
        raise SystemExit(f"{' '.join(command)} ended with status {status}")
    record = max(records.FILES.readable(results), key=records.FILES.taken_at)
    return crossed_row(name, record, status)


if __name__ == "__main__":
    raise SystemExit(main())
