"""The store of profiles with a tree of calls; the other ones are small and stay in the journal."""

from __future__ import annotations

from observatory.store.base.strict_json import read_json
from observatory.store.journal.contents import ContentStore
from observatory.store.records.profile import Profile


class ProfileStore(ContentStore[Profile]):
    """The directory ``results/profiles``."""

    what = "profile"
    largest = 4 * 2**20

    def store(self, profile: Profile) -> str:
        """Store a profile, and return its SHA-256. Raises as `put`."""
        return self.put(profile.model_dump_json(exclude_defaults=True).encode())

    def parsed(self, content: bytes) -> Profile:
        """The profile in a content. Raises InvalidError."""
        return read_json(Profile, content)
