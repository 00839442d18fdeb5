"""Record the calls of a method, without changing what it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Calls = list[tuple[tuple[Any, ...], Any]]
"""For each call, its arguments without the class or instance, and its result."""


@contextmanager
def following(owner: Any, name: str) -> Iterator[Calls]:
    """Give a list to which every call of a method is added inside the block.

    ``owner``: the class that defines the method ``name``. Raises KeyError if it does not.
    """
    original = owner.__dict__[name]
    of_class = isinstance(original, classmethod)
    function = original.__func__ if of_class else original
    calls: Calls = []

    def followed(first: Any, *arguments: Any, **keywords: Any) -> Any:
        result = function(first, *arguments, **keywords)
        calls.append(((*arguments, *keywords.values()), result))
        return result

    setattr(owner, name, classmethod(followed) if of_class else followed)
    try:
        yield calls
    finally:
        setattr(owner, name, original)
