"""Results of pytest-benchmark as an asv result file, beside those of asv.

The file is ``<machine>/<subject>-pytest-benchmark-py<version>[-<label>].json``; the subject is the
name of a release or the first eight digits of a commit. Further imports of the same subject,
machine, Python and label add to it; a benchmark that is there already is replaced. The samples stay
in the file that is imported: asv's statistics of them are recorded.
"""

from __future__ import annotations

import dataclasses
import json
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from observatory.store.asv import benchmarks_json
from observatory.store.asv.files import write_machine
from observatory.store.asv.import_subjects import short, subject_of
from observatory.store.asv.listing import MACHINE
from observatory.store.asv.names import BENCHMARK_VERSION
from observatory.store.asv.pytest_benchmark import (
    WITHOUT_ROUNDS,
    Imported,
    Saved,
    Statistics,
    parse,
)
from observatory.store.base.decode import NotJsonError, decoded
from observatory.store.base.files import read_bounded, write_atomic
from observatory.store.base.locking import in_turn
from observatory.store.base.problems import Problem, RecordError, RecordUsageError, reason_of
from observatory.store.base.strict_json import LARGEST_JSON
from observatory.store.records.layout import checked_machine, checked_name
from observatory.store.records.machine import Machine

LARGEST_IMPORT = LARGEST_JSON
"""Bytes of one file: with all rounds, a quick test alone takes 4 MB (`--benchmark-json`)."""
_AGAIN = "remove it and make it again"
_LONGEST_LABEL = 60
_STATISTICS = [one.name for one in dataclasses.fields(Statistics)]
_COLUMNS = ["result", "params", "version", "started_at", "duration",
            *(f"stats_{name}" for name in _STATISTICS)]  # fmt: skip


@dataclass(frozen=True)
class Options:
    """What the user says of a file; None: what the file itself says."""

    machine: str | None = None
    commit: str | None = None
    label: str | None = None
    extra: tuple[str, ...] = ()
    subject: str | None = None
    date: datetime | None = None


@dataclass(frozen=True)
class Done:
    """What became of a file."""

    path: Path  # the result file
    saved: Saved
    subject: str
    date: datetime
    benchmarks: int
    replaced: int  # benchmarks that were there with other values
    problems: tuple[Problem, ...]


def import_file(file: Path, results: Path, options: Options) -> Done:
    """Import one file. Importing it again changes nothing.

    Raises RecordError if the file is not pytest-benchmark's, if commit or machine are unknown or
    no names, and if what it would be added to is broken or somebody else's.
    """
    content = _content(file)
    try:
        saved = parse(content, options.extra)
        subject = subject_of(saved, file.stem, options.commit, options.subject)
        machine = _machine(saved, results, options)
        env_name = _env_name(saved, options)
    except RecordError as error:
        raise type(error)(f"{file}: {error}") from error
    date = _date(saved, subject, options)
    head = _head(saved, subject, date, machine, env_name)
    path = results / machine.machine / f"{short(subject)}-{env_name}.json"
    if saved.benchmarks:
        results.mkdir(parents=True, exist_ok=True)
    with in_turn(results):  # of several imports at once, each adds to what is there
        count, replaced, problems = _added(saved, path, head, machine)
    return Done(
        path, saved, subject, date, count, replaced,
        tuple(Problem(file, reason) for reason in problems),
    )  # fmt: skip


def _added(
    saved: Saved, path: Path, head: dict[str, Any], machine: Machine
) -> tuple[int, int, list[str]]:
    """Add the rows of a file: how many benchmarks, how many were there, and what is left out."""
    results = path.parent.parent
    entries = benchmarks_json.load(results)
    kept, problems = [], list(saved.problems)
    for one in saved.benchmarks:
        if benchmarks_json.may_import(one.name, entries):
            kept.append(one)
        else:
            reason = "there is one of that name that was not imported"
            problems.append(f"benchmark {one.name!r} is skipped: {reason}")
    replaced = 0
    if kept:
        rows = {one.name: _row(one, saved.measured_at) for one in kept}
        before = _rows_of(path, head)
        replaced = sum(name in before and before[name] != row for name, row in rows.items())
        whole = {**head, "results": dict(sorted({**before, **rows}.items()))}
        benchmarks_json.write(results, benchmarks_json.merged(entries, kept))
        if not (path.parent / MACHINE).exists():
            write_machine(results, machine)
        write_atomic(path, json.dumps(whole, allow_nan=False).encode())
    return len(kept), replaced, problems


def _content(file: Path) -> bytes:
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise RecordUsageError(f"{file} is not a file")
    except OSError as error:
        raise RecordError(f"{file} cannot be read: {error.strerror}") from error
    return read_bounded(file, LARGEST_IMPORT, WITHOUT_ROUNDS) or b""


def _date(saved: Saved, subject: str, options: Options) -> datetime:
    """When the subject was made; when it was measured where the file does not know that."""
    known = saved.committed_at if subject == saved.commit else None
    return options.date or known or saved.measured_at


def _machine(saved: Saved, results: Path, options: Options) -> Machine:
    """The machine: as it is described already, else as the file describes it."""
    name = options.machine or saved.node
    if not name:
        raise RecordUsageError(
            "it does not say on which machine it was measured; give --machine NAME"
        )
    try:
        described = results / checked_machine(name) / MACHINE
    except RecordError as error:
        raise RecordUsageError(f"{error}, or give --machine NAME") from error
    if not described.exists():
        return Machine(machine=name, **saved.machine)
    try:
        loaded = decoded(read_bounded(described, LARGEST_JSON, _AGAIN) or b"")
        if isinstance(loaded, dict):  # asv's own fields come and go
            loaded = {key: loaded[key] for key in Machine.model_fields if key in loaded}
        found = Machine.model_validate(loaded)
    except (NotJsonError, OSError, ValidationError) as error:
        reason = reason_of(error) if isinstance(error, ValidationError) else str(error)
        raise RecordError(f"{described} cannot be read: {reason}") from error
    if found.machine != name:
        raise RecordUsageError(f"{described} describes another machine, {found.machine!r}")
    return found


def _env_name(saved: Saved, options: Options) -> str:
    name = f"pytest-benchmark-py{saved.python}"
    if options.label is None:
        return name
    if len(options.label) > _LONGEST_LABEL:
        raise RecordUsageError(f"the label is longer than {_LONGEST_LABEL} characters")
    return f"{name}-{checked_name(options.label, 'label')}"


def _head(
    saved: Saved, subject: str, date: datetime, machine: Machine, env_name: str
) -> dict[str, Any]:
    return {
        "commit_hash": subject,
        "env_name": env_name,
        "date": _milliseconds(date),
        "params": {**machine.model_dump(), "python": saved.python},
        "python": saved.python,
        "requirements": {},
        "env_vars": {},
        "result_columns": _COLUMNS,
        "durations": {},
        "version": 2,
    }


def _rows_of(path: Path, head: dict[str, Any]) -> dict[str, Any]:
    """The rows of the result file that is there already."""
    if not path.exists():
        return {}
    try:
        loaded = decoded(read_bounded(path, LARGEST_JSON, "remove it") or b"")
    except (NotJsonError, OSError) as error:
        raise RecordError(f"{path} cannot be added to: {error}; remove it") from error
    same = ("commit_hash", "env_name", "result_columns")
    if (
        not isinstance(loaded, dict)
        or not isinstance(loaded.get("results"), dict)
        or any(loaded.get(key) != head[key] for key in same)
    ):
        raise RecordUsageError(
            f"{path} holds other results than an import of this subject; "
            "give another --label or --machine"
        )
    found: dict[str, Any] = loaded["results"]
    return found


def _row(one: Imported, measured_at: datetime) -> list[Any]:
    row: list[Any] = [
        list(one.values), [list(words) for words in one.params], BENCHMARK_VERSION,
        _milliseconds(measured_at), None,
    ]  # fmt: skip
    for name in _STATISTICS:
        items = [getattr(item, name) if item else None for item in one.statistics]
        row.append(None if all(item is None for item in items) else items)
    while row[-1] is None:
        row.pop()
    return row


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
