"""What PyTensor relies on in numba, release by release: the page `contracts.html`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from observatory.dashboard.pages.cell_values import Flag
from observatory.store.records.contracts import Contracts, version_order
from observatory.text import units
from observatory.text.plain import clean, shorten
from observatory.text.words import known_first, listed, several

PATH = "contracts.html"
AREAS = {
    "uids": "Numbers and symbols of functions",
    "locator": "Where stored functions are searched for",
    "index": "Index and data files",
    "loaded": "Loaded functions",
    "compiling": "Flags and code generation",
    "warnings": "Texts of warnings",
    "graphs": "Small graphs, from end to end",
    "names": "Names and their arguments",
}
_FLAGS = {
    "holds": Flag("holds"), "broken": Flag("broken", "bad"),
    "failed": Flag("not judged", "unknown"), "unavailable": Flag("not used", "absent"),
}  # fmt: skip
_MOST = 400
_TEXT = 600


def contracts_page(records: Sequence[Contracts]) -> list[dict[str, Any]]:
    """A table for each PyTensor and Python, the newest PyTensor first, for `contracts.html.j2`."""
    return [{"title": title, **_table(own)} for title, own in _grouped(records)]


def _grouped(records: Sequence[Contracts]) -> Iterator[tuple[str, list[Contracts]]]:
    groups: dict[tuple[str, str, tuple[str, ...]], list[Contracts]] = {}
    for one in records:
        assert one.checked is not None
        subject = one.checked.subject
        others = tuple(extra for extra in subject.extras if not extra.startswith("numba=="))
        head = subject.label.partition(" ")[0]
        groups.setdefault((head, subject.python, others), []).append(one)
    order = sorted(groups, key=lambda key: key[1:])
    for key in sorted(order, key=lambda key: version_order(key[0]), reverse=True):
        head, python, others = key
        name = " ".join(("PyTensor", head, *(f"with {extra}" for extra in others)))
        # The newest stands where no scrolling is needed.
        own = sorted(groups[key], key=lambda r: (version_order(r.numba), r.started_at))[::-1]
        yield f"{shorten(name, 120)} on Python {clean(python)}", own


def _table(records: list[Contracts]) -> dict[str, Any]:
    days = sorted({f"{one.started_at:%Y-%m-%d}" for one in records})
    declared = sorted({one.declared for one in records if one.declared})
    broken = [one for one in records if one.of("broken")]
    failed = [one for one in records if one.of("failed")]
    count = several(len(records), "numba release")
    if broken:
        verdict, extent = _FLAGS["broken"], f"{len(broken)} of {count}: {_versions(broken)}"
    elif failed:
        verdict = _FLAGS["failed"]
        extent = f"in part with {len(failed)} of {count}: {_versions(failed)}"
    else:
        verdict, extent = Flag("holds", "good"), f"everything that this PyTensor uses, with {count}"
    return {
        "verdict": verdict,
        "extent": extent,
        "declared": listed([shorten(text, 80) for text in declared]),
        "taken": days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
        "columns": [
            (shorten(one.numba, 30), bool(one.checked and one.checked.lifted)) for one in records
        ],
        "groups": list(_groups(records)),
        "not_held": list(_not_held(records)),
    }


def _versions(records: Sequence[Contracts]) -> str:
    return listed([shorten(one.numba, 30) for one in records])


def _groups(
    records: list[Contracts],
) -> Iterator[tuple[str, list[tuple[str, str, tuple[Flag, ...]]]]]:
    """By area: the name of each contract, what holds with it, and a flag for each record."""
    found: dict[str, dict[str, dict[int, str]]] = {}
    meanings: dict[str, str] = {}
    for place, one in enumerate(records):
        for contract in one.contracts:
            statuses = found.setdefault(contract.area, {}).setdefault(contract.name, {})
            statuses[place] = contract.status
            meanings[contract.name] = contract.holds
    absent = Flag(units.MISSING, "absent")
    for area in known_first(found, AREAS):
        rows = [
            (
                shorten(name, 60), shorten(meanings[name], _TEXT),
                tuple(_FLAGS.get(statuses.get(at, ""), absent) for at in range(len(records))),
            )
            for name, statuses in list(found[area].items())[:_MOST]
        ]  # fmt: skip
        yield AREAS.get(area, shorten(area, 60)), rows


def _not_held(records: list[Contracts]) -> Iterator[tuple[Flag, str, str, str, str]]:
    """For what is broken or failed: a flag, the contract, the numbas, what was seen, and why."""
    for status in ("broken", "failed"):
        found: dict[tuple[str, str, str], list[str]] = {}
        for one in records:
            for contract in one.contracts:
                if contract.status == status:
                    key = contract.name, contract.detail, contract.needed
                    found.setdefault(key, []).append(shorten(one.numba, 30))
        for (name, detail, needed), numbas in list(found.items())[:_MOST]:
            yield (
                _FLAGS[status], shorten(name, 60), listed(numbas), shorten(detail, _TEXT),
                shorten(needed, _TEXT),
            )  # fmt: skip
