"""``results/benchmarks.json``, which asv's discovery and imports write together.

asv knows only what it discovers itself. Entries that were imported are marked, so that those who
write the others keep them, and those who import touch nothing else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from observatory.store.asv.listing import BENCHMARKS
from observatory.store.asv.names import BENCHMARK_VERSION, parse_name
from observatory.store.asv.series_reader import LARGEST_PRODUCT
from observatory.store.base.decode import NotJsonError, decoded
from observatory.store.base.files import write_changed
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
        loaded = decoded(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (NotJsonError, OSError) as error:
        raise RecordError(f"{path} cannot be read, and so not be added to: {error}") from error
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
    """All entries, with those of an import added or in place of older ones.

    The values of parameters of an entry that was imported before are united (`united_params`).
    """
    found = dict(entries)
    for one in added:
        params = [list(words) for words in one.params]
        before = entries.get(one.name, {})
        if before.get("param_names") == list(one.param_names):
            params = united_params(before.get("params", []), params)
        found[one.name] = {
            "code": "",
            _MARK: "pytest-benchmark",
            "name": one.name,
            "param_names": list(one.param_names),
            "params": params,
            "type": one.type,
            "unit": one.unit,
            "version": BENCHMARK_VERSION,
        }
    return found


def united_params(before: list[list[str]], now: list[list[str]]) -> list[list[str]]:
    """The values of parameters before and now, each once.

    If the numbers of parameters differ, or there are more than LARGEST_PRODUCT combinations of
    both, only those of now.
    """
    if len(before) != len(now):
        return now
    united = [list(dict.fromkeys([*old, *new])) for old, new in zip(before, now, strict=True)]
    return now if math.prod(map(len, united)) > LARGEST_PRODUCT else united
