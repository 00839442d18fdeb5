"""The catalogue's words as pages show them: their order, colours and meanings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from observatory.benchmarks.catalogue import (
    BACKENDS,
    LAUNCHES,
    METRICS,
    MODELS,
    REUSE_LOST,
    SCENARIOS,
)
from observatory.text.units import count

SHOWN_METRICS = tuple(name for name, one in METRICS.items() if one.shown)


@dataclass(frozen=True)
class Term:
    """A word and what it means."""

    word: str
    meaning: str


@dataclass(frozen=True)
class Glossary:
    """The terms of one kind."""

    title: str
    terms: tuple[Term, ...]


def known_first(found: Iterable[str], vocabulary: Iterable[str]) -> list[str]:
    """The words, sorted: those of the vocabulary in its order, then the others by name.

    >>> known_first({"zebra", "spawn", "fork"}, ("fork", "spawn"))
    ['fork', 'spawn', 'zebra']
    """
    order = {word: place for place, word in enumerate(vocabulary)}
    return sorted(set(found), key=lambda word: (order.get(word, len(order)), word))


def meaning_of(words: Mapping[str, Any], word: str) -> str:
    """What a word of the catalogue means; empty for a word that is not in it."""
    known = words.get(word)
    return known if isinstance(known, str) else getattr(known, "meaning", "")


KINDS: Mapping[str, Mapping[str, Any]] = {
    "Scenarios": SCENARIOS, "Backends": BACKENDS, "Start methods": LAUNCHES,
    "Metrics": {**METRICS, REUSE_LOST.name: REUSE_LOST}, "Models": MODELS,
}  # fmt: skip
"""The catalogue's words by kind, in the order of the page."""


def glossaries(kinds: Iterable[str] = tuple(KINDS)) -> tuple[Glossary, ...]:
    """The terms and meanings of each kind of word, in the order of the page."""
    return tuple(
        Glossary(kind, tuple(Term(word, meaning_of(KINDS[kind], word)) for word in KINDS[kind]))
        for kind in kinds
    )


def meanings() -> dict[str, str]:
    """What each word of the catalogue means, for those who point at it."""
    return {term.word: term.meaning for one in glossaries() for term in one.terms}


def listed(words: list[str], last: str = "and") -> str:
    """Join words as a sentence does.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def several(number: float, noun: str) -> str:
    """A count and its noun.

    >>> several(1, "function"), several(1200, "function"), several(2, "family")
    ('1 function', '1,200 functions', '2 families')
    """
    return f"{count(number)} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of a noun.

    >>> plural("graph"), plural("family")
    ('graphs', 'families')
    """
    changes = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{noun[:-1]}ies" if changes else f"{noun}s"


def first_of(words: Sequence[str], most: int, noun: str = "", between: str = ", ") -> str:
    """The first of some words, and how many others there are.

    >>> first_of(["a", "b", "c", "d"], 2), first_of(["a"], 2), first_of(["a", "b"], 1, "cell")
    ('a, b and 2 more', 'a', 'a and 1 more cell')
    """
    rest = len(words) - most
    others = several(rest, f"more {noun}") if noun else f"{rest} more"
    return between.join(words[:most]) + (f" and {others}" if rest > 0 else "")


def shared_prefix(names: Iterable[str]) -> str:
    """The modules that all names begin with, with their last dot; empty for a single name.

    >>> shared_prefix(["tests.a.t(1.5)", "tests.b.u(1.5)"]), shared_prefix(["a.t"])
    ('tests.', '')
    """
    modules = [name.partition("(")[0].split(".")[:-1] for name in set(names)]
    levels = takewhile(lambda words: len(set(words)) == 1, zip(*modules, strict=False))
    return "".join(f"{words[0]}." for words in levels) if len(modules) > 1 else ""
