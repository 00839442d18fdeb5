"""Orders, roles and glossary of the vocabulary's words, as pages show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.vocabulary import BACKENDS, LAUNCHES, METRICS, MODELS, SCENARIOS
from observatory.decide.units import count

MAIN_BACKENDS = ("C", "C_VM", "NUMBA")
"""The backends that a user chooses between: always shown, drawn along the releases."""

SHOWN_METRICS = (
    "compile_time", "call_time", "cache_misses", "uncacheable", "wrong_results", "crashed",
)  # fmt: skip


@dataclass(frozen=True)
class Term:
    """A word and what it means."""

    word: str
    meaning: str


@dataclass(frozen=True)
class Glossary:
    """Terms of one axis of the vocabulary."""

    title: str
    terms: tuple[Term, ...]


def known_first(found: Iterable[str], vocabulary: Iterable[str]) -> list[str]:
    """Sort words that were found: those of the vocabulary in its order, then the unknown ones.

    >>> known_first({"zebra", "spawn", "fork"}, ("fork", "spawn"))
    ['fork', 'spawn', 'zebra']
    """
    order = {word: place for place, word in enumerate(vocabulary)}
    return sorted(set(found), key=lambda word: (order.get(word, len(order)), word))


def css_name(backend: str) -> str:
    """The class that carries a backend's colour, for ever; unknown backends share a neutral one.

    >>> css_name("C_VM"), css_name('"><script>')
    ('b-c-vm', 'b-other')
    """
    return f"b-{backend.lower().replace('_', '-')}" if backend in BACKENDS else "b-other"


def glossaries() -> tuple[Glossary, ...]:
    """Return what each word of the page means."""

    def terms(words: dict[str, str]) -> tuple[Term, ...]:
        return tuple(Term(word, meaning) for word, meaning in words.items())

    return (
        Glossary("Scenarios", terms(SCENARIOS)),
        Glossary("Backends", terms(BACKENDS)),
        Glossary("Launches", terms(LAUNCHES)),
        Glossary("Metrics", terms({name: METRICS[name].meaning for name in SHOWN_METRICS})),
        Glossary("Models", terms(MODELS)),
    )


def listed(words: list[str]) -> str:
    """Join words as a sentence does.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def several(number: float, noun: str) -> str:
    """A count and its noun.

    >>> several(1, "function"), several(1200, "function")
    ('1 function', '1,200 functions')
    """
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"
