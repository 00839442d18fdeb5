"""Uniting asv's files that were not made from a journal.

Plain asv measured them, or `observatory import` made them. Files of one name are of one commit,
machine and environment: of each benchmark the row that was measured last stays.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from observatory.store.asv import benchmarks_json
from observatory.store.asv.columns import SeriesList
from observatory.store.asv.listing import (
    BENCHMARKS,
    LARGEST_FILE,
    MACHINE,
    SMALLER,
    Listed,
    listing,
)
from observatory.store.asv.result import parse
from observatory.store.base.decode import NotJsonError, decoded
from observatory.store.base.files import read_bounded, write_atomic, write_changed
from observatory.store.base.locking import in_turn
from observatory.store.base.problems import Problem, RecordError
from observatory.store.base.strict_json import InvalidError, check_bounds
from observatory.store.reading.beside import problem_of
from observatory.store.records import layout

_SAME = ("commit_hash", "env_name", "result_columns", "version")


def unite_benchmarks(into: Path, parts: Sequence[Path], problems: list[Problem]) -> int:
    """Add the entries of the parts' `benchmarks.json` to that of ``into``.

    Returns 1 if the file changed, else 0. The part given last wins; the parameters of imported
    entries are united. A broken file of a part is added to ``problems``. Raises RecordError if the
    file of ``into`` is broken, and OSError.
    """
    with in_turn(into):
        entries = benchmarks_json.load(into)
        found = dict(entries)
        for part in parts:
            try:
                for name, entry in benchmarks_json.load(part).items():
                    found[name] = benchmarks_json.united(found.get(name), entry)
            except RecordError as error:
                problems.append(problem_of(error, part, BENCHMARKS))
        if found != entries:
            benchmarks_json.write(into, found)
    return int(found != entries)


def unite_result_files(into: Path, parts: Sequence[Path], problems: list[Problem]) -> int:
    """Copy or merge the parts' result files that have no journal, and describe their machines.

    Returns the number of files that were written. A file that is broken, or that is of something
    else than the file of its name in ``into``, is added to ``problems`` and left out.
    """
    changed = 0
    for part in parts:
        there = listing(part)
        problems += there.problems
        for listed in there.results:
            target = into / listed.path.relative_to(part)
            if any(layout.journal_beside(*one).is_file() for one in ((part, listed.path),
                                                                     (into, target))):  # fmt: skip
                continue  # made anew from the journal
            try:
                changed += _unite_file(target, listed)
                changed += _describe_machine(target.parent, listed.path.parent)
            except (RecordError, OSError) as error:
                problems.append(Problem(listed.path, f"it is left out: {error}"))
    return changed


def _unite_file(target: Path, listed: Listed) -> bool:
    for name in listed.key.decode(errors="replace").split("/"):
        layout.checked_name(name, "name")
    content = _whole(listed.path)
    return write_changed(
        target, _with_rows(_whole(target), content) if target.is_file() else content
    )


def _whole(path: Path) -> bytes:
    """The content of a result file. Raises RecordError where it is none."""
    content = read_bounded(path, LARGEST_FILE, "it is not taken over") or b""
    found = parse(content, SeriesList())
    if found.head is None:
        raise RecordError(found.problems[0])
    return content


def _with_rows(before: bytes, added: bytes) -> bytes:
    """A result file with the rows of another one of the same commit and environment."""
    if before == added:
        return before
    # Both are in memory at once, and what becomes of them has to be read again.
    if len(before) + len(added) > LARGEST_FILE:
        raise RecordError(
            f"with the one that is there, it is larger than {LARGEST_FILE:,} bytes; {SMALLER}"
        )
    try:
        check_bounds(before + added)
    except InvalidError as error:
        raise RecordError(f"with the one that is there, {error}; {SMALLER}") from None
    # Rows stay as asv wrote them: NaN, which `decoded` reads as None, is another outcome to it.
    try:
        old, new = json.loads(before), json.loads(added)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"it is not JSON: {str(error)[:200]}") from error
    if any(old.get(key) != new.get(key) for key in _SAME) or old["version"] != 2:
        raise RecordError("the one that is there holds results of another kind")
    columns = old["result_columns"]
    started = columns.index("started_at") if "started_at" in columns else len(columns)
    rows = dict(old["results"])
    for name, row in new["results"].items():
        if name not in rows or _order(row, started) > _order(rows[name], started):
            rows[name] = row
    if rows == old["results"]:
        return before
    newest = [
        max((_order(row, started) for row in one["results"].values()), default=(0, ""))
        for one in (old, new)
    ]
    later = new if newest[1] > newest[0] else old
    return json.dumps({**later, "results": dict(sorted(rows.items()))}).encode()


def _order(row: Any, started: int) -> tuple[float, str]:
    """When a row was measured; the rest is only for one order to be found everywhere."""
    moment = row[started] if isinstance(row, list) and len(row) > started else None
    try:
        if not isinstance(moment, int | float) or not math.isfinite(moment):
            moment = 0
    except OverflowError:  # an integer of more digits than a float can have
        moment = 0
    return moment, json.dumps(row)


def _describe_machine(target: Path, source: Path) -> bool:
    """Copy a `machine.json` where there is none."""
    path = target / MACHINE
    content = read_bounded(source / MACHINE, LARGEST_FILE, "it is not taken over")
    if content is None or path.exists():
        return False
    try:
        described = decoded(content)
        name = described.get("machine") if isinstance(described, dict) else None
    except NotJsonError as error:
        raise RecordError(f"{source / MACHINE}: {error}") from error
    if name != target.name:
        raise RecordError(f"{source / MACHINE} describes another machine")
    write_atomic(path, content)
    return True
