"""The ledger: nested functions, bounded names, counts."""

from __future__ import annotations

import pytest

from observatory.benchmarks.probes.ledger import Ledger, shorten


def test_a_function_does_not_pay_for_those_inside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 4.0, 10.0])
    timer = "observatory.benchmarks.probes.ledger.time.perf_counter"
    monkeypatch.setattr(timer, lambda: next(clock))
    ledger = Ledger()
    ledger.recording = True
    with ledger.entry("outer", "numba"), ledger.entry("inner", "numba"):
        pass
    assert {e.name: e.seconds for e in ledger.entries} == {"inner": 3.0, "outer": 7.0}


def test_nothing_is_kept_while_not_recording() -> None:
    ledger = Ledger()
    with ledger.entry("before", "numba"):
        pass
    assert ledger.entries == []


def test_a_function_whose_compilation_raised_is_not_in_the_ledger() -> None:
    ledger = Ledger()
    ledger.recording = True
    with pytest.raises(ValueError, match="no"), ledger.entry("broken", "numba"):
        raise ValueError("no")
    assert ledger.entries == []
    assert ledger.current is None


def test_counts_speak_of_one_step_or_of_all() -> None:
    ledger = Ledger()
    ledger.recording = True
    for step, outcome in (("a", "miss"), ("a", "hit"), ("b", "internal"), ("b", "uncacheable")):
        ledger.step = step
        with ledger.entry("f", "numba") as entry:
            entry.outcome = outcome
    assert ledger.counts("a")["cache_misses"] == 1
    assert ledger.counts("b")["cache_misses"] == 0
    assert ledger.counts()["functions_compiled"] == 3
    assert ledger.counts()["uncacheable"] == 1


def test_machine_code_that_is_asked_for_twice_counts_once() -> None:
    ledger = Ledger()
    ledger.recording = True
    for key in ("k1", "k1", "k2"):
        with ledger.entry("f", "c_module") as entry:
            entry.key, entry.bytes = key, 100
    assert ledger.counts()["object_code_bytes"] == 200


def test_long_names_are_bounded_and_stay_different() -> None:
    one, two = shorten("Composite{" + "x" * 500 + "1}"), shorten("Composite{" + "x" * 500 + "2}")
    assert len(one) < 200
    assert one != two
    assert shorten("Add\n  {}") == "Add {}"
