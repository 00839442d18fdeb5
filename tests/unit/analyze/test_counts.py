"""Exact metrics from subject to subject: causes, how long they hold, what came with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.history.exact_changes import counted_changes
from observatory.analyze.history.followed import CountedSubject, History
from observatory.analyze.statements import Occurrence
from observatory.benchmarks.catalogue import (
    BACKENDS,
    CAUSES,
    METRICS,
    MODELS,
    SCENARIOS,
    Cell,
    metrics_of,
)
from observatory.store.records.alerts import at_of
from observatory.store.records.sample import Build, Sample
from observatory.text.statements import sentence_of
from observatory.text.titles import title_of
from tests.factories import failed, ledger, sample
from tests.factories_alerts import subject
from tests.factories_graphs import absent, built, census, of_pairs, raised

DISK = Cell("radon", "warm_disk", "NUMBA", "spawn")
SIBLINGS = Cell("radon", "siblings", "NUMBA", "fork")


def counted(misses: float, *, seconds: float | None = None, cell: Cell = DISK) -> list[Sample]:
    names = [f"f{n}" for n in range(int(misses))]
    found = ledger(*names, outcome="miss")
    taken = [sample(cell, "counting", {"cache_misses": misses, "uncacheable": 0}, ledger=found)]
    if seconds is not None:
        taken.append(sample(cell, "timing", {"compile_time": seconds}))
    return taken


def changes(*nights: Sequence[Sample], machine: str = "bench") -> list[Occurrence]:
    subjects = [
        CountedSubject(at_of(subject(n)), Evidence.of(taken), n) for n, taken in enumerate(nights)
    ]
    return counted_changes(History(machine, "py3.13", subjects))[0]


def test_nothing_changed_is_no_change() -> None:
    assert changes(counted(0), counted(0), counted(0)) == []


def test_a_miss_alarms_at_the_subject_that_brought_it_and_names_both() -> None:
    (one,) = changes(counted(0), counted(0), counted(2))
    assert one.worse
    assert one.recovered is None
    assert one.change.last_good is not None
    assert (one.change.last_good.label, one.change.first_bad.label) == ("n1", "n2")
    assert [(s.metric, s.before, s.after, s.holds) for s in one.change.series] == [
        ("cache_misses", 0, 2, True)
    ]


def test_it_is_over_when_no_more_is_counted_than_before() -> None:
    fewer, over = changes(counted(1), counted(5), counted(3), counted(1))[:2]
    assert fewer.change.first_bad.label == "n1"
    assert fewer.recovered is not None
    assert fewer.recovered.label == "n3"
    assert not over.worse


def test_fewer_misses_are_told_with_the_time_that_came_with_them() -> None:
    (one,) = changes(counted(105, seconds=6.07), counted(0, seconds=0.47))
    assert not one.worse
    assert sentence_of(one.statement) == (
        "cache_misses 105 → 0 in radon warm_disk NUMBA spawn; "
        "with it compile_time is faster: ÷13 (6.07 → 0.47 s, radon warm_disk NUMBA spawn)"
    )


@pytest.mark.parametrize("seconds", [0.38, 0.4, 0.49])
def test_a_time_that_moved_the_other_way_or_by_chance_is_not_told_with_a_count(
    seconds: float,
) -> None:
    (one,) = changes(counted(0, seconds=0.4), counted(4, seconds=seconds))
    assert sentence_of(one.statement).endswith(": f0, f1, f2 and 1 more")


def test_a_time_that_grew_much_with_a_count_is_told() -> None:
    (one,) = changes(counted(0, seconds=0.4), counted(4, seconds=0.6))
    assert "with it compile_time is slower: +50 %" in sentence_of(one.statement)


def test_wrong_numbers_are_told_without_the_words_base_and_head() -> None:
    good = [sample(SIBLINGS, "counting", {"wrong_results": 0})]
    bad = [sample(SIBLINGS, "counting", {"wrong_results": 7})]
    (one,) = changes(good, bad)
    assert one.change.kind == "wrong results"
    assert "HEAD" not in sentence_of(one.statement)
    assert sentence_of(one.statement).startswith("NUMBA: n1")


def test_what_was_wrong_when_it_was_first_checked_is_told_as_long_as_it_is() -> None:
    wrong = [sample(SIBLINGS, "counting", {"wrong_results": 7})]
    good = [sample(SIBLINGS, "counting", {"wrong_results": 0})]
    (one,) = changes(wrong, wrong)
    assert one.worse
    assert one.recovered is None
    assert (one.change.kind, one.change.last_good) == ("wrong results", None)
    assert one.change.first_bad.label == "n0"
    assert [(s.after, s.holds, s.newest.label) for s in one.change.series] == [(7, True, "n1")]
    assert sentence_of(one.statement).endswith("(7 in radon siblings NUMBA fork)")
    fell = changes(wrong, good)
    assert [one.worse for one in fell] == [False]


def test_a_graph_that_is_new_and_wrong_is_told_and_one_that_was_right_is_not_told_twice() -> None:
    before = census(built("exp", "hit"), built("log", "hit"))
    after = census(
        built("exp", "hit"), built("log", "hit", wrong=True), built("new", "hit", wrong=True)
    )
    found = {one.change.last_good is None: one.change for one in changes(before, after)}
    assert [graph.name for graph in found[True].graphs] == ["new"]
    assert [graph.name for graph in found[False].graphs] == ["log"]
    assert found[True].id != found[False].id


def test_the_words_of_an_error_stay_what_they_are() -> None:
    died = failed(DISK, "counting", failure={"message": "HEAD of the list is not BASE"})
    (one,) = changes(counted(0), [died])
    assert sentence_of(one.statement).startswith("NUMBA: n1 fails: HEAD of the list is not BASE")


def test_two_causes_at_one_subject_are_two_changes() -> None:
    calm = [*counted(0), sample(SIBLINGS, "counting", {"wrong_results": 0})]
    both = [*counted(3), sample(SIBLINGS, "counting", {"wrong_results": 1})]
    kinds = [one.change.kind for one in changes(calm, both)]
    assert len(kinds) == 2
    assert "wrong results" in kinds


def test_a_crash_holds_until_it_runs_again() -> None:
    died = [failed(DISK, "counting")]
    (one, better) = changes(counted(0), died, counted(0))
    assert one.change.kind == "crashed"
    assert one.recovered is not None
    assert not better.worse


def test_the_same_history_gives_the_same_ids_on_every_machine() -> None:
    here, there = (
        [one.change.id for one in changes(counted(0), counted(2), machine=machine)]
        for machine in ("bench", "other")
    )
    assert here == there


def test_a_subject_that_was_not_counted_ends_nothing() -> None:
    (one,) = changes(counted(0), counted(2), [sample(DISK, "timing", {"compile_time": 0.3})])
    assert one.recovered is None
    assert one.change.series[0].newest.label == "n1"


def test_a_subject_without_the_cell_hides_no_change_across_it() -> None:
    other = [sample(SIBLINGS, "counting", {"wrong_results": 0})]
    (one,) = changes(counted(0), other, counted(2))
    assert one.change.last_good is not None
    assert (one.change.last_good.label, one.change.first_bad.label) == ("n0", "n2")
    assert one.change.between == 1


def test_a_subject_that_was_not_counted_or_failed_hides_no_change_across_it() -> None:
    timed = [sample(DISK, "timing", {"compile_time": 0.3})]
    (one,) = changes(counted(0), timed, counted(5))
    assert one.change.first_bad.label == "n2"
    found = changes(counted(0), [failed(DISK, "counting")], counted(5))
    kinds = {each.change.kind: each.recovered for each in found if each.worse}
    assert kinds.keys() == {"crashed", "unexplained"}
    assert kinds["unexplained"] is None


def test_a_night_that_does_not_agree_with_itself_hides_no_change_across_it() -> None:
    odd = [*counted(0), *counted(5)]
    (one,) = changes(counted(0), odd, counted(5), counted(5))
    assert (one.change.first_bad.label, one.recovered) == ("n2", None)


def twice(*misses: float) -> list[Sample]:
    """A subject that was counted twice, with keys that depend on the hash seed."""
    return [one for number in misses for one in counted(number)]


def test_a_count_that_surely_rose_alarms_although_its_samples_differ() -> None:
    (one,) = changes(twice(0, 0), twice(35, 34), twice(34, 35), twice(33, 35))
    assert one.worse
    assert [(s.before, s.after, s.holds) for s in one.change.series if s.kind == "exact"] == [
        (0, 35, True)
    ]
    worse, better = changes(twice(0, 0), twice(35, 34), twice(0, 0))
    assert (worse.worse, better.worse) == (True, False)
    assert worse.recovered is not None


def test_a_count_that_flickers_is_one_change() -> None:
    nights = (0, 35, 34, 35, 34, 36, 35, 10, 20, 0)
    found = changes(*(counted(number) for number in nights))
    told = [(one.change.first_bad.label, one.worse) for one in found]
    assert told == [
        ("n1", True), ("n5", True), ("n7", False), ("n8", True), ("n9", False),
    ]  # fmt: skip


def test_one_more_wrong_value_is_never_flicker() -> None:
    def wrong(number: float) -> list[Sample]:
        return [sample(SIBLINGS, "counting", {"wrong_results": number})]

    found = changes(*map(wrong, (0, 30, 29, 30)))
    assert [one.change.first_bad.label for one in found if one.worse] == ["n1", "n3"]


def test_two_causes_in_one_cell_are_two_changes_of_the_same_series() -> None:
    found = [*ledger("a", outcome="miss"), *ledger("b", outcome="uncacheable")]
    bad = [sample(DISK, "counting", {"cache_misses": 1, "uncacheable": 1}, ledger=found)]
    both = changes(counted(0), bad)
    assert {one.change.kind for one in both} == {"refused", "unexplained"}
    assert all(one.change.series and one.recovered is None for one in both)


def test_the_series_that_moved_the_most_comes_first() -> None:
    """The list of alerts shows it, and a search follows it."""
    places = [Cell("radon", "warm_disk", backend, "fork") for backend in ("C", "NUMBA")]

    def leaking(*files: int) -> list[Sample]:
        return [
            sample(cell, "counting", {"files_leaked": number})
            for cell, number in zip(places, files, strict=True)
        ]

    (one,) = changes(leaking(0, 0), leaking(1, 256))
    assert [each.after for each in one.change.series] == [256, 1]


def test_reuse_that_was_lost_is_followed_by_name_whatever_else_is_compiled() -> None:
    variants = Cell("radon", "variants", "NUMBA", "spawn")

    def built(hits: list[str], misses: list[str]) -> list[Sample]:
        entries = [*ledger(*hits, outcome="hit"), *ledger(*misses, outcome="miss")]
        return [sample(variants, "counting", {"cache_misses": len(misses)}, ledger=entries)]

    both, lost = built(["a", "b"], ["a", "b", "c"]), built([], ["a", "a", "b", "b", "c"])
    more = built([], ["a", "a", "b", "b", "c", "d"])
    (one,) = changes(both, lost, more)
    assert one.change.kind == "not reused"
    assert one.recovered is None
    (over,) = (each for each in changes(both, lost, more, both) if each.worse)
    assert over.recovered is not None
    assert over.recovered.label == "n3"


def test_other_errors_are_other_alerts() -> None:
    def died(message: str) -> list[Sample]:
        found = failed(DISK, "counting")
        assert found.failure is not None
        told = found.failure.model_copy(update={"message": message})
        return [found.model_copy(update={"failure": told})]

    ids = [changes(counted(0), died(how))[0].change.id for how in ("SIGSEGV", "no such file")]
    assert len(set(ids)) == 2


def test_a_cell_that_nobody_knows_is_left_out() -> None:
    odd = Cell("my model", "warm_disk", "NUMBA", "spawn")
    assert changes(counted(0, cell=odd), counted(3, cell=odd)) == []


def test_a_lost_graph_is_followed_alone() -> None:
    """Graphs that come, go or are lost for another reason do not hide that it is over."""
    good = census(built("exp", "hit"), built("qr", "hit"), absent("svd"))
    lost = census(built("exp", "hit"), built("qr", "uncacheable", op="QR", why="a pointer"))
    grown = census(built("exp", "hit"), built("qr", "hit"), built("svd", "uncacheable"))
    (one, _) = changes(good, lost, grown)
    assert one.worse
    assert [graph.name for graph in one.change.graphs] == ["qr"]
    assert sentence_of(one.statement) == (
        "NUMBA: 1 function is compiled every time because the cache refuses to store it: QR; in "
        "the graph qr (reason: a pointer)"
    )
    (series,) = one.change.series
    assert (series.before, series.after, series.now) == (0, 1, 0)
    assert one.recovered is not None
    assert one.recovered.label == "n2"


def test_a_graph_that_another_subject_lacks_leaves_its_loss_open() -> None:
    good = census(built("qr", "hit"), built("exp", "hit"))
    lost = census(built("qr", "miss", op="QR"), built("exp", "hit"))
    without = census(absent("qr"), built("exp", "hit"))
    (one,) = changes(good, lost, without)
    assert one.recovered is None


def test_several_graphs_that_fail_at_one_subject_are_one_alert() -> None:
    good = census(*(built(name, "hit") for name in ("qr", "svd", "lu")))
    bad = census(*(raised(name, "TypeError: no") for name in ("qr", "svd", "lu")))
    (one,) = changes(good, bad)
    assert one.change.kind == "graphs no longer work"
    assert sentence_of(one.statement) == (
        "NUMBA: 3 graphs that work with n0 fail with n1: lu, qr, svd (TypeError: no)"
    )


def test_a_collision_is_an_alert_of_its_own_kind() -> None:
    good, bad = of_pairs(built("axis", "miss")), of_pairs(built("axis", "miss", collided="0 != 1"))
    (one,) = changes(good, bad)
    assert one.change.kind == "keys collide"
    assert [graph.note for graph in one.change.graphs] == ["0 != 1"]


ALERTING = [
    one.name for one in METRICS.values() if one.kind == "exact" and one.alerting != "nowhere"
]


def risen(metric: str) -> tuple[Cell, Occurrence]:
    """The first cell in which a rise of a count alerts, and the change that it is there."""
    cell = next(
        cell
        for scenario in SCENARIOS if METRICS[metric].alerts_in(scenario)
        for model in MODELS for backend in BACKENDS for launch in ("spawn", "fork")
        if (cell := Cell(model, scenario, backend, launch)).problem() is None
        and METRICS[metric] in metrics_of(scenario, launch, derived=True)
    )  # fmt: skip
    nights = [[sample(cell, METRICS[metric].measure, {metric: value})] for value in (0, 3, 3)]
    (found,) = changes(*nights)
    return cell, found


@pytest.mark.parametrize("metric", ALERTING)
def test_a_count_that_alerts_is_a_change_for_the_worse_whether_or_not_it_has_a_cause(
    metric: str,
) -> None:
    cell, one = risen(metric)
    assert (one.worse, one.recovered) == (True, None)
    assert [(s.benchmark, s.metric, s.before, s.now) for s in one.change.series] == [
        (str(cell), metric, 0, 3)
    ]
    assert one.change.kind in CAUSES or METRICS[metric].rose


def test_a_count_without_a_cause_is_told_by_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("observatory.analyze.comparison.causes._FOUND_BY", {})
    _, one = risen("files_leaked")
    assert one.change.kind == "more files_leaked"
    assert title_of(one.change.kind) == "more files are left behind"
    assert sentence_of(one.statement).startswith("files_leaked 0 → 3 in ")


@pytest.mark.parametrize(
    ("metric", "kind"),
    [
        ("stale_results", "stale values"),
        ("collided_symbols", "symbols collide"),
        ("vulnerable_symbols", "symbols may collide"),
    ],
)
def test_stale_values_and_shared_symbols_have_causes_of_their_own(metric: str, kind: str) -> None:
    _, one = risen(metric)
    assert one.change.kind == kind


def test_symbols_that_collide_and_may_collide_are_one_change() -> None:
    good, bad = (
        [sample(SIBLINGS, "counting", {"collided_symbols": n, "vulnerable_symbols": 2 * n})]
        for n in (0, 7)
    )
    (one,) = changes(good, bad)
    assert one.change.kind == "symbols collide"


def test_another_default_is_followed_by_what_it_explains_where_no_cache_shows_it() -> None:
    cold, warm = (Cell("radon", name, "DEFAULT", "spawn") for name in ("cold", "warm_disk"))

    def by(kind: str, runs: int) -> list[Sample]:
        filled = [one.model_copy(update={"kind": kind}) for one in ledger("a", outcome="miss")]
        return [
            sample(cold, "counting", ledger=filled),
            sample(warm, "counting", {"compiler_runs": runs}, ledger=[]),
        ]

    found = [one for one in changes(by("numba", 0), by("c", 2)) if one.worse]
    assert [one.change.kind for one in found] == ["another default"]
    assert [s.metric for s in found[0].change.series] == ["compiler_runs"]


KEYS = Cell("key_cost", "key_making", "NUMBA", "spawn")
TOPICS = Cell("topics", "topics", "NUMBA", "spawn")


def graphs(cell: Cell, metric: str, **counts: float) -> list[Sample]:
    """A sample of a count by graph."""
    steps = [Build(name=name, status="ok", metrics={metric: n}) for name, n in counts.items()]
    return [sample(cell, "counting", {metric: sum(counts.values())}, steps=steps)]


def overs(cell: Cell, metric: str, *nights: Mapping[str, float]) -> list[str | None]:
    """By which subject each change for the worse is over."""
    found = changes(*(graphs(cell, metric, **one) for one in nights))
    return [one.recovered and one.recovered.label for one in found if one.worse]


def test_a_count_with_a_floor_is_over_where_it_is_within_the_floor_again() -> None:
    assert overs(KEYS, "key_calls", {"a": 1000}, {"a": 1200}, {"a": 1150}, {"a": 1090}) == ["n3"]
    slept = [[sample(DISK, "counting", {"seconds_slept": n})] for n in (1.0, 2.0, 1.04)]
    (one, *_) = changes(*slept)
    assert one.change.kind == "sleeps"
    assert one.recovered is not None


def test_within_a_floor_each_graph_is_followed_alone() -> None:
    """The sum of both is 9 % higher, and one of them is twice what it was."""
    nights = {"a": 100, "b": 1000}, {"a": 200, "b": 1200}, {"a": 200, "b": 1000}
    assert overs(KEYS, "key_calls", *nights) == [None]


def test_a_graph_that_left_the_model_does_not_end_the_alert_of_another_one() -> None:
    nights = {"a": 40, "b": 60}, {"a": 60, "b": 90}, {"a": 60, "c": 5}
    assert overs(TOPICS, "graph_nodes", *nights) == [None]
    assert overs(TOPICS, "graph_nodes", *nights, {"a": 40, "c": 5}) == ["n3"]
