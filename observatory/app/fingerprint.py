"""What alerts follow from, as one number: alerts made of the same are not made again."""

from __future__ import annotations

import hashlib

import numpy as np

from observatory.app.version import tool_version
from observatory.store.reading.read import Results
from observatory.store.records.triage import Triage


def fingerprint(read: Results, triage: Triage) -> str:
    """Of every value, when it was measured, what people said, and this version; 32 hex digits.

    How results were read does not matter: series are numbered, and values lie, in an order that
    depends on what a cache held before. Ledgers are not looked at: they do not change without a
    journal that is newer.
    """
    found = hashlib.blake2b(tool_version().encode(), digest_size=16)
    for file in read.files:
        found.update(f"{file.machine}\0{file.commit}\0{file.env_name}\0{file.date}\0".encode())
    values = read.values
    # The values of one file lie together, in its own order.
    order = np.argsort(read.file, kind="stable")
    numbers, places = np.unique(values.series, return_inverse=True)
    used = [read.series[number] for number in numbers]
    by_name = sorted(range(len(used)), key=lambda index: (used[index].name, used[index].params))
    for index in by_name:
        found.update(f"{used[index].name}\0{used[index].params}\0".encode(errors="replace"))
    rank = np.empty(len(used), np.int32)
    rank[by_name] = np.arange(len(used))
    for array in (read.file, rank[places], values.position, values.value):
        found.update(array[order].tobytes())
    for journal in read.journals.values():
        found.update(f"{journal.measured_at}\0{len(journal.notes)}\0".encode())
    found.update(triage.model_dump_json().encode())
    return found.hexdigest()
