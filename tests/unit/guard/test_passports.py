"""Whether a cache may be used: nothing is allowed that was not measured to be safe."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.guard.caches.entries import Origin, Reader, StateName
from observatory.guard.caches.judging import Group, Report
from observatory.guard.passports import (
    USES,
    Fact,
    Known,
    Use,
    fact_of,
    restorable,
    rule,
    worst_of,
)
from observatory.store.records.passport import Passport
from observatory.store.records.upgrades import Part
from tests.unit.analyze.test_upgrades import upgrade

MACHINE = ("x86_64-unknown-linux-gnu", "znver4", "+avx2")
RELEASES = ("1.0.0", "1.1.0", "1.2.0")


def passport(pytensor: str = "1.1.0", **changed: Any) -> Passport:
    own = {
        "pytensor": pytensor, "numba": "0.68.0", "python": "3.13.0", "machine": MACHINE,
        "numpy_abi": "0x2000000", "compiler": "12.2.0",
    }  # fmt: skip
    return Passport(**{**own, **changed})


def report(*states: StateName, kind: str = "numba") -> Report:
    origin = Origin(kind, "3.13")  # type: ignore[arg-type]
    groups = [Group(origin, state, "", 1, 10, 0.0, 0.0) for state in states]
    return Report("observatory/guard/caches/1", "there", 1, 10, [], groups, [], [], 0)


def fact(base: str, head: str, use: Use = "safe", **changed: Any) -> Fact:
    own = {"kind": "numba", "base": base, "head": head, "numba": "0.68.0", "use": use}
    return Fact(**{**own, **changed})


OWN = [fact(release, release) for release in RELEASES]
SAFE = Known(facts=[*OWN, fact("1.0.0", "1.1.0")])


def test_a_cache_of_a_release_that_was_measured_to_be_safe_is_safe() -> None:
    ruling = rule(passport(), [passport("1.0.0"), passport()], report("usable"), SAFE)
    assert (ruling.use, ruling.allowed()) == ("safe", True)
    assert any("1.1.0 with numba 0.68.0 on the cache of 1.0.0" in one for one in ruling.reasons)


@pytest.mark.parametrize(
    ("used_by", "states", "told"),
    [
        ([], ("usable",), "does not say which PyTensor filled it"),
        ([passport("1.2.0")], ("usable",), "on the cache of 1.2.0 was never measured"),
        ([passport("9.0.0")], ("usable",), "0.68.0 on the cache of 9.0.0"),
        ([passport(settings={"floatX": "float32"})], ("usable",), "(floatX=float32)"),
        ([passport()], ("usable", "broken"), "a file in it is broken"),
        ([passport(numba="0.1.0")], ("usable",), "can have written what fits here"),
    ],
)  # fmt: skip
def test_what_was_not_measured_is_unknown(
    used_by: list[Passport], states: tuple[StateName, ...], told: str
) -> None:
    ruling = rule(passport(), used_by, report(*states), SAFE)
    assert (ruling.use, ruling.allowed(accept_collisions=True)) == ("unknown", False)
    assert told in " ".join(ruling.reasons)


def test_a_release_that_is_wrong_on_its_own_cache_makes_every_cache_wrong() -> None:
    known = Known(
        facts=[*OWN[1:], fact("1.0.0", "1.0.0", "wrong", names=["radon"]), SAFE.facts[-1]]
    )
    ruling = rule(passport(), [passport("1.0.0")], report("usable"), known)
    assert ruling.use == "wrong"
    (reason,) = ruling.reasons
    assert reason.startswith("PyTensor 1.0.0 with numba 0.68.0 on its own cache: a process that ")
    assert reason.endswith(" returns wrong numbers (radon)")


def test_shared_symbols_are_wrong_whatever_was_measured() -> None:
    assert rule(passport(), [passport()], report("usable", "vulnerable"), SAFE).use == "wrong"


def test_symbols_that_nothing_here_loads_are_not_wrong() -> None:
    here = Reader("python", "3.13.0", "1.1.0", "0.68.0", ("x86_64", "znver4", ""), "")
    other = Origin("numba", "3.13", "0.68.0", ("x86_64", "haswell", ""))
    own = Origin("numba", "3.13", "0.68.0", here.machine)
    for origin, use in ((other, "safe"), (own, "wrong")):
        groups = [Group(own, "usable", "", 1, 10, 0.0, 0.0),
                  Group(origin, "collided", "", 1, 10, 0.0, 0.0)]  # fmt: skip
        found = Report("observatory/guard/caches/1", "there", 2, 20, [here], groups, [], [], 0)
        assert rule(passport(), [passport()], found, SAFE).use == use


def test_what_nobody_loads_does_no_harm() -> None:
    assert rule(passport(), [], report("other"), Known(facts=[])).use == "rebuilt"
    other_cpu = passport("9.0.0", machine=("x86_64", "nehalem", ""))
    assert rule(passport(), [other_cpu, passport()], report("usable"), SAFE).use == "safe"


def test_collisions_of_the_release_itself_are_allowed_only_if_accepted() -> None:
    known = Known(facts=[fact("1.1.0", "1.1.0", "collides", names=["keys: one"])])
    ruling = rule(passport(), [passport()], report("usable"), known)
    assert (ruling.use, ruling.allowed(), ruling.allowed(accept_collisions=True)) == (
        "collides", False, True,
    )  # fmt: skip


def test_c_modules_need_measurements_of_their_own() -> None:
    ruling = rule(passport(), [passport()], report("usable", kind="C"), SAFE)
    assert "PyTensor 1.1.0, C modules on its own cache was never measured" in ruling.reasons


def test_older_caches_are_restored_only_if_all_kinds_are_safe() -> None:
    assert restorable(passport(compiler=""), SAFE) == ["1.1.0", "1.0.0"]
    assert restorable(passport(), SAFE) == []
    c = [fact(one, one, kind="C", numba="") for one in RELEASES]
    assert restorable(passport(), Known(facts=[*SAFE.facts, *c])) == ["1.1.0"]
    pair = fact("1.0.0", "1.1.0", kind="C", numba="")
    assert restorable(passport(), Known(facts=[*SAFE.facts, *c, pair])) == ["1.1.0", "1.0.0"]


def test_an_older_cache_of_which_nothing_is_loaded_is_not_restored() -> None:
    known = Known(facts=[*OWN, fact("1.0.0", "1.1.0", "rebuilt")])
    assert restorable(passport(compiler=""), known) == ["1.1.0"]


@given(
    facts=st.lists(
        st.builds(
            fact, st.sampled_from(RELEASES), st.sampled_from(RELEASES), st.sampled_from(list(USES))
        ),
        max_size=9,
    ),
    fillers=st.lists(st.sampled_from(RELEASES), max_size=3),
)
def test_nothing_unsafe_is_called_safe(facts: list[Fact], fillers: list[str]) -> None:
    """A cache is allowed only if each pair that decides was measured, and each time as harmless."""
    here = passport()
    known = Known(facts=facts)
    ruling = rule(here, [passport(one) for one in fillers], report("usable"), known)
    pairs = {(one, one) for one in (*fillers, "1.1.0")} | {(one, "1.1.0") for one in fillers}
    measured = {pair: [f.use for f in facts if (f.base, f.head) == pair] for pair in pairs}
    harmless = all(uses and {*uses} <= {"safe", "rebuilt"} for uses in measured.values())
    assert ruling.allowed() == (harmless and bool(fillers))


@pytest.mark.parametrize(
    ("changed", "use"),
    [
        ({}, "safe"),
        ({"reused": 0}, "rebuilt"),
        ({"stale": ["cauchy"]}, "stale"),
        ({"stale": ["cauchy"], "wrong": ["cauchy"]}, "wrong"),
        ({"wrong": ["cauchy"], "fresh_wrong": ["cauchy"]}, "safe"),
    ],
)
def test_an_upgrade_shows_what_the_cache_does(changed: dict[str, Any], use: Use) -> None:
    part = Part(**{"model": "randoms", "backend": "NUMBA", "built": 3, "reused": 2, **changed})
    found = fact_of(upgrade(part), part)
    assert found is not None
    assert found.use == use


def test_an_upgrade_between_two_cpus_shows_nothing() -> None:
    part = Part(model="randoms", backend="NUMBA", built=3, reused=2)
    made = upgrade(part)
    head = made.head.model_copy(update={"cpu": "nehalem"})
    assert fact_of(made.model_copy(update={"head": head}), part) is None


def test_a_part_that_failed_makes_the_pair_unknown() -> None:
    part = Part(model="randoms", backend="NUMBA", built=3, reused=2, failure="it died")
    found = fact_of(upgrade(part), part)
    assert found is not None
    assert worst_of([found, found.model_copy(update={"use": "safe"})])[0].use == "unknown"


def test_the_models_of_one_pair_are_judged_together() -> None:
    assert [one.use for one in worst_of([fact("1", "2", "rebuilt"), fact("1", "2")])] == ["safe"]
    (united,) = worst_of([fact("1", "2", "stale", names=["cauchy"]), fact("1", "2")])
    assert (united.use, united.names) == ("stale", ["cauchy"])
