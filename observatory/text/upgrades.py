"""What subjects made of each other's caches, as a table. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from observatory.store.records.upgrades import Upgrade
from observatory.text.tables import Table


def table(upgrades: Sequence[Upgrade]) -> Table:
    """A row for each pair and model."""
    header = ("from", "to", "model", "backend", "reused", "rebuilt", "rebuilt again", "stale",
              "wrong")  # fmt: skip
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
            model = f", {each.model}"
            where = f"{head} on the cache of {base}{model} {each.backend}"
            for place, what, names in (
                (where, "stale", each.stale),
                (where, "wrong", each.wrong),
                (f"{base} from an empty cache{model}", "wrong", each.base_wrong),
                (f"{head} from an empty cache{model}", "wrong", each.fresh_wrong),
                (f"{base} again after {head}{model}", "stale", each.again_stale),
            ):
                if names:
                    yield f"{place}: {what} {', '.join(names)}"
            if each.failure:
                yield f"{where}: {each.failure}"
