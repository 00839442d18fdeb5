"""The finished verdicts on pairs of subjects for the compare page, computed once and cached."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import math
import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import orjson

from observatory import tool_version
from observatory.analyze.comparison.comparing import (
    OtherSpeed,
    Pair,
    Who,
    pair_of,
    pairs_of,
    who_of,
)
from observatory.analyze.history.machine_changes import MachineChange, other_speeds
from observatory.app import fingerprints
from observatory.app.parts import Processes, mapped
from observatory.dashboard import verdict_data
from observatory.dashboard.verdict_data import HeadVerdicts, packed, unpacked
from observatory.store.base.files import write_atomic
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalHeader
from observatory.store.journal.profiles import ProfileStore
from observatory.store.reading import cache
from observatory.store.reading.read import Results
from observatory.store.reading.saved import read_saved
from observatory.store.records import layout
from observatory.store.records.alerts import Alerts
from observatory.store.records.calibration import Calibration
from observatory.text.records import comparison_of

MOST = 20
"""Number of subjects of which every ordered pair is compared: 380 comparisons of some 0.05 s."""
_REFERRED = re.compile(rb'"([0-9a-f]{64})"')
"""A ledger or profile in a journal, by its hash."""
_ALONE = 60
"""A process compares at least so many pairs, because it reads all ledgers first, for seconds."""


def finished_pairs(
    directory: Path, read: Results, alerts: Alerts, calibrations: Sequence[Calibration],
    changes: Sequence[MachineChange],
) -> dict[Who, HeadVerdicts[Who]]:  # fmt: skip
    """The verdicts on every ordered pair of the newest subjects and of those that alerts name.

    ``changes``: of machines. The result is by head. The verdicts are kept beside the cache of
    ``directory``, packed as the pages need them, and made again where a journal, what it refers
    to, a change of the machine, a calibration or the code differs.
    """
    headed = {path: one.header for path, one in read.journals.items() if one.header is not None}
    digests = {path: _digest_of(path) for path in _chosen(headed, alerts)}
    names = {path: who_of(headed[path]) for path in digests}
    common = _version(calibrations)
    speeds = other_speeds(changes, {*names.values()})

    def key(base: Path, head: Path) -> str:
        speed = repr(speeds.get((names[base], names[head]))).encode()
        return hashlib.blake2b(digests[base] + digests[head] + common + speed).hexdigest()[:32]

    wanted = {head: {base: key(base, head) for base in digests if base != head} for head in digests}
    file = _file(directory)
    kept = [] if file is None else _kept(file)
    known = {key: one for one in kept for key in one.bases}
    missing = {
        (base, head): key
        for head, keys in wanted.items() for base, key in keys.items() if key not in known
    }  # fmt: skip
    made = _made(missing, calibrations, speeds) if missing else {}
    heads, found = [], {}
    for head, keys in wanted.items():
        one = next((known[key] for key in keys.values() if key in known), None)
        if one is None or list(one.bases) != list(keys.values()):
            # Packed anew as a whole, so that the same results always give the same bytes.
            kept_ones = {key: known[key] for key in keys.values() if key in known}
            pairs = made | {key: unpacked(kept_ones[key], key) for key in kept_ones}
            one = packed({key: pairs[key] for key in keys.values() if key in pairs})
        heads.append(one)
        bases = {names[base]: one.bases[key] for base, key in keys.items() if key in one.bases}
        found[names[head]] = HeadVerdicts(one.series, one.texts, bases)
    if file is not None and heads != kept:
        _keep(file, heads)
    return found


def _chosen(headed: Mapping[Path, JournalHeader], alerts: Alerts) -> list[Path]:
    newest = sorted(headed, key=lambda path: headed[path].subject.date, reverse=True)
    named = {at.commit for one in alerts.needing() for at in (one.last_good, one.first_bad) if at}
    of_alerts = [path for path in newest if headed[path].subject.commit in named]
    return list(dict.fromkeys([*of_alerts[: MOST // 2], *newest]))[:MOST]


def _made(
    missing: Mapping[tuple[Path, Path], str], calibrations: Sequence[Calibration],
    speeds: Mapping[tuple[Who, Who], OtherSpeed],
) -> dict[str, Pair]:  # fmt: skip
    """Compare pairs of journals, base and head; the result has their keys."""
    pairs = sorted((base, head, key) for (base, head), key in missing.items())
    cpus = len(os.sched_getaffinity(0)) if Processes.allowed else 1
    each = max(_ALONE, math.ceil(len(pairs) / cpus))
    return dict(
        mapped(partial(compared_part, calibrations=calibrations, speeds=speeds), pairs, each)
    )


def compared_part(
    part: Sequence[tuple[Path, Path, str]], calibrations: Sequence[Calibration],
    speeds: Mapping[tuple[Who, Who], OtherSpeed],
) -> list[tuple[str, Pair]]:  # fmt: skip
    """Compare some pairs: journals of base and head, and the key under which the result stands."""
    gc.disable()  # none of some hundred thousand entries of ledgers is garbage before the end
    try:
        paths = sorted({path for *sides, _ in part for path in sides})
        subjects = {who_of(one.header): (path, one) for path in paths if (one := read_saved(path))}
        keys = {(base, head): key for base, head, key in part}
        wished = {
            (left, right): keys[base, head]
            for left, (base, _) in subjects.items()
            for right, (head, _) in subjects.items()
            if (base, head) in keys
        }
        machines = {one.machine.machine: one for one in calibrations}
        saved = [one for _, one in subjects.values()]
        found = pairs_of(saved, wished, machines, tool_version(), speeds)
        return [
            (wished[base, head], pair_of(comparison_of(compared))) for base, head, compared in found
        ]
    finally:
        gc.enable()


def _digest_of(journal: Path) -> bytes:
    """A digest of a journal and of which of its ledgers and profiles are there, and how large.

    One may still be missing or torn, in a copy that is being made, and come later.
    """
    content, results = journal.read_bytes(), layout.results_of(journal)
    stores = LedgerStore(results / layout.LEDGERS), ProfileStore(results / layout.PROFILES)
    there = []
    for sha in sorted({*_REFERRED.findall(content)}):
        paths = (store.path(sha.decode()) for store in stores)
        there.append([path.stat().st_size if path.is_file() else None for path in paths])
    return _digest(content + repr(there).encode())


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _version(calibrations: Sequence[Calibration]) -> bytes:
    """A digest of the code and the noise floors, from which verdicts follow."""
    packing = Path(verdict_data.__file__).read_bytes()
    floors = "".join(one.model_dump_json() for one in calibrations)
    return _digest(fingerprints.code() + packing + floors.encode())


def _file(directory: Path) -> Path | None:
    frames = cache.directory_for(directory)
    return None if frames is None else frames.parents[1] / "pairs" / f"{frames.name}.json"


def _kept(file: Path) -> list[HeadVerdicts[str]]:
    """What was kept, by head; bases are named by the keys of pairs."""
    try:
        return [HeadVerdicts(**one) for one in orjson.loads(file.read_bytes())]
    except (OSError, ValueError, TypeError):
        return []  # absent, or damaged: made again


def _keep(file: Path, heads: Sequence[HeadVerdicts[str]]) -> None:
    with contextlib.suppress(OSError):  # it saves time and nothing else
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, orjson.dumps(heads))
