"""Merge journals of one subject and machine that several wrote. Pure.

A line and what compaction left of it are the same sample: the fuller one is kept, and nothing else
is ever left out. A journal that has only grown stays as it is and grows; merging what is there
already changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import UTC
from typing import Any, TypeVar

from observatory.store.journal.compacting import bare
from observatory.store.journal.models import JournalRecord, UnreadableLine, encoded

_Key = TypeVar("_Key", bound=Hashable)


def merged(journals: Sequence[Sequence[JournalRecord]]) -> list[JournalRecord]:
    """The records of all journals, each sample once. The journals are of one subject."""
    fullest: dict[tuple[str, bytes], JournalRecord] = {}
    sequences = []
    headers: dict[int, str] = {}  # the records of a journal share few header objects
    for journal in journals:
        keys = []
        for record in journal:
            header = record.header
            if id(header) not in headers:
                headers[id(header)] = header.model_dump_json()
            key = (headers[id(header)], essence(record))
            keys.append(key)
            fullest[key] = max(fullest.get(key, record), record, key=lambda r: (len(r.raw), r.raw))
        sequences.append(list(dict.fromkeys(keys)))
    order = {key: (_place(record), key) for key, record in fullest.items()}
    return [fullest[key] for key in interleaved(sequences, order.__getitem__)]


def essence(record: JournalRecord) -> bytes:
    """What is the same in a line and in what compaction leaves of it, and in no other line."""
    return record.raw if isinstance(record, UnreadableLine) else encoded(bare(record.line))


def interleaved(sequences: Sequence[Sequence[_Key]], order: Callable[[_Key], Any]) -> list[_Key]:
    """Every key of the sequences once, in the order of each of them as far as they agree.

    The next key is one that comes next in a sequence and not later in another: of several the
    smallest by ``order``. Where sequences contradict each other, it is the smallest that comes next
    in any. No sequence holds a key twice.
    """
    places = [{key: place for place, key in enumerate(sequence)} for sequence in sequences]
    at = [0] * len(sequences)
    done: set[_Key] = set()
    found: list[_Key] = []
    while True:
        heads = []
        for number, sequence in enumerate(sequences):
            while at[number] < len(sequence) and sequence[at[number]] in done:
                at[number] += 1
            if at[number] < len(sequence):
                heads.append(sequence[at[number]])
        if not heads:
            return found
        free = [
            key for key in heads
            if all(there.get(key, -1) <= place for there, place in zip(places, at, strict=True))
        ]  # fmt: skip
        key = min(free or heads, key=order)
        done.add(key)
        found.append(key)


def _place(record: JournalRecord) -> tuple[str, str]:
    """The run, and when the sample began: records of two journals are put in this order."""
    if isinstance(record, UnreadableLine):
        return "", ""
    return record.run, record.sample.started_at.astimezone(UTC).isoformat()
