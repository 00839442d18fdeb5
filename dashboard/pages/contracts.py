"""What PyTensor relies on in numba, release by release: the page `contracts.html`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.version import Version

from dashboard.pages.guard import Flag
from observatory.store.records.contracts import Contracts, version_order
from observatory.text import units
from observatory.text.plain import clean, shorten
from observatory.text.words import listed, several

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
_WORDS = {"holds": "holds", "broken": "broken", "failed": "not judged", "unavailable": "not used"}
_FLAGS = {"holds": "", "broken": "bad", "failed": "unknown", "unavailable": "absent"}
_MOST = 400
_TEXT = 600


@dataclass(frozen=True)
class ContractRow:
    """A contract with every numba."""

    name: str
    holds: str
    cells: tuple[Flag, ...]


@dataclass(frozen=True)
class NotHeld:
    """What was seen where a contract does not hold, or could not be judged."""

    text: str
    state: str
    name: str
    numbas: str
    detail: str
    needed: str


@dataclass(frozen=True)
class Column:
    """One numba."""

    numba: str
    beyond: bool
    """Whether PyTensor's bounds were lifted for it."""


@dataclass(frozen=True)
class ContractTable:
    """One PyTensor on one Python."""

    id: str
    title: str
    word: str
    verdict: str
    state: str
    """Class of the word's flag."""
    declared: str
    taken: str
    columns: tuple[Column, ...]
    groups: tuple[tuple[str, tuple[ContractRow, ...]], ...]
    said: tuple[NotHeld, ...]


def contracts_page(records: Sequence[Contracts]) -> tuple[ContractTable, ...]:
    """A table for each PyTensor and Python, the newest PyTensor first."""
    return tuple(
        _table(f"t{number}", title, own)
        for number, (title, own) in enumerate(_grouped(records), start=1)
    )


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
        own = sorted(groups[key], key=_age, reverse=True)
        yield f"{shorten(name, 120)} on Python {clean(python)}", own


def _age(record: Contracts) -> tuple[tuple[bool, Version | str, str], datetime]:
    return version_order(record.numba), record.started_at


def _table(id_: str, title: str, records: list[Contracts]) -> ContractTable:
    days = sorted({f"{one.started_at:%Y-%m-%d}" for one in records})
    declared = sorted({one.declared for one in records if one.declared})
    broken = [one for one in records if one.of("broken")]
    failed = [one for one in records if one.of("failed")]
    count = several(len(records), "numba release")
    if broken:
        word, verdict = "broken", f"{len(broken)} of {count}: {_versions(broken)}"
    elif failed:
        word, verdict = "not judged", f"in part with {len(failed)} of {count}: {_versions(failed)}"
    else:
        word, verdict = "holds", f"everything that this PyTensor uses, with {count}"
    return ContractTable(
        id_, title, word, verdict,
        state="bad" if broken else "unknown" if failed else "good",
        declared=listed([shorten(text, 80) for text in declared]),
        taken=days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
        columns=tuple(
            Column(shorten(one.numba, 30), bool(one.checked and one.checked.lifted))
            for one in records
        ),
        groups=tuple(_groups(records)), said=tuple(_said(records)),
    )  # fmt: skip


def _versions(records: Sequence[Contracts]) -> str:
    return listed([shorten(one.numba, 30) for one in records])


def _groups(records: list[Contracts]) -> Iterator[tuple[str, tuple[ContractRow, ...]]]:
    found: dict[str, dict[str, dict[int, str]]] = {}
    meanings: dict[str, str] = {}
    for place, one in enumerate(records):
        for contract in one.contracts:
            statuses = found.setdefault(contract.area, {}).setdefault(contract.name, {})
            statuses[place] = contract.status
            meanings[contract.name] = contract.holds
    for area in sorted(found, key=_area_order):
        rows = tuple(
            ContractRow(
                shorten(name, 60),
                shorten(meanings[name], _TEXT),
                tuple(_cell(statuses.get(place)) for place in range(len(records))),
            )
            for name, statuses in list(found[area].items())[:_MOST]
        )
        yield AREAS.get(area, shorten(area, 60)), rows


def _area_order(area: str) -> tuple[int, str]:
    known = list(AREAS)
    return (known.index(area) if area in AREAS else len(known)), area


def _cell(status: str | None) -> Flag:
    if status is None:
        return Flag(units.MISSING, "absent")
    return Flag(_WORDS[status], _FLAGS[status])


def _said(records: list[Contracts]) -> Iterator[NotHeld]:
    for status in ("broken", "failed"):
        found: dict[tuple[str, str, str], list[str]] = {}
        for one in records:
            for contract in one.contracts:
                if contract.status == status:
                    key = contract.name, contract.detail, contract.needed
                    found.setdefault(key, []).append(shorten(one.numba, 30))
        for (name, detail, needed), numbas in list(found.items())[:_MOST]:
            yield NotHeld(
                _WORDS[status], _FLAGS[status], shorten(name, 60), listed(numbas),
                shorten(detail, _TEXT), shorten(needed, _TEXT),
            )  # fmt: skip
