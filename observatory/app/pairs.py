"""The finished verdicts on pairs of subjects that a site shows, made once and kept."""

from __future__ import annotations

import contextlib
import gc
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import permutations
from pathlib import Path

import orjson

from observatory import analyze, text
from observatory.analyze.comparison.pairs import Finding, Pair, Who, pair_of, pairs_of, who
from observatory.app.version import tool_version
from observatory.store.base.files import write_atomic
from observatory.store.journal.models import JournalHeader
from observatory.store.reading import cache
from observatory.store.reading.read import Results
from observatory.store.reading.saved import read_saved
from observatory.store.records.alerts import Alerts
from observatory.store.records.calibration import Calibration
from observatory.text.records import comparison_of

MOST = 20
"""Subjects of which every ordered pair is compared: 380 comparisons of some 0.05 s, once."""
_OF_ALERTS = MOST // 2


def finished_pairs(
    directory: Path, read: Results, alerts: Alerts, calibrations: Sequence[Calibration]
) -> dict[tuple[Who, Who], Pair]:
    """The verdicts on every ordered pair of the newest subjects and of those that alerts name.

    They are kept beside the cache of ``directory`` and made again where a journal, a calibration or
    the code differs.
    """
    headed = {path: one.header for path, one in read.journals.items() if one.header is not None}
    digests = {path: _digest(path) for path in _chosen(headed, alerts)}
    common = _version(calibrations)
    wanted = {
        (base, head): hashlib.blake2b(digests[base] + digests[head] + common).hexdigest()[:32]
        for base, head in permutations(digests, 2)
    }
    file = _file(directory)
    kept = {} if file is None else _kept(file)
    missing = {pair for pair, key in wanted.items() if key not in kept}
    if missing:
        kept |= _made(missing, wanted, calibrations)
        if file is not None:
            _keep(file, {key: kept[key] for key in wanted.values() if key in kept})
    names = {path: _who(headed[path]) for path in digests}
    return {
        (names[base], names[head]): kept[key] for (base, head), key in wanted.items() if key in kept
    }


def _chosen(headed: Mapping[Path, JournalHeader], alerts: Alerts) -> list[Path]:
    newest = sorted(headed, key=lambda path: headed[path].subject.date, reverse=True)
    needing = alerts.in_state("new", "expired", "open")
    named = {at.commit for one in needing for at in (one.last_good, one.first_bad) if at}
    of_alerts = [path for path in newest if headed[path].subject.commit in named]
    return list(dict.fromkeys([*of_alerts[:_OF_ALERTS], *newest]))[:MOST]


def _made(
    missing: Iterable[tuple[Path, Path]],
    wanted: Mapping[tuple[Path, Path], str],
    calibrations: Sequence[Calibration],
) -> dict[str, Pair]:
    gc.disable()  # none of some hundred thousand entries of ledgers is garbage before the end
    try:
        return _compared(missing, wanted, calibrations)
    finally:
        gc.enable()


def _compared(
    missing: Iterable[tuple[Path, Path]],
    wanted: Mapping[tuple[Path, Path], str],
    calibrations: Sequence[Calibration],
) -> dict[str, Pair]:
    paths = sorted({path for pair in missing for path in pair})
    subjects = {who(one): (path, one) for path in paths if (one := read_saved(path)) is not None}
    wished = {
        (left, right)
        for left, (base, _) in subjects.items()
        for right, (head, _) in subjects.items()
        if (base, head) in missing
    }
    by_machine = {one.machine.machine: one for one in calibrations}
    found = pairs_of([one for _, one in subjects.values()], wished, by_machine, tool_version())
    return {
        wanted[subjects[base][0], subjects[head][0]]: pair_of(comparison_of(compared))
        for base, head, compared in found
    }


def _digest(path: Path) -> bytes:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).digest()


def _version(calibrations: Sequence[Calibration]) -> bytes:
    """What verdicts follow from beside the samples: the code and the noise floors."""
    found = hashlib.blake2b(cache.version().encode(), digest_size=16)
    for source in sources():
        found.update(source.read_bytes())
    for one in calibrations:
        found.update(one.model_dump_json().encode())
    return found.digest()


def sources() -> list[Path]:
    """The code that verdicts and their sentences follow from, beside that of the store."""
    packages = Path(analyze.__file__), Path(text.__file__)
    return sorted(path for one in packages for path in one.parent.rglob("*.py"))


def _file(directory: Path) -> Path | None:
    frames = cache.directory_for(directory)
    return None if frames is None else frames.parents[1] / "pairs" / f"{frames.name}.json"


def _kept(file: Path) -> dict[str, Pair]:
    try:
        found = orjson.loads(file.read_bytes())
        return {
            key: Pair(**{**one, "findings": [Finding(*each) for each in one["findings"]]})
            for key, one in found.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}  # absent, or damaged: made again


def _keep(file: Path, pairs: Mapping[str, Pair]) -> None:
    content = orjson.dumps({key: asdict(one) for key, one in pairs.items()}, default=list)
    with contextlib.suppress(OSError):  # it saves time and nothing else
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, content)


def _who(header: JournalHeader) -> Who:
    return header.machine.machine, header.subject.env_name, header.subject.commit
