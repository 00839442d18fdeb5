"""Which releases of numba there are for a PyTensor, as the package index has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from observatory.run.index import Index
from observatory.run.uv import UvError
from observatory.store.records.subject import Subject

_MOST = 100


@dataclass(frozen=True)
class Numba:
    """A numba to try a PyTensor with."""

    version: str
    overrides: tuple[str, ...] = ()
    """What the installer has to be told against PyTensor's metadata; empty: it is allowed."""


@dataclass(frozen=True)
class Numbas:
    """The releases of numba for one subject, on its Python."""

    index: Index
    subject: Subject

    def own(self) -> str | None:
        """The version that the subject pins; None if it takes what it gets."""
        pins = (Requirement(text) for text in self.subject.requirements)
        for pin in pins:
            if canonicalize_name(pin.name) == "numba" and str(pin.specifier).startswith("=="):
                return str(pin.specifier).removeprefix("==")
        return None

    def allowed(self) -> list[Numba]:
        """Every final release that the metadata of the subject's PyTensor allows, oldest first.

        Releases without a wheel for the subject's Python are none. Raises UvError.
        """
        found: list[Numba] = []
        bound = "numba"
        while len(found) < _MOST:
            version = self._resolved([self._pytensor(), bound])
            if version is None or Version(version).is_prerelease:
                break
            found.insert(0, Numba(version))
            bound = f"numba<{version}"
        return found

    def newest(self) -> Numba:
        """The newest final release there is for this Python, whatever PyTensor says of it.

        Raises UvError.
        """
        pins = self.index.resolve(["numba"], minor=self.subject.python)
        return self.asked(pins["numba"])

    def newest_prerelease(self) -> Numba | None:
        """The newest pre-release beyond the newest final release; None if the index has none.

        Raises UvError.
        """
        final = self.index.resolve(["numba"], minor=self.subject.python)["numba"]
        try:
            pins = self.index.resolve(
                [f"numba>{final}"], minor=self.subject.python, prereleases=True
            )
        except UvError as error:
            if _unsatisfiable(error):
                return None
            raise
        # A pre-release of numba comes with one of llvmlite, which nobody else asks for.
        return Numba(
            pins["numba"], tuple(f"{name}=={pins[name]}" for name in ("llvmlite", "numba"))
        )

    def asked(self, version: str) -> Numba:
        """One release, with PyTensor's bounds lifted if it is beyond them. Raises UvError."""
        fits = self._resolved([self._pytensor(), f"numba=={version}"]) is not None
        return Numba(version, () if fits else (f"numba=={version}",))

    def _pytensor(self) -> str:
        return next(
            text
            for text in self.subject.requirements
            if canonicalize_name(Requirement(text).name) == "pytensor"
        )

    def _resolved(self, requirements: Sequence[str]) -> str | None:
        """The numba that satisfies the requirements, or None. Raises UvError."""
        try:
            return self.index.resolve(requirements, minor=self.subject.python)["numba"]
        except UvError as error:
            if _unsatisfiable(error):
                return None
            raise


def _unsatisfiable(error: UvError) -> bool:
    # Of a long explanation only its end is kept.
    said = error.said.lower()
    return "no solution found" in said or "requirements are unsatisfiable" in said
