"""Synthetic samples of many graphs built apart. FOR TESTS ONLY: no value here was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from observatory.benchmarks.catalogue import Cell
from observatory.store.records.sample import Build, Check, LedgerEntry, Sample
from tests.factories import sample

COLD, WARM = (Cell("ops", f"census_{state}", "NUMBA", "spawn") for state in ("cold", "warm"))
FIRST, PAIRS = (Cell("keys", f"pairs_{which}", "NUMBA", "spawn") for which in ("first", "second"))
KEYS = Cell("keys_quick", "pairs_keys", "NUMBA", "spawn")
KEYS_MADE = Cell("key_cost", "key_making", "NUMBA", "spawn")
TOPICS = Cell("topics", "topics", "NUMBA", "spawn")
_NOT_OF_PAIRS = ("cache_misses", "uncacheable", "python_fallbacks")


@dataclass(frozen=True)
class Member:
    """One graph: its build, its check and its ledger."""

    build: Build
    wrong: bool = False
    entries: tuple[LedgerEntry, ...] = ()


def built(
    name: str,
    *outcomes: str,
    op: str = "outer graph",
    why: str | None = None,
    key: str | None = None,
    wrong: bool = False,
    in_python: Sequence[str] = (),
    collided: str | None = None,
    unstable: str | None = None,
) -> Member:
    """A graph that was built, with a function for each outcome."""
    entries = tuple(
        LedgerEntry.model_validate(
            {"name": op, "kind": "numba", "key": key or name, "outcome": outcome,
             "seconds": 0.1, "step": name, "why": why if outcome == "uncacheable" else None}
        )
        for outcome in outcomes
    )  # fmt: skip
    metrics = {
        "cache_misses": outcomes.count("miss"),
        "uncacheable": outcomes.count("uncacheable"),
        "python_fallbacks": len(in_python),
        "wrong_results": int(wrong),
        "graphs_raised": 0,
        "key_collisions": int(collided is not None),
        "key_instabilities": int(unstable is not None),
    }
    status = "collided" if collided else "unstable" if unstable else "ok"
    build = Build.model_validate(
        {"name": name, "metrics": metrics, "status": status, "note": collided or unstable,
         "in_python": list(in_python)}
    )  # fmt: skip
    return Member(build, wrong or bool(collided), entries)


def raised(name: str, note: str = "ValueError: no") -> Member:
    """A graph that raised."""
    metrics = {"wrong_results": 0, "graphs_raised": 1, "key_collisions": 0, "key_instabilities": 0}
    return Member(
        Build.model_validate({"name": name, "metrics": metrics, "status": "raised", "note": note})
    )


def absent(name: str) -> Member:
    """A graph that the release does not have."""
    return Member(Build.model_validate({"name": name, "metrics": {}, "status": "absent"}))


def census(
    *members: Member, files: int = 0, seconds: float = 0.1, backend: str = "NUMBA"
) -> list[Sample]:
    """A sample of census_cold, in which everything misses under its name, and of census_warm."""
    cold = [replace(one, entries=tuple(map(_filling, one.entries))) for one in members]
    warm = [
        replace(one, entries=tuple(e.model_copy(update={"seconds": seconds}) for e in one.entries))
        for one in members
    ]
    places = [Cell(cell.model, cell.scenario, backend, "spawn") for cell in (COLD, WARM)]
    return [_sample(place, of, files) for place, of in zip(places, (cold, warm), strict=True)]


def _filling(entry: LedgerEntry) -> LedgerEntry:
    """What became of a function in the build that filled the cache."""
    if entry.outcome not in ("hit", "miss"):
        return entry
    return entry.model_copy(update={"outcome": "miss", "key": entry.step})


def of_pairs(*members: Member) -> list[Sample]:
    """A sample of pairs_second."""
    return [_sample(PAIRS, members, 0)]


def keys_compared(*members: Member) -> list[Sample]:
    """A sample of pairs_keys."""
    return [_sample(KEYS, members, 0)]


def keys_made(**calls: int) -> list[Sample]:
    """A sample of key_making, with the calls of each graph."""
    members = [
        Member(Build.model_validate({"name": name, "metrics": {"key_calls": number}}))
        for name, number in calls.items()
    ]
    return [_sample(KEYS_MADE, members, 0)]


def topics(*members: Member) -> list[Sample]:
    """A sample of topics."""
    return [_sample(TOPICS, members, 0)]


def counts(name: str, **metrics: int) -> Member:
    """A graph of which something is counted."""
    return Member(Build.model_validate({"name": name, "metrics": {"wrong_results": 0, **metrics}}))


def _sample(cell: Cell, members: Sequence[Member], files: int) -> Sample:
    left_out = _NOT_OF_PAIRS if cell.model == "keys" else ("key_collisions", "key_instabilities")
    steps = [
        one.build.model_copy(
            update={"metrics": {k: v for k, v in one.build.metrics.items() if k not in left_out}}
        )
        for one in members
    ]
    names = {name for step in steps for name in step.metrics}
    totals = {name: sum(step.metrics.get(name, 0) for step in steps) for name in names}
    checks = [
        Check(name=one.build.name, logp_error=1.0 if one.wrong else 0.0, gradient_error=None,
              wrong=one.wrong)
        for one in members
        if one.build.status not in ("absent", "raised", "died")
    ]  # fmt: skip
    ledger = [entry for one in members for entry in one.entries]
    return sample(
        cell, "counting", {**totals, "files_leaked": files}, steps=steps, checks=checks,
        ledger=ledger,
    )  # fmt: skip
