"""Where things are in a results directory.

::

    results/benchmarks.json                                asv: what the benchmarks are
    results/<machine>/machine.json                         asv: what the machine is
    results/<machine>/<commit[:8]>-<env_name>.json         asv: the values, made from the journal
    results/samples/<machine>/<commit[:8]>-<env_name>.jsonl    every sample, append-only
    results/ledgers/<ab>/<sha256>.json.gz                  ledgers by content
    results/profiles/<ab>/<sha256>.json.gz                 profiles of calls by content
    results/calibrations/<machine>.json                    noise floors of a machine
    results/pools/<machine>-<subject>.parquet              one subject's times or counts of work
    results/tables/<table>.jsonl                           rows of tables in this documentation
    results/settings/<machine>-<subject>.json              what caches do under other settings
    results/upgrades/<subject>--<subject>.json             what one made of the other's cache
    results/contracts/<pytensor>-<python>-<numba>.json     what of numba holds that it relies on
    results/torture/<machine>-<pytensor>-<python>.json     its caches under faults
    results/searches/<commits>-<hash>.json                 which subject changed a value
    results/crossings/<commits>-<hash>.json                which of numba, numpy, ... did it
    results/sentinels/<machine>-<time>.json                how fast a machine was in a night
    results/explored/<time>-<subject>-<backend>.json       what generated pairs of graphs showed
    results/alerts.json                                    what got worse, and what became of it
    results/triage.toml, results/triage/*.toml             acknowledgements of alerts
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from observatory.store.base.problems import RecordUsageError

if TYPE_CHECKING:
    from observatory.store.records.subject import Subject

SAMPLES = "samples"
LEDGERS = "ledgers"
PROFILES = "profiles"
CALIBRATIONS = "calibrations"
UPGRADES = "upgrades"
CONTRACTS = "contracts"
POOLS = "pools"
TABLES = "tables"
EXPLORED = "explored"
SEARCHES = "searches"
CROSSINGS = "crossings"
SENTINELS = "sentinels"
SETTINGS = "settings"
TORTURE = "torture"
ALERTS = "alerts.json"
RECORDS = (
    CALIBRATIONS, CONTRACTS, CROSSINGS, EXPLORED, SEARCHES, SENTINELS, SETTINGS, TORTURE, UPGRADES,
)  # fmt: skip
"""The directory of each kind of record: see `kinds.KINDS`."""
RESERVED = (SAMPLES, LEDGERS, PROFILES, POOLS, TABLES, *RECORDS)
_NAME = re.compile(r"[A-Za-z0-9_+.\-]{1,200}")
_LONGEST_ENV_NAME = 128  # asv.results.get_filename: longer ones are replaced by their hash


def check_there(results: Path) -> None:
    """Raise RecordUsageError if there is no such directory."""
    if not results.is_dir():
        raise RecordUsageError(
            f"there is no results directory {results}; name one with --results, or make one with "
            "`observatory observe`"
        )


def checked_name(name: str, what: str) -> str:
    """``name`` if it can be one component of a path; RecordError if it cannot."""
    if not _NAME.fullmatch(name) or name.startswith("."):
        raise RecordUsageError(
            f"the {what} {name[:200]!r} cannot be part of a file name; "
            "use letters, digits, '-', '_', '+' and '.', not beginning with '.'"
        )
    return name


def checked_machine(machine: str) -> str:
    """A machine's name as a directory of results; RecordError if it cannot be one."""
    if machine in RESERVED:
        raise RecordUsageError(
            f"a machine cannot be named {machine!r}: results/{machine}/ is in use"
        )
    return checked_name(machine, "machine name")


def stem(subject: Subject) -> str:
    """``<commit[:8]>-<env_name>``, as asv names its files. RecordError if it cannot be one."""
    env_name = subject.env_name
    if len(env_name) >= _LONGEST_ENV_NAME:
        env_name = "env-" + hashlib.md5(env_name.encode(), usedforsecurity=False).hexdigest()
    return f"{subject.commit[:8]}-{checked_name(env_name, 'environment name')}"


def journal_path(results: Path, machine: str, subject: Subject) -> Path:
    """The path of the journal of a subject on a machine. Raises RecordError for unusable names."""
    return results / SAMPLES / checked_machine(machine) / f"{stem(subject)}.jsonl"


def asv_path(results: Path, machine: str, subject: Subject) -> Path:
    """The path of asv's file for a subject on a machine. Raises RecordError for unusable names."""
    return results / checked_machine(machine) / f"{stem(subject)}.json"


def journal_beside(results: Path, asv_file: Path) -> Path:
    """The path of the journal that an asv result file is made from, whether or not it is there."""
    return results / SAMPLES / asv_file.parent.name / f"{asv_file.stem}.jsonl"


def journals(results: Path) -> list[Path]:
    """The paths of all journals in a results directory, sorted."""
    return sorted((results / SAMPLES).glob("*/*.jsonl"))


def results_of(journal: Path) -> Path:
    """The results directory that the path of a journal is in."""
    return journal.parents[2]
