"""What subjects made of each other's caches, as a table. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from observatory.store.records.sample import Sample
from observatory.store.records.upgrades import Upgrade
from observatory.text.tables import Table


def not_filled(fill: Sample) -> str:
    """Why there is no cache to build on, from the sample that should have filled it."""
    return f"nothing was filled: {fill.failure.message if fill.failure else fill.status}"


def table(upgrades: Sequence[Upgrade]) -> Table:
    """A row for each pair and model."""
    header = (
        "from",
        "to",
        "model",
        "backend",
        "reused",
        "rebuilt",
        "rebuilt again",
        "stale",
        "wrong",
    )
    rows = [
        (
            *one.labels, each.model, each.backend,
            str(each.reused), str(each.rebuilt),
            "" if each.again_rebuilt is None else str(each.again_rebuilt),
            f"{len(each.stale)} STALE" if each.stale else "0",
            f"{len(each.wrong)} WRONG" if each.wrong else "0",
        )
        for one in upgrades
        for each in one.parts
    ]  # fmt: skip
    title = "Each on the cache that the one before it left"
    return Table(title, header, tuple(rows), tuple(dict.fromkeys(_footnotes(upgrades))))


def _footnotes(upgrades: Iterable[Upgrade]) -> Iterable[str]:
    for one in upgrades:
        base, head = one.labels
        for each in one.parts:
            where = f"{head} on the cache of {base}, {each.model} {each.backend}"
            if each.stale:
                yield f"{where}: stale {', '.join(each.stale)}"
            if each.wrong:
                yield f"{where}: wrong {', '.join(each.wrong)}"
            if each.base_wrong:
                names = ", ".join(each.base_wrong)
                yield f"{base} from an empty cache, {each.model}: wrong {names}"
            if each.fresh_wrong:
                names = ", ".join(each.fresh_wrong)
                yield f"{head} from an empty cache, {each.model}: wrong {names}"
            if each.again_stale:
                names = ", ".join(each.again_stale)
                yield f"{base} again after {head}, {each.model}: stale {names}"
            if each.failure:
                yield f"{where}: {each.failure}"
