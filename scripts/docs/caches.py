"""The page of which release may use whose cache: what results/ show, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from observatory.app.passports import shipped
from observatory.guard.passports import KINDS, USES, Fact, use_of, worst_use
from observatory.store.base.problems import RecordError
from observatory.store.records.upgrades import Side, Upgrade, load_all
from observatory.text.words import first_of
from scripts.docs.markdown import cell, code, codes, table

RESULTS = Path(__file__).resolve().parents[2] / "results"
_NAMED = 6
"""Graphs that a row names, at most."""
_INTRODUCTION = (
    "`observatory passport` judges a cache by these measurements, which ship with it. What is in "
    "no table was not measured, and is never called safe. [Keep a cache in CI]"
    "(../how-to/cache-in-ci.md) shows how to use the command."
)
_OWN = (
    "A release may be wrong on a cache that nobody else has used. Siblings, warm builds and [pairs "
    "of different graphs](../census.md) with one key show whether it is. The last column names the "
    "graphs."
)
_OTHERS = (
    "One environment used the cache that another one had filled: with 24 random variables, eight "
    "operations of linear algebra and radon (numba), or with radon (C). `observatory upgrade` "
    "measures further pairs."
)


def cache_tables() -> Iterator[str]:
    """The verdicts, then every environment and every pair that was measured."""
    yield _INTRODUCTION
    yield table(("verdict", "meaning"), ((code(use), cell(USES[use])) for use in reversed(USES)))
    yield "## On its own cache"
    yield _OWN
    own = [fact for fact in shipped().facts if fact.base == fact.head and not fact.head_settings]
    yield table(
        ("PyTensor", "cache", "numba", "verdict", "graphs"),
        ((one.head, one.kind, one.numba, code(one.use), _graphs(one)) for one in own),
    )
    yield "## On the cache of another environment"
    yield _OTHERS
    yield table(
        ("filled by", "used by", "cache", "differs in", "verdict", "graphs"),
        (row for one in _upgrades() for row in _rows(one)),
    )


def _graphs(fact: Fact) -> str:
    return first_of([code(name.removeprefix("keys: ")) for name in fact.names], _NAMED)


def _upgrades() -> list[Upgrade]:
    made = []
    for one in load_all(RESULTS):
        if isinstance(one, RecordError):
            raise one
        made.append(one)
    return sorted(made, key=lambda one: (one.head.subject.date, one.head.label, one.base.label))


def _rows(one: Upgrade) -> Iterator[tuple[str, ...]]:
    for kind in dict.fromkeys(KINDS[part.backend] for part in one.parts):
        parts = [part for part in one.parts if KINDS[part.backend] == kind]
        names = sorted({name for part in parts for name in part.changed})
        yield (
            _named(one.base), _named(one.head), kind, ", ".join(_differing(one)),
            code(worst_use(map(use_of, parts))), codes(names),
        )  # fmt: skip


def _named(side: Side) -> str:
    return side.versions.pytensor


def _differing(one: Upgrade) -> Iterator[str]:
    base, head = one.base, one.head
    for what, before, after in (
        ("PyTensor", base.versions.pytensor, head.versions.pytensor),
        ("numba", base.versions.numba, head.versions.numba),
        ("Python", base.versions.python, head.versions.python),
        ("CPU", base.cpu or one.machine.cpu, head.cpu or one.machine.cpu),
        ("flags", base.flags or "default", head.flags or "default"),
    ):
        if before != after:
            yield f"{what} {before} → {after}" if what != "PyTensor" else "PyTensor"
