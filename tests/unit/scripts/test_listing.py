"""The list of scripts says what each of them does."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.docs.listing import listing, sentence


def test_each_script_and_package_is_listed_with_its_first_sentence(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("#!/bin/sh\n# Starts it.\n# Further words.\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").write_text('"""What is inside."""\n')
    (tmp_path / "inner" / "one.py").write_text('"""Does | one thing.\n\nAnd more."""\n')
    page = "\n\n".join(listing(tmp_path))
    assert "| `start.sh` | Starts it. |" in page
    assert "## inner\n\nWhat is inside.\n" in page
    assert "| `one.py` | Does &#124; one thing. |" in page
    assert "__init__" not in page.partition("## inner")[2]


@pytest.mark.parametrize("text", ["import sys\n", '"""Goes on\nin a second line."""\n'])
def test_a_script_must_say_what_it_does(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.py").write_text(text)
    with pytest.raises(ValueError, match=r"one\.py does not begin with a sentence"):
        sentence(tmp_path / "one.py")
