"""Cells that build many graphs apart: judged and explained graph by graph."""

from collections.abc import Mapping
from typing import Any

import pytest

from observatory.analyze.comparison.causes import explained
from observatory.analyze.comparison.evidence import Evidence, counts_by_graph
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.verdicts import judge_exact
from observatory.analyze.statements import FoundCause, JudgedVerdict, Sides, Statement
from observatory.benchmarks.catalogue import CAUSES, FIRST_CAUSES, METRICS, Cell
from observatory.store.records.sample import LedgerEntry, Sample
from observatory.text.causes import cause_sentence
from observatory.text.comparison.breakdown import TOLD_IF_SAME
from tests.factories import failed
from tests.factories_graphs import (
    COLD,
    KEYS,
    KEYS_MADE,
    PAIRS,
    WARM,
    absent,
    built,
    census,
    counts,
    keys_compared,
    keys_made,
    of_pairs,
    raised,
)


def compared(
    base: list[Sample], head: list[Sample]
) -> tuple[list[FoundCause], dict[tuple[Cell, str], JudgedVerdict]]:
    old, new = Evidence.of(base), Evidence.of(head)
    judged = judge_exact(sorted(old.cells | new.cells), old, new, NoiseFloors())
    causes, verdicts = explained(judged.verdicts, old, new)
    return causes, {(one.cell, one.metric): one for one in verdicts}


def sentence(cause: FoundCause) -> str:
    return cause_sentence(cause, Sides())


def worse(verdicts: Mapping[Any, JudgedVerdict]) -> set[str]:
    return {one.metric for one in verdicts.values() if one.conclusion == "worse"}


def values(verdict: JudgedVerdict) -> tuple[list[float], list[float]]:
    return verdict.base.values, verdict.head.values


def test_a_lost_graph_is_told_with_its_op_and_the_words_of_the_cache() -> None:
    base = census(built("cholesky", "hit"), built("exp", "hit"))
    head = census(
        built("cholesky", "uncacheable", op="Cholesky", why="it uses dynamic globals"),
        built("exp", "hit"),
    )
    (cause,), verdicts = compared(base, head)
    assert cause.kind == "refused"
    assert sentence(cause) == (
        "1 function is compiled every time because the cache refuses to store it: Cholesky; in "
        "the graph cholesky (reason: it uses dynamic globals)"
    )
    assert values(verdicts[WARM, "uncacheable"]) == ([0], [1])
    assert verdicts[WARM, "uncacheable"].cause == cause.id


def test_several_lost_graphs_of_one_reason_are_one_cause() -> None:
    names = [f"op{number}" for number in range(9)]
    why = "it contains a pointer"
    base = census(*(built(name, "hit") for name in names))
    head = census(*(built(name, "uncacheable", op=name.title(), why=why) for name in names))
    (cause,), _ = compared(base, head)
    assert [graph.name for graph in cause.graphs] == names
    assert sentence(cause).endswith(
        "; in the graphs op0, op1, op2, op3, op4, op5 and 3 more (reason: it contains a pointer)"
    )


def test_a_graph_that_another_one_makes_up_for_is_lost_all_the_same() -> None:
    base = census(built("exp", "hit"), built("log", "hit", "miss", op="Log"))
    head = census(built("exp", "hit", "miss", op="Exp"), built("log", "hit"))
    causes, verdicts = compared(base, head)
    assert [graph.name for cause in causes for graph in cause.graphs] == ["exp"]
    assert values(verdicts[WARM, "cache_misses"]) == ([0], [1])


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (census(built("exp", "hit")), census(built("exp", "hit"), built("new", "miss"))),
        (census(built("exp", "hit"), absent("log")), census(built("exp", "hit"), raised("log"))),
        (census(built("exp", "hit"), built("log", "hit")), census(built("exp", "hit"))),
        (census(built("exp", "hit"), raised("log")),
         census(built("exp", "hit"), built("log", "miss"))),
        # It never hit: nothing is lost.
        (census(built("exp", "internal")), census(built("exp", "uncacheable"))),
    ],
    ids=["new in the registry", "absent before", "no longer asked for", "raised before",
         "no cache before"],
)  # fmt: skip
def test_other_graphs_are_no_alarm(base: list[Sample], head: list[Sample]) -> None:
    causes, verdicts = compared(base, head)
    assert causes == []
    assert worse(verdicts) == set()


def test_a_crash_is_an_alarm_whatever_graphs_the_sides_have() -> None:
    """Sums over other graphs say nothing; that one of two samples crashed does."""
    base = [*census(built("exp", "hit")), *census(built("exp", "hit"))]
    head = [*census(built("exp", "hit"), built("log", "hit")), failed(WARM, "counting")]
    _, verdicts = compared(base, head)
    assert verdicts[WARM, "crashed"].conclusion == "worse"


def test_a_graph_that_raises_is_told_with_the_first_line_of_its_exception() -> None:
    base = census(built("qr", "hit"), built("svd", "hit"), built("exp", "hit"))
    head = census(
        raised("qr", "TypeError: no such overload\nmore lines"),
        raised("svd", "TypeError: no such overload\nof another kind"),
        built("exp", "hit"),
    )
    (cause,), verdicts = compared(base, head)
    assert cause.kind == "graphs no longer work"
    assert sentence(cause) == (
        "2 graphs that work with BASE fail with HEAD: qr, svd (TypeError: no such overload)"
    )
    assert worse(verdicts) == {"graphs_raised"}
    assert {cell.scenario for cell in cause.cells} == {"census_cold", "census_warm"}


def test_what_ended_before_it_filled_the_cache_is_told_once_and_not_as_lost_from_it() -> None:
    base = census(built("qr", "hit"), built("exp", "hit"))
    head = [census(raised("qr"), built("exp", "hit"))[0],
            census(built("qr", "miss"), built("exp", "hit"))[1]]  # fmt: skip
    (cause,), verdicts = compared(base, head)
    assert cause.kind == "graphs no longer work"
    assert worse(verdicts) == {"graphs_raised"}


def test_ops_that_are_left_to_python_are_named() -> None:
    base = census(built("solve", "hit"), built("eig", "hit", in_python=["Eig"]))
    head = census(
        built("solve", "hit", in_python=["Solve"]), built("eig", "hit", in_python=["Eig", "Dot"])
    )
    (cause,), verdicts = compared(base, head)
    assert cause.kind == "Ops run in Python"
    assert sentence(cause) == "1 graph has Ops that HEAD leaves to Python: solve (Solve)"
    assert worse(verdicts) == {"python_fallbacks"}
    assert values(verdicts[WARM, "python_fallbacks"]) == ([0], [1])


def test_an_op_in_python_that_becomes_two_in_python_is_no_loss() -> None:
    before, after = ["Solve"], ["Cholesky", "CholeskySolve"]
    one = census(built("solve", "hit", in_python=before), built("exp", "hit"))
    two = census(built("solve", "hit", in_python=after), built("exp", "hit"))
    causes, verdicts = compared(one, two)
    assert causes == []
    assert worse(verdicts) == set()
    _, verdicts = compared(two, one)
    assert verdicts[WARM, "python_fallbacks"].conclusion == "better"


def test_keys_that_cost_more_are_told_with_their_graphs_alone() -> None:
    base = keys_made(chain=30, longer=300, constant=30)
    head = keys_made(chain=40, longer=400, constant=17)
    (cause,), verdicts = compared(base, head)
    assert cause.kind == "keys cost more"
    assert sentence(cause) == (
        "HEAD calls more Python functions to make the keys of 2 graphs: chain, longer"
    )
    assert values(verdicts[KEYS_MADE, "key_calls"]) == ([330], [440])
    assert worse(verdicts) == {"key_calls"}


def test_one_more_call_for_a_graph_is_no_alarm_and_one_for_each_node_is() -> None:
    floor = 1 + (METRICS["key_calls"].material or 0)
    base = keys_made(chain=30, longer=3000)
    assert 31 / 30 < floor < 40 / 30
    for head, found in (
        (keys_made(chain=31, longer=3001), "workload changed"),
        (keys_made(chain=30, longer=4000), "worse"),
        (keys_made(chain=29, longer=3000), "workload changed"),
        (keys_made(chain=20, longer=2000), "better"),
        (keys_made(chain=30, longer=3000), "unaffected"),
    ):
        _, verdicts = compared(base, head)
        assert verdicts[KEYS_MADE, "key_calls"].conclusion == found


def test_a_few_calls_of_a_large_graph_do_not_hide_many_of_a_small_one() -> None:
    base, head = keys_made(chain=30, longer=3000), keys_made(chain=60, longer=3001)
    (cause,), verdicts = compared(base, head)
    assert [graph.name for graph in cause.graphs] == ["chain"]
    assert values(verdicts[KEYS_MADE, "key_calls"]) == ([30], [60])


def test_fewer_misses_of_a_graph_that_no_cache_returns_are_no_success_of_the_cache() -> None:
    base = census(built("exp", "miss", "miss"), built("log", "hit"))
    head = census(built("exp", "miss"), built("log", "hit"))
    _, verdicts = compared(base, head)
    assert values(verdicts[WARM, "cache_misses"]) == ([0], [0])


def test_a_graph_that_only_some_samples_have_is_not_counted() -> None:
    metric = METRICS["cache_misses"]
    (both,) = census(built("exp", "hit"), built("log", "miss"))[1:]
    (one,) = census(built("exp", "hit"))[1:]
    assert counts_by_graph([both, one], metric) == {"exp": [0, 0]}


def test_ops_that_ran_in_python_before_are_no_reason_of_a_wrong_graph() -> None:
    base = census(built("eig", "hit", in_python=["Eig"]))
    head = census(built("eig", "hit", in_python=["Eig", "Dot"], wrong=True))
    (cause,), _ = compared(base, head)
    assert [(one.name, one.note) for one in cause.graphs] == [("eig", "Dot")]


def test_a_wrong_graph_is_named_and_those_that_were_wrong_before_are_not() -> None:
    base = census(built("det", "hit"), built("old", "hit", wrong=True))
    head = census(built("det", "hit", wrong=True), built("old", "hit", wrong=True))
    (cause,), verdicts = compared(base, head)
    assert sentence(cause) == "2 of the values that HEAD computes are wrong: det"
    assert values(verdicts[WARM, "wrong_results"]) == ([0], [1])


def test_a_collision_is_told_with_its_pair_and_not_as_a_wrong_result() -> None:
    base = of_pairs(built("axis: sum", "miss"), built("other", "miss"))
    note = "ValueError: incompatible shape"
    head = of_pairs(built("axis: sum", "miss", collided=note), built("other", "miss"))
    (cause,), verdicts = compared(base, head)
    assert cause.kind == "keys collide"
    assert sentence(cause) == (
        "1 pair of different graphs shares a key in a cache of HEAD, so that the second graph is "
        "wrong where the first one was compiled before it: axis: sum (ValueError: incompatible "
        "shape)"
    )
    assert worse(verdicts) == {"key_collisions"}
    assert verdicts[PAIRS, "key_collisions"].cause == cause.id


def test_an_equal_graph_that_is_compiled_again_has_another_key() -> None:
    base = of_pairs(built("names of variables", "hit"))
    head = of_pairs(built("names of variables", "miss", unstable="1 function not found"))
    (cause,), verdicts = compared(base, head)
    assert cause.kind == "equal graphs have different keys"
    assert sentence(cause) == (
        "1 pair of equal graphs has different keys with HEAD, so that the second graph is "
        "compiled again: names of variables (1 function not found)"
    )
    assert worse(verdicts) == {"key_instabilities"}


def test_a_pair_that_loses_keys_is_told_and_one_that_never_had_them_is_not() -> None:
    base = keys_compared(counts("solve", keys_missing=0), counts("choose", keys_missing=4))
    head = keys_compared(counts("solve", keys_missing=3), counts("choose", keys_missing=4))
    (cause,), verdicts = compared(base, head)
    assert cause.kind == "keys are missing"
    assert sentence(cause) == (
        "1 pair has functions that HEAD gives no key, so that no cache stores them: solve"
    )
    assert worse(verdicts) == {"keys_missing"}
    assert values(verdicts[KEYS, "keys_missing"]) == ([0], [3])


def test_a_pair_without_keys_that_has_more_functions_without_them_lost_none() -> None:
    """A rewrite made two Ops of one that never had a key."""
    base = keys_compared(counts("choose", keys_missing=4))
    causes, verdicts = compared(base, keys_compared(counts("choose", keys_missing=6)))
    assert not causes
    assert worse(verdicts) == set()


def test_collisions_come_after_wrong_results_and_before_all_others() -> None:
    assert FIRST_CAUSES[:2] == ("wrong results", "keys collide")
    lost = census(built("exp", "hit"))
    base = [*lost, *of_pairs(built("a", "miss"), built("b", "miss"))]
    head = [
        *census(built("exp", "miss", op="Exp"), seconds=100.0),
        *of_pairs(built("a", "miss", collided="another value"), raised("b")),
    ]
    causes, _ = compared(base, head)
    assert [cause.kind for cause in causes][:2] == ["keys collide", "graphs no longer work"]
    assert len(causes) == 3
    assert all(CAUSES[cause.kind].advice for cause in causes)


def test_files_of_different_graphs_are_not_compared() -> None:
    base = census(built("exp", "hit"), files=1)
    head = census(built("exp", "hit"), built("new", "hit"), files=2)
    _, verdicts = compared(base, head)
    assert verdicts[WARM, "files_leaked"].conclusion == "workload changed"
    _, verdicts = compared(base, census(built("exp", "miss"), files=2))
    assert verdicts[WARM, "files_leaked"].conclusion == "workload changed"
    _, verdicts = compared(base, census(built("exp", "hit", "hit"), files=2))
    assert verdicts[WARM, "files_leaked"].conclusion == "workload changed"
    _, verdicts = compared(base, census(built("exp", "hit"), files=2))
    assert verdicts[WARM, "files_leaked"].conclusion == "worse"


def test_a_count_that_differs_between_samples_is_not_judged() -> None:
    base = census(built("exp", "hit"))
    head = [*census(built("exp", "hit")), *census(built("exp", "hit", "miss"))]
    _, verdicts = compared(base, head)
    assert verdicts[WARM, "cache_misses"].conclusion == "undecided"


def test_keys_are_looked_for_in_what_the_same_graph_stored() -> None:
    """The functions of all graphs have the same names: the outer graph above all."""
    base = census(built("exp", "hit"), built("log", "hit"))
    head = census(built("exp", "miss", key="exp"), built("log", "miss", key="other"))
    causes, _ = compared(base, head)
    graphs = {cause.kind: [graph.name for graph in cause.graphs] for cause in causes}
    assert graphs == {"stored but not loaded": ["exp"], "keys differ between processes": ["log"]}


def test_the_factory_makes_ledgers_by_graph() -> None:
    _, warm = census(built("exp", "hit"))
    assert COLD.scenario == "census_cold"
    assert [type(entry) for entry in warm.ledger or ()] == [LedgerEntry]
    assert [entry.step for entry in warm.ledger or ()] == ["exp"]


def test_a_collision_in_one_sample_of_several_counts() -> None:
    base = of_pairs(built("axis", "miss"))
    head = [*base, *of_pairs(built("axis", "miss", collided="another value"))]
    (cause,), _ = compared(base, head)
    assert cause.kind == "keys collide"


def test_a_collision_that_both_sides_have_is_not_silent() -> None:
    both = of_pairs(built("axis", "miss", collided="another value"))
    causes, verdicts = compared(both, both)
    verdict = verdicts[PAIRS, "key_collisions"]
    assert causes == []
    assert verdict.conclusion == "unaffected"
    assert verdict.because == Statement("same in both", ("key_collisions", 1))
    assert "key_collisions" in TOLD_IF_SAME


def test_the_page_does_not_call_it_wrong_that_some_ops_cannot_be_stored() -> None:
    assert METRICS["uncacheable"].zero_in("warm_disk")
    assert not METRICS["uncacheable"].zero_in("census_warm")
    assert METRICS["wrong_results"].zero_in("census_warm")


def walked(*asked: str) -> list[Sample]:
    """One sample of the path with one step, which compiled functions for ``asked``."""
    sample = census(built("predict", "hit"))[-1]
    cell = Cell("mixture", "path_warm", "NUMBA", "spawn")
    (step,) = sample.steps
    counted = {**step.metrics, "graphs_compiled": len(asked)}
    taken = step.model_copy(update={"metrics": counted, "compiled": list(asked)})
    return [sample.model_copy(update={"cell": cell, "steps": [taken]})]


def test_one_more_function_of_a_step_is_told_with_the_step_and_who_asks_for_it() -> None:
    base, head = walked("forward.compile"), walked("forward.compile", "backends.trace")
    (cause,), verdicts = compared(base, head)
    assert cause.kind == "more functions compiled"
    assert sentence(cause).endswith(" functions in 1 step: predict (backends.trace)")
    assert [(one.name, one.note) for one in cause.graphs] == [("predict", "backends.trace")]
    assert worse(verdicts) == {"graphs_compiled"}
    assert compared(base, base)[0] == []
