"""The libraries that only some commands need: the optional dependencies of the distribution."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from observatory.errors import Exit, ObservatoryError

_SOURCE = "https://github.com/pytensor-observatory/observatory"


class MissingLibraryError(ObservatoryError):
    """A library of an optional dependency is not installed."""

    exit_code = Exit.USAGE


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Import what the optional dependency ``name`` installs. Raises MissingLibraryError."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "observatory":
            raise
        raise MissingLibraryError(
            f"{(error.name or name).partition('.')[0]} is not installed; "
            f"run `pip install 'pytensor-observatory[{name}] @ git+{_SOURCE}'`"
        ) from error
