"""Many graphs in one sample: reports of forks put together, and what became of pairs."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks import apart, forking, pairs, sample
from observatory.benchmarks.catalogue import MEMBERS, MODELS, Cell
from observatory.benchmarks.messages import (
    Check,
    Job,
    LedgerEntry,
    Report,
    Step,
    read_report,
    write_report,
)
from observatory.benchmarks.process import Ending, Exit
from observatory.benchmarks.request import Request
from observatory.benchmarks.sandbox import Sandbox

EXIT = Exit(0, timed_out=False, stderr=("the last line",), started=0.0, seconds=1.0,
            descendants_rss=0)  # fmt: skip
PARENT = Ending(None, "raised", "exited with code 0 before it reported", EXIT)
CELL = Cell("keys", "pairs_second", "NUMBA", "spawn")
NAMES = MEMBERS["keys"]


def right(name: str, misses: int = 0, *, wrong: bool = False) -> Report:
    """The report of a fork whose graph was built."""
    counts = {"cache_misses": misses, "functions_compiled": misses}
    return Report(
        "ok",
        metrics=dict(counts),
        steps=(Step(name, dict(counts)),),
        checks=(Check(name, 0.0, None, wrong),),
        ledger=(LedgerEntry("Add", "numba", outcome="miss", step=name),) * misses,
    )


def raised(name: str, why: str = "ValueError: another shape") -> Report:
    return Report("ok", steps=(Step(name, {}, "raised", why),), ledger=())


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    found = Sandbox(tmp_path, -1, *(tmp_path / name for name in ("cache", "tmp", "work", "out")))
    found.out.mkdir()
    return found


def job(box: Sandbox, *members: str) -> Job:
    made = Request(CELL, "counting").job(box, "each")
    return replace(made, members=members)


def run(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch, parent: Ending, **reports: Report | None
) -> Ending:
    """`apart.run` where the process ends like ``parent`` and its forks have reported."""
    asked = job(box, *reports)
    for each, report in zip(asked.for_members(), reports.values(), strict=True):
        if report is not None:
            write_report(each, report)
    monkeypatch.setattr(apart.process, "run", lambda *_, **__: parent)
    return apart.run(box, asked, {}, 10.0)


def test_the_counts_of_all_forks_are_added_and_their_steps_kept(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(box, monkeypatch, PARENT, add=right("add", 1), dot=right("dot", 2))
    assert (found.status, found.message) == ("ok", None)
    assert found.report is not None
    assert found.report.metrics == {
        "cache_misses": 3, "functions_compiled": 3, "wrong_results": 0, "graphs_raised": 0,
    }  # fmt: skip
    assert [step.name for step in found.report.steps] == ["add", "dot"]
    assert [entry.step for entry in found.report.ledger or ()] == ["add", "dot", "dot"]
    assert [check.name for check in found.report.checks] == ["add", "dot"]


def test_a_fork_that_dies_costs_its_own_graph_alone(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    died = Report("died", exit_code=-11)
    found = run(box, monkeypatch, PARENT, add=right("add"), dot=died, sum=raised("sum"))
    assert found.status == "ok"
    assert found.report is not None
    assert found.report.metrics["graphs_raised"] == 2
    steps = {step.name: (step.status, step.note) for step in found.report.steps}
    assert steps == {
        "add": ("ok", None),
        "dot": ("died", "died of SIGSEGV"),
        "sum": ("raised", "ValueError: another shape"),
    }


def test_a_graph_that_the_release_lacks_is_no_failure(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Report("ok", steps=(Step("qr", {}, "absent", "no attribute qr"),))
    found = run(box, monkeypatch, PARENT, qr=absent)
    assert found.report is not None
    assert found.report.metrics["graphs_raised"] == 0


def test_what_one_fork_lacks_makes_the_cell_unavailable(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = Report("unavailable", "numba is not installed in this environment")
    found = run(box, monkeypatch, PARENT, add=lacking, dot=lacking)
    assert (found.status, found.message) == ("unavailable", lacking.message)


def test_a_parent_that_timed_out_is_the_fate_of_the_sample(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = replace(PARENT, status="timeout", exit=replace(EXIT, timed_out=True))
    assert run(box, monkeypatch, late, add=right("add")) is late


def judged(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch, together: Report, alone: dict[str, Report]
) -> Report:
    """`pairs.judged` of a report, where each graph alone would report as ``alone`` says."""

    def run_alone(_: Any, job: Job, *__: Any) -> Ending:
        return replace(PARENT, report=alone[job.members[0]], status="ok")

    monkeypatch.setattr(pairs.apart, "run", run_alone)
    request = Request(CELL, "counting")
    wrong = {check.name for check in together.checks if check.wrong}
    steps = tuple(apart.counted(step, step.name in wrong) for step in together.steps)
    together = replace(together, steps=steps)
    found = pairs.judged(request, box, 1, Ending(together, "ok", None, EXIT)).report
    assert found is not None
    return found


DIFFERENT = next(name for name in NAMES if name not in MODELS["keys"].equal)
EQUAL = MODELS["keys"].equal[0]


@pytest.mark.parametrize("beside", [right(DIFFERENT, wrong=True), raised(DIFFERENT)])
def test_a_graph_that_is_right_only_alone_has_collided(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch, beside: Report
) -> None:
    found = judged(box, monkeypatch, beside, {DIFFERENT: right(DIFFERENT, 1)})
    assert found.metrics["key_collisions"] == 1
    assert found.metrics["graphs_raised"] == 0
    (step,) = found.steps
    assert step.status == "collided"
    assert step.note
    assert found.metrics["wrong_results"] == 0
    assert step.metrics["key_collisions"] == 1
    assert step.metrics["wrong_results"] == step.metrics["graphs_raised"] == 0


@pytest.mark.parametrize("one", [right(DIFFERENT, wrong=True), raised(DIFFERENT)])
def test_a_graph_that_is_wrong_alone_as_well_has_not(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch, one: Report
) -> None:
    found = judged(box, monkeypatch, one, {DIFFERENT: one})
    assert found.metrics["key_collisions"] == 0
    assert found.metrics["graphs_raised"] == (one.steps[0].status == "raised")
    assert found.metrics["wrong_results"] == (one.steps[0].status == "ok")
    assert [step.status for step in found.steps] == [step.status for step in one.steps]


def test_an_equal_graph_that_is_not_found_has_an_unstable_key(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = judged(box, monkeypatch, right(EQUAL, 2), {})
    assert found.metrics["key_instabilities"] == 1
    assert [(step.status, step.note) for step in found.steps] == [
        ("unstable", "2 functions of an equal graph not found in the cache")
    ]


def test_a_different_graph_may_miss_and_an_equal_one_may_hit(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for report in (right(DIFFERENT, 2), right(EQUAL, 0)):
        found = judged(box, monkeypatch, report, {})
        assert found.metrics["key_instabilities"] == found.metrics["key_collisions"] == 0
        assert [step.status for step in found.steps] == ["ok"]
        assert found.steps[0].metrics["key_collisions"] == 0


def test_every_graph_has_counts_of_its_own_and_one_that_is_absent_has_none(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Report("ok", steps=(Step("qr", {}, "absent", "no attribute qr"),))
    reports = {"add": right("add", 1, wrong=True), "sum": raised("sum"), "qr": absent}
    found = run(box, monkeypatch, PARENT, **reports).report
    assert found is not None
    counts = {"cache_misses": 1, "functions_compiled": 1, "wrong_results": 1, "graphs_raised": 0}
    assert {step.name: step.metrics for step in found.steps} == {
        "add": counts, "sum": {"wrong_results": 0, "graphs_raised": 1}, "qr": {},
    }  # fmt: skip
    assert found.metrics["wrong_results"] == 1


def test_a_fork_that_hangs_is_killed_and_reported(box: Sandbox) -> None:
    (one,) = job(box, DIFFERENT).for_members()

    def hang(_: Job) -> int:
        time.sleep(20)
        return 0

    forking.fork_one(replace(one, limit=0.1), hang)
    report = read_report(one.report)
    assert report is not None
    assert (report.status, report.exit_code) == ("died", -signal.SIGKILL)
    assert report.message == "it was ended after 0.1 s, its limit"


def test_a_request_names_the_graphs_of_its_job(box: Sandbox) -> None:
    few = Request(CELL, "counting", only=(NAMES[3], NAMES[1])).job(box, "each")
    assert few.members == (NAMES[3], NAMES[1])
    assert Request(CELL, "counting").job(box, "each").members == tuple(NAMES)


def test_a_graph_that_the_model_lacks_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", CELL.model, "--scenario", CELL.scenario, "--backend", CELL.backend]
    with pytest.raises(SystemExit) as ended:
        sample.main([*words, "--graph", NAMES[0], "--graph", "differ.nothing"])
    assert ended.value.code == sample.EXIT_USAGE
    said = capsys.readouterr().err
    assert "--graph differ.nothing: the model keys has no graph of this name" in said


OTHER = next(name for name in NAMES if name not in (*MODELS["keys"].equal, DIFFERENT))


def compared(*names: str, suspects: tuple[str, ...] = ()) -> Report:
    """What the forks report that compare the keys of pairs."""
    counts = {"wrong_results": 0, "graphs_raised": 0}
    steps = tuple(Step(name, dict(counts)) for name in names)
    return Report("ok", steps=steps, ledger=(), metrics=dict(counts), suspects=suspects)


def proven(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch, found: Report, *built: Report
) -> tuple[Report, list[tuple[str, tuple[str, ...], Path]]]:
    """`pairs.proven`, and what it had built: the scenario, the graphs and the cache.

    ``built``: what the processes that it starts report, in order.
    """
    asked, reports = [], iter(built)

    def run_some(own: Sandbox, job: Job, *_: Any) -> Ending:
        asked.append((job.cell.scenario, job.members, own.cache))
        return replace(PARENT, report=next(reports), status="ok")

    monkeypatch.setattr(pairs.apart, "run", run_some)
    request = Request(replace(CELL, scenario="pairs_keys"), "counting")
    report = pairs.proven(request, box, 1, Ending(found, "ok", None, EXIT)).report
    assert report is not None
    return report, asked


def test_pairs_whose_keys_are_as_they_should_be_are_not_built(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, asked = proven(box, monkeypatch, compared(DIFFERENT, EQUAL))
    assert asked == []
    assert (report.metrics["key_collisions"], report.metrics["key_instabilities"]) == (0, 0)
    assert [(step.status, step.note) for step in report.steps] == [("ok", None)] * 2
    assert all(step.metrics["key_collisions"] == 0 for step in report.steps)


def test_a_suspect_that_is_wrong_beside_its_other_graph_alone_has_collided(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = compared(OTHER, DIFFERENT, suspects=(DIFFERENT,))
    first, alone = right(DIFFERENT, 1), right(DIFFERENT, 1)
    report, asked = proven(box, monkeypatch, keys, first, right(DIFFERENT, wrong=True), alone)
    assert [(scenario, members) for scenario, members, _ in asked] == [
        ("pairs_first", (DIFFERENT,)), ("pairs_second", (DIFFERENT,)),
        ("pairs_second", (DIFFERENT,)),
    ]  # fmt: skip
    caches = [cache for _, _, cache in asked]
    assert caches[0] == caches[1] != caches[2]
    assert box.cache not in caches
    assert [(step.name, step.status) for step in report.steps] == [
        (OTHER, "ok"), (DIFFERENT, "collided"),
    ]  # fmt: skip
    assert report.metrics["key_collisions"] == 1
    assert report.metrics["wrong_results"] == 0


def test_a_suspect_that_is_right_is_told_and_is_no_alarm(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = compared(DIFFERENT, suspects=(DIFFERENT,))
    keys.steps[0].metrics["keys_missing"] = 3
    report, asked = proven(box, monkeypatch, keys, right(DIFFERENT), right(DIFFERENT))
    assert len(asked) == 2
    assert report.steps[0].metrics["keys_missing"] == 3  # a build counts none
    assert report.metrics["key_collisions"] == report.metrics["wrong_results"] == 0
    assert [(step.status, step.note) for step in report.steps] == [("ok", pairs.CLEARED)]


def test_of_very_many_suspects_only_the_first_are_built_and_the_others_are_told(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "MOST_SUSPECTS", 1)
    keys = compared(DIFFERENT, OTHER, suspects=(DIFFERENT, OTHER))
    report, asked = proven(box, monkeypatch, keys, right(DIFFERENT), right(DIFFERENT))
    assert {members for _, members, _ in asked} == {(DIFFERENT,)}
    assert [step.note for step in report.steps] == [pairs.CLEARED, pairs.UNPROVEN]
    assert [step.status for step in report.steps] == ["ok", "ok"]


def test_an_equal_pair_with_two_keys_is_unstable_if_the_cache_does_not_find_it(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = compared(EQUAL, suspects=(EQUAL,))
    report, _ = proven(box, monkeypatch, keys, right(EQUAL, 1), right(EQUAL, 1))
    assert report.metrics["key_instabilities"] == 1
    assert [step.status for step in report.steps] == ["unstable"]


def test_the_suspects_of_all_forks_are_put_together(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (replace(right(name), suspects=(name,)) for name in ("add", "dot"))
    found = run(box, monkeypatch, PARENT, add=one, sum=right("sum"), dot=two).report
    assert found is not None
    assert found.suspects == ("add", "dot")
