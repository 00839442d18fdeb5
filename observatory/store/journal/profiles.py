"""A store of profiles by content, like that of ledgers: equal profiles are one file.

Only profiles with a tree of calls are stored here. The other ones are small and stay in the
journal.
"""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordError
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.journal.ledgers import content_path, decompressed
from observatory.store.records.profile import Profile

LARGEST_PROFILE = 4 * 2**20
"""Bytes of a profile's JSON, decompressed; a larger one is refused."""


class ProfileError(RecordError):
    """A profile is missing, broken, too large or not what its name says."""


class ProfileStore:
    """The directory ``results/profiles``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, sha: str) -> Path:
        """The path of a profile, there or not. Raises LedgerError if ``sha`` is no SHA-256."""
        return content_path(self.directory, sha)

    def store(self, profile: Profile) -> str:
        """Store a profile unless an equal one is there already, and return its SHA-256.

        Raises ProfileError above LARGEST_PROFILE, OSError where nothing can be written.
        """
        content = profile.model_dump_json(exclude_defaults=True).encode()
        if len(content) > LARGEST_PROFILE:
            raise ProfileError(
                f"a profile takes {len(content)} bytes; at most {LARGEST_PROFILE} are stored"
            )
        sha = hashlib.sha256(content).hexdigest()
        path = self.path(sha)
        if not path.exists():
            write_atomic(path, gzip.compress(content, compresslevel=9, mtime=0))
        return sha

    def load(self, sha: str) -> Profile:
        """Return a stored profile.

        Raises ProfileError where it is missing, broken, too large or not what its name says.
        """
        path = self.path(sha)
        try:
            content = decompressed(path, LARGEST_PROFILE, "profile")
        except RecordError as error:
            raise ProfileError(str(error)) from error
        if hashlib.sha256(content).hexdigest() != sha:
            raise ProfileError(
                f"{path} does not hold what its name says: its content has another hash; "
                "remove it and measure again"
            )
        try:
            return read_json(Profile, content)
        except InvalidError as error:
            raise ProfileError(f"{path} is not a profile: {error}") from error
