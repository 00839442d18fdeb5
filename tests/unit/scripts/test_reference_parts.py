"""What is taken from the code into pages that people write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import Environment

from scripts.docs.markdown import filled
from scripts.docs.parts import glossary, parts

ROOT = Path(__file__).parents[3]

PAGE = """# Glossary

## What is measured

- <a id="cell"></a>**cell**: A row `a & b` of [the table](a.md#b), as it is. [All cells](cells.md).
- <a id="impact"></a>**impact**: It decides [which changes](alerts.md).

## Caches

- <a id="key"></a>**key**: The name of an entry.
"""


def test_only_what_stands_between_its_comments_is_made_anew() -> None:
    text = "before\n<!-- a -->\nold\n<!-- end of a -->\nafter\n"
    made = filled(text, {"a": "new"})
    assert made == "before\n<!-- a -->\n\nnew\n\n<!-- end of a -->\nafter\n"
    assert filled(made, {"a": "new"}) == made
    assert filled(made, {"a": ""}) == made


@pytest.mark.parametrize("content", ["new", ""])
@pytest.mark.parametrize("text", ["", "<!-- a -->\n<!-- end of a -->\n" * 2])
def test_a_page_without_one_place_for_a_part_is_a_mistake(text: str, content: str) -> None:
    with pytest.raises(ValueError, match="no place for 'a', or there are several"):
        filled(text, {"a": content})


def test_what_stands_between_marks_is_made_of_rows_that_were_measured() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    marked = {
        str(page.relative_to(ROOT)): set(re.findall(r"^<!-- end of (.+) -->$", text, re.MULTILINE))
        for page in pages
        if "<!-- end of " in (text := page.read_text())
    }
    made = parts()
    assert {page: {*own} for page, own in made.items()} == marked
    assert [(page, name) for page, own in made.items() for name in own if not own[name]] == []


def test_the_glossary_of_the_pages_has_the_words_without_links_of_the_documentation() -> None:
    shown = Environment(autoescape=True).from_string(glossary(PAGE)).render(of_caches=True)
    assert '<dt id="cell">cell</dt><dd>A row <code>a &amp; b</code> of the table, as' in shown
    assert "as it is.</dd>" in shown
    assert "<dd>It decides which changes.</dd>" in shown
    assert '<h2 id="g-caches">Caches</h2>' in shown


def test_the_glossary_of_another_project_leaves_out_what_is_of_caches() -> None:
    shown = Environment(autoescape=True).from_string(glossary(PAGE)).render(of_caches=False)
    assert 'id="cell"' in shown
    assert 'id="key"' not in shown


def test_a_line_of_the_glossary_that_is_no_entry_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="is no entry"):
        glossary("\n## Caches\n\n- **key**: without an anchor\n")
