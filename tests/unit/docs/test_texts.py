"""The README, the glossary and lists of the documentation: what mkdocs does not check of them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import Counter
from pathlib import Path

import pytest

from observatory.dashboard import pages
from observatory.dashboard.site import COMPARE, MATRIX, WORDS
from observatory.store.records.layout import ALERTS, RESERVED
from tests.docs_examples import DOCS, ROOT

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
_ENTRY = re.compile(r'^- <a id="(?P<anchor>[^"]*)"></a>\*\*(?P<word>[^*]+)\*\*: (?P<meaning>.+)$')
_TWO_LINES = 200
"""Characters."""


def entries() -> list[list[re.Match[str]]]:
    """The entries of each group of the glossary."""
    groups = (DOCS / "reference/glossary.md").read_text().split("\n## ")[1:]
    found = [[_ENTRY.match(line) for line in group.splitlines()[2:]] for group in groups]
    assert all(entry for group in found for entry in group), "a line that is not an entry"
    return [[entry for entry in group if entry] for group in found]


def links(page: Path) -> list[str]:
    """The files that a page links to, relative to it."""
    return [link for link in _LINK.findall(page.read_text()) if "://" not in link]


def test_the_table_of_pages_has_every_page() -> None:
    modules = [
        importlib.import_module(f"observatory.dashboard.pages.{one.name}")
        for one in pkgutil.iter_modules(pages.__path__)
    ]
    paths = [module.PATH for module in modules if hasattr(module, "PATH")]
    listed = (DOCS / "site.md").read_text().partition("| page |")[2].partition("\n\n")[0]
    assert [one for one in (*paths, MATRIX, WORDS, COMPARE) if f"| `{one}" not in listed] == []


def test_the_list_of_files_below_the_results_has_every_directory() -> None:
    listed = (DOCS / "results.md").read_text().partition("```\n")[2].partition("```")[0]
    assert [one for one in RESERVED if f"results/{one}/<" not in listed] == []
    assert f"results/{ALERTS}," in listed


def test_the_readme_links_to_each_file_once() -> None:
    assert [link for link, n in Counter(links(ROOT / "README.md")).items() if n > 1] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_pages_outside_of_the_site_lead_to_files(name: str) -> None:
    assert [link for link in links(ROOT / name) if not (ROOT / link).is_file()] == []


def test_the_glossary_defines_each_word_once_in_order_in_two_lines() -> None:
    words = [[entry["word"].lower() for entry in group] for group in entries()]
    assert words == [sorted(group) for group in words]
    assert [w for w, n in Counter(word for group in words for word in group).items() if n > 1] == []
    assert [e["word"] for group in entries() for e in group if len(e["meaning"]) > _TWO_LINES] == []


def test_the_anchor_of_a_word_in_the_glossary_is_the_word() -> None:
    for group in entries():
        for entry in group:
            plain = re.sub(r"[^a-z0-9]+", "-", entry["word"].lower()).strip("-")
            assert entry["anchor"] == plain
