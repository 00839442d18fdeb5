"""Reading the texts that name subjects: ``3.3.7``, ``newest``, a wheel, a commit, a range."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from observatory.benchmarks.catalogue import did_you_mean
from observatory.run.history import History
from observatory.run.interpreters import Choice, Interpreters, newest_supported
from observatory.run.releases import REFERENCE_PYTHON, ReleasesError, extended
from observatory.run.sources import Core, SubjectError, from_url, from_wheel, read_wheel
from observatory.run.uv import Index
from observatory.store.records.subject import Subject, name_of

ACCEPTED = (
    "a release (3.3.7, pytensor==3.3.7), newest, a range of releases (2.35.1..3.3.7), the path of "
    "a pytensor wheel, or pytensor @ git+file:///PATH@COMMIT, each followed by further "
    "requirements if need be (3.3.7 numba==0.66.0)"
)


class _Extra(NamedTuple):
    """A further requirement of a subject."""

    name: str
    pinned: str
    """With its version, as results name it."""
    requirement: str
    """As it is installed: the same, or the URL of a wheel."""


@dataclass
class Subjects:
    """Reads subjects with the releases, the package index and the interpreters of this machine."""

    history: History
    index: Index
    found: Interpreters

    def parse(self, text: str, extras: Sequence[str] = (), python: str | None = None) -> Subject:
        """Read one subject, with further requirements and a Python version such as "3.13".

        Raises SubjectError if the text is not understood or names nothing that exists,
        NoInterpreterError if the Python is not installed, and UvError if the index does not answer.
        """
        subjects = self.parse_all([text], extras, python)
        if len(subjects) != 1:
            raise SubjectError(f"{text!r} names {len(subjects)} subjects; give exactly one")
        return subjects[0]

    def pair(
        self, texts: Sequence[str], extras: Sequence[str] = (), python: str | None = None
    ) -> tuple[Subject, Subject]:
        """Read two subjects, which get the same Python if one fits both. Raises as `parse`."""
        subjects = self.parse_all(texts, extras, python)
        if len(subjects) != 2:
            named = " and ".join(texts)
            raise SubjectError(f"{named} are {len(subjects)} subjects; give exactly two")
        return subjects[0], subjects[1]

    def parse_all(
        self, texts: Sequence[str], extras: Sequence[str] = (), python: str | None = None
    ) -> tuple[Subject, ...]:
        """Read subjects and ranges; all get the same Python if one fits all. Raises as `parse`."""
        read: list[tuple[Core, list[_Extra]]] = []
        for text in texts:
            head, rest = _split(text)
            cores = self._cores(head)
            read += [(core, self._extras([*rest, *extras], core)) for core in cores]
        common = self._common_python([core for core, _ in read], python)
        return tuple(
            self._subject(core, added, common or self._python_of(core)) for core, added in read
        )

    def newest(self, extras: Sequence[str] = ()) -> tuple[Subject, Choice]:
        """Return the newest PyTensor that an installed interpreter can run, and that choice."""
        choice = newest_supported(self.index, self.found)
        return self.parse(choice.pytensor, extras, choice.interpreter.minor), choice

    def _cores(self, head: str) -> list[Core]:
        if ".." in head and "/" not in head and "@" not in head:
            return self._range(head)
        if head.endswith(".whl"):
            return [from_wheel(Path(head))]
        with suppress(InvalidVersion):
            return [self._release(self._version(head))]
        try:
            requirement = Requirement(head)
        except InvalidRequirement as error:
            raise SubjectError(f"{head!r} is not a subject; accepted: {ACCEPTED}") from error
        if canonicalize_name(requirement.name) != "pytensor":
            raise SubjectError(
                f"{head!r} is not a release of PyTensor, and a branch or commit needs "
                f"--repo CLONE; accepted: {ACCEPTED}"
            )
        if requirement.url is not None:
            return [from_url(requirement.url)]
        pins = list(requirement.specifier)
        if len(pins) != 1 or pins[0].operator != "==" or "*" in pins[0].version:
            raise SubjectError(
                f"{head!r} does not name one release; write pytensor==3.3.7 or newest"
            )
        return [self._release(str(Version(pins[0].version)))]

    def _range(self, head: str) -> list[Core]:
        first, _, last = head.partition("..")
        try:
            ends = [self._release(self._version(end)).label for end in (first, last)]
            inside = self.history.table.between(*ends)
        except (InvalidVersion, ReleasesError) as error:
            raise SubjectError(f"{head!r} is not a range of releases: {error}") from error
        return [self._release(release.version) for release in inside]

    def _version(self, text: str) -> str:
        if text == "newest":
            return newest_supported(self.index, self.found).pytensor
        return str(Version(text))

    def _release(self, version: str) -> Core:
        """A release of the table; if it is newer than all, the index extends the table first.

        The table is extended for this process only.
        """
        table = self.history.table
        release = table.find(version)
        newer = not table.releases or Version(version) > Version(table.newest.version)
        if release is None and newer:
            table = extended(table, self.index)
            self.history = History(table, self.history.directory)
            release = table.find(version)
        if release is None:
            hint = did_you_mean(version, (one.version for one in reversed(table.releases)))
            raise SubjectError(
                f"there is no release {version} between {table.releases[0].version} and "
                f"{table.newest.version}{hint}; accepted: {ACCEPTED}"
            )
        return Core(
            label=release.version,
            requirements=release.requirements,
            commit=self.history.commit_of(release.version),
            date=release.uploaded,
            exclude_newer=release.exclude_newer,
            pythons=release.pythons,
        )

    def _extras(self, texts: Sequence[str], core: Core) -> list[_Extra]:
        """The further requirements by name; of two with one name, the later one."""
        read: dict[str, _Extra] = {}
        for text in texts:
            extra = self._extra(text, core)
            if extra.name == "pytensor":
                raise SubjectError(
                    f"{text!r}: pytensor is the subject itself and cannot be a further requirement"
                )
            read[extra.name] = extra
        return [read[name] for name in sorted(read)]

    def _extra(self, text: str, core: Core) -> _Extra:
        if text.endswith(".whl"):
            wheel = read_wheel(Path(text))
            url = f"{wheel.name} @ {wheel.path.as_uri()}"
            return _Extra(wheel.name, f"{wheel.name}=={wheel.label}", url)
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise SubjectError(
                f"{text!r} is not a requirement; write name==version, name or the path of a wheel"
            ) from error
        if requirement.url is not None or requirement.marker is not None:
            raise SubjectError(
                f"{text!r}: a further requirement is name==version, name or the path of a wheel"
            )
        name, specifier = canonicalize_name(requirement.name), str(requirement.specifier)
        if not re.fullmatch(r"==[^*,]+", specifier):
            # It is pinned now so that the results are named after what was measured.
            wanted = [*_without(core.requirements, {name}), str(requirement)]
            minor = core.pythons[-1] if core.pythons else REFERENCE_PYTHON
            pins = self.index.resolve(wanted, minor=minor, exclude_newer=core.exclude_newer)
            specifier = f"=={pins[name]}"
        return _Extra(name, f"{name}{specifier}", f"{name}{specifier}")

    def _subject(self, core: Core, extras: list[_Extra], python: str) -> Subject:
        kept = _without(core.requirements, {extra.name for extra in extras})
        return Subject(
            label=" ".join([core.label, *(extra.pinned for extra in extras)]),
            requirements=(*kept, *(extra.requirement for extra in extras)),
            python=python,
            commit=core.commit,
            date=core.date,
            exclude_newer=self._exclude_newer(core, extras),
            extras=tuple(extra.pinned for extra in extras),
        )

    def _exclude_newer(self, core: Core, extras: list[_Extra]) -> datetime | None:
        """The date that dependencies are resolved for: later if a requirement is younger."""
        if core.exclude_newer is None:
            return None
        uploads = [
            self.index.uploaded(extra.name, extra.pinned.partition("==")[2], REFERENCE_PYTHON)
            for extra in extras
            if "@" not in extra.requirement
        ]
        return max([core.exclude_newer, *(upload + timedelta(days=1) for upload in uploads)])

    def _common_python(self, cores: Sequence[Core], python: str | None) -> str | None:
        if python is not None:
            minor = ".".join(python.split(".")[:2])
            self.found.of(minor)
            for core in cores:
                if core.pythons and minor.rstrip("t") not in core.pythons:
                    raise SubjectError(
                        f"{core.label} does not install on Python {minor}; it does on "
                        f"{', '.join(core.pythons)}"
                    )
            return minor
        return next(
            (
                interpreter.minor
                for interpreter in self.found.ordinary
                if all(interpreter.minor in core.pythons for core in cores if core.pythons)
            ),
            None,
        )

    def _python_of(self, core: Core) -> str:
        if (minor := self._common_python([core], None)) is not None:
            return minor
        installed = ", ".join(i.minor for i in self.found.interpreters) or "none"
        free = [one.minor for one in self.found.interpreters if one.free_threaded]
        named = f"; a free-threaded one must be named: --python {free[0]}" if free else ""
        raise SubjectError(
            f"{core.label} needs Python {' or '.join(core.pythons)}, which is not "
            f"installed (found: {installed}){named}"
        )


def _split(text: str) -> tuple[str, list[str]]:
    """Return the first word of a text that names a subject, and its further requirements.

    >>> _split("pytensor == 3.3.7  numba==0.66.0")
    ('pytensor==3.3.7', ['numba==0.66.0'])
    >>> _split("pytensor @ git+file:///src@0a1b")
    ('pytensor@git+file:///src@0a1b', [])
    """
    if Path(text.strip()).suffix == ".whl" and Path(text.strip()).exists():
        return text.strip(), []
    words = re.sub(r"\s*(===|==|>=|<=|~=|!=|<|>|\s@\s)\s*", lambda m: m[1].strip(), text).split()
    if not words:
        raise SubjectError(f"an empty text is not a subject; accepted: {ACCEPTED}")
    return words[0], words[1:]


def _without(requirements: Sequence[str], names: set[str]) -> tuple[str, ...]:
    return tuple(text for text in requirements if name_of(text) not in names)
