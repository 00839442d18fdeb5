"""Reasons that the profiles of both sides give to verdicts."""

from __future__ import annotations

from dataclasses import replace

from observatory.analyze.comparison.beginnings import (
    where_it_begins,
    where_work_begins,
    with_beginnings,
)
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.verdicts import judge_exact, judge_noisy
from observatory.analyze.statements import Statement
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.profile import (
    CallTree,
    ImportedModule,
    LlvmPass,
    Phase,
    Profile,
    Rewriter,
)
from observatory.store.records.sample import Sample
from observatory.text.statements import sentence_of
from tests.factories import WARM, sample

COLD = Cell("radon", "cold", "NUMBA", "spawn")


def reasons(
    base: list[Sample], head: list[Sample], cell: Cell = WARM
) -> dict[str, Statement | None]:
    sides = Evidence.of(base), Evidence.of(head)
    verdicts = judge_exact([cell], *sides, NoiseFloors()).verdicts
    verdicts += judge_noisy([cell], *sides, NoiseFloors(), 1)
    return {one.metric: one.because for one in with_beginnings(verdicts, *sides)}


def traced(rewriting: int, merge: int, loading: int, parts: int = 1) -> Sample:
    """A build of these calls, of which `merge` is a rewriter with functions of its own.

    ``parts``: functions that load.
    """
    names = ["load", *(f"load{n}" for n in range(1, parts))]
    counts = [rewriting, merge, *([loading // parts] * parts)]
    tree = CallTree(
        calls=sum(counts),
        floor=1,
        modules={"": ["(build)", "(other)"], "m": ["rewrite", "merge", *names]},
        entries=[0, 0, *counts],
        depths=[0, *[1] * len(counts)],
        functions=[0, *range(2, 2 + len(counts))],
        counts=[0, *counts],
    )
    profile = Profile(
        phases=[Phase(name="rewriting", entries=1, calls=rewriting + merge),
                Phase(name="loading", entries=1, calls=loading)],
        rewriters=[Rewriter(name="merge", tries=merge // 10, calls=merge)],
        tree=tree,
    )  # fmt: skip
    return sample(WARM, "tracing", {"python_calls": tree.calls}, profile=profile)


def worked(instructions: float) -> Sample:
    return sample(WARM, "work", {"instructions": instructions}, counted_by="callgrind")


def timed(rewriting: float, loading: float, waits: float = 0.0) -> Sample:
    seconds = {"rewriting": rewriting, "loading": loading}
    phases = [Phase(name=name, entries=1, seconds=one) for name, one in seconds.items()]
    metrics = {"compile_time": rewriting + loading, "waiting_time": waits}
    return sample(WARM, metrics=metrics, profile=Profile(phases=phases))


def test_calls_that_fell_in_all_begin_no_additional_instructions() -> None:
    base = [traced(1_000, 10_000, 90_000)] * 2
    assert (
        where_work_begins(WARM, "python_calls", base, [traced(1_300, 10_000, 86_000)] * 2) is None
    )
    assert (
        where_work_begins(WARM, "python_calls", base, [traced(1_300, 20_000, 90_000)] * 2)
        is not None
    )
    # Nor do 0.1 % more, which may be chance.
    assert (
        where_work_begins(WARM, "python_calls", base, [traced(1_000, 10_100, 90_000)] * 2) is None
    )


def test_more_work_begins_with_a_part_in_a_phase() -> None:
    found = reasons([traced(80_000, 2_000, 18_000)] * 2, [traced(80_000, 4_000, 18_000)] * 2)
    because = found["python_calls"]
    assert because is not None
    assert because.kind == "work began"
    part, phase = because.values
    assert (part.kind, part.name, phase.name) == ("rewriter", "merge", "rewriting")


def test_a_rewriter_is_not_told_beside_a_phase_that_it_is_not_in() -> None:
    found = reasons([traced(80_000, 2_000, 18_000)] * 2, [traced(80_000, 4_000, 19_000)] * 2)
    because = found["python_calls"]
    assert because is not None
    assert [one.name for one in because.values] == ["merge", "rewriting"]
    base, head = traced(80_000, 2_000, 18_000, 3), traced(80_000, 4_000, 21_000, 3)
    because = reasons([base] * 2, [head] * 2)["python_calls"]
    assert because is not None
    assert [one.name for one in because.values] == ["merge"]  # most calls are in `loading`


def test_more_instructions_begin_with_calls_only_where_there_are_more_of_them() -> None:
    base = [traced(80_000, 2_000, 18_000), worked(2.0e9)]
    for calls, kind in ((80_100, None), (84_000, "work began")):
        because = reasons(base, [traced(calls, 2_000, 18_000), worked(2.1e9)])["instructions"]
        assert (because and because.kind) == kind


def test_a_part_that_doubles_in_a_calm_whole_is_a_remark() -> None:
    found = reasons([traced(80_000, 100, 19_900)] * 2, [traced(80_000, 200, 19_900)] * 2)
    because = found["python_calls"]
    assert because is not None
    assert because.kind == "part grew"
    (part,), total = because.values
    assert (part.name, part.own, part.calls, total) == ("merge", 100, 100, 100_000)


def test_one_trace_of_a_side_shows_no_spread_and_gives_no_remark() -> None:
    found = reasons([traced(80_000, 100, 19_900)] * 2, [traced(80_000, 200, 19_900)])
    assert found["python_calls"] is None


def test_a_phase_that_doubles_in_a_calm_whole_is_a_remark() -> None:
    """None of its rewriters does so: it is the functions outside of them."""
    found = reasons([traced(99_700, 100, 200)] * 2, [traced(99_700, 100, 400)] * 2)
    because = found["python_calls"]
    assert because is not None
    assert because.kind == "part grew"
    assert sentence_of(because) == (
        "the total number of calls raises no alarm, but the phase `loading` made 200 calls, now "
        "400 (+0.2 % of all calls); `load` was entered 200 times, now 400 (+0.2 % of all calls)"
    )


def test_a_longer_time_begins_with_a_phase() -> None:
    noise = [n / 1000 for n in range(8)]
    found = reasons(
        [timed(0.4 + one, 0.1) for one in noise], [timed(0.4 + one, 0.3) for one in noise]
    )
    because = found["compile_time"]
    assert because is not None
    assert because.kind == "time began"
    phase, share = because.values
    assert phase.name == "loading"
    assert 0.9 < share <= 1


def test_a_longer_wait_begins_with_the_phase_that_takes_longer() -> None:
    noise = [n / 1000 for n in range(8)]
    base = [timed(0.4 + one, 0.1) for one in noise]
    head = [timed(0.4 + one, 0.3, 0.2) for one in noise]
    because = reasons(base, head)["waiting_time"]
    assert because is not None
    assert (because.kind, because.values[0].name) == ("time began", "loading")


def with_passes(one: Sample, **seconds: float) -> Sample:
    """The same tracing sample, with passes of LLVM in the phase `loading`."""
    assert one.profile is not None
    passes = [LlvmPass(name=n, phase="loading", seconds=s) for n, s in seconds.items()]
    return one.model_copy(
        update={"profile": one.profile.model_copy(update={"llvm_passes": passes})}
    )


def test_a_longer_phase_begins_with_the_pass_of_llvm_that_grew() -> None:
    """Be the whole worse or only the phase."""
    calls = traced(80_000, 2_000, 18_000)
    for noise, metric in ((1 / 1000, "compile_time"), (1 / 2, "python_calls")):
        base, head = (
            [with_passes(calls, GVNPass=gvn, SROAPass=0.05)] * 2
            + [timed(0.4 + n * noise, loading) for n in range(8)]
            for gvn, loading in ((0.05, 0.1), (0.24, 0.3))
        )
        because = reasons(base, head)[metric]
        assert because is not None
        assert because.values[0].name == "loading"
        assert because.values[-1].name == "GVNPass"
        assert "; in it, the LLVM pass `GVNPass` takes 190 ms more" in sentence_of(because)


def ran(**runs: int) -> Sample:
    """A cold build in which LLVM ran these passes so often."""
    passes = [
        LlvmPass(name=name, phase="LLVM: passes", seconds=0.1, runs=number)
        for name, number in runs.items()
    ]
    profile = traced(80_000, 2_000, 18_000).profile
    assert profile is not None
    return sample(
        COLD, "tracing", {"python_calls": 100_000, "llvm_pass_runs": sum(runs.values())},
        profile=profile.model_copy(update={"llvm_passes": passes}),
    )  # fmt: skip


def test_a_pass_that_doubles_in_a_calm_whole_is_a_remark_on_the_runs_of_all() -> None:
    base, head = ran(GVNPass=99_900, ADCEPass=100), ran(GVNPass=99_900, ADCEPass=200)
    found = reasons([base] * 2, [head] * 2, COLD)
    assert found["python_calls"] is None
    because = found["llvm_pass_runs"]
    assert because is not None
    assert sentence_of(because) == (
        "the total number of runs of LLVM passes raises no alarm, but the LLVM pass `ADCEPass` ran "
        "100 times, now 200 (+0.1 % of all runs)"
    )
    assert reasons([base] * 2, [head], COLD)["llvm_pass_runs"] is None  # it shows no spread
    noisy = [ran(GVNPass=99_900, ADCEPass=number) for number in (60, 150, 240)]
    assert reasons([base, *noisy[:2]], noisy, COLD)["llvm_pass_runs"] is None


def test_more_runs_of_passes_begin_with_the_pass_that_ran_more_often() -> None:
    base, one = ran(GVNPass=1200, SROAPass=900), ran(GVNPass=4800, SROAPass=910)
    because = reasons([base], [one, one], COLD)["llvm_pass_runs"]
    assert because is not None
    assert sentence_of(because) == (
        "the LLVM pass `GVNPass` ran 1,200 times, now 4,800; 1 other ran more often"
    )
    alone = reasons([base], [ran(GVNPass=4800, SROAPass=900)] * 2, COLD)["llvm_pass_runs"]
    assert alone is not None
    assert sentence_of(alone) == "the LLVM pass `GVNPass` ran 1,200 times, now 4,800"
    many = {f"Pass{n}": 100 for n in range(9)}
    grown = reasons([ran(**many)], [ran(**dict.fromkeys(many, 120))] * 2, COLD)["llvm_pass_runs"]
    assert grown is not None
    assert sentence_of(grown) == ("9 of the 9 LLVM passes that the profile names ran more often")
    new = reasons([base], [ran(GVNPass=1200, SROAPass=900, NewGVNPass=400)] * 2, COLD)
    assert new["llvm_pass_runs"] is not None
    assert sentence_of(new["llvm_pass_runs"]) == (
        "the LLVM pass `NewGVNPass` did not run before, and ran 400 times"
    )
    assert where_work_begins(COLD, "llvm_pass_runs", [base], [one]) == because  # in a history
    assert where_work_begins(COLD, "llvm_pass_runs", [base], [base]) is None


def test_a_phase_that_takes_longer_is_a_remark_where_noise_hides_it_in_the_whole() -> None:
    """As on a busy machine: the whole varies by more than the phase takes."""
    noise = [n / 2 for n in range(8)]
    base, head = (
        [traced(80_000, 2_000, 18_000)] * 2 + [timed(1 + one, loading) for one in noise]
        for loading in (0.1, 0.3)
    )
    found = reasons(base, head)
    because = found["python_calls"]
    assert because is not None
    assert because.kind == "phase grew"
    (phase,) = because.values
    assert (phase.name, phase.base, phase.head) == ("loading", 0.1, 0.3)
    # Where the time is worse, the alarm says it.
    sure = [n / 1000 for n in range(8)]
    base, head = (
        [traced(80_000, 2_000, 18_000)] * 2 + [timed(0.4 + one, loading) for one in sure]
        for loading in (0.1, 0.3)
    )
    found = reasons(base, head)
    assert found["python_calls"] is None
    assert found["compile_time"] is not None


def test_what_did_not_change_has_no_reason() -> None:
    same = [traced(80_000, 2_000, 18_000)] * 2 + [timed(0.4 + n / 1000, 0.1) for n in range(8)]
    assert set(reasons(same, same).values()) == {None}


def counted(lowering: int, peak: float, linking: int = 2_000_000) -> list[Sample]:
    """A counting sample with the memory of its phases, and timing samples with the peak."""
    raised = {"before the build": 160_000_000, "numba: lowering": lowering, "linking": linking}
    phases = [Phase(name=name, entries=1, peak_bytes=size) for name, size in raised.items()]
    peaks = [sample(WARM, metrics={"peak_rss": peak + n * 1e4}) for n in range(8)]
    return [sample(WARM, "counting", profile=Profile(phases=phases)), *peaks]


def test_more_memory_begins_with_the_phase_that_raises_the_peak() -> None:
    found = reasons(counted(16_000_000, 2e8), counted(76_000_000, 2.6e8))
    because = found["peak_rss"]
    assert because is not None
    assert because.kind == "memory began"
    phase, share = because.values
    assert (phase.name, phase.base, phase.head, share) == ("numba: lowering", 16e6, 76e6, 1.0)
    assert sentence_of(because) == (
        "in the counting pass, the phase `numba: lowering` raises it by 60.0 MB more (16.0 → "
        "76.0 MB), 100 % of the additional memory"
    )


def test_memory_that_no_phase_has_added_has_no_reason() -> None:
    for lowering, linking in ((16_500_000, 2_000_000), (26_000_000, 2_000_000), (0, 10_000_000)):
        found = reasons(counted(16_000_000, 2e8), counted(lowering, 2.6e8, linking))
        assert found["peak_rss"] is None


FRESH = Cell("radon", "warm_disk", "NUMBA", "spawn")


def imported(seconds: float, **modules: float) -> list[Sample]:
    """A tracing sample that knows what each module takes, and timing samples of all of them."""
    known = [ImportedModule(name=name, depth=0, seconds=own) for name, own in modules.items()]
    took = [sample(FRESH, metrics={"import_time": seconds + n / 1000}) for n in range(8)]
    return [sample(FRESH, "tracing", profile=Profile(imports=known)), *took]


def test_a_longer_import_begins_with_a_module_that_explains_a_quarter_of_it() -> None:
    base = imported(1.0, numba=0.6, re=0.1)
    because = reasons(base, imported(1.5, numba=0.6, re=0.25), FRESH)["import_time"]
    assert because is not None
    assert sentence_of(because) == "`re` takes by itself 100 → 250 ms (in one sample)"
    assert reasons(base, imported(1.5, numba=0.6, re=0.2), FRESH)["import_time"] is None


def test_a_longer_import_of_one_model_is_explained_by_its_own_times() -> None:
    """Other models, which import as fast as before, hide nothing and prove nothing."""
    other = [
        sample(replace(FRESH, model="radon_pymc"), metrics={"import_time": 1.0 + n / 1000})
        for n in range(40)
    ]
    base, head = imported(2.0, re=0.1), imported(4.0, re=0.100001)
    assert where_it_begins(FRESH, "import_time", [*base, *other], [*head, *other]) is None
    head = imported(4.0, re=1.6)
    found = where_it_begins(FRESH, "import_time", [*base, *other], [*head, *other])
    assert found is not None
    assert where_it_begins(FRESH, "import_time", head, base) is None
