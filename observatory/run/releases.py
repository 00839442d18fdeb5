"""The releases of PyTensor as facts: when each came, and what it needs as of its day.

The table is committed as ``releases.json`` and only ever grows at its end: the commits of the
release history, and with them the names of recorded results, follow from it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Annotated

from packaging.version import Version
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from observatory.errors import ObservatoryError
from observatory.run.index import Index
from observatory.run.interpreters import SUPPORTED
from observatory.run.uv import UvError

FIRST = "2.34.0"
"""The oldest release that the benchmarks can measure."""
REFERENCE_PYTHON = "3.12"
"""The Python for which the numba of a day is looked up: every release in the table runs on it."""

VersionText = Annotated[str, StringConstraints(pattern=r"^\d+(\.\d+)+$", max_length=20)]


class ReleasesError(ObservatoryError):
    """Raised when the table, or a question to it, makes no sense; the message says what to do."""


class Release(BaseModel):
    """One release of PyTensor."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: VersionText
    uploaded: AwareDatetime = Field(description="upload time of its source distribution")
    exclude_newer: AwareDatetime = Field(
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
        """What pip is asked for. numba is named since not every release brings it."""
        return (f"pytensor=={self.version}", f"numba=={self.numba}")


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    releases: tuple[Release, ...]


@dataclass(frozen=True)
class ReleaseTable:
    """Releases in order of their upload."""

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
        """The release of that version, or None if the table does not know it."""
        return next((r for r in self.releases if Version(r.version) == Version(version)), None)

    def between(self, first: str, last: str) -> tuple[Release, ...]:
        """All releases with ``first <= version <= last``, in order of version.

        Raises `ReleasesError` if an end is not in the table, or the ends are the wrong way round.
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
        """The text of ``releases.json``."""
        about = (
            "Facts about PyTensor releases, made by scripts/update_releases.py. "
            "Entries are only appended: commits of the release history depend on them."
        )
        file = _File(about=about, releases=self.releases)
        return json.dumps(file.model_dump(mode="json"), indent=2) + "\n"


def load(text: str | None = None) -> ReleaseTable:
    """Read the committed table, or ``text``. Raise `ReleasesError` if it is not valid."""
    if text is None:
        text = (files("observatory.run") / "releases.json").read_text(encoding="utf-8")
    try:
        return ReleaseTable(_File.model_validate_json(text).releases)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ReleasesError(f"releases.json is not valid at {place}: {first['msg']}") from error


def describe(version: str, index: Index, pythons: Sequence[str] = SUPPORTED) -> Release:
    """Ask the index about one release. Raise `UvError` if it cannot answer."""
    uploaded = index.uploaded("pytensor", version, REFERENCE_PYTHON)
    exclude_newer = uploaded + timedelta(days=1)
    wanted = (f"pytensor=={version}", "numba")
    of_the_day = index.resolve(
        wanted, minor=REFERENCE_PYTHON, exclude_newer=exclude_newer, wheels_only=True
    )
    pinned = (wanted[0], f"numba=={of_the_day['numba']}")
    works = tuple(m for m in pythons if _installs(index, pinned, m, exclude_newer))
    return Release(
        version=version,
        uploaded=uploaded,
        exclude_newer=exclude_newer,
        numba=of_the_day["numba"],
        pythons=works,
    )


def _installs(index: Index, pinned: Sequence[str], minor: str, exclude_newer: datetime) -> bool:
    try:
        index.resolve(pinned, minor=minor, exclude_newer=exclude_newer, wheels_only=True)
    except UvError:
        return False
    return True


def extended(table: ReleaseTable, index: Index) -> ReleaseTable:
    """The table with every release that the index has beyond its end; itself if there is none.

    Known entries stay as they are, and releases are appended in order of upload, so that anybody
    who extends the same table gets the same one. Raises `ReleasesError` for a release that was
    uploaded before the table's end: no place for it leaves the known hashes alone.
    """
    known = {Version(release.version) for release in table.releases}
    fresh: list[Release] = []
    bound = ""
    while True:
        # Asked down to the first release: a patch of an older line can appear at any time.
        version = index.newest(f"pytensor>={FIRST}{bound}", REFERENCE_PYTHON)
        if version is None:
            break
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
