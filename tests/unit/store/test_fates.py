"""What became of each graph that was built apart, as the cache keeps it for the pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import FATES
from observatory.store.base.problems import Problem
from observatory.store.reading.fates import KEPT_FATES, Fate, Fates
from observatory.store.reading.kept import UNKEPT
from observatory.store.reading.read import read_results
from observatory.store.records.sample import OpCoverage, Sample
from tests.factories import LATER, RUN, header, journal
from tests.factories_graphs import (
    COLD,
    KEYS_MADE,
    PAIRS,
    TOPICS,
    WARM,
    Member,
    absent,
    built,
    census,
    counts,
    keys_made,
    of_pairs,
    raised,
    topics,
)


def fates_of(directory: Path) -> Fates:
    ((path, found),) = read_results(directory).journals.items()
    assert found.fates != UNKEPT
    return KEPT_FATES.of_journal(path, found.fates, [])


@pytest.mark.parametrize(
    ("member", "fate", "note"),
    [
        (built("g", "hit"), "hit", ""),
        (built("g", "hit", "internal"), "hit", ""),
        (built("g", "internal"), "uncached", ""),
        (built("g"), "uncached", ""),
        (built("g", "hit", "miss", op="Exp"), "miss", "Exp"),
        (built("g", "miss", "uncacheable", op="Exp", why="a pointer"), "uncacheable",
         "Exp: a pointer"),
        (built("g", "hit", in_python=["Svd", "Svd"]), "python", "Svd"),
        (built("g", "uncacheable", op="Svd", why="no", in_python=["Svd"]), "python",
         "Svd; uncacheable: Svd: no"),
        (built("g", "hit", wrong=True), "wrong", ""),
        (raised("g", "TypeError: no\nFile x"), "raised", "TypeError: no"),
        (absent("g"), "absent", ""),
    ],
)  # fmt: skip
def test_a_graph_has_the_worst_that_became_of_it(
    tmp_path: Path, member: Member, fate: str, note: str
) -> None:
    journal(tmp_path, census(member), RUN, header())
    assert fates_of(tmp_path) == {str(WARM): [Fate("g", fate, note)]}
    assert fate in FATES


def test_the_cold_build_is_not_told_and_a_pair_is_right_or_not(tmp_path: Path) -> None:
    members = (
        built("a", "miss"), built("b", "miss", collided="other"), built("c", "miss", unstable="new")
    )  # fmt: skip
    journal(tmp_path, of_pairs(*members), RUN, header())
    found = fates_of(tmp_path)[str(PAIRS)]
    assert [(one.fate, one.note) for one in found] == [
        ("right", ""), ("collided", "other"), ("unstable", "new")
    ]  # fmt: skip


def test_a_pair_whose_keys_were_compared_is_right_or_not(tmp_path: Path) -> None:
    keys = replace(PAIRS, scenario="pairs_keys")
    (sample,) = of_pairs(built("a", "miss"), built("b", "miss", collided="other"))
    journal(tmp_path, [sample.model_copy(update={"cell": keys})], RUN, header())
    assert [one.fate for one in fates_of(tmp_path)[str(keys)]] == ["right", "collided"]


def test_graphs_whose_keys_were_counted_have_their_counts(tmp_path: Path) -> None:
    journal(tmp_path, keys_made(chain=30, constant=17), RUN, header())
    assert fates_of(tmp_path)[str(KEYS_MADE)] == [
        Fate("chain", "counted", value=30), Fate("constant", "counted", value=17)
    ]  # fmt: skip


def test_a_graph_has_a_row_for_each_count_and_one_where_it_cannot_be_counted(
    tmp_path: Path,
) -> None:
    several = counts("blockwise.one", graph_nodes=4, blockwise_nodes=1, cache_misses=2)
    journal(tmp_path, topics(several, raised("ifelse.one"), absent("inner.root")))
    fates = fates_of(tmp_path)
    assert fates[str(TOPICS)] == [
        Fate("blockwise.one: nodes", "counted", value=4),
        Fate("blockwise.one: Blockwise nodes", "counted", value=1),
        Fate("ifelse.one", "raised", "ValueError: no"),
        Fate("inner.root", "absent"),
    ]


def test_of_samples_of_one_run_the_first_that_ended_well_speaks(tmp_path: Path) -> None:
    def warm(outcome: str, **changes: object) -> Sample:
        return census(built("g", outcome, op="Exp"))[1].model_copy(update=changes)

    samples = [warm("uncacheable", status="killed"), warm("miss"), warm("hit")]
    journal(tmp_path, samples, RUN, header())
    ((one,),) = fates_of(tmp_path).values()
    assert one.fate == "miss"


def test_the_latest_run_speaks(tmp_path: Path) -> None:
    journal(tmp_path, census(built("g", "hit")), RUN, header())
    journal(tmp_path, census(built("g", "miss", op="Exp")), LATER, header())
    ((one,),) = fates_of(tmp_path).values()
    assert one.fate == "miss"


def test_a_ledger_that_is_gone_is_named_and_looked_for_again(tmp_path: Path) -> None:
    journal(tmp_path, census(built("g", "hit")), RUN, header())
    for path in (tmp_path / "ledgers").rglob("*.json.gz"):
        path.unlink()
    problems: list[Problem] = []
    ((path, found),) = read_results(tmp_path).journals.items()
    assert KEPT_FATES.of_journal(path, found.fates, problems) == {}
    assert len(problems) == 1


def test_the_ops_that_no_graph_has_are_kept_by_cell_and_old_samples_have_none(
    tmp_path: Path,
) -> None:
    cold, warm = census(built("g", "hit"))
    found = OpCoverage(implemented={"numba": 3}, untried={"tensor.math.Sum": ["numba"]})
    said = cold.model_copy(update={"coverage": found})
    journal(tmp_path, [said, warm], RUN, header())
    ((_, summary),) = read_results(tmp_path, tmp_path / "kept").journals.items()
    ((_, again),) = read_results(tmp_path, tmp_path / "kept").journals.items()
    assert summary.coverage == again.coverage == {str(COLD): found}
    other = OpCoverage(implemented={"numba": 1}, untried={})
    died = cold.model_copy(update={"coverage": other, "status": "killed"})
    journal(tmp_path, [died, cold], LATER, header())
    ((_, latest),) = read_results(tmp_path).journals.items()
    assert latest.coverage == {}
