"""What differs between two subjects, as axes; and the subject of any combination of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from observatory.analyze.cross import Combination
from observatory.store.records.subject import Subject, name_of

PYTENSOR, PYTHON, OTHERS = "PyTensor", "Python", "other packages"
_KNOWN = ("numba", "llvmlite", "numpy", "scipy", "pymc")
"""Packages that are an axis each, the likeliest first."""
_MOVES_WITH = {"llvmlite": "numba"}
"""Each numba requires one llvmlite, so that neither can be exchanged alone."""


@dataclass(frozen=True)
class Side:
    """A subject, and the versions of what its environment holds."""

    subject: Subject
    packages: Mapping[str, str]

    @property
    def named(self) -> dict[str, str]:
        """What a person required beside the release, pinned as results name it, by name."""
        return {name_of(text): text for text in self.subject.extras}

    def version(self, name: str) -> str | None:
        """The version of a package; two wheels of one version are told apart. None: absent."""
        installed = self.packages.get(name)
        return self.named[name].partition("==")[2] if name in self.named else installed

    def requirement(self, name: str) -> str:
        """What is required to install a package that it has."""
        own = (text for text in self.subject.requirements if name_of(text) == name and "@" in text)
        return next(own, f"{name}=={self.packages[name]}")

    @property
    def core(self) -> str:
        """The requirement of PyTensor itself."""
        return next(one for one in self.subject.requirements if name_of(one) == "pytensor")


@dataclass(frozen=True)
class Axis:
    """What is exchanged as one."""

    name: str
    packages: tuple[str, ...]
    """Empty for Python."""


@dataclass(frozen=True)
class Mixed:
    """The subject of a combination, and what its environment has to hold."""

    subject: Subject
    pins: Mapping[str, str]
    """Versions of what is in it if something requires it."""
    holds: Mapping[str, str | None]
    """Versions of what the axes exchange. None: it may not be there."""

    def problem(self, packages: Mapping[str, str]) -> str:
        """How an environment differs from what was asked for; empty if it does not."""
        for name, version in self.holds.items():
            found = packages.get(name)
            if found is None and version is not None:
                return f"it lacks {name} {version}"
            if found is not None and version is None:
                return f"it has {name} {found}, which should be absent"
            if found != version:
                return f"it has {name} {found} instead of {version}"
        for name, version in self.pins.items():
            if packages.get(name, version) != version:
                return f"it has {name} {packages[name]} instead of {version}"
        return ""


@dataclass(frozen=True)
class Between:
    """Two subjects, and the axes between them."""

    old: Side
    new: Side

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Everything that differs, the likeliest first.

        A package that only one side has, and nobody named, came with another one and is no axis.
        """
        found: list[Axis] = []
        if self.old.core != self.new.core:
            found.append(Axis(PYTENSOR, ("pytensor",)))
        differing = list(self._differing())
        named = {*self.old.named, *self.new.named} - {*_KNOWN}
        leaders = [
            name for name in (*_KNOWN, *sorted(named))
            if name in differing and _MOVES_WITH.get(name) not in differing
        ]  # fmt: skip
        for leader in leaders:
            with_it = (one for one in differing if _MOVES_WITH.get(one) == leader)
            found.append(Axis(leader, (leader, *with_it)))
        taken = {package for one in found for package in one.packages}
        if rest := tuple(one for one in differing if one not in taken):
            found.append(Axis(OTHERS, rest))
        if self.old.subject.python != self.new.subject.python:
            found.append(Axis(PYTHON, ()))
        return tuple(found)

    def versions(self, axis: Axis) -> dict[str, tuple[str, str]]:
        """The old and the new version of everything that moves with an axis."""
        if axis.name == PYTHON:
            return {PYTHON: (self.old.subject.python, self.new.subject.python)}
        if axis.name == PYTENSOR:
            return {"pytensor": (_core_label(self.old.subject), _core_label(self.new.subject))}
        return {
            name: (self.old.version(name) or "absent", self.new.version(name) or "absent")
            for name in axis.packages
        }

    def mixed(self, new: Combination, versions: Mapping[str, str] | None = None) -> Mixed:
        """The subject with these axes new and the others old.

        ``versions``: of leaders of an axis, neither the old nor the new one; what moves with them
        is not said then.
        """
        other = versions or {}
        core = self._side(PYTENSOR, new)
        asked: dict[str, tuple[str, str]] = {}
        holds: dict[str, str | None] = {}
        exchanged: set[str] = set()
        for axis in self.axes:
            if axis.name == PYTENSOR:
                continue
            exchanged |= {*axis.packages}
            if axis.packages and (version := other.get(axis.packages[0])) is not None:
                asked[axis.name] = (f"{axis.name}=={version}",) * 2
                holds[axis.name] = version
                continue
            side = self._side(axis.name, new)
            for name in axis.packages:
                holds[name] = side.packages.get(name)
                if side.version(name) is not None:
                    asked[name] = side.requirement(name), f"{name}=={side.version(name)}"
        subject = core.subject
        extras = {**{name: text for name, text in core.named.items() if name not in exchanged},
                  **{name: pinned for name, (_, pinned) in asked.items()}}  # fmt: skip
        kept = [text for text in subject.requirements if name_of(text) not in exchanged]
        pinned = [extras[name] for name in sorted(extras)]
        return Mixed(
            subject.model_copy(update={
                "label": " ".join([_core_label(subject), *pinned]),
                "requirements": (*kept, *(asked[name][0] for name in sorted(asked))),
                "extras": tuple(pinned),
                "python": self._side(PYTHON, new).subject.python,
                # All versions are said, so that one combination is one subject on any date.
                "exclude_newer": None,
            }),
            self._pins(exchanged), holds,
        )  # fmt: skip

    def _side(self, axis: str, new: Combination) -> Side:
        return self.new if axis in new else self.old

    def _pins(self, exchanged: set[str]) -> dict[str, str]:
        """What no axis exchanges stays as it is, wherever something requires it."""
        every = {**self.new.packages, **self.old.packages}
        return {
            name: every[name] for name in sorted(every)
            if name != "pytensor" and name not in exchanged
        }  # fmt: skip

    def _differing(self) -> Iterator[str]:
        named = {*self.old.named} ^ {*self.new.named}
        for name in sorted({*self.old.packages, *self.new.packages} - {"pytensor"}):
            one, other = self.old.version(name), self.new.version(name)
            if one != other and (name in named or (one is not None and other is not None)):
                yield name


def _core_label(subject: Subject) -> str:
    return subject.label.removesuffix(" ".join(["", *subject.extras]))
