"""What readers see in place of the kind of a change."""

from __future__ import annotations

import pytest

from observatory.analyze.history.part_changes import PART
from observatory.analyze.history.settings_changes import SETTINGS
from observatory.benchmarks.catalogue import CAUSES, METRICS
from observatory.text.titles import title_of

COUNTS = [f"{how} {name}" for how in ("fewer", "more") for name in METRICS]
KINDS = [*CAUSES, *COUNTS, "worse under faults", SETTINGS, PART, "failed run"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_title_is_made_of_words_and_names_no_metric(kind: str) -> None:
    title = title_of(kind)
    assert "_" not in title
    assert "{" not in title
    assert "  " not in title
    assert title == title.strip()


@pytest.mark.parametrize("kind", ["refused", "not asked", "not reused", "not stored", "sleeps"])
def test_a_title_says_what_does_it(kind: str) -> None:
    assert kind != title_of(kind)
    assert len(title_of(kind).split()) > len(kind.split())


def test_a_drift_keeps_its_beginning() -> None:
    assert title_of("slow drift: more memory left") == "slow drift: more memory stays in use"


def test_an_unknown_kind_is_its_own_title_and_shows_no_control_characters() -> None:
    assert title_of("of a later\x1b version") == "of a later\ufffd version"
