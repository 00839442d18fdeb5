"""Removing what no version refers to any more.

A version stays as long as it is the newest, and for an age after the next one came: a reader that
has begun with it can finish. An object goes if none of the versions that stay refers to it and it
is older than the age: a publisher that is writing it now can finish. What a kill or a failed
attempt left behind goes the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from observatory.objects.bucket import Found, StoreError
from observatory.objects.collection import Collection
from observatory.objects.index import is_object, version_name

AGE = timedelta(days=1)


@dataclass(frozen=True)
class Swept:
    """What was removed."""

    versions: int
    objects: int
    size: int
    """Bytes of the objects."""


def sweep(collection: Collection, now: datetime | None = None) -> Swept:
    """Remove versions and objects that were replaced longer than AGE ago.

    Raises StoreError if a version that stays cannot be read: nothing is removed then.
    """
    before = (now or datetime.now(UTC)) - AGE
    # Listed first: what is created after this is in no listing, and so is not removed.
    objects = [one for one in collection.bucket.found("objects") if is_object(one.name)]
    listed = {one.name: one for one in collection.bucket.found("versions")}
    numbers = collection.numbers()
    if not numbers:  # then no list says what is needed
        return Swept(0, 0, 0)
    staying = [
        number
        for number, after in zip(numbers, [*numbers[1:], None], strict=True)
        if after is None or not _older(listed.get(version_name(after)), before)
    ]
    needed: set[str] = set()
    for number in staying:
        for segment in collection.version(number).segments:
            needed.add(segment.name)
            for entry in collection.segment(segment.name).values():
                if entry is not None:
                    needed.add(entry.pack)
    old = [number for number in numbers if number not in staying]
    for number in old:  # the oldest first
        collection.bucket.remove(version_name(number))
    stale = [
        one for one in objects
        if one.name.rpartition("/")[2] not in needed and _older(one, before)
    ]  # fmt: skip
    for one in stale:
        collection.bucket.remove(one.name)
    return Swept(len(old), len(stale), sum(one.size for one in stale))


def _older(found: Found | None, than: datetime) -> bool:
    if found is not None and found.changed is None:
        raise StoreError(
            f"the store does not say when {found.name} was written; nothing was removed"
        )
    return found is not None and found.changed is not None and found.changed < than
