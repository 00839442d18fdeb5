"""``results/benchmarks.json``, which asv's discovery and imports write together.

asv knows only what it discovers itself. Entries that were imported are marked, so that those who
write the others keep them, and those who import touch nothing else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from observatory.store.asv.columns import LARGEST_PRODUCT
from observatory.store.asv.listing import BENCHMARKS, LARGEST_FILE
from observatory.store.asv.names import BENCHMARK_VERSION, parse_name
from observatory.store.base.decode import NotJsonError, decoded
from observatory.store.base.files import read_bounded, write_changed
from observatory.store.base.problems import RecordError

if TYPE_CHECKING:
    from observatory.store.asv.pytest_benchmark import Imported

Entries = dict[str, dict[str, Any]]

_API_VERSION = 2
_MARK = "imported"


def load(results: Path) -> Entries:
    """Read ``benchmarks.json``: entries by name, {} if there is none. Raises RecordError."""
    path = results / BENCHMARKS
    try:
        content = read_bounded(path, LARGEST_FILE, "remove it and make it again")
        loaded = {} if content is None else decoded(content)
    except NotJsonError as error:
        raise RecordError(
            f"{path} cannot be read, so nothing can be added to it: {error}"
        ) from error
    if not isinstance(loaded, dict):
        raise RecordError(f"{path} is not an object of benchmarks; remove it and make it again")
    return {name: entry for name, entry in loaded.items() if isinstance(entry, dict)}


def write(results: Path, entries: Mapping[str, Any]) -> None:
    """Write ``benchmarks.json`` as asv would, unless it is the same already. Raises OSError."""
    whole = {**entries, "version": _API_VERSION}
    write_changed(results / BENCHMARKS, json.dumps(whole, indent=4, sort_keys=True).encode())


def imported(entries: Entries) -> Entries:
    """The entries that `observatory import` made, by name."""
    return {name: entry for name, entry in entries.items() if entry.get(_MARK)}


def may_import(name: str, entries: Entries) -> bool:
    """Whether an import may use this name: no other benchmark has it."""
    return parse_name(name) is None and (name not in entries or bool(entries[name].get(_MARK)))


def merged(entries: Entries, added: Iterable[Imported]) -> Entries:
    """All entries, with those of an import added or in place of older ones; see `united`."""
    found = dict(entries)
    for one in added:
        entry = {
            "code": "",
            _MARK: "pytest-benchmark",
            "name": one.name,
            "param_names": list(one.param_names),
            "params": [list(words) for words in one.params],
            "type": one.type,
            "unit": one.unit,
            "version": BENCHMARK_VERSION,
        }
        found[one.name] = united(entries.get(one.name), entry)
    return found


def united(before: Mapping[str, Any] | None, now: dict[str, Any]) -> dict[str, Any]:
    """The entry ``now``; if both were imported, with the parameters' values of both, each once.

    It stays as it is if the parameters are others or have no texts as values, and if there were
    more than LARGEST_PRODUCT combinations of both.
    """
    before = before or {}
    old, new = before.get("params"), now.get("params")
    if (
        not (before.get(_MARK) and now.get(_MARK) and _plain(old) and _plain(new))
        or before.get("param_names") != now.get("param_names")
        or len(old) != len(new)
    ):
        return now
    params = [list(dict.fromkeys([*one, *two])) for one, two in zip(old, new, strict=True)]
    return now if math.prod(map(len, params)) > LARGEST_PRODUCT else {**now, "params": params}


def _plain(params: Any) -> TypeGuard[list[list[str]]]:
    return isinstance(params, list) and all(
        isinstance(words, list) and all(isinstance(word, str) for word in words) for words in params
    )
