"""The README and the glossary: what mkdocs does not check of them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from observatory.cli.main import Commands
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


def test_the_readme_describes_every_command_once() -> None:
    described = re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert sorted(described) == sorted(Commands.sentences)


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
