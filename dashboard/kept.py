"""What is kept of a site from one build to the next: nothing is made again that would be the same.

Keys are hashes of all that a file, or what is shown of a series, is made of. Whoever keeps them
answers for the rest: the code, its libraries and the options are the same, and the files of the
site lie there as they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

_SIZE = 16


class Later(NamedTuple):
    """A file that is made only if its key is not that of the file which is there."""

    key: str
    make: Callable[[], bytes]


@dataclass
class Kept:
    """What an earlier build left, and what this one leaves."""

    files: Mapping[str, str] = field(default_factory=dict)
    """By path, the key of a file that lies in the site."""
    views: dict[str, str] = field(default_factory=dict)
    """By key, what is shown of a series as a text of JSON, until somebody asks."""
    files_now: dict[str, str] = field(default_factory=dict)
    views_now: dict[str, Any] = field(default_factory=dict)

    def view(self, key: str, make: Callable[[], Any], read: Callable[[Any], Any]) -> Any:
        """What is shown of the series of this key: made, or ``read`` from what JSON kept of it."""
        if key not in self.views_now:
            known = self.views.pop(key, None)
            self.views_now[key] = make() if known is None else read(orjson.loads(known))
        return self.views_now[key]


def hashed(*parts: bytes | bytearray | str) -> str:
    """A hash of texts and bytes, in 32 hexadecimal digits; where one ends matters."""
    found = blake2b(digest_size=_SIZE)
    for one in parts:
        content = one.encode(errors="replace") if isinstance(one, str) else one
        found.update(b"%d:" % len(content))
        found.update(content)
    return found.hexdigest()
