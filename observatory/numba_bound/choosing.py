"""The numba that upper bounds are to end at: the newest, the newest of a channel too, or a wish."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from observatory.numba_bound.channel import ALL, CURRENT, Channel
from observatory.numba_bound.released import NoAnswerError, Released

_MOST_TRIES = 20
"""Versions of a channel that the index is asked for, the newest first."""


@dataclass(frozen=True)
class Chosen:
    """A release, where it comes from as half a sentence, and the newest that can be installed."""

    end: Version
    source: str
    newest: Version


def choose(
    released: Released, but: SpecifierSet, wish: Version | None, channel: Channel | None
) -> Chosen:
    """Choose the release; ``but`` are those that a pin excludes. Raises `NoAnswerError`."""
    newest = released.newest()
    if wish is not None:
        return Chosen(wish, _granted(wish, newest, released, channel), newest)
    end = newest if newest in but else released.within(but)
    if end is None:
        raise NoAnswerError(f"every release of numba is excluded by {but}")
    where = "the newest final release with a wheel for a Python of this project"
    if channel is not None:
        end = _common(released, but, end, channel)
        where = f"the newest final release that the package index and {channel.name} both have"
    if end != newest:
        where += f"; the newest of all is {newest}"
    return Chosen(end, where, newest)


def _granted(wish: Version, newest: Version, released: Released, channel: Channel | None) -> str:
    if wish != newest and not released.has(wish):
        raise NoAnswerError(
            f"the package index has no numba {wish} for a Python of this project, or it was "
            f"yanked; the newest is {newest}"
        )
    if channel is not None and wish not in channel.versions(ALL):
        raise NoAnswerError(f"{channel.name} has no numba {wish}")
    return "chosen by --to" if wish == newest else f"chosen by --to; the newest is {newest}"


def _common(released: Released, but: SpecifierSet, most: Version, channel: Channel) -> Version:
    """The newest release of both, no newer than ``most``."""
    current = channel.versions(CURRENT)
    # The small index holds older releases only where a Python has no newer one: between these
    # and its newest, the other index may have some.
    if current and max(current) in but and released.has(max(current)):
        return max(current)
    every = channel.versions(ALL)
    if not every:
        raise NoAnswerError(f"{channel.name} has no final release of numba")
    older = sorted((v for v in every if v <= most and v in but), reverse=True)
    for version in older[:_MOST_TRIES]:
        if released.has(version):
            return version
    raise NoAnswerError(
        f"no release of numba is in both: {channel.name} has {max(every)} and older ones, "
        f"the package index {most}"
    )
