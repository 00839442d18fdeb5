"""What a release says of itself follows from the changelog, and must agree with the tag."""

from __future__ import annotations

import pytest

from scripts.release_notes import notes

CHANGELOG = """# Changelog

## [Unreleased]

## [0.2.0] - 2026-12-01

### Added

- Wheels.

## [0.1.0] - 2026-11-01

- Everything.
"""


def test_the_section_of_the_tag_is_printed_alone() -> None:
    assert notes("v0.2.0", CHANGELOG, "0.2.0") == "### Added\n\n- Wheels.\n"
    assert notes("v0.1.0", CHANGELOG, "0.1.0") == "- Everything.\n"


@pytest.mark.parametrize(
    ("tag", "version", "said"),
    [
        ("v0.2.0", "0.2.1", "the tag v0.2.0 is not v0.2.1"),
        ("0.2.0", "0.2.0", "the tag 0.2.0 is not v0.2.0"),
        ("v0.3.0", "0.3.0", "no section '## [0.3.0] - YYYY-MM-DD'"),
        ("v0a2b0", "0a2b0", "no section"),
    ],
)
def test_a_tag_that_agrees_with_nothing_is_refused(tag: str, version: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        notes(tag, CHANGELOG, version)
    assert said in str(error.value)


def test_a_section_without_text_or_date_is_refused() -> None:
    for changelog in ("## [0.2.0] - 2026-12-01\n\n## [0.1.0]\n", "## [0.2.0]\n\n- Wheels.\n"):
        with pytest.raises(ValueError, match="no section"):
            notes("v0.2.0", changelog, "0.2.0")
