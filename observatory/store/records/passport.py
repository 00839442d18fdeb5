"""Cache passports: what an environment compiles for, and who filled a cache.

A cache carries ``observatory-passport.json``, schema ``docs/schemas/passport-1.json``.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from observatory.store.base.locking import in_turn
from observatory.store.base.problems import RecordUsageError
from observatory.store.base.record import Record, load_record, save_record

NAME = "observatory-passport.json"
_LARGEST = 2**18
_MOST = 100
_Fact = Annotated[str, StringConstraints(max_length=4000)]


class Passport(Record):
    """Everything on which compiled code, or whether it can be loaded, depends."""

    pytensor: _Fact
    numba: _Fact = Field("", description="empty: not installed")
    python: _Fact = Field(description="such as 3.13.0")
    machine: tuple[_Fact, ...] = Field(
        (), max_length=10, description="what numba compiles for: triple, processor, its features"
    )
    numpy_abi: _Fact = Field("", description="such as 0x2000000")
    compiler: _Fact = Field("", description="version of the C++ compiler; empty: there is none")
    settings: dict[_Fact, _Fact] = Field(
        {}, max_length=200, description="PYTENSOR_FLAGS and variables of numba that change code"
    )

    @property
    def minor(self) -> str:
        """The minor version of Python, which numba's files name: ``3.13``."""
        return ".".join(self.python.split(".")[:2])

    @property
    def processor(self) -> str:
        """The name of the processor, such as ``znver4``; empty if numba is not installed."""
        return self.machine[1] if len(self.machine) > 1 else ""

    @property
    def key(self) -> str:
        """A key for a store of caches: equal for equal passports, and different otherwise."""
        return self.key_of(self.pytensor)

    def key_of(self, pytensor: str) -> str:
        """The key of the same environment with another PyTensor."""
        words = (f"pytensor-{pytensor}", f"numba-{self.numba or 'none'}", f"py{self.python}",
                 self.processor or "c", self._digest())  # fmt: skip
        return re.sub(r"[^A-Za-z0-9._-]", "_", "-".join(words))

    def _digest(self) -> str:
        """A hash of everything that the key does not spell out."""
        rest = self.model_dump(include={"machine", "numpy_abi", "compiler", "settings"})
        return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:12]


class Stamp(Record):
    """Which environments have used a cache, in order; each may have added to it."""

    schema_: Literal["observatory/passport/1"] = Field("observatory/passport/1", alias="schema")
    passports: list[Passport] = Field(max_length=_MOST)


def load(directory: Path) -> list[Passport]:
    """Return which environments have used a cache; none if it does not say.

    Raises RecordError for a broken file.
    """
    stamp = load_record(
        Stamp, directory / NAME, _LARGEST, "is no cache passport", "delete the cache"
    )
    return [] if stamp is None else stamp.passports


def stamp(directory: Path, passport: Passport) -> Path:
    """Record in a cache that an environment has used it. Raises RecordError and OSError."""
    with in_turn(directory):  # forgetting one could call its entries safe
        used = [one for one in load(directory) if one != passport]
        if len(used) == _MOST:
            raise RecordUsageError(f"{_MOST} environments have used {directory}; delete the cache")
        return save_record(directory / NAME, Stamp(passports=[*used, passport]))
