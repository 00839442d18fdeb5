"""The finished verdicts on pairs of subjects for the compare page, computed once and cached."""

from __future__ import annotations

import contextlib
import gc
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from itertools import permutations, product
from pathlib import Path

import orjson

from observatory import analyze
from observatory.analyze.comparison.pairs import Finding, Pair, Who, pairs_of, who
from observatory.app import tool_version
from observatory.store.base.files import write_atomic
from observatory.store.journal.models import JournalHeader
from observatory.store.reading import cache
from observatory.store.reading.read import Results
from observatory.store.reading.saved import read_saved
from observatory.store.records.alerts import Alerts
from observatory.store.records.calibration import Calibration

MOST = 20
"""Number of subjects of which every ordered pair is compared: 380 comparisons of some 0.05 s."""


def finished_pairs(
    directory: Path, read: Results, alerts: Alerts, calibrations: Sequence[Calibration]
) -> dict[tuple[Who, Who], Pair]:
    """The verdicts on every ordered pair of the newest subjects and of those that alerts name.

    They are cached beside the frames of ``directory``, and computed again if a journal, a
    calibration or the code has changed.
    """
    headed = {path: one.header for path, one in read.journals.items() if one.header is not None}
    digests = {path: _digest(path.read_bytes()) for path in _chosen(headed, alerts)}
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
    names = {
        path: (one.machine.machine, one.subject.env_name, one.subject.commit)
        for path, one in headed.items()
    }
    return {
        (names[base], names[head]): kept[key] for (base, head), key in wanted.items() if key in kept
    }


def _chosen(headed: Mapping[Path, JournalHeader], alerts: Alerts) -> list[Path]:
    newest = sorted(headed, key=lambda path: headed[path].subject.date, reverse=True)
    needing = alerts.in_state("new", "expired", "open")
    named = {at.commit for one in needing for at in (one.last_good, one.first_bad) if at}
    of_alerts = [path for path in newest if headed[path].subject.commit in named]
    return list(dict.fromkeys([*of_alerts[: MOST // 2], *newest]))[:MOST]


def _made(
    missing: Collection[tuple[Path, Path]],
    wanted: Mapping[tuple[Path, Path], str],
    calibrations: Sequence[Calibration],
) -> dict[str, Pair]:
    paths = sorted({path for pair in missing for path in pair})
    by_machine = {one.machine.machine: one for one in calibrations}
    gc.disable()  # some hundred thousand entries of ledgers stay in use until the end
    try:
        read = ((path, read_saved(path)) for path in paths)
        subjects = {who(one): (path, one) for path, one in read if one is not None}
        wished = {
            (left, right)
            for left, right in product(subjects, repeat=2)
            if (subjects[left][0], subjects[right][0]) in missing
        }
        saved = [one for _, one in subjects.values()]
        found = pairs_of(saved, wished, by_machine, tool_version())
        return {wanted[subjects[base][0], subjects[head][0]]: pair for base, head, pair in found}
    finally:
        gc.enable()


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _version(calibrations: Sequence[Calibration]) -> bytes:
    """A digest of the code and the noise floors, from which verdicts follow."""
    code = b"".join(source.read_bytes() for source in sources())
    floors = "".join(one.model_dump_json() for one in calibrations)
    return _digest(cache.version().encode() + code + floors.encode())


def sources() -> list[Path]:
    """The code from which verdicts follow, besides that of the store."""
    return sorted(Path(analyze.__file__).parent.rglob("*.py"))


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
        return {}  # the file is missing or damaged


def _keep(file: Path, pairs: Mapping[str, Pair]) -> None:
    content = orjson.dumps({key: asdict(one) for key, one in pairs.items()}, default=list)
    with contextlib.suppress(OSError):  # the cache only saves time
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, content)
