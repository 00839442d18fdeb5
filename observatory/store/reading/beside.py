"""The files beside the results that cannot be read: every command that reads results names them.

Acknowledgements, alerts, calibrations and other records are small and few. A command that does not
need them reads past them, and without this would not say that one is broken.
"""

from __future__ import annotations

import re
from pathlib import Path

from observatory.store.base.problems import Problem, RecordError
from observatory.store.records import alerts, triage
from observatory.store.records.kinds import KINDS


def problems_beside(results: Path) -> tuple[Problem, ...]:
    """A problem for each record in a results directory that is broken; for none that is missing."""
    found: list[Problem] = []
    try:
        alerts.load(results)
    except RecordError as error:
        found.append(problem_of(error, results, alerts.FILE))
    try:
        triage.load(results)
    except RecordError as error:
        found.append(problem_of(error, results, triage.FILE))
    for kind in KINDS:
        broken = (one for one in kind.load_all(results) if isinstance(one, RecordError))
        found += (problem_of(error, results, kind.directory) for error in broken)
    return tuple(found)


def problem_of(error: RecordError, results: Path, otherwise: str) -> Problem:
    """The problem of the file that an error begins with; ``otherwise`` a name in ``results``."""
    named = re.match(rf"{re.escape(str(results))}/[^:]+?\.(?:json|toml)(?=[: ])", str(error))
    if named is None:
        return Problem(results / otherwise, str(error))
    return Problem(Path(named[0]), str(error)[named.end() :].lstrip(": "))
