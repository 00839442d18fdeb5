"""Checking the contracts of numba in an environment, and the releases of numba to check with."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.version import Version

from observatory.errors import Exit, ObservatoryError
from observatory.run.environments import Environment
from observatory.run.printing import printed_record
from observatory.run.uv import Index, if_possible
from observatory.store.records.contracts import Checked, Contracts
from observatory.store.records.subject import Subject, name_of

_MOST = 100
"""The limit on allowed releases of numba."""


class SuiteError(ObservatoryError):
    """The suite printed no record; the message says what it did instead."""

    exit_code = Exit.UNDECIDED


def check(
    environment: Environment, subject: Subject, lifted: bool = False, timeout: float = 1200.0
) -> Contracts:
    """Check every contract in an environment, which takes about half a minute.

    ``lifted`` says that the environment ignores PyTensor's bound of numba; ``timeout`` is the limit
    for the whole suite, in seconds. Raises SuiteError.
    """
    record = printed_record(
        environment, "benchmarks.contracts", (), Contracts,
        timeout=timeout, what="the contracts", error=SuiteError,
    )  # fmt: skip
    return record.model_copy(update={"checked": Checked(subject=subject, lifted=lifted)})


@dataclass(frozen=True)
class Numba:
    """A release of numba to try a PyTensor with."""

    version: str
    overrides: tuple[str, ...] = ()
    """Requirements that override PyTensor's metadata; empty if PyTensor allows the release."""


@dataclass(frozen=True)
class Numbas:
    """The releases of numba for one subject on its Python. Every method raises UvError."""

    index: Index
    subject: Subject

    def own(self) -> str | None:
        """Return the version that the subject pins, or None if it pins none."""
        pin = self._requirement("numba")
        specifier = "" if pin is None else str(pin.specifier)
        return specifier.removeprefix("==") if specifier.startswith("==") else None

    def allowed(self) -> list[Numba]:
        """Return every final release that the subject's PyTensor allows, oldest first.

        A release without a wheel for the subject's Python is left out.
        """
        found: list[Numba] = []
        wanted = [str(self._requirement("pytensor")), "numba"]
        while len(found) < _MOST and (pins := if_possible(lambda: self._pins(*wanted))):
            version = pins["numba"]
            if Version(version).is_prerelease:
                break
            found.insert(0, Numba(version))
            wanted[1] = f"numba<{version}"
        return found

    def older(self) -> str | None:
        """Return the newest release before the subject's own that its PyTensor allows, or None."""
        wanted = [str(self._requirement("pytensor")), f"numba<{self.own()}"]
        pins = if_possible(lambda: self._pins(*wanted)) if self.own() else None
        return None if pins is None else pins["numba"]

    def newest(self) -> Numba:
        """Return the newest final release for this Python, whether PyTensor allows it or not."""
        return self.asked(self._pins("numba")["numba"])

    def newest_prerelease(self) -> Numba | None:
        """Return the newest pre-release that is later than every final release, or None."""
        bound = f"numba>{self._pins('numba')['numba']}"
        pins = if_possible(lambda: self._pins(bound, prereleases=True))
        if pins is None:
            return None
        # A pre-release of numba needs one of llvmlite, which no other requirement names.
        overrides = tuple(f"{name}=={pins[name]}" for name in ("llvmlite", "numba"))
        return Numba(pins["numba"], overrides)

    def asked(self, version: str) -> Numba:
        """Return one release, with an override if it is outside of PyTensor's bounds."""
        pin = f"numba=={version}"
        fits = if_possible(lambda: self._pins(str(self._requirement("pytensor")), pin))
        return Numba(version, () if fits else (pin,))

    def _requirement(self, name: str) -> Requirement | None:
        named = (text for text in self.subject.requirements if name_of(text) == name)
        return next(map(Requirement, named), None)

    def _pins(self, *requirements: str, prereleases: bool = False) -> dict[str, str]:
        minor = self.subject.python
        return self.index.resolve(requirements, minor=minor, prereleases=prereleases)
