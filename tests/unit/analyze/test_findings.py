"""What one cause in several cells, samples and findings is together."""

from __future__ import annotations

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.findings import Finding, cause_of
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.comparison import FunctionChange, GraphChange
from observatory.store.records.sample import Check
from tests.factories import sample

DISK, CALL = (Cell("radon", scenario, "NUMBA", "spawn") for scenario in ("warm_disk", "call"))
NOTHING = Evidence()


def function(count: int, seconds: float) -> FunctionChange:
    return FunctionChange(name="Add", count=count, base="hit", head="miss", seconds=seconds)


def test_a_cause_costs_what_it_costs_in_its_worst_finding_whatever_the_order() -> None:
    found = [
        Finding("refused", ("numba",), DISK, (function(number, cost),), cost, more=number)
        for number, cost in ((3, 0.5), (1, 0.25))
    ]
    unknown = Finding("refused", ("numba",), CALL)
    for group in ([*found, unknown], [unknown, *found[::-1]]):
        cause = cause_of("refused", group, NOTHING)
        assert cause.costs == {DISK: 0.5}  # of a cell without seconds nobody knows
        assert cause.functions == [function(3, 0.5)]
        assert cause.more == 3


def test_a_cause_is_sure_where_all_of_its_findings_are() -> None:
    sure, unsure = (Finding("more compiler runs", (), DISK, sure=one) for one in (True, False))
    assert cause_of("more compiler runs", [sure, sure], NOTHING).sure
    assert not cause_of("more compiler runs", [sure, unsure], NOTHING).sure
    assert not cause_of("more compiler runs", [unsure, sure], NOTHING).sure


def test_of_samples_with_wrong_values_the_worst_one_is_told() -> None:
    def wrong(*names: str) -> list[Check]:
        return [
            Check(name=name, logp_error=1.0, gradient_error=None, wrong=name in names)
            for name in ("logp", "gradient")
        ]

    both, one = wrong("logp", "gradient"), wrong("logp")
    for order in ((both, one), (one, both)):
        head = Evidence.of(sample(DISK, checks=checks) for checks in order)
        cause = cause_of("wrong results", [Finding("wrong results", ("NUMBA",), DISK)], head)
        assert cause.wrong == both


def test_a_graph_is_told_with_the_first_note_that_a_finding_has_of_it() -> None:
    said = ["", "it contains a pointer", "of another kind"]
    group = [
        Finding("refused", ("numba",), DISK, graphs=(GraphChange(name="exp", note=note),))
        for note in said
    ]
    (graph,) = cause_of("refused", group, NOTHING).graphs
    assert graph.note == "it contains a pointer"
