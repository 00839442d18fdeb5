"""Which commits of an alert's range may have caused it, the likeliest first. Pure.

A commit is suspected for what it touches: the files that define what changed (the Ops of functions
that stopped hitting, the rewriter that is new in a profile), its title, the linker of the backend,
or files named like the benchmark. What touches only tests, documentation or packaging is last.
This ranks; it proves nothing. A bisection does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from observatory.benchmarks.catalogue import BACKENDS, CACHES, MODELS
from observatory.store.records.alerts import Change

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,79}")
_QUOTED = re.compile(r"(the phase |moved from )?`([^`]{3,200})`")
_CLASS = re.compile(r"\b[A-Z][a-z0-9]+[A-Za-z0-9]*\b(?=\{|\)|$)")
_IDLE = re.compile(
    r"(^|/)(tests?|docs?|doc|\.github|\.circleci|buildscripts|benchmarks?|examples?|gallery)/"
    r"|(^|/)(test_[^/]+|conftest)\.py$|\.(md|rst|txt|ya?ml|ipynb|cff)$|(^|/)\.[^/]+$"
)
_FEWEST_LETTERS = 4
_COMMON = frozenset({
    "bench", "benchmark", "benchmarks", "time", "track", "peakmem", "timeraw", "basic", "test",
    "suite", "none", "true", "false", "with", "large", "small", "base", "core", "from", "array",
})  # fmt: skip
"""Words of benchmark names that say nothing of a file."""
MOST_NAMES = 40
_MOST_FILES = 5
"""A name that more files define (`perform`) points at none of them."""


@dataclass(frozen=True)
class Commit:
    """A commit of the project, without merges."""

    hash: str
    author: str
    date: datetime
    title: str
    pull_request: int | None
    files: tuple[str, ...]


@dataclass(frozen=True)
class SuspectedRange:
    """The commits of an alert's range, the likeliest first."""

    suspects: tuple[Suspect, ...] = ()
    absent: str = ""
    """Why there are none, as a sentence without a full stop."""


@dataclass(frozen=True)
class Suspect:
    """A commit, and why it is suspected."""

    commit: Commit
    defines: tuple[tuple[str, str], ...] = ()
    """Files that it touches and what they define of that which changed."""
    names: tuple[str, ...] = ()
    """Names of what changed that stand in its title."""
    areas: tuple[str, ...] = ()
    """Directories of the backend, or words of the benchmark's name, that its files lie in."""
    idle: bool = False
    """Whether it touches nothing but tests, documentation and packaging."""

    @property
    def weight(self) -> int:
        """How strongly it is suspected; 0: not more than any other, below 0: less."""
        return 4 * bool(self.defines) + 3 * bool(self.names) + 2 * bool(self.areas) - self.idle


def names_in(change: Change) -> list[str]:
    """The names of Ops, classes and functions that a change is about; the most telling first.

    A phase is none of these, nor is the module that a function was in: "linking" or "basic" in the
    title of a commit says nothing.
    """
    texts = [one.name for one in change.functions]
    texts += [name for other, name in _QUOTED.findall(change.sentence) if not other]
    names = [_last_name(text) for text in texts]
    for graph in change.graphs:
        names += _CLASS.findall(graph.note.replace("{", "{ "))
    return [name for name in dict.fromkeys(names) if _IDENTIFIER.fullmatch(name)][:MOST_NAMES]


def ranked(
    change: Change, commits: Sequence[Commit], definitions: Mapping[str, Sequence[str]]
) -> list[Suspect]:
    """The commits of the range of a change, the likeliest first; otherwise in their order.

    ``definitions``: by name of `names_in`, the files that define it.
    """
    telling = {name: files for name, files in definitions.items() if len(files) <= _MOST_FILES}
    defining = {file: name for name, files in telling.items() for file in files}
    names = [name for name in names_in(change) if len(definitions.get(name, ())) <= _MOST_FILES]
    # An area that all of them touch, such as the project's own name, tells none from another.
    every = [{area for area in _areas(change) if _touches(one, area)} for one in commits]
    common = set.intersection(*every) if len(every) > 1 else set()
    areas = [area for area in _areas(change) if area not in common]
    found = [_suspect(one, defining, names, areas) for one in commits]
    return sorted(found, key=lambda one: -one.weight)


def _suspect(
    commit: Commit, defining: Mapping[str, str], names: Sequence[str], areas: Sequence[str]
) -> Suspect:
    code = _code(commit)
    defines = tuple((file, defining[file]) for file in code if file in defining)
    words = set(_IDENTIFIER.findall(commit.title))
    named = tuple(name for name in names if name in words)
    inside = tuple(area for area in areas if _touches(commit, area))
    return Suspect(commit, defines, named, inside, bool(commit.files) and not code)


def _code(commit: Commit) -> list[str]:
    return [file for file in commit.files if not _IDLE.search(file)]


def _touches(commit: Commit, area: str) -> bool:
    return any(f"/{area}/" in f"/{file.lower().removesuffix('.py')}/" for file in _code(commit))


def _areas(change: Change) -> list[str]:
    """The directories of the backends' linkers; of other projects, words of the benchmarks."""
    found: dict[str, None] = {}
    for words in (one.benchmark.split() for one in change.series):
        if len(words) == len(("model", "scenario", "backend", "launch")) and words[0] in MODELS:
            cache = BACKENDS[words[2]].cache if words[2] in BACKENDS else ""
            if cache in CACHES:
                found[f"link/{CACHES[cache].lower()}"] = None
        else:
            found |= dict.fromkeys(_telling(words[:1]))
    return list(found)


def _telling(words: Iterable[str]) -> list[str]:
    """The parts of a benchmark's name that may name a file: `bench_cuda.Kernel` has "cuda"."""
    parts = [part.lower() for word in words for part in re.split(r"[^A-Za-z0-9]+", word)]
    return [part for part in parts if len(part) >= _FEWEST_LETTERS and part not in _COMMON]


def _last_name(text: str) -> str:
    """`Join{axis=0}` is Join; `pytensor.link.numba.basic.fallback` is fallback."""
    return text.partition("{")[0].partition("(")[0].rsplit(".", 1)[-1].strip()
