"""What a kept cache says of the sample that filled it."""

from __future__ import annotations

import json
import random
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from .messages import FILLER_FILE
from .sweeping import PREFIX


class CacheError(ValueError):
    """Raised for a directory that is no filled cache, or cannot become one; it says why."""


def row_of_names(filled: Path | None) -> Iterator[str]:
    """Yield names for the sandbox of a sample that counts work, without an end.

    Names of files are hashed and copied, so that a random name changes how many instructions a
    build executes. The first is the name of the sandbox in which the cache ``filled`` was kept.
    """
    name = "" if filled is None else read_filler(filled).sandbox
    if re.fullmatch(rf"{PREFIX}\d{{3,9}}", name):
        yield name
    yield from (f"{PREFIX}{number:03}" for number in count())


@dataclass(frozen=True)
class Filler:
    """What a kept cache says of the sample that filled it."""

    hash_seed: int
    sandbox: str
    """The name of its directory; empty: not known."""


def read_filler(filled: Path) -> Filler:
    """Return what a kept cache says of the sample that filled it. Raises CacheError."""
    try:
        said = json.loads((filled / FILLER_FILE).read_text())
        return Filler(int(said["hash_seed"]), str(said.get("sandbox", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CacheError(
            f"{filled} is not a filled cache: take a cold sample with --keep-cache {filled} first"
        ) from error


def read_seed(filled: Path) -> int:
    """Return the hash seed of the process that filled a kept cache. Raises CacheError."""
    return read_filler(filled).hash_seed


def new_seed() -> int:
    """Return a random hash seed for PYTHONHASHSEED, from 1 to 2**32 - 1."""
    return secrets.randbelow(2**32 - 1) + 1


def seeds_from(seed: int) -> Iterator[int]:
    """Yield hash seeds that follow from one, without an end: who has it can repeat all of them."""
    drawn = random.Random(seed)  # noqa: S311 - no secret
    while True:
        yield drawn.randrange(1, 2**32)
