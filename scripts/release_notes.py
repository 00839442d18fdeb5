"""Print what a release changes, from CHANGELOG.md: `python scripts/release_notes.py v0.2.0`.

It uses the standard library alone. The tag must name the version of pyproject.toml and a section of
the changelog with a date; otherwise a sentence says what is wrong, and the status is 1.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def notes(tag: str, changelog: str, version: str) -> str:
    """The section of a tag. Raises ValueError if the tag, the version and the section differ."""
    number = tag.removeprefix("v")
    if tag != f"v{version}":
        raise ValueError(
            f"the tag {tag} is not v{version}, the version in pyproject.toml; change one of them"
        )
    section = re.search(
        rf"^## \[{re.escape(number)}\] - \d{{4}}-\d\d-\d\d$\n(.*?)(?=^## \[|\Z)",
        changelog, re.MULTILINE | re.DOTALL,
    )  # fmt: skip
    if section is None or not section[1].strip():
        raise ValueError(
            f"CHANGELOG.md has no section '## [{number}] - YYYY-MM-DD' with text; rename "
            "'## [Unreleased]' and add the date"
        )
    return section[1].strip() + "\n"


def main() -> None:
    """Print the section of the tag in the arguments."""
    if len(sys.argv) != 2:
        sys.exit("usage: python scripts/release_notes.py TAG")
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    try:
        sys.stdout.write(notes(sys.argv[1], changelog, metadata["project"]["version"]))
    except ValueError as error:
        sys.exit(f"release_notes: {error}")


if __name__ == "__main__":
    main()
