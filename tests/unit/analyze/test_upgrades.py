from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from observatory.benchmarks.catalogue import Cell
from observatory.guard.verdicts import is_stale, is_wrong, part
from observatory.store.records.sample import Check, LedgerEntry, Sample
from observatory.store.records.upgrades import Part, Side, Upgrade
from observatory.text.guard import own_cache_table, upgrade_table
from tests import factories

CELL = Cell("linalg", "upgrade", "NUMBA", "spawn")


def check(name: str, wrong: bool = False) -> Check:
    return Check(name=name, logp_error=0.0, gradient_error=None, wrong=wrong)


def ledger(**outcomes: int) -> list[LedgerEntry]:
    return [
        LedgerEntry(
            name=(name := f"{outcome} {n}"), kind="numba", key=name, outcome=outcome, seconds=0.1
        )
        for outcome, number in outcomes.items()
        for n in range(number)
    ]


def sample(checks: list[Check], **changes: Any) -> Sample:
    return factories.sample(CELL, "counting", checks=checks, **changes)


FILLED = sample([check("fresh solve")])
BOTH = [check("fresh solve"), check("solve"), check("fresh qr"), check("qr")]


def upgrade(*parts: Part) -> Upgrade:
    head = factories.header("3.2.4")
    base = factories.header("3.2.3")
    return Upgrade(
        base=Side(subject=base.subject, versions=base.versions),
        head=Side(subject=head.subject, versions=head.versions),
        machine=head.machine,
        taken_at=datetime(2026, 11, 21, tzinfo=UTC),
        parts=list(parts),
    )


def test_what_differs_by_its_python_alone_is_told_apart() -> None:
    made = upgrade(Part(model="radon", backend="NUMBA", stale=["x"]))
    assert made.labels == ("3.2.3", "3.2.4")
    older = made.head.versions.model_copy(update={"python": "3.12.7"})
    same = made.model_copy(update={"base": made.head.model_copy(update={"versions": older})})
    assert same.labels[0] == "3.2.4 on Python 3.12.7"
    assert (
        upgrade_table([same])
        .footnotes[0]
        .startswith(f"{same.labels[1]} on the cache of {same.labels[0]}")
    )


def test_what_was_reused_is_told_from_what_was_rebuilt() -> None:
    use = sample(BOTH, ledger=ledger(hit=5, miss=2, uncacheable=1, internal=4))
    again = sample(BOTH, ledger=ledger(hit=4, miss=3))
    found = part(CELL, FILLED, use, again)
    assert (found.built, found.reused, found.rebuilt, found.again_rebuilt) == (2, 5, 3, 3)
    assert "cholesky" in found.unsupported
    assert "solve" not in found.unsupported


def test_what_a_process_has_compiled_itself_is_not_reused_from_the_other() -> None:
    (own,) = ledger(miss=1)
    again = own.model_copy(update={"outcome": "hit"})
    found = part(CELL, FILLED, sample(BOTH, ledger=[own, again]), None)
    assert (found.reused, found.rebuilt) == (0, 1)


def test_values_that_base_gets_wrong_itself_are_told() -> None:
    filled = sample([check("fresh qr", wrong=True)])
    assert part(CELL, filled, sample(BOTH), None).base_wrong == ["qr"]


def test_a_value_that_is_stale_is_named_and_one_that_is_wrong_from_empty_is_told_apart() -> None:
    use = sample([check("fresh qr", wrong=True), check("qr", wrong=True), check("solve")],
                 stale=["solve"])  # fmt: skip
    found = part(CELL, FILLED, use, None)
    assert (found.stale, found.wrong, found.fresh_wrong) == (["solve"], ["qr"], ["qr"])
    assert is_stale(upgrade(found))
    assert is_wrong(upgrade(found))
    (row,) = upgrade_table([upgrade(found)]).rows
    assert row[-2:] == ("1 STALE", "1 WRONG")


def test_a_value_that_is_wrong_from_empty_alone_is_wrong_too() -> None:
    found = part(CELL, FILLED, sample([check("fresh qr", wrong=True), check("qr")]), None)
    assert is_wrong(upgrade(found))
    assert not is_wrong(upgrade(part(CELL, FILLED, sample(BOTH), None)))


def test_a_base_that_returns_what_head_has_left_is_stale_too() -> None:
    again = sample(BOTH, stale=["qr"], ledger=[])
    assert is_stale(upgrade(part(CELL, FILLED, sample(BOTH), again)))
    assert not is_stale(upgrade(part(CELL, FILLED, sample(BOTH), sample(BOTH))))


def test_a_cache_that_was_never_filled_is_a_failure_and_no_result() -> None:
    found = part(CELL, factories.failed(CELL, "counting"), None, None)
    assert found.failure is not None
    assert found.failure.startswith("nothing was filled")


def test_what_two_pairs_tell_of_one_subject_is_told_once() -> None:
    """The head of one pair is the base of the next."""
    wrong = upgrade(Part(model="randoms", backend="NUMBA", base_wrong=["cauchy"]))
    (told,) = upgrade_table([wrong, wrong]).footnotes
    assert told == "3.2.3 from an empty cache, randoms: wrong cauchy"


def test_graphs_that_the_head_cannot_build_are_named() -> None:
    lacking = Part(model="randoms", backend="NUMBA", built=23, unsupported=["cauchy"])
    told = "3.2.4, randoms NUMBA: cannot build cauchy"
    assert upgrade_table([upgrade(lacking)]).footnotes == (told,)
    (own,) = own_cache_table("3.2.4", [lacking]).footnotes
    assert own == "randoms NUMBA: cannot build cauchy"
