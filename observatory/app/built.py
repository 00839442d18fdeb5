"""A site that was built before: whether building it again would give the same files.

What it was made of is recorded in ``$XDG_CACHE_HOME/observatory/sites/``: the results, the options,
the code that draws it, and the files that were written. Nothing here imports what builds a site,
which takes longer than to see that nothing changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson

import observatory
from observatory import tool_version
from observatory.app.source import OWN, Source
from observatory.run.git import Git, GitError
from observatory.store.asv import config
from observatory.store.base.files import cache_directory, write_atomic
from observatory.store.base.problems import Problem
from observatory.store.base.signatures import (
    Signature,
    Stamp,
    Stamped,
    as_they_were,
    signature_of,
    signatures,
    stamps,
)

_CODE = Path(observatory.__file__).parent
_clock = time.time_ns


class Inputs(NamedTuple):
    """What a site was made of."""

    asked: str
    """A hash of all that is no file: options, versions, the references of a clone."""
    files: Stamped

    @property
    def tool(self) -> str:
        """A hash of all but the results: the same results give the same files under it."""
        found = hashlib.blake2b(self.asked.encode(), digest_size=16)
        code = f"{_CODE}{os.sep}"
        for name, stamp in sorted(self.files.files.items()):
            if name.startswith(code):
                found.update(f"\0{name}\0{stamp.digest}".encode(errors="replace"))
        return found.hexdigest()


class Last(NamedTuple):
    """What was recorded of a site when it was written."""

    made_of: Inputs
    written: Stamped
    problems: list[Problem]
    keys: Mapping[str, str]
    """By path in the site, what a file was made of."""


@dataclass(frozen=True)
class Ordered:
    """What somebody asked for: a site of results directories, in a directory."""

    directories: Sequence[Path]
    out: Path
    source: Source
    machine: str | None = None
    url: str = ""

    def problems_of_last(self) -> list[Problem] | None:
        """What could not be read for the site that is there, if building would give the same one.

        None if it would not, if nobody knows, or if there is no such site.
        """
        last = self._last
        try:
            same = (
                last is not None
                and last.made_of.asked == self._asked()
                and as_they_were(signatures(_files(self.out.resolve())), last.written)
                and as_they_were(self._there[1], last.made_of.files)
            )
        except (OSError, GitError):
            return None
        return last.problems if last is not None and same else None

    def inputs(self) -> Inputs | None:
        """What the site will be made of, to be asked before anything is read; None if not known."""
        before = self._last.made_of.files if self._last else None
        try:
            now, there = self._there
            return Inputs(self._asked(), Stamped(stamps(there, before), now))
        except (OSError, GitError):
            return None

    def kept(self, made_of: Inputs | None) -> tuple[dict[str, str], dict[str, str]]:
        """The keys of the files of the site that are as they were, and the views of its series.

        Views are texts of JSON.

        Nothing if another version of the tool made it, or with other options.
        """
        last, place = self._last, self._place(".views.json")
        if last is None or place is None or made_of is None or made_of.tool != last.made_of.tool:
            return {}, {}
        keys: dict[str, str] = {}
        out = self.out.resolve()
        for name, key in last.keys.items():
            path = f"{out}{os.sep}{name}"
            with contextlib.suppress(OSError):
                if last.written.has(path, signature_of(os.stat(path))):  # noqa: PTH116 of thousands
                    keys[name] = key
        views = {}
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            found = orjson.loads(place.read_bytes())
            views = dict(found["views"]) if found["tool"] == made_of.tool else {}
        return keys, views

    def remember(
        self,
        made_of: Inputs | None,
        problems: Sequence[Problem],
        keys: Mapping[str, str] | None = None,
        views: Mapping[str, Any] | None = None,
    ) -> None:
        """Record what the site, which was just written, was made of.

        ``keys``, ``views``: what `kept` gives to the next build.
        """
        record, place = self._place(".json"), self._place(".views.json")
        if record is None or place is None or made_of is None:
            return
        with contextlib.suppress(OSError, TypeError):  # it saves time and nothing else
            now = _clock()
            before = self._last.written if self._last else None
            known = {
                "asked": made_of.asked,
                "inputs": made_of.files.files,
                "checked_ns": made_of.files.checked_ns,
                "outputs": stamps(signatures(_files(self.out.resolve())), before),
                "written_ns": now,
                "problems": [[str(one.path), one.reason, one.line] for one in problems],
                "keys": keys or {},
            }
            write_atomic(place, _pieces(made_of.tool, views or {}))
            write_atomic(record, orjson.dumps(known, default=list))

    @cached_property
    def _there(self) -> tuple[int, dict[str, Signature]]:
        """When the inputs were looked at, and the signature of each. Raises OSError."""
        return _clock(), signatures(self._inputs())

    @cached_property
    def _last(self) -> Last | None:
        """What is recorded; None if it is absent, damaged or of another version."""
        if (record := self._place(".json")) is None:
            return None
        try:
            known = orjson.loads(record.read_bytes())
            files = Stamped(_stamps(known["inputs"]), known["checked_ns"])
            written = Stamped(_stamps(known["outputs"]), known["written_ns"], linked=True)
            problems = [Problem(Path(path), *rest) for path, *rest in known["problems"]]
            return Last(Inputs(known["asked"], files), written, problems, dict(known["keys"]))
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def _place(self, ending: str) -> Path | None:
        base = cache_directory()
        if base is None:
            return None
        name = hashlib.blake2b(os.fsencode(self.out.resolve()), digest_size=16).hexdigest()
        return base / "sites" / f"{name}{ending}"

    def _asked(self) -> str:
        """A hash of what is no file. Raises OSError and GitError."""
        words = [tool_version(), sys.version, *sorted(set(_distributions()))]
        words += [str(one.resolve()) for one in self.directories]
        words += [f"{key}={value}" for key, value in sorted(self.source.addresses.items())]
        words += [str(self.source.asv_config), str(self.machine), self.url]
        words += _references(self.source.clone)
        return hashlib.blake2b("\0".join(words).encode(errors="replace")).hexdigest()[:32]

    def _inputs(self) -> Iterator[str]:
        """Every file that the site follows from: results, configurations, and the tool's code."""
        out = self.out.resolve()
        for directory in self.directories:
            yield from _files(directory.resolve(), without=out)
            beside = config.beside(directory)
            if beside is not None:
                yield str(beside)
        yield from map(str, filter(None, (self.source.asv_config, config.beside(OWN))))
        yield from _files(_CODE)


def _pieces(tool: str, views: Mapping[str, Any]) -> Iterator[bytes]:
    """The views as JSON, a piece for each: of all series at once they would be much memory.

    Each is a text of JSON in it: all are read, but few at a time are asked for.
    """
    yield b'{"tool":%s,"views":{' % orjson.dumps(tool)
    for number, (key, one) in enumerate(views.items()):
        text = orjson.dumps(orjson.dumps(one, default=list).decode())
        yield b"%s%s:%s" % (b"," if number else b"", orjson.dumps(key), text)
    yield b"}}"


def _files(directory: Path, without: Path | None = None) -> Iterator[str]:
    """The paths of all files below a directory. As texts: they may be thousands."""
    for place, below, names in os.walk(directory, followlinks=True):
        below[:] = [one for one in below if one != "__pycache__" and Path(place, one) != without]
        yield from (f"{place}{os.sep}{name}" for name in names)


def _stamps(read: Mapping[str, Any]) -> dict[str, Stamp]:
    return {name: Stamp(Signature(*one), digest) for name, (one, digest) in read.items()}


def _distributions() -> Iterator[str]:
    """The installed distributions with their versions, by the names of their directories."""
    for place in filter(os.path.isdir, sys.path):
        yield from (one.name for one in Path(place).glob("*.dist-info"))


def _references(clone: Path | None) -> Iterator[str]:
    """What the commits of a range follow from. Raises GitError and OSError."""
    if clone is None:
        return
    git = Git(clone)
    yield git.text("for-each-ref", "--format=%(objectname) %(refname)")
    yield git.text("rev-parse", "HEAD")
    shallow = git.directory / "shallow"
    yield shallow.read_text("utf-8") if shallow.is_file() else ""
