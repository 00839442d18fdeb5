"""asv's view of a journal: result files of schema v2 that plain asv shows, compares, publishes.

asv's own classes make the files anew from the journal whenever it grew; nothing is read back from
them. What asv has no place for (ledgers, failures, reasons) stays in the journal alone.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from datetime import UTC
from pathlib import Path

from asv.machine import Machine as AsvMachine
from asv.results import Results
from asv.runner import BenchmarkResult

from observatory.benchmarks.catalogue import SCENARIOS
from observatory.store.asv import benchmarks_json
from observatory.store.asv.discovered import discovered
from observatory.store.asv.listing import MACHINE
from observatory.store.asv.names import (
    BENCHMARK_VERSION,
    asv_params,
    benchmark_name,
    parse_params,
    scenario_metrics,
)
from observatory.store.base.files import write_atomic, write_changed
from observatory.store.base.locking import in_turn
from observatory.store.base.problems import Problem, RecordError
from observatory.store.base.scratch import temporary
from observatory.store.journal.latest import Recorded, latest_of
from observatory.store.journal.models import JournalHeader
from observatory.store.journal.reader import JournalContents
from observatory.store.records import layout
from observatory.store.records.machine import Machine

_PINNED = re.compile(r"\s*([A-Za-z0-9._-]+)\s*==\s*([^\s;]+)\s*")


def project(results: Path, contents: JournalContents) -> list[Problem]:
    """Write ``results/<machine>/machine.json`` and the result file of one journal.

    The values are those of `latest_of`. A single one has no statistics: asv would write Infinity,
    which strict JSON parsers refuse. Returns what was left out. Raises RecordError for a journal
    without a header, and OSError.
    """
    header = contents.header
    if header is None:
        raise RecordError(f"{contents.path} has no header: no result file can be made from it")
    found = latest_of(contents)
    write_machine(results, header.machine)
    target = layout.asv_path(results, header.machine.machine, header.subject)
    with temporary("observatory-asv-") as scratch:
        _asv_results(header, found.recorded).save(scratch)
        written = Path(scratch, header.machine.machine, target.name)
        write_atomic(target, written.read_bytes())
    return [Problem(contents.path, text) for text in found.unknown]


def write_machine(results: Path, machine: Machine) -> None:
    """Write ``results/<machine>/machine.json`` as asv would. Raises OSError."""
    described = machine.model_dump() | {"version": AsvMachine.api_version}
    content = json.dumps(described, indent=4, sort_keys=True).encode()
    write_changed(results / layout.checked_machine(machine.machine) / MACHINE, content)


def write_benchmarks(results: Path, suites: Path) -> None:
    """Write ``results/benchmarks.json``: what asv's own discovery finds in ``suites``.

    Entries that `observatory import` made stay. Raises RecordError and OSError, as `discovered`
    does.
    """
    listed = discovered(suites)
    results.mkdir(parents=True, exist_ok=True)
    with in_turn(results):
        try:
            imported = benchmarks_json.imported(benchmarks_json.load(results))
        except RecordError:
            imported = {}  # nothing can be kept of a broken file, which this makes anew
        benchmarks_json.write(results, imported | {entry["name"]: entry for entry in listed})


def _asv_results(header: JournalHeader, recorded: list[Recorded]) -> Results:
    subject = header.subject
    # Extra requirements in asv's form: ``numba==0.66.0`` is ``{"numba": "0.66.0"}``.
    requirements = {}
    for extra in subject.extras:
        pin = _PINNED.fullmatch(extra)
        requirements[pin[1] if pin else extra] = pin[2] if pin else ""
    date = subject.date if subject.date.tzinfo else subject.date.replace(tzinfo=UTC)
    file = Results(
        # Versions that follow from the commit would make a graph of asv's for every release.
        params={**header.machine.model_dump(), "python": subject.python, **requirements},
        requirements=requirements,
        commit_hash=subject.commit,
        date=int(date.timestamp() * 1000),
        python=subject.python,
        env_name=subject.env_name,
        env_vars={},
    )
    by_name: dict[str, list[Recorded]] = defaultdict(list)
    for record in recorded:
        by_name[benchmark_name(record.cell.scenario, record.metric.name)].append(record)
    for scenario in SCENARIOS:
        for metric in scenario_metrics(scenario):
            name = benchmark_name(scenario, metric.name)
            if name in by_name:
                _add(file, name, scenario, by_name[name])
    return file


def _add(file: Results, name: str, scenario: str, recorded: list[Recorded]) -> None:
    params = asv_params(scenario)
    by_cell = {record.cell: record for record in recorded}
    rows = [by_cell.get(cell) if (cell := parse_params(scenario, values)) else None
            for values in itertools.product(*params)]  # fmt: skip
    durations = [record.duration for record in recorded if record.duration is not None]
    file.add_result(
        {"name": name, "version": BENCHMARK_VERSION, "params": params},
        BenchmarkResult(
            result=[_plain(row.value) if row else None for row in rows],
            samples=[[_plain(v) for v in row.values] if row and row.values else None
                     for row in rows],
            # Only a number of repeats makes asv give statistics.
            number=[1 if r and r.metric.kind == "noisy" and len(r.values) > 1 else None
                    for r in rows],
            errcode=0,
            stderr="",
            profile=None,
        ),
        started_at=min(record.started_at for record in recorded),
        duration=sum(durations) if durations else None,
        record_samples=True,
    )  # fmt: skip


def _plain(value: float | None) -> float | int | None:
    """Counts as integers, as people expect to read them."""
    return int(value) if value is not None and value.is_integer() else value
