"""What is said of the size of a step, a drift and two modes."""

from __future__ import annotations

from dataclasses import replace

from observatory.analyze.history.steps import Step
from observatory.store.records.alerts import Modes
from observatory.text.sizes import brief, details, drifting, medians

SLOWER = Step(40, 0.371, 0.482, 1.29, 1.26, 1.34)
FASTER = Step(40, 0.482, 0.371, 0.77, 0.75, 0.79)
MODES = Modes(lower=0.0035, upper=0.092, before=0.2, after=0.8)


def test_a_step_is_a_word_a_change_of_the_medians_and_how_sure_that_is() -> None:
    assert brief(SLOWER, "seconds") == "slower: +30 %"
    assert details(SLOWER, "seconds") == "371 → 482 ms; 95 % interval +26 to +34 %"
    assert brief(FASTER, "seconds") == "faster: −23 %"
    assert details(FASTER, "seconds") == "482 → 371 ms; 95 % interval −25 to −21 %"


def test_an_interval_that_leaves_direction_or_size_open_is_not_told() -> None:
    assert details(replace(SLOWER, low=0.99), "seconds") == "371 → 482 ms"
    assert details(replace(SLOWER, low=1.035, high=27.4), "seconds") == "371 → 482 ms"
    assert details(replace(SLOWER, low=1.01, high=1.2), "seconds") == "371 → 482 ms"


def test_two_modes_are_told_in_words_without_an_interval() -> None:
    step = replace(SLOWER, modes=MODES)
    assert brief(step, "seconds") == "slower: two modes"
    assert details(step, "seconds") == (
        "two modes, 3.50 and 92.0 ms; the share of slow runs rose from 20 to 80 %"
    )
    fell = replace(FASTER, modes=MODES.model_copy(update={"before": 0.8, "after": 0.2}))
    assert details(fell, "bytes").endswith("the share of large values fell from 80 to 20 %")


def test_modes_that_moved_are_told_each_by_itself() -> None:
    moved = MODES.model_copy(update={"moved": (0.0039, 0.101)})
    said = details(replace(SLOWER, modes=moved), "seconds")
    assert said == "two modes, 3.50 → 3.90 ms and 92.0 → 101 ms"


def test_no_change_is_given_that_contradicts_the_word() -> None:
    step = replace(SLOWER, before=0.00802, after=0.00793)
    assert medians(step) is None
    assert brief(step, "seconds") == "slower"
    assert details(step, "seconds") == (
        "in most pairs of values the later one is higher; the medians: 8.02 → 7.93 ms"
    )


def test_a_drift_is_an_estimate_beside_what_was_observed() -> None:
    assert drifting(Step(1, 4.1, 4.4, 1.08, 1.07, 1.09), 1.08, "seconds") == (
        "about +8 %",
        "95 % interval +7 to +9 %; medians of the first and last values: 4.10 → 4.40 s",
    )
    assert drifting(Step(1, 4.4, 4.1, 1.08, 1.07, 1.09), 1.08, "seconds") == (
        "about +8 %", "95 % interval +7 to +9 %",
    )  # fmt: skip
