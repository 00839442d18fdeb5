"""The isolation of one sample: its own directories, and an environment without the user's settings.

All of it is set before the measured process imports anything: later it would need private names of
PyTensor, which changed between releases.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import itertools
import json
import os
import re
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NoReturn

from . import trace
from .catalogue import BACKENDS, Backend
from .fillers import CacheError, read_filler
from .flags import flag
from .messages import FILLER_FILE
from .sweeping import OWNER, PREFIX, remove

ROOT = Path(__file__).absolute().parent.parent
"""The directory that holds the package `benchmarks`."""

MARKER = "OBSERVATORY_SANDBOX"
"""Environment variable that every process of a sample inherits, whatever its session is."""

_SCRUBBED = (
    "PYTHON", "PYTENSOR", "NUMBA_", "PYMC", "OMP_", "MKL_", "OPENBLAS_", "BLIS_", "CCACHE_",
    *chain.from_iterable(one.settings for one in BACKENDS.values()),
)  # fmt: skip
"""The beginnings of the variables that the measured process does not inherit."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end a sample."""
_REMOVALS = 10
_KEYS_OF_C = "pytensor/*/*/key.pkl"
MOST_LEAKED = 30
_BY_CHANCE = re.compile(r"(?<=tmp)[a-z0-9_]{8}|[0-9]{3,}|[0-9a-f]{12,}")
_FIRST_DEF = re.compile(r"^def ([A-Za-z_][A-Za-z0-9_]{0,79})\(", re.MULTILINE)
_READ = 8192
_LONGEST_NAME = 160


@dataclass(frozen=True)
class Sandbox:
    """The directories of one sample, which are removed after it."""

    path: Path
    lock: int
    """Descriptor of the locked owner file: the kernel unlocks it however this process ends."""
    cache: Path
    """The directory of all disk caches: `pytensor/` (C and numba) and `numba/`."""
    tmp: Path
    """The TMPDIR of the measured process; files that stay in it are leaked."""
    work: Path
    """The working directory of the measured process: empty, without configuration files."""
    out: Path
    """The directory for the jobs, reports and stderr of the sample's processes."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that every measured process has, as a user would set them; they outrank all."""

    @classmethod
    @contextlib.contextmanager
    def open(cls, names: Iterable[str] = ()) -> Iterator[Sandbox]:
        """Make a sandbox for the block of `with`, and remove it afterwards. Raises OSError.

        ``names``: as for `make`.

        A signal that ends the sample waits while the directories are made, and while they are
        removed: half of the signals sent at those moments used to leave them behind.
        """
        made = None
        try:
            with _uninterrupted():
                made = cls.make(names)
            yield made
        finally:
            with _uninterrupted():
                if made is not None:
                    made.remove()

    @classmethod
    def make(cls, names: Iterable[str] = ()) -> Sandbox:
        """Make a sandbox, and lock it so that `sweep` leaves it alone. Raises OSError.

        ``names``: it gets the first one that is free, and a random name if none is.
        """
        while True:
            path = _first_free(names) or Path(tempfile.mkdtemp(prefix=PREFIX))
            lock = os.open(path / OWNER, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock).st_nlink:
                break
            os.close(lock)  # another sample's sweep removed it between the two calls
        sandbox = cls(path, lock, path / "cache", path / "tmp", path / "work", path / "out")
        # PyTensor 2.36.0 raises if the parent of its cache directory is missing.
        caches = (sandbox.cache, sandbox.cache / "pytensor", sandbox.cache / "numba")
        for directory in (*caches, sandbox.tmp, sandbox.work, sandbox.out):
            directory.mkdir()
        trace.event("sandbox made", path=str(path))
        return sandbox

    def environment(
        self,
        hash_seed: int,
        flags: str | None,
        inherited: Collection[str] | None = None,
        *,
        backend: Backend | None = None,
    ) -> dict[str, str]:
        """Return the environment variables of the measured process.

        ``hash_seed``: its PYTHONHASHSEED. ``flags``: further PYTENSOR_FLAGS. ``backend``: what it
        measures; its variables are set too. ``inherited``: the names of this process's variables
        that it inherits; None: all that change no result.
        """
        compiledir = flag("base_compiledir", str(self.cache / "pytensor"))
        return {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(_SCRUBBED) and (inherited is None or name in inherited)
            },
            MARKER: str(self.path),
            "PYTHONPATH": str(ROOT),
            "PYTHONSAFEPATH": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTHONHASHSEED": str(hash_seed),
            "PYTENSOR_FLAGS": ",".join(filter(None, (compiledir, flags))),
            "PYTENSORRC": str(self.work / "absent"),
            "NUMBA_CACHE_DIR": str(self.cache / "numba"),
            "TMPDIR": str(self.tmp),
            # With more, a BLAS would have threads running at the fork.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "NUMBA_NUM_THREADS": "1",
            # If g++ is ccache, a cold build would be served from the user's cache.
            "CCACHE_DISABLE": "1",
            **(backend.environment(str(self.cache)) if backend else {}),
            **self.variables,
        }

    def leaked(self) -> dict[str, int]:
        """Return how many files of each name the processes left in their temporary directory.

        What chance gives a name is a `*`, and a Python source has the function that it begins with:
        `tmp*.py: def perform`. The most frequent come first; those beyond MOST_LEAKED are "others".
        """
        files = (path for path in self.tmp.rglob("*") if not path.is_dir())
        found = Counter(_name_of(path, self.tmp) for path in files)
        names = dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))
        shown = dict(itertools.islice(names.items(), MOST_LEAKED))
        rest = sum(names.values()) - sum(shown.values())
        return shown | ({"others": rest} if rest else {})

    def cache_bytes(self) -> int:
        """Return the size of all files of the caches in bytes."""
        return sum(self.cache_files().values())

    def cache_files(self) -> dict[str, int]:
        """Return the size in bytes of each file of the caches, by its path in them."""
        return {
            str(path.relative_to(self.cache)): path.stat().st_size
            for path in self.cache.rglob("*")
            if path.is_file() and path.name != FILLER_FILE
        }

    def grown(self, before: Mapping[str, int]) -> dict[str, float]:
        """Return how many files the caches have that they had not, and what was added in bytes.

        ``before``: what `cache_files` returned earlier. A file that became smaller subtracts
        nothing.
        """
        now = self.cache_files()
        return {
            "files_grown": len(now.keys() - before.keys()),
            "bytes_grown": sum(max(0, size - before.get(path, 0)) for path, size in now.items()),
        }

    def start_from(self, filled: Path) -> None:
        """Replace the empty cache by a copy of a filled one. Raises CacheError.

        The key of each C module names the file of the module. Where that is another one, PyTensor
        asks for the real paths of both, which no user's cache costs: 0.3 % of the instructions of a
        build. The copy therefore names the files of this sandbox, if its name is as long.
        """
        filler = read_filler(filled)
        shutil.rmtree(self.cache)
        shutil.copytree(filled, self.cache, symlinks=True)
        theirs, ours = filler.sandbox.encode(), self.path.name.encode()
        if theirs != ours and len(theirs) == len(ours):
            for path in self.cache.glob(_KEYS_OF_C):
                path.write_bytes(path.read_bytes().replace(theirs, ours))
        trace.event("cache copied", source=str(filled), target=str(self.cache))

    def keep_cache(self, target: Path, hash_seed: int) -> None:
        """Copy the caches to ``target``, in place of what was there. Raises CacheError.

        ``hash_seed``: it is stored in the copy, for samples that start from it under fork, and so
        is the name of this sandbox, for those that count work.
        """
        partial = target.with_name(f"{target.name}.{secrets.token_hex(4)}.partial")
        try:
            shutil.copytree(self.cache, partial, symlinks=True)
            filler = {"hash_seed": hash_seed, "sandbox": self.path.name}
            (partial / FILLER_FILE).write_text(json.dumps(filler))
            if target.exists():
                shutil.rmtree(target)
            partial.rename(target)
        except OSError as error:  # copytree's own has a list of errors in place of a reason
            shutil.rmtree(partial, ignore_errors=True)
            why = error.strerror or str(error)[:300]
            raise CacheError(f"the caches cannot be kept in {target}: {why}") from error

    def within(self, name: str) -> Sandbox:
        """Return a sandbox inside this one, with directories of its own. Raises OSError.

        What its processes store, leave behind and report is not mixed with that of the others.
        """
        inside = self.path / name
        caches = (inside / "cache", inside / "cache" / "pytensor", inside / "cache" / "numba")
        for directory in (inside, *caches, inside / "tmp", inside / "out"):
            directory.mkdir()
        return replace(self, cache=inside / "cache", tmp=inside / "tmp", out=inside / "out")

    def empty_tmp(self) -> None:
        """Delete the files of a filler from the temporary directory: they are not leaked."""
        shutil.rmtree(self.tmp)
        self.tmp.mkdir()

    def link_caches(self, backend: Backend) -> None:
        """Let what its package caches in the temporary directory be in the caches. Raises OSError.

        So it is copied and measured with them, and is not leaked.
        """
        for name in backend.caches_in_tmp:
            kept = self.cache / name.format(user=getpass.getuser())
            kept.mkdir(exist_ok=True)
            with contextlib.suppress(FileExistsError):
                (self.tmp / kept.name).symlink_to(kept)

    def remove(self) -> None:
        """Remove all directories that can be removed, and unlock."""
        for _ in range(_REMOVALS):
            remove(self.path)
            if not self.path.exists():
                break
            time.sleep(0.05)  # a process that was just killed may have made one more file
        os.close(self.lock)
        trace.event("sandbox removed", path=str(self.path), left=self.path.exists())


def end_once(number: int, _frame: object = None) -> NoReturn:
    """The handler of the signals that end a sample: after the first, it cleans up undisturbed.

    The kernel sends the signal for a parent's death once for each thread that the parent had. A
    second one would end the cleaning up that the first began. Raises SystemExit.
    """
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let the signals that end a sample wait for the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _name_of(path: Path, within: Path) -> str:
    """The name of a leaked file, so that the same file has the same name in every sample."""
    begun = ""
    with contextlib.suppress(OSError):
        if path.is_file():  # opening a named pipe would wait for a writer
            with path.open("rb") as file:
                begun = file.read(_READ).decode(errors="replace")
    function = _FIRST_DEF.search(begun)
    shown = os.fsencode(path.relative_to(within)).decode(errors="replace")
    name = shown + (f": def {function[1]}" if function else "")
    return _BY_CHANCE.sub("*", name)[:_LONGEST_NAME]


def _first_free(names: Iterable[str]) -> Path | None:
    """Make the first directory of these names that is not there. Raises OSError."""
    for name in names:
        path = Path(tempfile.gettempdir(), name)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path
    return None
