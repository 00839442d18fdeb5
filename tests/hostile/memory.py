"""How much memory each reader of strangers' contents takes: `python -m tests.hostile.memory`.

Prints, for each surface and each content, by how many MB the process grew that read it, and how it
ended. Each is read in a fork, so that none begins with what another one has left. Each content has
two sizes, because what is too large for a reader is refused unread.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from observatory.errors import ObservatoryError
from tests.hostile.surface import Reader
from tests.hostile.surfaces import SURFACES

SIZES = {"8 MiB": 8 * 2**20, "512 KiB": 2**19}
"""Most of the smaller ones have nearly as many values as are read, and the larger ones too many."""
LARGE = {"16 MiB": 2**24}
"""The largest JSON file that is read, for contents that cost what they cost by their bytes."""
LARGEST = {"32 MiB": 2**25, "24 MiB": 24 * 2**20}
"""Of these, answers of a forge are read up to 24 MiB; all other readers refuse them."""


def _filled(size: int, begin: bytes, item: bytes, end: bytes = b"") -> bytes:
    return begin + item * ((size - len(begin) - len(end)) // len(item)) + end


def _keys(size: int) -> bytes:
    names = b"".join(b'"%x":0,' % number for number in range(900_000))
    return b"{" + names[: size - 10].rpartition(b",")[0] + b"}"


def _deep_tables(size: int) -> bytes:
    lines = b"".join(b"[%x%b]\n" % (number, b".a" * 19) for number in range(200_000))
    return lines[:size].rpartition(b"\n")[0]


_SERVED = ("answers of a forge",)
"""Their server is a thread, which a fork does not inherit: each has one of its own."""
_IN_PIECES = ("index of a conda channel",)
"""Their readers never hold a whole content, and take long for one."""
_CUT = ("names and texts in pages", "command lines")
"""Their readers take less of a content than the smallest has, so that it stands for all sizes."""
_WIDE = "\U0001f600".encode()
"""One such character, and each of a text takes four bytes in memory."""
_VALUES = b'{"":0},' * 190_000 + b"0"
"""Nearly as many values as are read; no others take more memory."""


def _combinations(size: int, few: int, many: int, letters: int) -> bytes:
    """An asv result file with a value for each combination of two parameters."""
    words = [json.dumps(f"\U0001f600{'x' * letters}{number}") for number in range(few)]
    others = [json.dumps(str(number)) for number in range(many)]
    whole = (
        '{"commit_hash":"c0ffee00","env_name":"e","date":1,"params":{"machine":"ci"},'
        '"result_columns":["result","params"],"version":2,"results":{'
        f'"a":[[{",".join(["1"] * few * many)}],[[{",".join(words)}],[{",".join(others)}]]]}}}}'
    ).encode()
    return _filled(size, whole, b" ")


_MOST = "a wide text beside values"
WIDE: dict[str, Callable[[int], bytes]] = {
    "one wide text": lambda size: _filled(size, b'{"version":"' + _WIDE, b"x", b'"}'),
    _MOST: lambda size: _filled(
        size, b'{"results":{"a":[' + _VALUES + b']},"version":"' + _WIDE, b"x", b'"}'
    ),
    "wide texts": lambda size: _filled(size, b'{"results":["', _WIDE + b"x" * 200 + b'","', b'"]}'),
    "NaN, values and a wide text": lambda size: _filled(
        size, b'{"n":NaN,"a":[' + _VALUES + b'],"version":"\\ud83d\\ude00', b"x", b'"}'
    ),
    # As many as are read, with short names and with long ones.
    "combinations": lambda size: _combinations(size, 100, 1300, 0),
    "long combinations": lambda size: _combinations(size, 200, 200, 190),
}
CONTENTS: dict[str, Callable[[int], bytes]] = {
    "different keys": _keys,
    "empty objects": lambda size: _filled(size, b"[", b"{},", b"{}]"),
    "lists in a result": lambda size: _filled(size, b'{"results":{"a":[', b"[],", b"[]]}}"),
    "short texts": lambda size: _filled(size, b'{"verdicts":["', b'ab","', b'"]}'),
    "one long text": lambda size: _filled(size, b'{"version":"', b"x", b'"}'),
    "short lines": lambda size: _filled(size, b"", b"{}\n"),
    "tables": lambda size: _filled(size, b"", b"[[acknowledged]]\nid = 1\n"),
    "tables in tables": _deep_tables,
    "no text": lambda size: b"\xff" * size,
}


def grown(read: Reader, content: bytes, work: Path) -> tuple[float, str]:
    """By how many MB reading a content makes this process grow at most, and how it ends."""
    before = _kilobytes("VmRSS")
    try:
        read(content, work)
        ending = "read"
    except ObservatoryError:
        ending = "refused"
    except Exception as error:
        ending = f"{type(error).__name__}: {error}"[:200]
    return (_kilobytes("VmHWM") - before) / 1024, ending


def in_fork(read: Reader, content: bytes) -> tuple[float, str]:
    """What `grown` returns, in a fork of this process, whose own peak begins anew."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        with tempfile.TemporaryDirectory() as work:
            found = grown(read, content, Path(work))
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read()
    os.wait()
    megabytes, ending = json.loads(told or b'[0, "died"]')
    return megabytes, ending


def _kilobytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))


def main() -> None:
    """Print an object: for each surface and content, MB and how it ended."""
    for name, surface in SURFACES.items():
        if name not in _SERVED:
            with tempfile.TemporaryDirectory() as work, suppress(ObservatoryError):
                # What it imports is not what a content costs.
                surface.read(surface.seeds()[0], Path(work))
    found: dict[str, dict[str, tuple[float, str]]] = {name: {} for name in SURFACES}
    costly = {_MOST: WIDE[_MOST]}
    for contents, sizes in ((CONTENTS, SIZES), (WIDE, LARGE), (costly, LARGEST)):
        for kind, make in contents.items():
            for words, size in sizes.items():
                content = make(size)  # once for all: making some takes longer than reading them
                for name, surface in SURFACES.items():
                    cut = name in _CUT or (name in _IN_PIECES and contents is not CONTENTS)
                    if not cut or size == min(SIZES.values()):
                        found[name][f"{kind}, {words}"] = in_fork(surface.read, content)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
