"""What is said of a comparison, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from observatory.analyze.statements import Statement
from observatory.benchmarks.catalogue import CAUSES
from observatory.store.records.comparison import Cause, Comparison, Missing, Verdict, Workload
from observatory.text.comment import comment
from observatory.text.comparison.breakdown import Labels
from observatory.text.comparison.phrases import effect
from observatory.text.comparison.sections import advice_on
from observatory.text.comparison.story import tell
from observatory.text.document import Folded, Heading, Name, Paragraph, Points, Strong, Table, Words
from observatory.text.statements import sentence_of
from tests import factories_comparison as factory
from tests.factories_comparison import cell, exact, noisy, where


def plain(words: Words) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in words)


def verdict(comparison: Comparison) -> str:
    return tell(comparison).title


def lines(comparison: Comparison) -> list[str]:
    """Every line of the story, folded ones too, a table's row as one line."""
    told: list[str] = []

    def take(block: object) -> None:
        match block:
            case Heading(words) | Paragraph(words):
                told.append(plain(words))
            case Points(items):
                told.extend(plain(item) for item in items)
            case Table(header, rows):
                told.append(" | ".join(header))
                told.extend(" | ".join(plain(cell) for cell in row) for row in rows)
            case Folded(summary, content):
                told.append(summary)
                for inner in content:
                    take(inner)

    for part in tell(comparison).parts:
        for block in part.blocks:
            take(block)
    return told


def line(comparison: Comparison, start: str) -> str:
    return next(each for each in lines(comparison) if each.startswith(start))


def test_the_model_is_named_where_there_are_several() -> None:
    other = replace(cell("cold C fork"), model="radon_pymc")
    told = factory.comparison(
        verdicts=[exact(other, "crashed", 0, 0, "unaffected"),
                  exact(cell("cold C fork"), "crashed", 0, 1)]
    )  # fmt: skip
    assert verdict(told) == "❌ Crashes: 3.3.7 crashes in radon cold C fork"
    assert "model" not in line(told, "3.3.7 vs 3.3.6")


# The verdict sentence.

NOTHING_JUDGED = "❔ Not judged: no cell was measured well enough on both sides"


def test_a_function_that_misses_is_one_function() -> None:
    one = factory.comparison([exact(cell("warm_disk NUMBA fork"), "cache_misses", 0, 1)])
    assert verdict(one) == (
        "🔺 Worse: 1 function stopped hitting the cache in warm_disk NUMBA fork"
    )


def test_counts_that_differ_between_cells_are_said_to_be_the_most() -> None:
    several = factory.comparison([
        exact(cell("warm_disk NUMBA fork"), "cache_misses", 0, 3),
        exact(cell("warm_disk NUMBA spawn"), "cache_misses", 0, 7),
    ])  # fmt: skip
    assert "Worse: up to 7 functions stopped hitting the cache in 2 warm_disk" in verdict(several)


def test_what_follows_from_a_cause_is_no_alarm_of_its_own() -> None:
    told = lines(factory.cache_regression())
    assert "Compile time" not in told
    assert sum("up to ×18" in each for each in told) == 2
    assert line(factory.cache_regression(), "Effect: ").startswith(
        "Effect: compiling is slower (up to ×18, 0.25 → 4.50 s, 95 % interval"
    )


def test_an_alarm_whose_cause_is_not_in_the_file_is_told_all_the_same() -> None:
    lost = factory.cache_regression().model_copy(update={"causes": []})
    told = lines(lost)
    assert "Without a known cause" in told
    assert "Compile time" in told


def test_wrong_results_of_both_sides_are_reported() -> None:
    wrong = exact(cell("siblings NUMBA fork"), "wrong_results", 7, 7, "unaffected")
    told = factory.comparison([wrong])
    assert verdict(told) == (
        "🔺 No regression: all 27 cells are unaffected; "
        "both 3.3.6 and 3.3.7 crash or give wrong values in siblings NUMBA fork"
    )
    assert line(told, "Wrong values in both 3.3.6 and 3.3.7: siblings NUMBA fork.")


def test_fewer_wrong_results_are_still_wrong_results() -> None:
    told = factory.comparison([exact(cell("siblings NUMBA fork"), "wrong_results", 7, 3, "better")])
    assert verdict(told) == (
        "🔺 No regression: 4 values are right again in siblings NUMBA fork; nothing got worse; "
        "both 3.3.6 and 3.3.7 crash or give wrong values in siblings NUMBA fork"
    )


def test_only_undecided_cells_leave_nothing_judged() -> None:
    place = cell("cold C fork")
    found = noisy(place, "compile_time", 1.02, "undecided", reason="too few")
    told = factory.comparison(verdicts=[found])
    assert verdict(told) == NOTHING_JUDGED
    assert tell(told).state == "undecided"


def test_times_that_are_too_noisy_do_not_hide_counts_that_are_equal() -> None:
    changed = [
        noisy(each, metric, 1.02, "undecided", reason="too noisy")
        for each in factory.CELLS
        for metric in ("compile_time", "call_time")
    ]
    assert verdict(factory.comparison(changed[:6])) == (
        "❔ Partly judged: nothing got worse in 24 cells; "
        "times or memory of 3 of 27 cells could not be judged"
    )
    assert verdict(factory.comparison(changed)) == (
        "❔ Partly judged: nothing got worse in what could be judged; "
        "times or memory of 27 of 27 cells could not be judged"
    )


def test_a_consequence_is_told_with_the_count_of_its_own_cells() -> None:
    lost = factory.cache_regression()
    leaking = [exact(each, "files_leaked", 16, 18) for each in where(scenario="cold", backend="C")]
    told = factory.comparison([*lost.worse, *leaking], causes=lost.causes)
    assert verdict(told).endswith(" hitting the cache in 4 warm cells of NUMBA")
    first, second = line(told, "35 functions stopped"), line(told, "2 more files")
    assert " | 4 warm cells of NUMBA | 0 → 35; compiling is slower (up to ×" in first
    assert second == "2 more files are left behind | 2 cold cells of C | 16 → 18"


def test_an_empty_comparison_has_a_verdict() -> None:
    empty = factory.comparison(verdicts=[])
    assert verdict(empty) == NOTHING_JUDGED
    assert tell(empty).state == "undecided"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({}, {}, "(noise 0.2 %, the default)"),
        ({"learned_from": 12, "noise": 0.0005}, {"learned_from": 193, "noise": 0.0008},
         "(noise 0.05 % to 0.08 %, learned from 12 samples or more)"),
        ({"learned_from": 12, "noise": 0.0005}, {},
         "(noise 0.05 % to 0.2 %, learned in 1 of 2 cells from 12 samples or more)"),
        ({"noise": None}, {"noise": None}, "2 %."),
    ],
)  # fmt: skip
def test_the_noise_of_work_is_said_and_from_how_many_samples_it_was_learned(
    first: dict[str, object], second: dict[str, object], said: str
) -> None:
    changed = [
        factory.calls(place, 1.0, "unaffected", **more)
        for place, more in zip(where(scenario="warm_disk")[:2], (first, second), strict=True)
    ]
    (told,) = [line for line in lines(factory.comparison(changed)) if "surely exceeds" in line]
    assert "a change of python_calls counts where it surely exceeds 2 %" in told
    assert said in told


def test_of_waits_it_is_said_that_all_of_them_must_be_longer() -> None:
    waits = factory.calls(where(scenario="warm_disk")[0], 1.0, "unaffected").model_copy(
        update={"metric": "waiting_time", "unit": "seconds", "minimum_effect": 0.25}
    )
    (told,) = [line for line in lines(factory.comparison([waits])) if "waiting_time" in line]
    assert "surely exceeds" not in told
    assert told.endswith(
        "; waiting_time is worse where each value of 3.3.7 is at least 50 % above all of 3.3.6, "
        "and values below 100 ms count as 100 ms."
    )


def test_small_memory_counts_as_what_can_be_measured() -> None:
    kept = factory.calls(where(scenario="warm_disk")[0], 1.0, "unaffected").model_copy(
        update={"metric": "retained_bytes", "unit": "bytes", "minimum_effect": 0.05}
    )
    (told,) = [line for line in lines(factory.comparison([kept])) if "surely exceeds" in line]
    assert told.endswith(", and values below 100 kB count as 100 kB.")


def test_a_changed_workload_is_said_and_is_no_alarm() -> None:
    entry = Workload(model="radon", backend="NUMBA", appeared=[("A", 1)], vanished=[("B", 2)])
    told = factory.comparison(workload=[entry])
    assert tell(told).state == "unaffected"
    assert verdict(told).startswith(
        "✅ No regression: 3.3.7 compiles a different graph, and all 27 cells"
    )
    assert "Workload changed (no alarm): 1 new function, 2 removed" in lines(told)


# What could not be judged.


def test_what_is_wrong_comes_before_what_could_not_be_judged_which_is_counted_first() -> None:
    told = lines(factory.mixed())
    assert (
        told.index("The cache refuses functions")
        < told.index("Call time")
        < told.index("Not judged")
    )
    assert "2 not fully judged" in told[0]
    calm = lines(factory.half_missing())
    assert calm.index("Not judged") == 1


def test_reasons_that_differ_in_numbers_only_are_told_once() -> None:
    told = lines(factory.mixed())
    assert sum("too wide to tell" in each for each in told) == 1
    assert line(factory.mixed(), "Undecided: compile_time in cold · C").count("For example, ") == 1


def test_a_crash_is_not_told_twice() -> None:
    told = lines(factory.failed_run())
    assert sum("FileNotFoundError" in each for each in told) == 1
    assert (
        "11 cells incomplete in 3.3.7: every cell of NUMBA. 3.3.7 crashes there: see above." in told
    )


def test_many_warnings_are_folded() -> None:
    told = factory.comparison(warnings=[f"warning number {n} " + "x" * n for n in range(12)])
    assert "8 more warnings" in lines(told)
    assert "Warnings" in lines(told)


def test_every_missing_reason_names_its_cells() -> None:
    missing = [
        Missing(cell=cell("cold C fork"), side="base", reason="it hung"),
        Missing(cell=cell("cold C spawn"), side="head", reason="no sample was taken"),
    ]
    told = lines(factory.comparison(missing=missing))
    assert "1 cell incomplete in 3.3.6: cold C fork. It hung." in told
    assert "1 cell incomplete in 3.3.7: cold C spawn. No sample was taken." in told


# What to do.


@pytest.mark.parametrize("kind", CAUSES)
def test_every_kind_of_cause_has_an_advice_of_one_sentence_or_more(kind: str) -> None:
    said = plain(advice_on(kind))
    assert said.endswith(".")
    assert said[0].isupper()
    assert "`" not in said


def test_names_in_an_advice_are_names() -> None:
    assert Name("__props__") in advice_on("keys differ between processes")


def test_times_that_nothing_explains_come_with_an_advice() -> None:
    told = lines(factory.slower())
    assert any(each.startswith("Next: The counts do not explain it.") for each in told)
    assert any(each.startswith("Next: Compare the compiled graphs") for each in told)


def test_a_long_list_of_slow_cells_is_folded_after_the_worst() -> None:
    cells = where(scenario=("warm_disk", "warm_process"))
    changed = [noisy(each, "compile_time", 1.1 + n / 50, "worse") for n, each in enumerate(cells)]
    parts = tell(factory.comparison(changed)).parts
    tables = [block for part in parts for block in part.blocks if isinstance(block, Table)]
    shown = next(table for table in tables if table.header[0] == "compile_time")
    assert len(shown.rows) == 4
    worst = max(changed, key=lambda each: each.ratio.estimate if each.ratio else 0)
    assert shown.rows[0][0] == (Labels.of(factory.nothing_changed()).cell(worst.cell),)
    assert shown.rows[0][1] == (Strong(effect(worst)),)
    assert "8 more of compile time" in lines(factory.comparison(changed))


def test_importing_is_said_of_every_process_and_of_no_cell() -> None:
    slow = noisy(cell("call C spawn"), "import_time", 1.3, "worse")
    found = factory.comparison([slow])
    assert "in every process" in verdict(found)
    assert "call" not in verdict(found).lower().replace("calling", "")
    assert any(line.startswith("every process | ") for line in lines(found))
    assert any(" | every process | " in line for line in lines(found))


def test_a_cause_that_only_a_later_version_knows_is_told_without_advice() -> None:
    known = factory.cache_regression()
    later = known.causes[0].model_copy(update={"kind": "stars misaligned"})
    said = str(tell(known.model_copy(update={"causes": [later]})))
    assert "Stars misaligned" in said
    assert "Next" not in said


def test_a_flame_graph_that_was_drawn_is_named_beside_the_command_that_repeats_it() -> None:
    drawn = factory.comparison(profiled=cell("warm_disk NUMBA fork"), reproduce="observatory x")
    said = "warm_disk NUMBA fork: profile.html, beside the samples."
    assert any(one.endswith(said) for one in lines(drawn))
    assert not any(said in one for one in lines(factory.comparison(reproduce="observatory x")))


# What a user notices of more work.

DISK_CELLS = where(scenario="warm_disk", backend="C")


def effect_of_more_work(*times: Verdict) -> list[str]:
    """What is said of more Python calls in two cells, of which these are the times."""
    cause = Cause(id="cause-1", kind="more Python work", cells=DISK_CELLS, sentence="it does")
    more = [factory.calls(place, 1.1, "worse", cause="cause-1") for place in DISK_CELLS]
    told = lines(factory.comparison(verdicts=[*more, *times], causes=[cause]))
    return [each.removeprefix("Effect: ") for each in told if each.startswith("Effect: ")]


def timed(conclusion: str, because: Statement | None = None) -> list[Verdict]:
    made = [noisy(place, "compile_time", 1.02, conclusion) for place in DISK_CELLS]
    reason = None if because is None else sentence_of(because)
    return [one.model_copy(update={"reason": reason}) for one in made]


def test_times_are_noisy_only_where_their_interval_is_too_wide() -> None:
    (first, second) = timed("undecided", Statement("too few processes", (3, 7)))
    assert effect_of_more_work(first, second) == ["No time was judged"]
    assert effect_of_more_work(first) == ["No time was judged"]
    (calm, _) = timed("unaffected")
    assert effect_of_more_work(calm, second) == ["Not every time was judged"]
    assert first.ratio is not None
    wide = Statement("interval too wide", (first.ratio.low, first.ratio.high, 0.05))
    noise = "The times are too noisy to tell whether a user notices it"
    assert effect_of_more_work(first, timed("undecided", wide)[0]) == [noise]


def test_no_time_changed_only_where_every_cell_has_one_that_did_not() -> None:
    same = "No time changed by more than 5 %"
    calm, faster = timed("unaffected"), timed("better")
    assert effect_of_more_work(*calm) == [same]
    assert effect_of_more_work(*calm[:1]) == []
    assert effect_of_more_work(*calm[:1], *faster[1:]) == []
    assert effect_of_more_work() == []


def test_where_only_large_changes_of_times_count_this_is_said() -> None:
    calm = [one.model_copy(update={"minimum_effect": 0.2}) for one in timed("unaffected")]
    assert effect_of_more_work(*calm) == [
        "No time changed by more than 20 %; a smaller change could not be told from chance"
    ]


# The names of the two sides.


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("HEAD fails where BASE does not", "3.3.7 fails where 3.3.6 does not."),
        ("it is in BASE. HEAD has none", "It is in 3.3.6. 3.3.7 has none."),
        ("HEAD's keys, and HEAD^1, .git/HEAD and HEAD.txt", None),
    ],
)
def test_a_sentence_has_the_names_of_the_subjects_and_paths_stay(
    said: str, told: str | None
) -> None:
    lost = factory.cache_regression()
    cause = lost.causes[0].model_copy(update={"sentence": said})
    found = lines(lost.model_copy(update={"causes": [cause]}))
    assert (told or "3.3.7's keys, and HEAD^1, .git/HEAD and HEAD.txt.") in found


def test_the_status_is_that_of_the_claim_that_follows() -> None:
    place, elsewhere = where(scenario="warm_disk", launch="fork")[:2]
    slow = noisy(elsewhere, "compile_time", 1.5, "worse")
    told = str(tell(factory.comparison([slow])).status), verdict(factory.comparison([slow]))
    assert "Slower" in told[0]
    assert "compiling is slower" in told[1]
    both = factory.comparison([exact(place, "graphs_raised", 0, 4), slow])
    assert "Worse" in str(tell(both).status)
    assert "4 graphs no longer work" in verdict(both)
    quick = noisy(elsewhere, "compile_time", 0.5, "better")
    fewer = factory.comparison([exact(place, "uncacheable", 4, 0, "better"), quick])
    assert "Better" in str(tell(fewer).status)


def test_the_next_step_is_a_command_where_head_and_function_have_names() -> None:
    found = factory.cache_regression()

    def told(**changes: object) -> str:
        subject = found.head.subject.model_copy(update=changes)
        head = found.head.model_copy(update={"subject": subject})
        return comment(found.model_copy(update={"head": head, "head_ref": None}))

    assert "`observatory explain Elemwise 3.3.7`" in told()
    assert "`observatory explain Elemwise abcdef012345 --repo CLONE`" in told(
        label="abcdef01", commit="abcdef0123456789" * 2 + "abcdef01"
    )
    pinned = "`observatory explain Elemwise 3.3.7 --with numba==0.66.0`"
    assert pinned in told(label="3.3.7 numba==0.66.0")
    assert "`observatory explain`" in told(label="3.3.7+whl.0a1b2c3d")
