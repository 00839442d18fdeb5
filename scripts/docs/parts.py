"""What is taken from the code into pages that people write: the parts between two comments."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from observatory.benchmarks.catalogue import SCENARIOS
from observatory.benchmarks.models.keys import NO_KEYS, QUICK, SUSPECT
from observatory.benchmarks.models.parts.pairs.registry import PAIRS
from observatory.cli.main import Commands
from observatory.store.asv.names import suite_name
from scripts.accuracy import tables as accuracy
from scripts.beside_asv import tables as beside_asv
from scripts.docs import fault_tables
from scripts.docs.fuzz_tables import fuzz_tables
from scripts.docs.markdown import cell, code, table, wrapped
from scripts.docs.memory import memory_tables
from scripts.docs.suite_tables import suite_tables
from scripts.scale import tables as scale
from scripts.scale.fleet_speed import PLANS

_ENTRY = re.compile(r'- <a id="(?P<id>[^"]+)"></a>\*\*(?P<word>[^*]+)\*\*: (?P<meaning>.+)')
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_FURTHER = re.compile(rf"(?<=\.) {_LINK.pattern}\.$")
"""A sentence that only links to another page of the documentation."""
_OF_CACHES = ("Models and cells", "Caches", "Wrong numbers")
"""The groups of the glossary that the pages of other projects leave out."""


def parts() -> dict[str, dict[str, str]]:
    """From the path of a file to its parts: from name to content.

    The content of what was not measured yet is empty: then the file keeps what is written in it.
    """
    written = {
        "README.md": {"commands": _commands()},
        "docs/asv.md": {"suites": _suites()},
        "docs/census.md": {"quick pairs": _quick_pairs()},
        "docs/explanation/hostile-input.md": {**fuzz_tables(), **suite_tables()},
        "docs/faults.md": fault_tables.fault_parts(),
        "docs/mutants.md": fault_tables.mutant_parts(),
        "docs/sample.md": memory_tables(),
    }
    made: dict[str, dict[str, str]] = {}
    for each in (written, accuracy.parts(), beside_asv.parts(), scale.parts(PLANS)):
        for path, own in each.items():
            made.setdefault(path, {}).update(own)
    return made


def _commands() -> str:
    rows = ((code(name), cell(sentence)) for name, sentence in Commands.sentences.items())
    return table(("`observatory ...`", "what it does"), rows)


def _suites() -> str:
    rows = ((code(suite_name(name)), cell(one.meaning)) for name, one in SCENARIOS.items())
    return table(("class", "what a sample is"), rows)


def _quick_pairs() -> str:
    left = len(PAIRS) - len(QUICK)
    others = left - len(NO_KEYS) - len(SUSPECT)
    return wrapped(
        f"`keys_quick` has {len(QUICK)} of the {len(PAIRS)} pairs. It leaves out those that "
        f"PyTensor 3.3.8 does not store ({len(NO_KEYS)}), that are for other backends or releases "
        f"({others}), and that are suspects in 3.3.8 already ({len(SUSPECT)})."
    )


def glossary(page: str) -> str:
    """The glossary of the web pages, as a template, from that of the documentation.

    Raises ValueError for a line in a group that is no entry.
    """
    note = "{# Generated from docs/reference/glossary.md by scripts/reference.py. #}"
    groups = (group.partition("\n") for group in page.split("\n## ")[1:])
    return "\n".join([note, *(line for title, _, text in groups for line in _group(title, text))])


def _group(title: str, text: str) -> Iterator[str]:
    anchor = "g-" + title.lower().replace(" ", "-")
    lines = [
        f'<section aria-labelledby="{anchor}">',
        f'<h2 id="{anchor}">{html.escape(title)}</h2>',
        "<dl>",
        *map(_defined, filter(None, text.splitlines())),
        "</dl>",
        "</section>",
    ]
    yield from _only_of_caches(lines) if title in _OF_CACHES else lines


def _only_of_caches(lines: Iterable[str]) -> Iterator[str]:
    yield "{% if of_caches %}"
    yield from lines
    yield "{% endif %}"


def _defined(line: str) -> str:
    entry = _ENTRY.fullmatch(line)
    if entry is None:
        raise ValueError(f"{line!r} is no entry of the glossary")
    meaning = _LINK.sub(r"\1", _FURTHER.sub("", entry["meaning"]))
    shown = re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(meaning, quote=False))
    return f'<dt id="{entry["id"]}">{html.escape(entry["word"])}</dt><dd>{shown}</dd>'
