"""The releases of numba in the index of a conda channel, which is read piece by piece.

An index has several hundred MB, and a parser would take many times that. But the name of a file
says which package and version is in it (conda's CEP 26), and in JSON a quote without a backslash
before it begins or ends a text. So names are found without a parser, and memory depends on their
number alone. Whether the index is complete is seen from its braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packaging.version import InvalidVersion, Version

from observatory.numba_bound.pins import NAME

_FILE = re.compile(
    rb'"(%s-([0-9][^"\s-]{0,63})-[^"\s-]{1,127}\.(?:conda|tar\.bz2))"\s*([:,\]])' % NAME.encode()
)
"""The name of a file of numba, its version, and what follows: a colon if the index describes it."""
_LONGEST = 1 << 20
"""Bytes without a comma, of which an index has many more."""
_MOST_FILES = 20_000


class RepodataError(ValueError):
    """The content is no index that can be read; the message is a predicate."""


def releases(pieces: Iterable[bytes]) -> frozenset[Version]:
    """The final releases whose files are listed, and not also listed as removed.

    Raises RepodataError.
    """
    listed: dict[bytes, bytes] = {}
    removed: set[bytes] = set()
    depth, inside = 0, False
    for number, block in enumerate(_blocks(pieces)):
        if number == 0 and not block.lstrip().startswith(b"{"):
            raise RepodataError("is not a JSON object")
        for file, version, after in _FILE.findall(block):
            if after == b":":
                listed[file] = version
            else:
                removed.add(file)
        if len(listed) + len(removed) > _MOST_FILES:
            raise RepodataError(f"lists more than {_MOST_FILES:,} files of {NAME}")
        parts = block.split(b'"')
        bare = b"".join(parts[inside::2])
        depth += bare.count(b"{") - bare.count(b"}")
        inside ^= len(parts) % 2 == 0
    if depth or inside:
        raise RepodataError("is cut off")
    return frozenset(_final(version for file, version in listed.items() if file not in removed))


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The content in blocks that end at a comma, so in no name; escapes are question marks."""
    rest = b""
    for piece in pieces:
        content = (rest + piece).replace(rb"\\", b"??").replace(rb"\"", b"??")
        block, comma, rest = content.rpartition(b",")
        if len(rest) > _LONGEST:
            raise RepodataError(f"has more than {_LONGEST:,} bytes without a comma")
        if comma:
            yield block + comma
    yield rest


def _final(texts: Iterable[bytes]) -> Iterator[Version]:
    for text in texts:
        try:
            version = Version(text.decode(errors="replace"))
        except InvalidVersion:
            continue  # conda allows more versions than Python does
        if not version.is_prerelease and version.local is None:
            yield version
