"""Digests of what verdicts and alerts follow from: whether those that were kept still hold."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from observatory import analyze, text
from observatory.store.reading import cache
from observatory.store.reading.read import Results
from observatory.store.records.calibration import Calibration
from observatory.store.records.settings import Settings
from observatory.store.records.torture import Torture
from observatory.store.records.triage import Triage


def fingerprint(
    read: Results,
    triage: Triage,
    faults: Sequence[Torture] = (),
    crossed: Sequence[Settings] = (),
    learned: Sequence[Calibration] = (),
) -> str:
    """A digest of what alerts follow from: values, dates, acknowledgements and the tool's code.

    Returns 32 hex digits. The digest does not depend on the order in which results were read, which
    depends on the cache. Ledgers are not part of it: they change only with a newer journal.
    """
    found = hashlib.blake2b(code(), digest_size=16)
    for file in read.files:
        found.update(f"{file.machine}\0{file.commit}\0{file.env_name}\0{file.date}\0".encode())
        for what, source in sorted(file.counted_by.items()):
            found.update(f"{what}\0{source}\0".encode())
    used = np.unique(np.concatenate([np.empty(0, np.int32), *(o.series for o in read.parts)]))
    by_name = sorted(used.tolist(), key=lambda n: (read.series[n].name, read.series[n].params))
    rank = np.zeros(len(read.series), np.int32)
    rank[by_name] = np.arange(len(by_name))
    named = [read.series[number] for number in by_name]
    words = "".join([f"{one.name}\0{one.params}\0" for one in named])
    found.update(words.encode(errors="replace"))
    for part in sorted(read.parts, key=lambda one: one.files.tolist()):
        series = rank[part.series]
        order = np.lexsort((part.position, series))
        # The values stay on disk: each key has a hash of its own.
        for column in (part.files, series[order], part.position[order], part.digests[order]):
            found.update(column.tobytes())
    for journal in read.journals.values():
        found.update(f"{journal.measured_at}\0{len(journal.notes)}\0".encode())
    for one in faults:
        found.update(f"{one.tried}\0{one.started_at}\0".encode())
    for own in (*crossed, *learned):
        found.update(own.model_dump_json().encode())
    found.update(triage.model_dump_json().encode())
    return found.hexdigest()


def code() -> bytes:
    """A digest of the code from which verdicts, alerts and their sentences follow; 16 bytes."""
    found = hashlib.blake2b(cache.version().encode(), digest_size=16)
    for source in sources():
        found.update(source.read_bytes())
    return found.digest()


def sources() -> list[Path]:
    """That code, beside that of the store: whole packages, as what is left out may be forgotten."""
    packages = Path(analyze.__file__).parent, Path(text.__file__).parent
    return [path for one in packages for path in sorted(one.rglob("*.py"))]
