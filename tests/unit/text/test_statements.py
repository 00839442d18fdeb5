"""Every statement of the analysis has words, and they say what they always said."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import pytest

from observatory.analyze.statements import FoundCause, Kind, Sides, Statement
from observatory.store.records.comparison import CauseKind, FunctionChange
from observatory.text.causes import cause_sentence
from observatory.text.statements import _SENTENCES, sentence_of
from tests.factories import WARM


def test_every_statement_has_a_sentence() -> None:
    assert set(_SENTENCES) == set(get_args(Kind))


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            Statement("too few processes", (6, 7)),
            "a side has only 6 processes; at least 7 are needed",
        ),
        (Statement("same in both", ("wrong_results", 2.0)), "wrong_results is 2 in both"),
        (
            Statement("not deterministic", ("cache_misses", [0.0, 1200.0], "HEAD")),
            "cache_misses is not deterministic: 0, 1,200 in samples of HEAD",
        ),
        (
            Statement("may be chance", (1.16, 1.24)),
            (
                "HEAD takes between 16 % more and 24 % more than BASE, but among so many cells "
                "this may be chance: more processes would tell"
            ),
        ),
        (
            Statement("interval too wide", (0.981, 1.071, 0.05)),
            (
                "HEAD takes between 1.9 % less and 7.1 % more than BASE: this range is too wide to "
                "tell a change of 5 % from none"
            ),
        ),
        (
            Statement("run failed", ("3.3.7", "killed", ["a", "b", "c", "d"])),
            "3.3.7: killed (a, b, c and 1 more cell)",
        ),
        (
            Statement("run late", ("bench", datetime(2026, 3, 4, 5, 6, tzinfo=UTC))),
            "nothing has been measured on bench since 2026-03-04 05:06 UTC",
        ),
        (
            Statement("subject gone", ("3.3.7",)),
            (
                "3.3.7 is no longer in the results: whether it still holds is unknown; acknowledge "
                "it if this is intended"
            ),
        ),
        (
            Statement("series ended", (1, 1, "n5")),
            "it has no value since n5: not measured, failed, renamed or removed",
        ),
        (Statement("recorded message", ("{literal} braces",)), "{literal} braces"),
    ],
)
def test_a_sentence_holds_the_values(statement: Statement, sentence: str) -> None:
    assert sentence_of(statement) == sentence


@pytest.mark.parametrize(
    ("kind", "count", "told"),
    [
        ("keys differ between processes", 1, ": Add; with it the outer graph, made of it"),
        ("keys differ between processes", 2, ": Add; with them the outer graph, made of them"),
        ("refused", 1, ": Add; with it the outer graph, made of it"),
        ("stored but not loaded", 1, ": the outer graph, Add"),
        ("not stored", 1, ": the outer graph, Add"),
    ],
)
def test_the_outer_graph_follows_from_its_ops_only_where_keys_make_it_do_so(
    kind: CauseKind, count: int, told: str
) -> None:
    ops = FunctionChange(name="Add", count=count, base="hit", head="miss", seconds=0.1)
    whole = FunctionChange(name="outer graph", count=1, base="hit", head="miss", seconds=1.0)
    cause = FoundCause("cause-1", kind, [WARM], [whole, ops], {}, ("numba",), [])
    assert cause_sentence(cause, Sides()).endswith(told)
