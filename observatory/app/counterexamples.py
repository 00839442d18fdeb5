"""What becomes of a batch of pairs: counterexamples are made smaller, named and filed."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from observatory.app.explored import Explored
from observatory.app.progress import Progress, Update, silent
from observatory.benchmarks.described import DescribedPair, KeptPair
from observatory.benchmarks.typed_json import to_json
from observatory.grow.shrinking import shrink, size
from observatory.run.looking import Found, Looker, LookingError
from observatory.store.base.files import write_atomic
from observatory.store.records.explored import Counterexample

MOST_SHRUNK = 5
"""Counterexamples of one run that are made smaller; the others are recorded as they were found."""
_SHRINKING = 240.0
"""Seconds in which a counterexample is made smaller."""
_LONGEST_NOTE = 1_000
_FINE = ("", "absent")


def examine(
    drawn: Mapping[str, DescribedPair],
    found: Explored,
    looker: Looker,
    keep: Path,
    progress: Progress = silent,
) -> None:
    """Measure one batch, and add what it finds. Raises LookingError and Cancelled."""
    looked = looker.look(drawn)
    found.tried = dict(Counter(found.tried) + Counter(pair.kind for pair in drawn.values()))
    found.absent += sum(one.finding == "absent" for one in looked.seconds.values())
    for name, one in (*looked.seconds.items(), *looked.firsts.items()):
        if one.finding in _FINE:
            continue
        pair = drawn[name]
        if one is looked.firsts.get(name):
            if looked.seconds[name].finding == one.finding:
                continue  # most likely the same again, of the part that both graphs share
            # Whether it is so alone, or beside another graph of the batch, is seen next.
            pair = replace(pair, second=pair.first, kind="batch", treatment="")
        found.found.append(_filed(name, pair, one, drawn, found, looker, keep, progress))


def _filed(
    name: str,
    pair: DescribedPair,
    one: Found,
    drawn: Mapping[str, DescribedPair],
    found: Explored,
    looker: Looker,
    keep: Path,
    progress: Progress,
) -> Counterexample:
    """The counterexample, made smaller, and filed unless one of its name is known."""
    progress(Update(f"{name} {one.finding}: {one.note}", "error"))
    shrunk = len(found.found) < MOST_SHRUNK
    small = None
    if shrunk:
        small, one = _shrunk(pair, one, drawn, looker)
    named, note = _name(small or pair, one.finding), one.note[:_LONGEST_NOTE]
    path = keep / f"{named}.json"
    known = path.exists()
    if small is not None and not known:
        kept = KeptPair(small, one.finding, found.subject, found.backend, found.seed, note)
        keep.mkdir(parents=True, exist_ok=True)
        write_atomic(path, f"{to_json(kept, indent=1)}\n".encode())
    progress(Update(f"{name}: {'known' if known else 'new'}, {named}, size {size(small or pair)}"))
    return Counterexample(
        name=named, finding=one.finding, note=note, pair=small or pair, after=found.pairs,
        shrunk=small is not None, known=known,
    )  # fmt: skip


def _shrunk(
    pair: DescribedPair, one: Found, drawn: Mapping[str, DescribedPair], looker: Looker
) -> tuple[DescribedPair | None, Found]:
    """The smallest pair found that is a counterexample alone; None if it is none alone."""

    def alone(other: DescribedPair) -> Found:
        try:
            return looker.look({"pair": other}).seconds["pair"]
        except LookingError:
            return Found("")

    last = alone(pair)
    if last.finding in _FINE:
        partner = _partner(pair, drawn, looker)
        if partner is None or (last := alone(partner)).finding in _FINE:
            return None, one
        pair = partner

    def still(other: DescribedPair) -> bool:
        nonlocal last
        seen = alone(other)
        if seen.finding != last.finding:  # whatever else is wrong is another counterexample
            return False
        last = seen
        return True

    end = time.monotonic() + _SHRINKING
    small = shrink(pair, still, lambda: time.monotonic() < end)
    return small, last


def _partner(
    pair: DescribedPair, drawn: Mapping[str, DescribedPair], looker: Looker
) -> DescribedPair | None:
    """The pair of the second graph and of that first graph of the batch which it is confused with.

    The graphs of a batch share a cache. Halves of them are tried until one is left.
    """

    def guilty(names: Sequence[str]) -> bool:
        try:
            looked = looker.look({"pair": pair}, {name: drawn[name] for name in names})
        except LookingError:
            return False
        return looked.seconds["pair"].finding not in _FINE

    name = bisected(list(drawn), guilty)
    return None if name is None else replace(pair, first=drawn[name].first)


def bisected(names: Sequence[str], guilty: Callable[[Sequence[str]], bool]) -> str | None:
    """Return one name of those that are guilty together, by halves; None if no half is guilty."""
    while len(names) > 1:
        middle = len(names) // 2
        half = next((h for h in (names[:middle], names[middle:]) if guilty(h)), None)
        if half is None:
            return None
        names = half
    return names[0] if names else None


def _name(pair: DescribedPair, finding: str) -> str:
    """The name of a counterexample: what is wrong, with which operations.

    It says nothing of numbers, so that one defect is not filed each night.
    """
    ops = dict.fromkeys(node.op for graph in (pair.first, pair.second) for node in graph.nodes)
    words = [finding, *ops, *([pair.treatment] if pair.equal else [])]
    return re.sub(r"[^A-Za-z0-9_]", "_", "_".join(words))[:60].rstrip("_")
