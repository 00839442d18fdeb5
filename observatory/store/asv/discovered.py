"""What asv's own discovery finds in suites. It imports them all, which takes most of a second.

A night writes ``benchmarks.json`` after each subject, and the suites stay as they are. What was
found is therefore kept in ``$XDG_CACHE_HOME/observatory/discovered/``, with a hash of the suites'
code and the versions of asv and Python. A plug-in of asv_runner could change the list too; our
suites use none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson
from asv.runner import BENCHMARK_RUN_SCRIPT

from observatory.store.base.files import cache_directory, write_atomic
from observatory.store.base.problems import RecordError
from observatory.store.base.scratch import temporary

_TIMEOUT = 120.0
_LIBRARIES = ("asv", "asv_runner")


def discovered(suites: Path) -> list[dict[str, Any]]:
    """Return the entries of all benchmarks in a directory of suites, as asv lists them.

    Raises RecordError if asv cannot import the suites, with the last lines of what it said, and
    OSError if no process can be started.
    """
    suites = suites.resolve()
    base, expected = cache_directory(), _hash_of_code(suites)
    if base is None or expected is None:
        return _imported(suites)
    file = base / "discovered" / f"{_hash(os.fsencode(suites))}.json"
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        kept = orjson.loads(file.read_bytes())
        if kept["from"] == expected:
            entries: list[dict[str, Any]] = kept["entries"]
            return entries
    entries = _imported(suites)
    with contextlib.suppress(OSError):
        write_atomic(file, orjson.dumps({"from": expected, "entries": entries}))
    return entries


def _imported(suites: Path) -> list[dict[str, Any]]:
    """Have asv's script import the suites, in a process of its own."""
    with temporary("observatory-discovered-") as scratch:
        found = Path(scratch, "discovered.json")
        command = [sys.executable, BENCHMARK_RUN_SCRIPT, "discover", str(suites), str(found)]
        try:
            done = subprocess.run(
                command,
                cwd=scratch,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise RecordError(
                f"asv did not finish importing {suites} within {_TIMEOUT:g} s; "
                "a suite must import nothing heavy at its top"
            ) from error
        if done.returncode != 0:
            stderr = "\n".join(done.stderr.strip().splitlines()[-5:])
            raise RecordError(f"asv cannot import the suites in {suites}; it says:\n{stderr}")
        entries: list[dict[str, Any]] = orjson.loads(found.read_bytes())
        return entries


def _hash_of_code(suites: Path) -> str | None:
    """A hash of what decides which entries there are; None if a file cannot be read.

    Such a file is no error here: an editor's lock is a broken link, and asv does not import it.
    """
    parts = [version(name).encode() for name in _LIBRARIES] + [sys.version.encode()]
    try:
        for source in sorted(suites.rglob("*.py")):
            parts += [os.fsencode(source.relative_to(suites)), source.read_bytes()]
    except OSError:
        return None
    return _hash("".join(map(_hash, parts)).encode())


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
