"""Which version of the observatory this is."""

from __future__ import annotations

from importlib.metadata import version

DISTRIBUTION = "observatory-compile-caches"


def tool_version() -> str:
    """The version of the observatory."""
    return version(DISTRIBUTION)
