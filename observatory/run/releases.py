"""The releases of PyTensor: the date of each, and what it needs as of that date.

The table is committed as ``releases.json`` and only grows at its end, because the commits of the
history of releases, and so the names of recorded results, depend on it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from typing import Annotated

from packaging.version import Version
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from observatory.errors import ObservatoryError
from observatory.run.interpreters import SUPPORTED
from observatory.run.uv import Index, UvError
from observatory.store.base.moments import Moment
from observatory.store.base.releases import WRITTEN
from observatory.store.base.strict_json import InvalidError, read_json

FIRST = "2.34.0"
"""The oldest release that the benchmarks can measure."""
REFERENCE_PYTHON = "3.12"
"""The Python for which the numba of a day is looked up: every release in the table runs on it."""

VersionText = Annotated[str, StringConstraints(pattern=f"^{WRITTEN}$", max_length=20)]


class ReleasesError(ObservatoryError):
    """The table of releases is invalid, or does not contain what was asked for."""


class Release(BaseModel):
    """One release of PyTensor."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: VersionText
    uploaded: Moment = Field(description="upload time of its source distribution")
    exclude_newer: Moment = Field(
        description="dependencies are resolved as of this moment: a day later, so that every "
        "wheel of the release is there"
    )
    numba: VersionText = Field(description="the newest numba at that moment")
    pythons: tuple[str, ...] = Field(
        min_length=1, description="minor versions on which that installs from wheels alone"
    )
    note: str = Field("", description="a milestone; no hash depends on it")

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements to install; numba is named because some releases do not require it."""
        return (f"pytensor=={self.version}", f"numba=={self.numba}")


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    releases: tuple[Release, ...]


@dataclass(frozen=True)
class ReleaseTable:
    """Releases in order of upload. Raises ReleasesError if they are not, or one is repeated."""

    releases: tuple[Release, ...]

    def __post_init__(self) -> None:
        versions = [release.version for release in self.releases]
        if len(set(versions)) != len(versions):
            raise ReleasesError("a release is listed twice in the table of releases")
        moments = [release.uploaded for release in self.releases]
        if moments != sorted(moments):
            raise ReleasesError(
                "the table of releases is not in order of upload; append at its end"
            )

    @property
    def newest(self) -> Release:
        """The release with the highest version."""
        return max(self.releases, key=lambda release: Version(release.version))

    def find(self, version: str) -> Release | None:
        """Return the release with a version, or None if the table does not contain it."""
        return next((r for r in self.releases if Version(r.version) == Version(version)), None)

    def between(self, first: str, last: str) -> tuple[Release, ...]:
        """Return all releases with ``first <= version <= last``, in order of version.

        Raises ReleasesError if an end is not in the table, or if ``first`` is above ``last``.
        """
        for end in (first, last):
            if self.find(end) is None:
                raise ReleasesError(
                    f"release {end} is not known; the table goes from {self.releases[0].version} "
                    f"to {self.newest.version} (scripts/update_releases.py extends it)"
                )
        low, high = Version(first), Version(last)
        if low > high:
            raise ReleasesError(f"{first}..{last} runs backwards; write {last}..{first}")
        inside = [r for r in self.releases if low <= Version(r.version) <= high]
        return tuple(sorted(inside, key=lambda release: Version(release.version)))

    def to_json(self) -> str:
        """Return the text of ``releases.json``."""
        about = (
            "Facts about PyTensor releases, made by scripts/update_releases.py. "
            "Entries are only appended: commits of the release history depend on them."
        )
        file = _File(about=about, releases=self.releases)
        return json.dumps(file.model_dump(mode="json"), indent=2) + "\n"


def load(text: str | None = None) -> ReleaseTable:
    """Read the committed table, or ``text``. Raises ReleasesError if it is invalid."""
    if text is None:
        text = (files("observatory.run") / "releases.json").read_text(encoding="utf-8")
    try:
        return ReleaseTable(read_json(_File, text).releases)
    except InvalidError as error:
        raise ReleasesError(f"releases.json is not valid: {error}") from error


def describe(version: str, index: Index) -> Release:
    """Return what the index knows of one release. Raises UvError if it cannot answer."""
    uploaded = index.uploaded("pytensor", version, REFERENCE_PYTHON)
    exclude_newer = uploaded + timedelta(days=1)

    def resolve(numba: str, minor: str) -> dict[str, str]:
        wanted = (f"pytensor=={version}", numba)
        return index.resolve(wanted, minor=minor, exclude_newer=exclude_newer, wheels_only=True)

    numba = resolve("numba", REFERENCE_PYTHON)["numba"]
    installs = []
    for minor in SUPPORTED:
        with suppress(UvError):
            resolve(f"numba=={numba}", minor)
            installs.append(minor)
    return Release(
        version=version,
        uploaded=uploaded,
        exclude_newer=exclude_newer,
        numba=numba,
        pythons=tuple(installs),
    )


def extended(table: ReleaseTable, index: Index) -> ReleaseTable:
    """Return the table with every later release of the index appended, in order of upload.

    Existing entries do not change, so everybody who extends the same table gets the same one.
    Raises ReleasesError if an unknown release was uploaded before the table's last one, because
    inserting it would change known hashes, and UvError if the index cannot answer.
    """
    known = {Version(release.version) for release in table.releases}
    fresh: list[Release] = []
    bound = ""
    # All versions down to the first are asked for: an older line can get a patch at any time.
    while version := index.newest(f"pytensor>={FIRST}{bound}", REFERENCE_PYTHON):
        bound = f",<{version}"
        if Version(version) not in known:
            fresh.append(describe(version, index))
    fresh.sort(key=lambda release: release.uploaded)
    if fresh and table.releases and fresh[0].uploaded < table.releases[-1].uploaded:
        raise ReleasesError(
            f"release {fresh[0].version} was uploaded before {table.releases[-1].version}, the end "
            "of the table: it cannot be appended without moving the commits that follow it"
        )
    return ReleaseTable(table.releases + tuple(fresh))
