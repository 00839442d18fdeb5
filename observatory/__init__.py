"""The host side of the observatory: it schedules, records, decides and composes."""

from __future__ import annotations


def tool_version() -> str:
    """Return the version of the observatory."""
    from importlib.metadata import version

    return version("pytensor-observatory")
