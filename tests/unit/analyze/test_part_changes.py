"""Parts along a history of real profiles: what grew is found, and what only varies is not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import zip_longest

import numpy as np
import pytest

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.history.followed import CountedSubject, History
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.part_changes import GrownPart, PartChanges
from observatory.analyze.statements import Occurrence
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.alerts import at_of
from observatory.store.records.calibration import Calibration, Floor
from observatory.store.records.profile import LlvmPass, Profile, Rewriter
from observatory.store.records.sample import Sample
from observatory.text.statements import sentence_of
from tests.factories import NOON, header, sample, traced
from tests.factories_alerts import ERA, subject
from tests.factories_parts import doubled, profiles_of

REWRITER = "local_dimshuffle_subtensor"
Night = Mapping[Cell, Profile]


@cache
def pool() -> Mapping[Cell, Sequence[Profile]]:
    """All traced builds of 3.3.8 by cell, with up to three samples of each, and both launches."""
    found: dict[Cell, list[Profile]] = defaultdict(list)
    for cell, own in profiles_of("3.3.8").items():
        for launch in ("fork", "spawn"):
            found[Cell(cell.model, cell.scenario, cell.backend, launch)] += own
    return found


def history(
    nights: Iterable[Night], sources: Sequence[str] = (), cpus: Sequence[str] = ()
) -> History:
    def taken(cell: Cell, profile: Profile, source: str | None) -> Sample:
        calls = {"python_calls": 1_000_000}
        return sample(cell, "tracing", calls, profile=profile, counted_by=source)

    return History("bench", "observatory-py3.13", [
        CountedSubject(
            at_of(subject(number)), Evidence.of(taken(*one, source) for one in night.items()),
            number, cpu or ERA.cpu,
        )
        for number, (night, source, cpu) in enumerate(zip_longest(nights, sources, cpus))
    ])  # fmt: skip


def found(
    nights: Iterable[Night],
    floors: MachineFloors | None = None,
    sources: Sequence[str] = (),
    cpus: Sequence[str] = (),
) -> list[Occurrence]:
    changes = PartChanges(history(nights, sources, cpus), floors or MachineFloors())
    assert list(changes.watched().subjects)
    return list(changes.occurrences())


def drawn(rng: np.random.Generator, launches: Sequence[str] = ("fork", "spawn")) -> Night:
    """A night in which each build is one of the real ones of 3.3.8, at random."""
    return {
        cell: own[rng.integers(len(own))]
        for cell, own in pool().items() if cell.launch in launches
    }  # fmt: skip


def varied(rng: np.random.Generator, night: Night, functions: Sequence[str]) -> Night:
    """The same night, in which some functions are entered at random from half to twice as often."""

    def changed(profile: Profile) -> Profile:
        tree = profile.tree
        assert tree is not None
        counts, entries = list(tree.counts), list(tree.entries)
        factors = {name: 2 ** rng.uniform(-1, 1) for name in functions}
        for place, function in enumerate(tree.functions):
            factor = factors.get(tree.names[function], 1.0)
            now = round(counts[place] * factor)
            entries[function] += now - counts[place]
            counts[place] = now
        update = {"calls": sum(counts), "counts": counts, "entries": entries}
        return profile.model_copy(update={"tree": tree.model_copy(update=update)})

    return {cell: changed(one) for cell, one in night.items()}


def grown(night: Night, rewriter: str = REWRITER) -> Night:
    return {cell: doubled(one, rewriter) for cell, one in night.items()}


def parts_of(one: Occurrence) -> list[GrownPart]:
    (parts,) = one.statement.values
    return list(parts)


@pytest.mark.parametrize("launches", [("fork", "spawn"), ("spawn",)])
def test_nights_that_draw_from_real_builds_of_one_release_give_nothing(
    launches: Sequence[str],
) -> None:
    rng = np.random.default_rng(1)
    assert found(drawn(rng, launches) for _ in range(25)) == []


def test_functions_that_vary_by_nature_are_hardly_ever_a_change() -> None:
    """Forty functions of 300 to 3,000 calls that vary twofold, in builds that are calm as a whole.

    False discoveries are controlled at 5 % for each night; without that, half of the nights name
    some of them.
    """
    rng = np.random.default_rng(2)
    cell = Cell("radon", "warm_process", "NUMBA", "spawn")
    tree = pool()[cell][0].tree
    assert tree is not None
    sizes = sorted(tree.entered.items(), key=lambda one: one[1])
    names = [name for name, count in sizes if 300 <= count <= 3000][::3][:40]
    assert len(names) == 40
    few = {one: own for one, own in drawn(rng).items() if one.scenario == "warm_process"}
    nights = (varied(rng, few, names) for _ in range(120))
    assert len(found(nights)) <= 0.05 * 120


@pytest.mark.parametrize(("launches", "nights"), [(("fork", "spawn"), 1), (("spawn",), 3)])
def test_a_rewriter_of_a_thousandth_of_the_build_that_doubles_is_named(
    launches: Sequence[str], nights: int
) -> None:
    rng = np.random.default_rng(3)
    before = [drawn(rng, launches) for _ in range(nights)]
    (one,) = found([*before, grown(drawn(rng, launches)), grown(drawn(rng, launches))])
    (part,) = parts_of(one)
    assert (part.part.kind, part.part.name) == ("rewriter", REWRITER)
    assert part.part.calls / part.total < 0.0015
    assert len(part.cells) == len(drawn(rng, launches))
    assert one.change.first_bad.label == f"n{nights}"
    assert one.recovered is None
    assert all(each.holds and each.after == 2 * each.before for each in one.change.series)


def test_one_build_before_and_one_after_show_no_spread() -> None:
    rng = np.random.default_rng(4)
    assert found([drawn(rng, ("spawn",)), grown(drawn(rng, ("spawn",)))]) == []


def test_it_is_over_when_less_than_half_of_the_growth_is_left() -> None:
    rng = np.random.default_rng(5)
    (one,) = found([drawn(rng), grown(drawn(rng)), grown(drawn(rng)), drawn(rng), drawn(rng)])
    assert one.recovered is not None
    assert (one.change.first_bad.label, one.recovered.label) == ("n1", "n3")
    assert not any(each.holds for each in one.change.series)


def test_where_the_whole_build_does_more_its_own_alert_says_with_which_part() -> None:
    """Ten small rewriters that double are 1 % of the build: that is no calm whole."""
    rng = np.random.default_rng(6)
    profile = next(iter(pool().values()))[0]
    assert profile.tree is not None
    head, total = drawn(rng), profile.tree.calls
    for one in profile.rewriters:
        if 0.0005 * total < (one.calls or 0) < 0.005 * total:
            head = grown(head, one.name)
    assert found([drawn(rng), head]) == []


def test_a_phase_that_does_much_more_is_named() -> None:
    """Each of its functions is entered a little more often, and none of them half as often more."""
    cells = [one for one in pool() if one.scenario == "warm_process" and one.backend == "C_VM"]
    before = {cell: pool()[cell][0] for cell in cells}

    def phase_doubled(profile: Profile) -> Profile:
        return profile.model_copy(update={"phases": [
            one.model_copy(update={"calls": 2 * (one.calls or 0)})
            if one.name == "C: asking the compiler" else one
            for one in profile.phases
        ]})  # fmt: skip

    (one,) = found([before, {cell: phase_doubled(profile) for cell, profile in before.items()}])
    assert sentence_of(one.statement) == (
        "the total number of calls is as before, but the phase `C: asking the "
        "compiler` made 858 calls, now 1,716 (+0.18 % of all calls, in radon warm_process C_VM "
        "fork and 1 more cell)"
    )


def ran(**runs: int) -> Night:
    """A night in which LLVM ran these passes so often."""
    passes = [
        LlvmPass(name=name, phase="LLVM: passes", seconds=0.1, runs=number)
        for name, number in runs.items()
    ]
    return {
        cell: own[0].model_copy(update={"llvm_passes": passes})
        for cell, own in pool().items() if cell.scenario == "warm_process"
    }  # fmt: skip


def test_passes_of_two_cpus_are_not_compared_and_one_that_grew_stays_so_on_another() -> None:
    before, after = ran(GVNPass=99_900, ADCEPass=100), ran(GVNPass=99_900, ADCEPass=200)
    assert found([before, after], cpus=("one", "other")) == []
    unknown = {
        cell: one.model_copy(update={"llvm_passes": None}) for cell, one in after.items()
    }  # fmt: skip
    nights = [before, after, before, unknown, after]
    (one,) = found(nights, cpus=("one", "one", "other", "one", "one"))
    assert one.recovered is None
    assert found([*nights, before], cpus=("one",) * 6)[0].recovered is not None


@pytest.mark.parametrize(("adce", "gvn", "named"), [(200, 99_900, True), (200, 105_000, False)])
def test_a_pass_of_llvm_that_runs_twice_as_often_is_named_where_all_runs_are_as_before(
    adce: int, gvn: int, named: bool
) -> None:
    head = ran(GVNPass=gvn, ADCEPass=adce)
    nights = found([ran(GVNPass=99_900, ADCEPass=100), head, head])
    said = (
        "the total number of runs of LLVM passes is as before, but the LLVM pass `ADCEPass` ran "
        "100 times, now 200 (+0.1 % of all runs, in radon warm_process C fork and 5 more cells)"
    )
    assert [sentence_of(one.statement) for one in nights] == [said] * named
    for one in nights:
        assert {(c.metric, c.unit, c.now, c.holds) for c in one.change.series} == {
            ("llvm_pass_runs of ADCEPass", "runs", 200, True)
        }


def test_one_sentence_names_the_three_largest_of_many_parts() -> None:
    cells = [one for one in pool() if one.scenario == "warm_disk" and one.backend == "NUMBA"]
    before = {cell: pool()[cell][0] for cell in cells}
    profile = before[cells[0]]
    assert profile.tree is not None
    sizes = {one.name: (one.calls or 0) / profile.tree.calls for one in profile.rewriters}
    head: Night = before
    for name in [name for name, size in sizes.items() if 0.00055 < size < 0.0011][:4]:
        head = grown(head, name)
    (one,) = found([before, head])
    assert len(parts_of(one)) == 4
    assert sentence_of(one.statement).endswith(" and 1 more part")
    assert sentence_of(one.statement).count("now") == 3


def small(calls: int, **rewriters: int) -> Profile:
    """A build of so many calls with thirty rewriters of 1,000 calls each, and some others."""
    profile = traced(calls).profile
    assert profile is not None
    counts = {f"r{n}": 1000 for n in range(30)} | rewriters
    found = [Rewriter(name=name, tries=1, calls=count) for name, count in counts.items()]
    return profile.model_copy(update={"rewriters": found})


FORK, SPAWN = (Cell("radon", "warm_disk", "NUMBA", launch) for launch in ("fork", "spawn"))


def test_a_part_is_followed_where_it_was_large_enough_to_be_kept_before_it_grew() -> None:
    """Spawn did not keep it: from what it grew there, nobody knows."""
    before = {FORK: small(1_000_000, x=100), SPAWN: small(1_000_100)}
    after = {FORK: small(1_000_600, x=700), SPAWN: small(1_000_700, x=700)}
    (one,) = found([before, after, after])
    assert [(s.benchmark, s.before, s.now, s.holds) for s in one.change.series] == [
        (str(FORK), 100, 700, True)
    ]
    assert [part.cells for part in parts_of(one)] == [(FORK,)]


def test_parts_are_not_compared_with_those_of_a_version_that_counted_other_calls() -> None:
    before, after = (
        {FORK: small(calls, x=part), SPAWN: small(calls + 100, x=part)}
        for calls, part in ((1_000_000, 100), (1_000_600, 700))
    )
    nights = [before, before, after, after]
    assert len(found(nights, sources=["old", "new", "new", "new"])) == 1
    assert found(nights, sources=["old", "old", "new", "new"]) == []


def test_a_part_that_no_start_method_kept_on_both_sides_is_not_named() -> None:
    before = {FORK: small(1_000_000, x=100, y=200), SPAWN: small(1_000_100, y=200)}
    after = {FORK: small(1_001_400, y=900), SPAWN: small(1_001_300, x=700, y=900)}
    (one,) = found([before, after, after])
    assert [part.part.name for part in parts_of(one)] == ["y"]


@pytest.mark.parametrize(
    ("cpu", "source", "said"),
    [(ERA.cpu, "new", True), ("another CPU", "new", False), (ERA.cpu, "old", False)],
)
def test_a_whole_is_calm_up_to_what_its_machine_was_calibrated_with(
    cpu: str, source: str, said: bool
) -> None:
    """An increase of 0.6 % is no alert of the whole here, so that its part must be one."""
    under = header()
    floors = [
        Floor(
            cell=cell, metric="python_calls", kind="near_exact", samples=12, change=0.0045,
            source=source,
        )
        for cell in (FORK, SPAWN)
    ]  # fmt: skip
    learned = MachineFloors([
        Calibration(
            machine=under.machine.model_copy(update={"cpu": cpu}), subject=under.subject,
            versions=under.versions, taken_at=NOON, floors=floors,
        )
    ])  # fmt: skip
    before, after = (
        {FORK: small(calls, x=part), SPAWN: small(calls + 50, x=part)}
        for calls, part in ((1_000_000, 6_000), (1_006_000, 12_000))
    )
    assert bool(found([before, after, after], learned, ["new"] * 3)) is said
