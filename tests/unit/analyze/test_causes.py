"""Exact alarms explained from the ledgers of warm cells and of the builds that filled them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from observatory.analyze.comparison.causes import explained
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.verdicts import judge_exact, judge_noisy
from observatory.analyze.statements import FoundCause, JudgedVerdict, Sides, Statement
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.profile import CallTree, Profile
from observatory.store.records.sample import Check, LedgerEntry, Sample
from observatory.text.causes import cause_sentence
from tests.factories import failed, sample

COLD, DISK, PROCESS = (
    Cell("radon", scenario, "NUMBA", "spawn") for scenario in ("cold", "warm_disk", "warm_process")
)
Rows = Sequence[tuple[str, str, str]]
"""Name, key, outcome."""


def entries(rows: Rows, step: str = "build") -> list[LedgerEntry]:
    return [
        LedgerEntry.model_validate(
            {"name": name, "kind": "numba", "key": key, "outcome": outcome, "seconds": 0.1,
             "step": step}
        )
        for name, key, outcome in rows
    ]  # fmt: skip


def counted(cell: Cell, rows: Rows, **metrics: float):
    found = entries(rows)
    counts = {
        "cache_misses": sum(e.outcome == "miss" for e in found),
        "uncacheable": sum(e.outcome == "uncacheable" for e in found),
    }
    return sample(cell, "counting", counts | metrics, ledger=found)


def fork(cell: Cell) -> Cell:
    return Cell(cell.model, cell.scenario, cell.backend, "fork")


def compare(base: Iterable, head: Iterable) -> tuple[list[FoundCause], list[JudgedVerdict]]:
    old, new = Evidence.of(base), Evidence.of(head)
    judged = judge_exact(sorted(old.cells | new.cells), old, new, NoiseFloors())
    return explained(judged.verdicts, old, new)


def sentence(cause: FoundCause) -> str:
    return cause_sentence(cause, Sides())


FILLED: Rows = [("Add", "k1", "miss"), ("Mul", "k2", "miss"), ("outer graph", "k3", "miss")]
HIT: Rows = [("outer graph", "k3", "hit")]


def test_nothing_worse_needs_no_cause() -> None:
    side = [counted(COLD, FILLED), counted(DISK, HIT)]
    causes, verdicts = compare(side, side)
    assert causes == []
    assert {v.conclusion for v in verdicts} == {"unaffected"}


def test_every_key_differs_between_processes() -> None:
    missing: Rows = [("Add", "x1", "miss"), ("Mul", "x2", "miss"), ("outer graph", "x3", "miss")]
    base = [counted(COLD, FILLED), counted(DISK, HIT), counted(fork(COLD), FILLED),
            counted(fork(DISK), HIT)]  # fmt: skip
    head = [counted(COLD, FILLED), counted(DISK, missing), counted(fork(COLD), FILLED),
            counted(fork(DISK), missing)]  # fmt: skip
    (cause,), verdicts = compare(base, head)
    assert cause.kind == "keys differ between processes"
    assert sentence(cause) == (
        "3 functions miss because their keys differ between processes: Add, Mul; with them the "
        "outer graph, made of them"
    )
    assert len(cause.cells) == 2
    assert {v.cause for v in verdicts if v.conclusion == "worse"} == {"cause-1"}


def test_keys_that_differ_with_the_hash_seed_differ_only_under_spawn() -> None:
    missing: Rows = [("outer graph", "x3", "miss")]
    base = [counted(COLD, FILLED), counted(DISK, HIT), counted(fork(COLD), FILLED),
            counted(fork(DISK), HIT)]  # fmt: skip
    head = [counted(COLD, FILLED), counted(DISK, missing), counted(fork(COLD), FILLED),
            counted(fork(DISK), HIT)]  # fmt: skip
    (cause,), _ = compare(base, head)
    assert cause.kind == "keys differ between hash seeds"


def test_a_fork_that_is_not_decided_proves_nothing_of_hash_seeds() -> None:
    missing: Rows = [("outer graph", "x3", "miss")]
    both = [counted(COLD, FILLED), counted(fork(COLD), FILLED), counted(fork(DISK), HIT)]
    uneven = [*both, counted(fork(DISK), missing)]  # the same subject misses and hits
    (cause,), verdicts = compare([*both, counted(DISK, HIT)], [*uneven, counted(DISK, missing)])
    (forked,) = (v for v in verdicts if (v.cell, v.metric) == (fork(DISK), "cache_misses"))
    assert forked.conclusion == "undecided"
    assert cause.kind == "keys differ between processes"


def test_a_cell_that_is_not_measured_under_fork_does_not_deny_what_others_prove() -> None:
    missing: Rows = [("outer graph", "x3", "miss")]
    other, filling = (replace(cell, model="radon_pymc") for cell in (DISK, COLD))
    both = [counted(cell, FILLED) for cell in (COLD, fork(COLD), filling)]
    both.append(counted(fork(DISK), HIT))
    base = [*both, counted(DISK, HIT), counted(other, HIT)]
    head = [*both, counted(DISK, missing), counted(other, missing)]
    (cause,), _ = compare(base, head)
    assert cause.kind == "keys differ between hash seeds"
    assert cause.cells == [DISK, other]


def test_without_fork_measured_hash_seeds_are_not_blamed() -> None:
    head = [counted(COLD, FILLED), counted(DISK, [("outer graph", "x3", "miss")])]
    (cause,), _ = compare([counted(COLD, FILLED), counted(DISK, HIT)], head)
    assert cause.kind == "keys differ between processes"


def test_a_wait_for_the_disk_of_what_is_compiled_again_is_no_cause_of_its_own() -> None:
    base, head = (
        [
            counted(COLD, FILLED), counted(DISK, rows),
            *([sample(DISK, "timing", {"waiting_time": waits})] * 5),
        ]
        for rows, waits in ((HIT, 0.001), ([("outer graph", "x3", "miss")], 0.3))
    )  # fmt: skip
    (cause,), verdicts = compare(base, head)
    assert cause.kind == "keys differ between processes"
    (waits,) = (one for one in verdicts if one.metric == "waiting_time")
    assert (waits.conclusion, waits.cause) == ("worse", cause.id)


def test_the_very_key_was_stored() -> None:
    head = [counted(COLD, FILLED), counted(DISK, [("outer graph", "k3", "miss")])]
    (cause,), _ = compare([counted(COLD, FILLED), counted(DISK, HIT)], head)
    assert cause.kind == "stored but not loaded"


def test_a_second_build_that_misses_has_keys_that_are_not_repeatable() -> None:
    missing: Rows = [("Add", "x1", "miss"), ("outer graph", "x3", "miss")]
    base = [counted(COLD, FILLED), counted(DISK, HIT), counted(PROCESS, HIT)]
    head = [counted(COLD, FILLED), counted(DISK, missing), counted(PROCESS, missing)]
    (cause,), _ = compare(base, head)
    assert cause.kind == "keys are not repeatable"
    assert len(cause.cells) == 2


def test_a_cache_that_grows_because_keys_differ_is_no_cause_of_its_own() -> None:
    """Another process stores under keys of its own, and its second build finds them."""
    missing: Rows = [("outer graph", "x3", "miss")]
    base = [counted(COLD, FILLED), counted(DISK, HIT), counted(PROCESS, HIT, files_grown=0)]
    head = [counted(COLD, FILLED), counted(DISK, missing), counted(PROCESS, HIT, files_grown=5)]
    (cause,), verdicts = compare(base, head)
    assert cause.kind == "keys differ between processes"
    assert cause.cells == [DISK, PROCESS]
    assert {v.cause for v in verdicts if v.conclusion == "worse"} == {"cause-1"}
    head[1] = counted(DISK, HIT)
    (cause,), _ = compare(base, head)
    assert cause.kind == "cache grows"


def test_refused_by_the_cache() -> None:
    refused: Rows = [*FILLED[:2], ("outer graph", "", "uncacheable")]
    warm: Rows = [("Add", "k1", "hit"), ("Mul", "k2", "hit"), ("outer graph", "", "uncacheable")]
    causes, _ = compare(
        [counted(COLD, FILLED), counted(DISK, HIT)], [counted(COLD, refused), counted(DISK, warm)]
    )
    (cause,) = causes
    assert cause.kind == "refused"
    assert sentence(cause) == (
        "1 function is compiled every time because the cache refuses to store it: the outer graph"
    )
    assert len(cause.cells) == 2


def test_no_cache_is_asked_any_more() -> None:
    warm: Rows = [("Add", "k1", "hit"), ("outer graph", "", "internal")]
    (cause,), verdicts = compare(
        [counted(COLD, FILLED), counted(DISK, HIT)], [counted(COLD, FILLED), counted(DISK, warm)]
    )
    assert cause.kind == "not asked"
    assert [v.metric for v in verdicts if v.conclusion == "worse"] == ["reuse_lost"]


def test_what_another_default_counts_is_one_cause_and_not_a_defect_of_a_cache() -> None:
    """As from 2.38.3 to 3.0.0, which took numba where C was taken before."""
    default, numba = Cell("radon", "cold", "DEFAULT", "fork"), fork(COLD)
    warm = Cell("radon", "warm_disk", "DEFAULT", "fork")
    modules = [one.model_copy(update={"kind": "c_module"}) for one in entries(FILLED)]
    refused: Rows = [*HIT, ("Add", "", "uncacheable")]
    base = [
        counted(default, (), files_leaked=0).model_copy(update={"ledger": modules}),
        counted(warm, (), files_leaked=0), counted(numba, FILLED, files_leaked=16),
    ]  # fmt: skip
    head = [
        counted(default, FILLED, files_leaked=16), counted(warm, refused, files_leaked=16),
        counted(numba, FILLED, files_leaked=18),
    ]  # fmt: skip
    causes, verdicts = compare(base, head)
    default_moved, leaked = sorted(causes, key=lambda cause: cause.kind)
    assert (default_moved.kind, len(default_moved.cells)) == ("another default", 2)
    moved = "the default backend of HEAD is numba, that of BASE is C,"
    assert sentence(default_moved).startswith(moved)
    assert (leaked.kind, [cell.backend for cell in leaked.cells]) == ("files leaked", ["NUMBA"])
    assert all(v.cause for v in verdicts if v.conclusion == "worse")
    causes, _ = compare(head, [counted(default, FILLED, files_leaked=17), *head[1:]])
    assert [cause.kind for cause in causes] == ["files leaked"]  # the default is the same


def test_where_nobody_knows_the_default_of_a_side_it_is_no_cause() -> None:
    """BASE's cold build was not measured."""
    cold, warm = (Cell("radon", name, "DEFAULT", "fork") for name in ("cold", "warm_disk"))
    missing: Rows = [("outer graph", "x3", "miss")]
    base, head = [counted(warm, HIT)], [counted(cold, FILLED), counted(warm, missing)]
    (cause,), _ = compare(base, head)
    assert cause.kind == "keys differ between processes"


def test_leaked_files_are_said_by_name_where_samples_have_names() -> None:
    def leaking(**names: int):
        files = {f"tmp*: def {name}": number for name, number in names.items()}
        counts = counted(DISK, HIT, files_leaked=sum(files.values()))
        return counts.model_copy(update={"leaked": files})

    before, after = leaking(perform=8, elemwise=8), leaking(perform=16, elemwise=8, argmax=2)
    (cause,), _ = compare([before], [after])
    assert [(one.name, one.note) for one in cause.graphs] == [
        ("tmp*: def argmax", "0 → 2"), ("tmp*: def perform", "8 → 16"),
    ]  # fmt: skip
    assert sentence(cause).endswith(": tmp*: def argmax (0 → 2); tmp*: def perform (8 → 16)")
    (old,), _ = compare([counted(DISK, HIT, files_leaked=16)], [after])
    assert [one.note for one in old.graphs] == ["2", "8", "16"]
    (nameless,), _ = compare([before], [counted(DISK, HIT, files_leaked=18)])
    assert nameless.graphs == []


def test_side_effects_are_said_by_name_and_where_they_have_none_by_number() -> None:
    def changing(number: int, *effects: str) -> Sample:
        return sample(DISK, "counting", {"side_effects": number}, effects=effects)

    for before, after, said in (
        (changing(0), changing(1, "threads"), "1 side effect in its process: threads"),
        (changing(1, "files"), changing(3, "files", "random", "threads"),
         "2 side effects in its process: random, threads"),
        (changing(0), changing(2), "2 side effects in its process"),
    ):  # fmt: skip
        (cause,), _ = compare([before], [after])
        assert sentence(cause) == f"a build of HEAD leaves {said}"


@pytest.mark.parametrize(
    ("metric", "cell", "said"),
    [
        ("key_collisions", Cell("keys", "pairs_second", "NUMBA", "spawn"),
         "2 pairs of different graphs share a key"),
        ("graphs_raised", Cell("ops_quick", "census_cold", "NUMBA", "spawn"), "2 graphs that work"),
        ("python_fallbacks", Cell("ops_quick", "census_warm", "NUMBA", "spawn"),
         "graphs have Ops that HEAD leaves to Python"),
    ],
)  # fmt: skip
def test_where_no_graph_has_a_name_only_a_count_of_graphs_says_how_many_there_are(
    metric: str, cell: Cell, said: str
) -> None:
    base, head = (sample(cell, "counting", {metric: number}) for number in (1, 3))
    (cause,), _ = compare([base], [head])
    assert sentence(cause).startswith(said)


def in_steps(cell: Cell, *steps: tuple[str, Rows]):
    ledger = [entry for step, rows in steps for entry in entries(rows, step)]
    return sample(cell, "counting", {"cache_misses": 1}, ledger=ledger)


def variants(*steps: tuple[str, Rows]):
    return in_steps(Cell("radon", "variants", "NUMBA", "spawn"), *steps)


def test_variants_that_stop_sharing_functions() -> None:
    shared = variants(("base", FILLED), ("v1", [("Add", "k1", "hit"), ("Mul", "k2", "hit")]))
    apart = variants(("base", FILLED), ("v1", [("Add", "y1", "miss"), ("Mul", "k2", "hit")]))
    (cause,), _ = compare([shared], [apart])
    assert cause.kind == "not reused"
    assert [change.name for change in cause.functions] == ["Add"]


def test_another_workload_is_no_lost_reuse() -> None:
    old = variants(("base", FILLED), ("v1", [("Add", "k1", "hit")]))
    new = variants(("base", [("Sub", "k9", "miss")]), ("v1", [("Add", "k1", "miss")]))
    causes, verdicts = compare([old], [new])
    assert causes == []
    (lost,) = [v for v in verdicts if v.metric == "reuse_lost"]
    assert lost.conclusion == "workload changed"


def test_a_function_that_another_variant_compiles_first_is_no_lost_reuse() -> None:
    """A rewrite took it from one variant, so that the next one to use it compiles it."""
    first = ("base", FILLED)
    old = variants(first, ("v1", [("Exp", "e", "miss")]), ("v2", [("Exp", "e", "hit")]))
    new = variants(first, ("v1", [("Add", "k1", "hit")]), ("v2", [("Exp", "e", "miss")]))
    causes, verdicts = compare([old], [new])
    assert causes == []
    (lost,) = [v for v in verdicts if v.metric == "reuse_lost"]
    assert lost.conclusion == "unaffected"


@pytest.mark.parametrize("order", [1, -1])
def test_lost_reuse_is_confirmed_by_the_second_count(order: int) -> None:
    shared = variants(("base", FILLED), ("v1", [("Add", "k1", "hit")]))
    apart = variants(("base", FILLED), ("v1", [("Add", "y1", "miss")]))
    _, verdicts = compare([shared, shared], [shared, apart][::order])
    (lost,) = [v for v in verdicts if v.metric == "reuse_lost"]
    assert lost.conclusion == "undecided"
    _, verdicts = compare([shared, shared], [apart, apart])
    (lost,) = [v for v in verdicts if v.metric == "reuse_lost"]
    assert (lost.conclusion, lost.head.values) == ("worse", [1.0, 1.0])


@pytest.mark.parametrize(
    ("sizes", "conclusion"),
    [
        ((4600, 9500, 7300), "unaffected"),  # three functions of one name
        ((4600, 9500, 4608), "worse"),  # the first again, under another key
        ((4600, 9500, None), "worse"),  # nobody knows
    ],
)
def test_one_more_function_of_a_name_is_no_lost_reuse(
    sizes: tuple[int | None, ...], conclusion: str
) -> None:
    name = "Composite{...}"
    first: Rows = [(name, "k1", "miss"), (name, "k2", "miss")]

    def built(then: Rows) -> Sample:
        made = variants(("base", first), ("v1", then))
        found = [
            entry.model_copy(update={"bytes": size})
            for entry, size in zip(made.ledger or [], sizes, strict=True)
        ]
        return made.model_copy(update={"ledger": found})

    _, verdicts = compare([built([(name, "k1", "hit")])], [built([(name, "k3", "miss")])])
    (lost,) = [v for v in verdicts if v.metric == "reuse_lost"]
    assert lost.conclusion == conclusion


def graphs(*steps: tuple[str, Rows]):
    return in_steps(Cell("ops_quick", "census_cold", "NUMBA", "spawn"), *steps)


def test_graphs_that_stop_sharing_functions() -> None:
    """As with an index that loses the code for one type when that for another is stored."""
    shared = graphs(("first", FILLED), ("second", [("Add", "k1", "hit"), ("Add", "k1", "hit")]))
    apart = graphs(("first", FILLED), ("second", [("Add", "k1", "miss"), ("Add", "k1", "hit")]))
    (cause,), _ = compare([shared], [apart])
    assert cause.kind == "not reused"
    assert [(change.name, change.count) for change in cause.functions] == [("Add", 1)]


def test_a_graph_that_asks_for_other_functions_spoils_what_later_ones_reuse() -> None:
    old = graphs(("first", FILLED), ("second", [("Add", "k1", "hit")]))
    new = graphs(("first", [("Sub", "k9", "miss")]), ("second", [("Add", "k1", "miss")]))
    causes, verdicts = compare([old], [new])
    assert causes == []
    (lost,) = [v for v in verdicts if v.metric == "reuse_lost"]
    assert lost.conclusion == "workload changed"


def test_a_head_that_fails_is_told_in_its_own_words() -> None:
    base = [counted(COLD, FILLED), counted(DISK, HIT)]
    (cause,), verdicts = compare(base, [failed(COLD, "counting"), failed(DISK, "counting")])
    assert cause.kind == "crashed"
    assert "SIGSEGV" in sentence(cause)
    assert len(cause.cells) == 2
    assert {v.metric for v in verdicts} == {"crashed"}


def test_wrong_numbers_outrank_what_costs_more() -> None:
    base = [counted(COLD, FILLED), counted(DISK, HIT)]
    head = [counted(COLD, FILLED, wrong_results=1), counted(DISK, [("outer graph", "x", "miss")])]
    causes, _ = compare(base, head)
    assert [cause.kind for cause in causes] == ["wrong results", "keys differ between processes"]


def test_values_that_are_wrong_when_counted_again_are_told_once() -> None:
    off = Check(name="one", logp_error=0.5, gradient_error=None, wrong=True)
    wrong = counted(COLD, FILLED, wrong_results=2).model_copy(update={"checks": [off, off]})
    (cause,), _ = compare([counted(COLD, FILLED)], [wrong, wrong])
    assert sentence(cause).startswith("2 of the values that HEAD computes are wrong")


def test_counts_that_are_not_deterministic_are_not_judged() -> None:
    head = [counted(DISK, HIT), counted(DISK, [("outer graph", "x", "miss")])]
    causes, verdicts = compare([counted(DISK, HIT)], head)
    (misses,) = [v for v in verdicts if v.metric == "cache_misses"]
    assert misses.conclusion == "undecided"
    assert misses.because == Statement("not deterministic", ("cache_misses", [0, 1], "HEAD"))
    assert causes == []


def test_what_is_never_found_again_is_one_cause_with_the_reuse_it_loses() -> None:
    reusing: Rows = [*FILLED, ("Add", "k1", "hit")]
    losing: Rows = [*FILLED, ("Add", "k1", "miss")]
    missing: Rows = [("outer graph", "k3", "miss"), ("Add", "k1", "miss"), ("Add", "k1", "miss")]
    base = [counted(COLD, reusing), counted(DISK, HIT)]
    (cause,), _ = compare(base, [counted(COLD, losing), counted(DISK, missing)])
    assert cause.kind == "stored but not loaded"
    assert {cell.scenario for cell in cause.cells} == {"cold", "warm_disk"}


def test_a_crash_is_told_in_the_words_of_the_last_sample() -> None:
    hung = failed(DISK, failure={"message": "it hung"})
    (cause,), _ = compare([sample(DISK)], [failed(DISK), hung])
    assert "it hung" in sentence(cause)


def test_failures_that_differ_in_their_directories_are_one_cause() -> None:
    def broken(cell: Cell, directory: str, before: str = ""):
        message = f"{before}FileNotFoundError: '/tmp/observatory-sandbox-{directory}/caches'"
        return failed(cell, "counting", failure={"message": message})

    base = [counted(COLD, FILLED), counted(DISK, HIT), counted(PROCESS, HIT)]
    head = [broken(COLD, "abc"), broken(DISK, "xyz", "the process that fills the cache: "),
            broken(PROCESS, "uvw", "sibling centered-normal-halfnormal: ")]  # fmt: skip
    (cause,), _ = compare(base, head)
    assert sentence(cause) == "HEAD fails: FileNotFoundError: 'SANDBOX/caches'"
    assert len(cause.cells) == 3


def test_more_python_calls_are_a_cause_only_where_nothing_is_compiled_again() -> None:
    def calls(number: int):
        return [sample(cell, "tracing", {"python_calls": number}) for cell in (DISK, PROCESS)]

    base = [counted(COLD, FILLED), counted(DISK, HIT), counted(PROCESS, HIT), *calls(700_000)]
    head = [counted(COLD, FILLED), counted(DISK, [("outer graph", "x", "miss")]),
            counted(PROCESS, HIT), *calls(800_000)]  # fmt: skip
    causes, verdicts = compare(base, head)
    by_kind = {cause.kind: {cell.scenario for cell in cause.cells} for cause in causes}
    assert by_kind == {
        "keys differ between processes": {"warm_disk"}, "more Python work": {"warm_process"},
    }  # fmt: skip
    (calls_of_disk,) = [
        v for v in verdicts if v.metric == "python_calls" and v.cell.scenario == "warm_disk"
    ]
    assert calls_of_disk.cause == "cause-1"


def test_what_only_the_first_build_of_a_process_enters_more_is_its_imports() -> None:
    """As from 2.38.3 to 3.0.7, which imports numba where it is first needed."""

    def built(first: int, second: int, modules: int):
        return [
            counted(COLD, FILLED), counted(DISK, HIT), counted(PROCESS, HIT),
            sample(DISK, "tracing", {"python_calls": first}),
            sample(PROCESS, "tracing", {"python_calls": second}),
            sample(DISK, "timing", {"modules_imported": modules}),
        ]  # fmt: skip

    base = built(887_550, 719_129, 146)
    (cause,), verdicts = compare(base, built(928_808, 712_905, 197))
    assert (cause.kind, [cell.scenario for cell in cause.cells]) == ("imports moved", ["warm_disk"])
    assert all(v.cause == cause.id for v in verdicts if v.conclusion == "worse")
    for more_work in (built(928_808, 760_000, 197), built(928_808, 712_905, 146)):
        causes, _ = compare(base, more_work)
        assert {cause.kind for cause in causes} == {"more Python work"}


@pytest.mark.parametrize("modules", [None, (146, 147)])
def test_imports_are_seen_in_traces_however_many_modules_timing_samples_count(
    modules: tuple[int, int] | None,
) -> None:
    """One module more proves nothing where the additional calls are elsewhere."""

    def built(first: int, imports: int, number: int) -> list[Sample]:
        """`imports`: the calls below a module that is imported. `number`: the side."""
        own = [first - imports, *([imports] if imports else [])]
        tree = CallTree(
            calls=first, floor=1,
            modules={"": ["(build)", "(other)"], "m": ["f", "<module>"][: len(own)]},
            entries=[0, 0, *own], depths=[0, 1, 1][: len(own) + 1],
            functions=[0, 2, 3][: len(own) + 1], counts=[0, *own],
        )  # fmt: skip
        timed = [sample(DISK, metrics={"modules_imported": modules[number]})] if modules else []
        return [
            counted(COLD, FILLED), counted(DISK, HIT), counted(PROCESS, HIT), *timed,
            sample(DISK, "tracing", {"python_calls": first}, profile=Profile(tree=tree)),
            sample(PROCESS, "tracing", {"python_calls": 500_000}),
        ]  # fmt: skip

    def kinds(calls: int, imports: int) -> list[str]:
        return [one.kind for one in compare(built(700_000, 0, 0), built(calls, imports, 1))[0]]

    assert kinds(900_000, 190_000) == ["imports moved"]
    assert kinds(900_000, 10_000) == ["more Python work"]
    assert kinds(900_000, 0) == ["more Python work"]


def judged(
    base: Iterable, head: Iterable, cell: Cell = DISK
) -> tuple[list[FoundCause], dict[str, JudgedVerdict]]:
    """The causes, and the verdicts of a cell by metric, times included."""
    old, new = Evidence.of(base), Evidence.of(head)
    found = judge_exact([cell], old, new, NoiseFloors()).verdicts
    found += judge_noisy([cell], old, new, NoiseFloors(), 1)
    causes, verdicts = explained(found, old, new)
    return causes, {verdict.metric: verdict for verdict in verdicts}


def built(seconds: float, cpu: float, waiting: float | None = None, **counts: int):
    """Seven timing samples, and what the other passes count."""
    known = {} if waiting is None else {"waiting_time": waiting}
    taken = [
        sample(DISK, "timing",
               {"compile_time": seconds + n / 1000, "cpu_time": cpu + n / 1000, **known})
        for n in range(7)
    ]  # fmt: skip
    if "calls" in counts:
        taken.append(sample(DISK, "tracing", {"python_calls": counts["calls"]}))
    if "instructions" in counts:
        metrics = {"instructions": counts["instructions"]}
        taken.append(sample(DISK, "work", metrics, counted_by="callgrind, code for haswell"))
    return taken


def test_a_longer_time_without_more_work_or_cpu_time_is_waiting() -> None:
    (cause,), verdicts = judged(built(0.25, 0.24, calls=700_000), built(0.45, 0.25, calls=700_100))
    assert cause.kind == "waits and does not work"
    assert verdicts["compile_time"].cause == cause.id
    assert sentence(cause) == "HEAD takes longer and does no more work: it waits"


@pytest.mark.parametrize(("waiting", "waits"), [(0.2, True), (0.12, True), (0.05, False)])
def test_a_build_that_waited_for_a_cpu_alone_has_no_cause(waiting: float, waits: bool) -> None:
    """As on a machine that became busier while HEAD was measured."""
    base = built(0.25, 0.24, 0.001, calls=700_000)
    causes, verdicts = judged(base, built(0.45, 0.25, waiting, calls=700_100))
    kinds = {"waits and does not work", "waits longer"}
    assert [one.kind in kinds for one in causes] == [True] * waits
    assert verdicts["compile_time"].conclusion == "worse"
    one_side, _ = judged(
        built(0.25, 0.24, calls=700_000), built(0.45, 0.25, waiting, calls=700_100)
    )
    assert [one.kind for one in one_side] == ["waits and does not work"]  # as before it was known


def test_a_build_that_waits_longer_needs_no_time_to_be_judged() -> None:
    """As on a busy machine: its times say nothing, and the wait is the same in each sample."""
    quick, slow = (
        [
            sample(DISK, "timing", {"compile_time": busy, "cpu_time": 0.24, "waiting_time": waits})
            for busy in (0.3, 0.9, 2.1, 0.5, 0.4)
        ]
        for waits in (0.001, 0.2)
    )
    (cause,), verdicts = judged(quick, slow)
    assert (cause.kind, cause.seconds_lost) == ("waits longer", pytest.approx(0.199))
    assert verdicts["waiting_time"].cause == cause.id
    assert verdicts["compile_time"].conclusion == "undecided"
    assert sentence(cause) == "a build of HEAD waits longer, but not for a CPU or a compiler"


def test_a_build_that_sleeps_has_no_second_cause_for_its_wait() -> None:
    sides = [
        [
            *built(0.25 + waits, 0.24, waits, calls=700_000),
            sample(DISK, "counting", {"seconds_slept": waits}),
        ]
        for waits in (0.0, 0.2)
    ]
    (cause,), verdicts = judged(*sides)
    assert cause.kind == "sleeps"
    assert {verdicts[one].cause for one in ("waiting_time", "compile_time")} == {cause.id}


def test_a_longer_time_in_which_the_cpu_works_is_no_waiting() -> None:
    causes, verdicts = judged(built(0.25, 0.24, calls=700_000), built(0.45, 0.43, calls=700_100))
    assert causes == []
    assert verdicts["compile_time"].conclusion == "worse"


def test_the_same_instructions_with_more_cpu_time_are_slower_and_wait_for_nothing() -> None:
    """As with more misses in the caches of the CPU. Calls alone do not say it."""
    base = built(0.25, 0.24, calls=700_000, instructions=2_000_000_000)
    for cpu, kind in ((0.43, "slower with the same work"), (0.25, "waits and does not work")):
        head = built(0.45, cpu, calls=700_000, instructions=2_000_100_000)
        (cause,), verdicts = judged(base, head)
        assert (cause.kind, verdicts["compile_time"].cause) == (kind, cause.id)
    (cause,), _ = judged(base, built(0.45, 0.43, calls=700_000, instructions=2_100_000_000))
    assert cause.kind == "more instructions"


@pytest.mark.parametrize(
    ("cpu", "metric", "kind"),
    [
        ((4e-6, 6e-6), "instructions", "slower with the same work"),
        ((4e-6, 4.1e-6), "instructions", "waits and does not work"),
        ((4e-6, 4.1e-6), "python_calls", "waits and does not work"),
        ((4e-6, 6e-6), "python_calls", None),  # of machine code they say nothing
        (None, "instructions", None),  # nobody measured whether the CPU worked
        (None, "python_calls", None),
    ],
)
def test_a_slower_call_waits_if_its_own_cpu_time_stays(
    cpu: tuple[float, float] | None, metric: str, kind: str | None
) -> None:
    cell = Cell("radon", "call", "NUMBA", "spawn")

    def called(seconds: float, number: int) -> list[Sample]:
        spent = {} if cpu is None else {"call_cpu_time": cpu[number]}
        timed = [
            sample(cell, "timing", {"call_time": seconds * (1 + n / 1e4), **spent})
            for n in range(7)
        ]
        measure = "work" if metric == "instructions" else "tracing"
        return [*timed, sample(cell, measure, {metric: 5001}, counted_by="callgrind")]

    causes, verdicts = judged(called(5e-6, 0), called(8e-6, 1), cell)
    assert verdicts["call_time"].conclusion == "worse"
    assert [one.kind for one in causes] == ([] if kind is None else [kind])


def test_where_no_work_was_counted_nobody_knows_whether_a_build_waits() -> None:
    causes, verdicts = judged(built(0.25, 0.24), built(0.45, 0.25))
    assert causes == []
    assert verdicts["compile_time"].conclusion == "worse"


def test_where_work_is_worse_time_follows_from_it() -> None:
    (cause,), verdicts = judged(built(0.25, 0.24, calls=700_000), built(0.45, 0.25, calls=800_000))
    assert cause.kind == "more Python work"
    assert verdicts["compile_time"].cause == verdicts["python_calls"].cause == cause.id


def test_more_runs_of_llvm_passes_are_a_cause_of_their_own_but_follow_from_compiling() -> None:
    def traced(cell: Cell, calls: int, runs: int) -> Sample:
        return sample(cell, "tracing", {"python_calls": calls, "llvm_pass_runs": runs})

    base = [counted(COLD, FILLED), traced(COLD, 700_000, 60_000)]
    causes, verdicts = compare(base, [counted(COLD, FILLED), traced(COLD, 700_000, 70_000)])
    assert [one.kind for one in causes] == ["more LLVM work"]
    assert sentence(causes[0]) == "a build of HEAD gives LLVM more work"
    both, _ = compare(base, [counted(COLD, FILLED), traced(COLD, 800_000, 70_000)])
    assert {one.kind for one in both} == {"more LLVM work", "more Python work"}
    calm, verdicts = compare(base, [counted(COLD, FILLED), traced(COLD, 700_000, 60_100)])
    assert calm == []
    assert "worse" not in {one.conclusion for one in verdicts}
    refused = [counted(COLD, [*FILLED[:-1], ("outer graph", "k3", "uncacheable")])]
    (only,), verdicts = compare(base, [*refused, traced(COLD, 700_000, 70_000)])
    assert only.kind == "refused"
    assert {one.cause for one in verdicts if one.metric == "llvm_pass_runs"} == {only.id}


def test_more_instructions_without_more_calls_are_a_cause_and_explain_the_time() -> None:
    base = built(0.25, 0.24, calls=700_000, instructions=2_000_000_000)
    head = built(0.45, 0.25, calls=700_000, instructions=2_100_000_000)
    (cause,), verdicts = judged(base, head)
    assert cause.kind == "more instructions"
    assert verdicts["compile_time"].cause == verdicts["instructions"].cause == cause.id
    assert sentence(cause).endswith(", and no count shows more calls of Python functions")
    (unsure,), _ = judged(base, built(0.25, 0.24, calls=700_700, instructions=2_100_000_000))
    assert sentence(unsure) == (
        "HEAD executes more instructions; whether it calls more Python functions is not sure"
    )
    (uncounted,), _ = judged(
        built(0.25, 0.24, instructions=2_000_000_000), built(0.25, 0.24, instructions=2_100_000_000)
    )
    assert sentence(uncounted) == sentence(cause)
    (both,), verdicts = judged(base, built(0.25, 0.24, calls=720_000, instructions=2_100_000_000))
    assert both.kind == "more Python work"
    assert verdicts["instructions"].cause == both.id


@pytest.mark.parametrize(
    ("slept", "kind"), [(0.15, "sleeps"), (0.05, "more Python work"), (0.25, "sleeps")]
)
def test_a_time_goes_to_the_sleep_that_makes_most_of_its_growth(slept: float, kind: str) -> None:
    """And otherwise to the cause of which nobody knows what it costs."""
    sleep = [sample(DISK, "counting", {"seconds_slept": seconds}) for seconds in (0.0, slept)]
    base = [*built(0.25, 0.24, calls=700_000), sleep[0]]
    causes, verdicts = judged(base, [*built(0.45, 0.25, calls=710_000), sleep[1]])
    assert [cause.kind for cause in causes] == ["sleeps", "more Python work"]
    kinds = {cause.id: cause.kind for cause in causes}
    assert kinds[verdicts["compile_time"].cause or ""] == kind
    assert kinds[verdicts["python_calls"].cause or ""] == "more Python work"


@pytest.mark.parametrize("seconds", [0.009, 0.4])
def test_a_cause_that_costs_next_to_nothing_explains_neither_time_nor_work(seconds: float) -> None:
    """A function that compiles in 9 ms does not make a build 2 s slower: something else does."""
    hit, refused = entries([("Add", "k1", "hit")]), entries([("Add", "", "uncacheable")])
    refused = [one.model_copy(update={"seconds": seconds}) for one in refused]
    hit = [one.model_copy(update={"seconds": 0.0}) for one in hit]
    counts = {"cache_misses": 0, "uncacheable": 0}
    base = [*built(0.4, 0.4, calls=600_000), sample(DISK, "counting", counts, ledger=hit)]
    counts = {"cache_misses": 0, "uncacheable": 1}
    head = [*built(2.4, 2.4, calls=900_000), sample(DISK, "counting", counts, ledger=refused)]
    causes, verdicts = judged(base, head)
    kinds = {cause.id: cause.kind for cause in causes}
    slower = "more Python work" if seconds == 0.009 else "refused"
    assert kinds[verdicts["uncacheable"].cause or ""] == "refused"
    assert kinds[verdicts["compile_time"].cause or ""] == slower
    assert kinds[verdicts["python_calls"].cause or ""] == slower


def spent(cell: Cell, *rows: tuple[str, str, str, float]) -> Sample:
    """A counting sample whose functions take the seconds that stand last in their rows."""
    found = [
        entry.model_copy(update={"seconds": seconds})
        for *row, seconds in rows
        for entry in entries([(row[0], row[1], row[2])])
    ]
    outcomes = [entry.outcome for entry in found]
    counts = {"cache_misses": outcomes.count("miss"), "uncacheable": outcomes.count("uncacheable")}
    return sample(cell, "counting", counts, ledger=found)


def test_a_cause_costs_what_its_functions_cost_and_what_is_compiled_for_them() -> None:
    """The scan is refused on both sides, and slower for another reason."""
    base = spent(DISK, ("Add", "k1", "hit", 0.0), ("Scan", "", "uncacheable", 1.0))
    head = spent(DISK, ("Add", "", "uncacheable", 0.01), ("Scan", "", "uncacheable", 3.0))
    (cause,), verdicts = judged([base, *built(1.4, 1.4)], [head, *built(3.4, 3.4)])
    assert (cause.kind, cause.costs) == ("refused", {DISK: 0.01})
    assert verdicts["compile_time"].cause is None
    refused = ("Add", "", "uncacheable", 0.5), ("Scan", "", "uncacheable", 1.0)
    head = spent(DISK, *refused, ("inner", "", "internal", 1.5))
    (cause,), verdicts = judged([base, *built(1.4, 1.4)], [head, *built(3.4, 3.4)])
    assert (cause.costs, verdicts["compile_time"].cause) == ({DISK: 2.0}, cause.id)


def test_what_compiles_faster_for_others_makes_no_cause_cheaper() -> None:
    base = spent(DISK, ("Add", "k1", "hit", 0.0), ("inner", "", "internal", 3.0))
    head = spent(DISK, ("Add", "", "uncacheable", 0.5), ("inner", "", "internal", 1.0))
    (cause,), _ = judged([base], [head])
    assert cause.costs == {DISK: 0.5}


def test_what_a_cause_costs_in_one_cell_explains_no_time_in_another() -> None:
    def side(seconds: dict[Cell, float], *more: Sample) -> list[Sample]:
        timed = [
            sample(cell, "timing", {"compile_time": took + n / 1000})
            for cell, took in seconds.items()
            for n in range(7)
        ]
        return [*timed, *more]

    hit, refused = ("Add", "k1", "hit", 0.0), ("Add", "", "uncacheable")
    base = side({DISK: 0.4, PROCESS: 0.4}, spent(DISK, hit), spent(PROCESS, hit))
    head = side(
        {DISK: 3.4, PROCESS: 2.4}, spent(DISK, (*refused, 3.0)), spent(PROCESS, (*refused, 0.01))
    )
    old, new = Evidence.of(base), Evidence.of(head)
    found = judge_exact([DISK, PROCESS], old, new, NoiseFloors()).verdicts
    found += judge_noisy([DISK, PROCESS], old, new, NoiseFloors(), 1)
    (cause,), verdicts = explained(found, old, new)
    times = {v.cell: v.cause for v in verdicts if v.metric == "compile_time"}
    assert times == {DISK: cause.id, PROCESS: None}


def test_a_sleep_explains_no_call_in_which_the_cpu_works() -> None:
    """Whatever all calls of the other pass sleep together."""
    cell = Cell("radon", "call", "NUMBA", "spawn")

    def side(slept: float, seconds: float, cpu: float) -> list[Sample]:
        timed = [
            sample(cell, "timing", {"call_time": seconds * (1 + n / 1e4), "call_cpu_time": cpu})
            for n in range(7)
        ]
        return [*timed, sample(cell, "counting", {"seconds_slept": slept})]

    (cause,), verdicts = judged(side(0.0, 0.001, 0.001), side(0.1, 0.003, 0.003), cell)
    assert (cause.kind, verdicts["call_time"].cause) == ("sleeps", None)
    (cause,), verdicts = judged(side(0.0, 0.001, 0.001), side(0.1, 0.003, 0.001), cell)
    assert (cause.kind, verdicts["call_time"].cause) == ("sleeps", cause.id)


def test_a_compiler_run_hides_no_work_that_it_does_not_make() -> None:
    helper: Rows = [*HIT, ("helper", "", "internal")]  # 0.1 s
    base = [counted(COLD, FILLED), counted(DISK, HIT, compiler_runs=0)]
    head = [counted(COLD, FILLED), counted(DISK, helper, compiler_runs=1)]
    causes, verdicts = judged(
        [*base, *built(1.0, 1.0, calls=500_000)], [*head, *built(4.0, 4.0, calls=1_000_000)]
    )
    kinds = {cause.id: cause.kind for cause in causes}
    assert kinds[verdicts["compiler_runs"].cause or ""] == "more compiler runs"
    assert kinds[verdicts["python_calls"].cause or ""] == "more Python work"
    assert kinds[verdicts["compile_time"].cause or ""] == "more Python work"


def test_functions_that_share_no_defect_keep_causes_of_their_own() -> None:
    """Exp's key differs in another process and is found in its own; Sin's is found nowhere."""
    cold = counted(COLD, [("Exp", "e0", "miss"), ("Sin", "s0", "miss")])
    hit: Rows = [("Exp", "e0", "hit"), ("Sin", "s0", "hit")]
    causes, _ = compare(
        [cold, counted(DISK, hit), counted(PROCESS, hit)],
        [cold, counted(DISK, [("Exp", "e1", "miss"), ("Sin", "s0", "hit")]),
         counted(PROCESS, [("Exp", "e0", "hit"), ("Sin", "s2", "miss")])],
    )  # fmt: skip
    assert {cause.kind: [one.name for one in cause.functions] for cause in causes} == {
        "keys differ between processes": ["Exp"], "keys are not repeatable": ["Sin"],
    }  # fmt: skip


def test_a_wait_that_is_not_all_of_a_longer_time_is_said_so() -> None:
    (cause,), _ = judged(built(1.0, 1.0, calls=700_000), built(3.0, 1.9, calls=700_100))
    assert sentence(cause) == (
        "HEAD takes longer and does no more work: it waits for most of the additional time, and "
        "works more slowly as well"
    )


def test_a_build_that_compiles_again_does_not_wait() -> None:
    """As where gcc compiles and this process waits for it."""
    missing: Rows = [("outer graph", "x3", "miss")]
    cold = counted(COLD, FILLED)
    base = [cold, counted(DISK, HIT), *built(0.25, 0.24, calls=700_000)]
    head = [cold, counted(DISK, missing), *built(0.45, 0.25, calls=700_000)]
    (cause,), verdicts = judged(base, head)
    assert cause.kind == "keys differ between processes"
    assert verdicts["compile_time"].cause == cause.id


def test_a_compiler_that_runs_in_a_warm_build_is_named_with_what_it_compiles() -> None:
    helper: Rows = [*HIT, ("helper", "", "internal")]
    base = [counted(COLD, FILLED), counted(DISK, HIT, compiler_runs=0), *built(0.25, 0.24, calls=7)]
    head = [counted(COLD, FILLED), counted(DISK, helper, compiler_runs=1)]
    (cause,), verdicts = judged(base, [*head, *built(0.45, 0.25, calls=7)])
    assert cause.kind == "more compiler runs"
    assert [change.name for change in cause.functions] == ["helper"]
    assert sentence(cause).endswith("all functions in the cache: helper")
    assert verdicts["compile_time"].cause == cause.id


def test_a_compiler_that_runs_more_often_in_a_warm_build_needs_no_time_to_be_an_alarm() -> None:
    helper: Rows = [*HIT, ("helper", "", "internal")]
    (cause,), verdicts = compare(
        [counted(COLD, FILLED), counted(DISK, HIT, compiler_runs=0)],
        [counted(COLD, FILLED), counted(DISK, helper, compiler_runs=1)],
    )
    assert cause.kind == "more compiler runs"
    assert [change.name for change in cause.functions] == ["helper"]
    (worse,) = [v for v in verdicts if v.conclusion == "worse"]
    assert (worse.metric, worse.cause) == ("compiler_runs", cause.id)


def test_a_compiler_that_runs_where_functions_miss_is_not_said_to_find_all_of_them() -> None:
    missing: Rows = [*HIT, ("Add", "k1", "miss")]
    refused: Rows = [*HIT, ("Add", "", "uncacheable")]
    for rows in (missing, refused):
        (cause,), _ = compare(
            [counted(COLD, FILLED), counted(DISK, rows, compiler_runs=2)],
            [counted(COLD, FILLED), counted(DISK, rows, compiler_runs=3)],
        )
        assert sentence(cause) == "HEAD runs the C++ compiler more often in a warm build"


def test_a_compiler_that_runs_more_often_in_a_cold_build_is_no_alarm() -> None:
    causes, verdicts = compare(
        [counted(COLD, FILLED, compiler_runs=2)], [counted(COLD, FILLED, compiler_runs=3)]
    )
    assert (causes, [v for v in verdicts if v.conclusion == "worse"]) == ([], [])


def test_a_compiler_that_runs_for_what_misses_is_no_cause_of_its_own() -> None:
    missing: Rows = [("outer graph", "x3", "miss")]
    base = [counted(COLD, FILLED), counted(DISK, HIT, compiler_runs=0)]
    head = [counted(COLD, FILLED), counted(DISK, missing, compiler_runs=1)]
    (cause,), verdicts = compare(base, head)
    assert cause.kind == "keys differ between processes"
    assert {v.cause for v in verdicts if v.conclusion == "worse"} == {cause.id}
