"""PyTensor's caches under faults, release by release: the page `torture.html`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from observatory.analyze.history.faults import lines_of, moved
from observatory.dashboard.pages.cell_values import Flag
from observatory.store.records.torture import CONTROL, Fault, Torture
from observatory.text import units
from observatory.text.plain import clean, shorten
from observatory.text.torture import (
    CACHES,
    GROUPS,
    MEANINGS,
    brief,
    fault_sentence,
    left_sentences,
    moved_sentence,
    others_sentence,
    sentences,
)
from observatory.text.words import known_first, several

PATH = "torture.html"
_MOST = 400
_TEXT = 500
_COLUMNS = 12
_Row = tuple[str, str, tuple[Flag, ...]]


def torture_page(records: Sequence[Torture]) -> dict[str, Any]:
    """The values of `torture.html.j2`: a matrix for each machine, environment and `--steps`.

    That of the newest subject comes first.
    """
    lines = sorted(lines_of(records), key=_newest, reverse=True)
    return {"matrices": [_matrix(own) for own in lines], "meanings": MEANINGS}


def _newest(line: Sequence[Torture]) -> datetime:
    newest = line[-1].tried
    assert newest is not None
    return newest.subject.date


def _matrix(line: Sequence[Torture]) -> dict[str, Any]:
    """The newest subject stands where no scrolling is needed."""
    own = list(reversed(line))[:_COLUMNS]
    newest = own[0]
    assert newest.tried is not None
    subject = newest.tried.subject
    worse = [one for one in moved(own[1], newest) if one.worse] if len(own) > 1 else []
    where = f"{clean(newest.tried.machine)}, Python {clean(subject.python)}"
    return {
        "title": f"{where}, with --steps {newest.steps}",
        "newest": shorten(subject.label, 60),
        "again": shlex.join(["observatory", "torture", clean(subject.label)]),
        "verdict": _verdict(newest),
        "columns": [_column(one) for one in own],
        "groups": list(_groups(own)),
        "worse": [shorten(moved_sentence(one), _TEXT) for one in worse],
        "findings": [
            shorten(text, _TEXT) for text in [*sentences(newest), *left_sentences(newest)]
        ][:_MOST],
        "blind": [shorten(fault_sentence(one), _TEXT) for one in newest.blind],
        "others": shorten(others_sentence(newest), _TEXT),
        "minutes": f"{newest.minutes:.0f}",
        "steps": units.count(sum(one.cases for one in newest.faults)),
    }


def _verdict(record: Torture) -> Flag:
    if record.blind:
        return Flag("not judged", "unknown")
    lasting = [
        one for one in record.of("raises", "hangs", "dies", "WRONG")
        if one.certain and one.after not in ("safe", "recompiles", "slower")
    ]  # fmt: skip
    # A wrong number that nobody notices outranks any exception.
    wrong = sum(one.certain for one in record.of("WRONG"))
    told = [f"{several(wrong, 'fault')} with wrong numbers"] if wrong else []
    told += [f"{several(len(lasting), 'lasting fault')}"] if lasting else []
    return Flag(", ".join(told), "bad") if told else Flag("nothing lasts", "good")


def _column(record: Torture) -> tuple[str, str]:
    assert record.tried is not None
    numba = record.environment.get("numba")
    label = shorten(record.tried.subject.label, 40)
    return label, f"numba {clean(numba)}" if numba else ""


def _groups(records: Sequence[Torture]) -> Iterator[tuple[str, list[_Row]]]:
    """By cache and group: the name of each fault, what is done, and a flag for each record."""
    found: dict[str, dict[str, dict[str, dict[int, Fault]]]] = {}
    what: dict[tuple[str, str], str] = {}
    for place, record in enumerate(records):
        for one in record.faults:
            names = found.setdefault(one.cache, {}).setdefault(one.group, {})
            names.setdefault(one.name, {})[place] = one
            what.setdefault(one.key, one.what)
    for cache in known_first(found, CACHES):
        for group in known_first(found[cache], GROUPS):
            rows = [
                (
                    shorten(name, 60), shorten(what[cache, name], _TEXT),
                    tuple(_flag(own.get(place)) for place in range(len(records))),
                )
                for name, own in list(found[cache][group].items())[:_MOST]
            ]  # fmt: skip
            whose = CACHES.get(cache, clean(cache))
            yield shorten(f"{GROUPS.get(group, clean(group))}: {whose}", 80), rows


def _flag(one: Fault | None) -> Flag:
    """A verdict with its colour: red where a user sees an error or a wrong number."""
    if one is None or one.verdict is None:
        return Flag(units.MISSING, "absent")
    if one.group == CONTROL:
        return Flag("seen" if one.verdict == "WRONG" else f"{one.verdict}: NOT SEEN",
                    "" if one.verdict == "WRONG" else "bad")  # fmt: skip
    severe = {one.verdict, one.after} & {"raises", "hangs", "dies", "WRONG"}
    if severe:
        return Flag(brief(one), "bad" if one.certain else "unknown")
    again = one.after != "safe" or one.verdict == "slower"
    return Flag(brief(one), "unknown" if again else "")
