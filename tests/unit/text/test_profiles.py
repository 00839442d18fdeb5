"""The sentence on the main part of a worsening."""

from __future__ import annotations

import pytest

from observatory.analyze.profiles.difference import main_part
from observatory.store.records.profile import (
    ImportChange,
    LlvmPassTime,
    PartChange,
    PhaseMemory,
    PhaseTime,
    ProfileDifference,
)
from observatory.text.profiles import (
    grown_phase_sentence,
    grown_sentence,
    import_sentence,
    longer_sentence,
    main_part_sentence,
    memory_sentence,
)


def part(name: str, base: int, head: int, calls: int, **more: object) -> PartChange:
    fields: dict[str, object] = {"kind": "rewriter", "share": calls / 1000, **more}
    return PartChange.model_validate(
        {"name": name, "base": base, "head": head, "calls": calls, **fields}
    )


def said(*rewriters: PartChange, functions: tuple[PartChange, ...] = ()) -> str | None:
    found = ProfileDifference(
        base=5000, head=6000, rewriters=list(rewriters), functions=list(functions)
    )
    first = main_part(found)
    return None if first is None else main_part_sentence(first)


def test_a_rewriter_is_named_with_its_counts_and_its_share() -> None:
    assert said(part("local_subtensor_merge", 1210, 4840, 710)) == (
        "`local_subtensor_merge` was entered 1,210 times, now 4,840, and 710 more calls begin with "
        "it (71 % of the additional calls)"
    )


def test_a_new_part_says_that_it_is_new() -> None:
    assert said(part("local_new", 0, 40, 900, new=True)) == (
        "`local_new` is new and makes 900 calls (90 % of the additional calls)"
    )


def test_a_part_that_does_more_each_time_says_so() -> None:
    assert said(part("merge", 140, 140, 500)) == (
        "`merge` is entered as often as before and makes 500 more calls "
        "(50 % of the additional calls)"
    )


def test_a_renamed_function_is_named_with_its_old_name() -> None:
    function = part("m:new", 1, 3, 900, kind="function", replaces="m:old")
    assert said(functions=(function,)) == (
        "`new` (in place of `old`) was entered once, now 3, and 900 more calls begin with it (90 % "
        "of the additional calls)"
    )
    moved = part("m.new:C.f", 100, 300, 200, kind="function", replaces="m.old:C.f")
    assert said(functions=(moved,)) == (
        "`C.f` (moved from `m.old`) was entered 100 times, now 300 (20 % of the additional calls)"
    )


def test_where_no_rewriter_explains_much_the_function_is_named() -> None:
    function = part("pytensor.graph.rewriting.basic:Node.process_node", 9, 12, 800, kind="function")
    text = said(part("merge", 140, 150, 50), functions=(function,))
    assert text == (
        "`Node.process_node` was entered 9 times, now 12, and 800 more calls begin with it "
        "(80 % of the additional calls)"
    )


def test_where_nothing_does_more_nothing_is_said() -> None:
    fewer = part("merge", 140, 100, -50)
    assert (
        main_part(ProfileDifference(base=10, head=5, rewriters=[fewer], functions=[fewer])) is None
    )
    assert said(fewer) is None


def test_a_longer_import_is_said_with_the_module_by_which_it_is() -> None:
    new = ImportChange(name="pandas", base=None, head=0.21)
    assert import_sentence(new) == "`pandas` is newly imported, which takes 210 ms (in one sample)"
    longer = ImportChange(name="numpy", base=0.1, head=0.3)
    assert import_sentence(longer) == "`numpy` takes by itself 100 → 300 ms (in one sample)"
    moved = ImportChange(name="x.new", base=0.1, head=0.3, replaces="x.old")
    assert import_sentence(moved) == (
        "`x.new` (in place of `x.old`) takes 100 → 300 ms (in one sample)"
    )


@pytest.mark.parametrize(
    ("name", "share", "told"),
    [
        ("linking", 1.01, "the phase `linking` takes {}, 100 % of the additional time"),
        ("linking", 3.3, "the phase `linking` takes {}, all of the additional time and more"),
        ("not attributed", 0.5, "what belongs to no known phase takes {}, 50 % of the additional"),
    ],
)
def test_what_takes_longer_is_told_with_its_share(name: str, share: float, told: str) -> None:
    sentence = longer_sentence(PhaseTime(name=name, base=1.0, head=2.0), share)
    assert sentence.startswith(told.format("1.00 s more (1.00 → 2.00 s)"))


def test_memory_that_no_phase_of_the_build_takes_is_told_in_words() -> None:
    told = memory_sentence(PhaseMemory(name="before the build", base=1e8, head=1.5e8), 0.9)
    assert told == (
        "in the counting pass, what the process does before the build raises it by 50.0 MB more "
        "(100 → 150 MB), 90 % of the additional memory"
    )


def test_the_phase_of_most_additional_calls_is_said_first() -> None:
    phase = part("rewriting", 9000, 9800, 800, kind="phase")
    assert main_part_sentence(part("merge", 140, 280, 500), phase) == (
        "80 % of the additional calls are in the phase `rewriting`; `merge` was entered 140 times, "
        "now 280, and 500 more calls begin with it (50 % of the additional calls)"
    )


def test_where_no_function_is_known_to_have_grown_the_phase_is_named() -> None:
    phase = part("numba: typing", 4000, 4900, 900, kind="phase")
    first = main_part(ProfileDifference(base=5000, head=6000, phases=[phase]))
    assert first is not None
    assert main_part_sentence(first) == (
        "the phase `numba: typing` made 4,000 calls, now 4,900 (90 % of the additional calls)"
    )


def test_an_import_is_named_with_what_it_makes() -> None:
    module = part("scipy.stats", 0, 1, 900, kind="module", new=True)
    assert main_part_sentence(module) == (
        "`scipy.stats` is newly imported, which makes 900 calls (90 % of the additional calls)"
    )
    moved = part("x.new", 1, 1, 1, kind="module", replaces="x.old")
    assert main_part_sentence(moved) == (
        "`x.new` (in place of `x.old`) is imported, which makes 1 more call (0.1 % of the "
        "additional calls)"
    )


def test_a_phase_that_takes_longer_is_named_with_its_seconds() -> None:
    phase = PhaseTime(name="numba: cache load", base=0.011, head=0.211, sure=True)
    assert longer_sentence(phase, 0.98) == (
        "the phase `numba: cache load` takes 200 ms more (11.0 → 211 ms), 98 % of the additional "
        "time"
    )


def test_a_phase_that_grows_in_a_calm_whole_is_said_with_its_seconds() -> None:
    phase = PhaseTime(name="numba: cache load", base=0.07, head=0.27, sure=True)
    assert grown_phase_sentence(phase) == (
        "the total number of calls raises no alarm, but the phase `numba: cache load` takes 200 ms "
        "more (70.0 → 270 ms)"
    )


def test_a_pass_of_llvm_is_named_after_its_phase() -> None:
    phase = PhaseTime(name="LLVM: passes", base=2.6, head=3.7, sure=True)
    inside = LlvmPassTime(
        name="GVNPass", phase="LLVM: passes", base=0.07, head=1.07, base_runs=1200, head_runs=2400,
        samples=2,
    )  # fmt: skip
    told = (
        "; in it, the LLVM pass `GVNPass` takes 1.00 s more (0.07 → 1.07 s of CPU time, in 2 "
        "samples of each side)"
    )
    assert longer_sentence(phase, 0.95, inside) == (
        "the phase `LLVM: passes` takes 1.10 s more (2.60 → 3.70 s), 95 % of the additional time"
        f"{told}, and ran 1,200 times, now 2,400"
    )
    unknown = inside.model_copy(update={"base_runs": None})
    assert grown_phase_sentence(phase, unknown).endswith(told)


def test_parts_that_grow_in_a_calm_whole_are_said_with_their_share_of_it() -> None:
    parts = [part("merge", 140, 140, 700, own=650), part("m:f", 100, 200, 100, kind="function")]
    assert grown_sentence(parts, 700_000) == (
        "the total number of calls raises no alarm, but `merge` made 650 calls, now 1,350 (+0.1 % "
        "of all calls); `f` was entered 100 times, now 200 (+0.014 % of all calls)"
    )
    more = part("m:f", 1, 3, 60_000, kind="function")
    assert grown_sentence([more], 100_000).endswith(
        "`f` was entered once, now 3 (60,000 more calls begin with it, +60 % of all calls)"
    )
