"""A whole comparison: what differs beside the subject, what is warned of, what is workload."""

import contextlib
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner

from observatory.analyze.comparison.comparing import OtherSpeed, Setting, compared, outcome_of
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.moved_alike import MovedAlike
from observatory.app import comparison as module
from observatory.app import session as of_session
from observatory.app.comparer import Comparer, Measured
from observatory.app.session import Session
from observatory.benchmarks.catalogue import Cell
from observatory.cli.commands import compare as command
from observatory.cli.commands.calibrate import command as calibrate
from observatory.cli.commands.compare import repeated, status
from observatory.cli.main import app
from observatory.errors import Exit, SelectionError
from observatory.run import counter, fitness
from observatory.run.interleave import Matrix
from observatory.run.sources import SubjectError
from observatory.run.together import Resolved, Together
from observatory.store.asv.files import project
from observatory.store.base.problems import RecordError
from observatory.store.reading.saved import INTERLEAVED
from observatory.store.records import calibration as record
from observatory.store.records.calibration import Calibration, Floor
from observatory.store.records.comparison import Comparison, Side, Verdict
from observatory.store.records.profile import ImportedModule
from observatory.store.records.sample import LedgerEntry, Sample
from observatory.text.comment import comment
from observatory.text.records import comparison_of
from tests.factories import NOON, WARM, failed, header, journal, sample, traced
from tests.factories_work import uncounted

COLD = Cell("radon", "cold", "NUMBA", "fork")
SEVEN = (0.25, 0.251, 0.252, 0.249, 0.248, 0.253, 0.247)


def side(label: str = "3.3.7", cpu: str = "Some CPU", **packages: str) -> Side:
    under = header(label)
    versions = under.versions.model_copy(update={"packages": packages})
    machine = under.machine.model_copy(update={"cpu": cpu})
    return Side(subject=under.subject, versions=versions, machine=machine)


def setting(**changes: Any) -> Setting:
    fields: dict[str, Any] = {
        "base": side("3.3.6"), "head": side("3.3.7"), "started_at": NOON, "interleaved": True,
        "seed": 1, "observatory": "0.1.0", "reproduce": "observatory compare 3.3.6 3.3.7",
    }  # fmt: skip
    return Setting(**fields | changes)


def compare(old: list[Sample], new: list[Sample], **changes: Any) -> Comparison:
    return comparison_of(compared(setting(**changes), Evidence.of(old), Evidence.of(new)), 12.0)


def compiled(*names: str) -> Sample:
    ledger = [
        LedgerEntry.model_validate(
            {"name": name, "kind": "numba", "key": f"{name} {number}", "outcome": "miss",
             "seconds": 0.1, "step": "build"}
        )
        for number, name in enumerate(names)
    ]  # fmt: skip
    return sample(COLD, "counting", {"cache_misses": len(names)}, ledger=ledger)


def times(*values: float) -> list[Sample]:
    return [sample(WARM, metrics={"compile_time": value}) for value in values]


def of_a_machine(slowness: float, work: float = 1.0) -> list[Sample]:
    """Samples of eight cells of builds and calls, on a machine that is so many times as slow."""
    cells = [
        Cell("radon", scenario, backend, launch)
        for scenario in ("warm_disk", "call") for backend in ("C", "NUMBA")
        for launch in ("fork", "spawn")
    ]  # fmt: skip
    found = []
    for cell in cells:
        metric = "call_time" if cell.scenario == "call" else "compile_time"
        values = (value * slowness for value in SEVEN)
        found += [sample(cell, metrics={metric: value}) for value in values]
        found += [sample(cell, "tracing", {"python_calls": round(1_000_000 * work)})]
    return found


def test_times_that_moved_alike_without_their_work_are_not_judged_and_the_machine_is_named() -> (
    None
):
    apart = compare(of_a_machine(1.0), of_a_machine(1.4), interleaved=False)
    times = [one for one in apart.verdicts if one.metric in ("compile_time", "call_time")]
    assert {one.conclusion for one in times} == {"undecided"}
    assert {one.reason for one in times} == {
        "the machine has probably changed between BASE and HEAD"
    }
    assert apart.warnings[0].startswith("8 of 8 times changed alike (median +40 %)")


@pytest.mark.parametrize(
    "changes", [{"interleaved": True, "work": 1.0}, {"interleaved": False, "work": 1.4}]
)
def test_with_more_work_or_side_by_side_they_are_slower(changes: dict[str, Any]) -> None:
    work = changes.pop("work")
    found = compare(of_a_machine(1.0), of_a_machine(1.4, work), **changes)
    times = {one.conclusion for one in found.verdicts if one.metric == "compile_time"}
    assert times == {"worse"}


def counted_elsewhere(by: str, instructions: float) -> list[Sample]:
    """Instructions of all cells of `of_a_machine`."""
    cells = {one.cell for one in of_a_machine(1.0)}
    counts = {"instructions": instructions}
    return [sample(cell, "work", counts, counted_by=by) for cell in sorted(cells)]


def other_graphs(work: float) -> list[Sample]:
    """Python calls of cells without times."""
    cells = [
        Cell("radon", scenario, "C_VM", launch) for launch in ("fork", "spawn")
        for scenario in ("cold", "warm_disk", "warm_process", "call")
    ]  # fmt: skip
    return [sample(cell, "tracing", {"python_calls": round(9e5 * work)}) for cell in cells]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (counted_elsewhere("callgrind, code for haswell", 2.0e9),
         counted_elsewhere("hardware (EPYC), code for haswell", 2.2e9)),
        (other_graphs(1.0), other_graphs(1.4)),
    ],
    ids=["counts of another counter", "work of cells without times"],
)  # fmt: skip
def test_only_comparable_work_of_the_timed_cells_tells_whether_the_machine_changed(
    old: list[Sample], new: list[Sample]
) -> None:
    found = compare([*of_a_machine(1.0), *old], [*of_a_machine(1.4), *new], interleaved=False)
    times = {one.conclusion for one in found.verdicts if one.metric == "compile_time"}
    assert times == {"undecided"}
    assert found.warnings[0].startswith("8 of 8 times changed alike")


def test_a_machine_that_changed_between_two_subjects_of_a_history_makes_none_slower() -> None:
    """Their own values need not show it: here, the work changed as well."""
    speed = OtherSpeed("3.3.7", MovedAlike(39, 39, 1.4, 1.0, 39))
    old, new = of_a_machine(1.0), of_a_machine(1.4, work=1.4)
    apart = compare(old, new, interleaved=False, other_speed=speed)
    said = {one.conclusion for one in apart.verdicts if one.metric == "compile_time"}
    assert said == {"undecided"}
    assert {one.conclusion for one in apart.verdicts if one.metric == "python_calls"} == {"worse"}
    assert apart.warnings[0].startswith("since 3.3.7, 39 of 39 times changed alike")
    beside = compare(old, new, other_speed=speed)
    said = {one.conclusion for one in beside.verdicts if one.metric == "compile_time"}
    assert said == {"worse"}


def test_the_history_of_saved_subjects_says_that_their_machine_changed(tmp_path: Path) -> None:
    for label, day, slowness, work in (("3.3.5", 1, 1, 1), ("3.3.6", 2, 1, 2), ("3.3.7", 3, 2, 2)):
        of = header(
            label, commit=label.replace(".", "").ljust(40, "0"), date=NOON + timedelta(days=day)
        )
        made = journal(tmp_path, of_a_machine(slowness, work), under=of)
        project(tmp_path, made.read())
    found = module.compare(f"{tmp_path}:3.3.5", f"{tmp_path}:3.3.7", results=tmp_path)
    assert any(one.startswith("since 3.3.7, ") for one in found.warnings), found.warnings


def test_packages_and_the_machine_that_differ_are_named_but_not_pytensor() -> None:
    told = compare(
        [sample()], [sample()],
        base=side(numba="0.67.0", pytensor="3.3.6", etuples="0.3"),
        head=side(numba="0.68.0", pytensor="3.3.7", cpu="Other CPU"),
    )  # fmt: skip
    assert [(d.what, d.base, d.head) for d in told.differences] == [
        ("cpu", "Some CPU", "Other CPU"), ("etuples", "0.3", None), ("numba", "0.67.0", "0.68.0"),
    ]  # fmt: skip
    assert any(warning.startswith("the CPUs differ") for warning in told.warnings)


def test_a_workload_that_changed_is_told_once_for_both_launches() -> None:
    sides = [
        [one, one.model_copy(update={"cell": replace(COLD, launch="spawn")})]
        for one in (compiled("Add"), compiled("Sub"))
    ]
    (told,) = compare(*sides).workload
    assert (told.appeared, told.vanished) == ([("Sub", 1)], [("Add", 1)])


def test_other_functions_are_workload_by_name_and_no_alarm() -> None:
    told = compare([compiled("Add", "Mul", "Mul")], [compiled("Add", "Sub")])
    (workload,) = told.workload
    assert (workload.backend, workload.appeared, workload.vanished) == (
        "NUMBA", [("Sub", 1)], [("Mul", 2)],
    )  # fmt: skip
    assert told.worse == []


def test_runs_that_were_not_interleaved_say_so_and_need_more() -> None:
    slower = times(*(1.2 * value for value in SEVEN))
    assert [v.conclusion for v in compare(times(*SEVEN), slower).worse] == ["worse"]
    apart = compare(times(*SEVEN), slower, interleaved=False)
    assert apart.worse == []
    assert any("different runs" in warning for warning in apart.warnings)


def calibration(cpu: str) -> Calibration:
    floor = Floor(cell=WARM, metric="compile_time", kind="noisy", samples=28, change=0.4)
    at = side(cpu=cpu)
    return Calibration(
        machine=at.machine, subject=at.subject, versions=at.versions, taken_at=NOON, floors=[floor]
    )


def test_a_calibration_counts_on_its_own_cpu_only() -> None:
    slower = times(*(1.2 * value for value in SEVEN))
    here = compare(times(*SEVEN), slower, calibration=calibration("Some CPU"))
    assert here.worse == []
    assert not any("calibrat" in warning for warning in here.warnings)
    elsewhere = compare(times(*SEVEN), slower, calibration=calibration("Other CPU"))
    assert len(elsewhere.worse) == 1
    assert any("of another CPU" in warning for warning in elsewhere.warnings)


@pytest.mark.parametrize(
    ("base", "head", "meaning"),
    [
        ([sample()], [sample()], Exit.OK),
        ([sample()], [sample(metrics={"wrong_results": 1})], Exit.WRONG_RESULTS),
        ([sample()], [failed()], Exit.WORSE),
        ([failed()], [failed()], Exit.UNDECIDED),
        ([sample(), sample(COLD)], [sample()], Exit.UNDECIDED),
        (times(*SEVEN[:3]), times(*SEVEN[:3]), Exit.UNDECIDED),
    ],
    ids=["equal", "wrong", "crashed", "both fail", "a cell missing", "too few"],
)
def test_the_exit_status_has_one_meaning(
    base: list[Sample], head: list[Sample], meaning: Exit
) -> None:
    assert status(compare(base, head)) is meaning


def test_the_command_to_repeat_names_no_paths_of_the_runner() -> None:
    typed = [
        "compare",
        "3.3.6",
        "3.3.7",
        "--json",
        "/tmp/a.json",
        "--markdown=/tmp/b.md",
        "--seed",
        "2",
    ]
    assert list(repeated(typed, {})) == ["compare", "3.3.6", "3.3.7", "--seed", "2"]
    named = ["compare", "--machine", "main", "main", "fix"]
    pinned = {"main": "aaaa", "fix": "bbbb"}
    assert list(repeated(named, pinned)) == ["compare", "--machine", "main", "aaaa", "bbbb"]
    for option in (["--measure=counting"], ["--json", "a.json"], ["--json=a.json"]):
        told = list(repeated(["compare", *option, "main", "fix"], pinned))
        assert told[-2:] == ["aaaa", "bbbb"]


def test_the_command_to_repeat_names_commits_and_not_what_moves_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(clone)]
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    for message in ("one", "two"):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)
    commits = subprocess.check_output([*git, "rev-list", "HEAD"], text=True).split()
    told: list[str] = []

    def compared_with(*_: str, reproduce: str, **__: object) -> Comparison:
        told.append(reproduce)
        raise SubjectError("enough")

    monkeypatch.setattr(command, "compare_subjects", compared_with)
    typed = ["compare", "--repo", str(clone), "HEAD~1", "HEAD"]
    monkeypatch.setattr("sys.argv", ["observatory", *typed])
    CliRunner().invoke(app, typed)
    assert f"observatory compare --repo {clone} {commits[1]} {commits[0]}" in told


def test_a_calibration_is_learnt_from_samples_that_are_there(tmp_path: Path) -> None:
    pool, results = tmp_path / "pool", tmp_path / "results"
    results.mkdir()
    taken = [sample(metrics={"compile_time": 0.2 + n / 1000}) for n in range(28)]
    journal(pool, taken)
    calibrate(saved=str(pool), results=results)
    found = record.load(results, "bench")
    assert found is not None
    (floor,) = [floor for floor in found.floors if floor.metric == "compile_time"]
    assert floor.samples == 28
    assert found.taken_at == max(one.started_at for one in taken)
    with pytest.raises(RecordError, match="that the options select"):
        calibrate(saved=str(pool), results=results, scenario=["cold"])
    with pytest.raises(SubjectError, match="no scenario 'warm'"):
        calibrate(saved=str(pool), results=results, scenario=["warm"])


def test_floors_that_were_not_measured_again_stay(tmp_path: Path) -> None:
    pool, results = tmp_path / "pool", tmp_path / "results"
    results.mkdir()
    journal(pool, [
        sample(cell, metrics={"compile_time": 0.2 + n / 1000}) for n in range(28)
        for cell in (WARM, COLD)
    ])  # fmt: skip
    for scenario, samples in ((None, 28), (["cold"], 28)):
        calibrate(saved=str(pool), results=results, scenario=scenario)
        found = record.load(results, "bench")
        assert found is not None
        times = [one for one in found.floors if one.metric == "compile_time"]
        assert [(one.cell, one.samples) for one in times] == [(COLD, samples), (WARM, samples)]


def test_floors_of_another_subject_or_cpu_do_not_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    one = [sample(metrics={"compile_time": 0.2 + n / 1000}) for n in range(28)]
    other = [sample(COLD, metrics={"compile_time": 0.2 + n / 1000}) for n in range(28)]
    for name, taken, under in (
        ("a", one, header("3.3.7")), ("b", other, header("3.3.8")),
        ("c", one, header("3.3.8", cpu="Other CPU")),
    ):  # fmt: skip
        journal(tmp_path / name, taken, under=under)
        calibrate(saved=str(tmp_path / name), results=results)
        found = record.load(results, "bench")
        assert found is not None
        assert {floor.cell for floor in found.floors} == {taken[0].cell}
    said = capsys.readouterr().out
    assert "(3.3.7 on Some CPU) is replaced" in said
    assert "(3.3.8 on Some CPU) is replaced" in said


def test_a_broken_calibration_is_replaced(tmp_path: Path) -> None:
    journal(tmp_path / "pool", [sample(metrics={"compile_time": 0.2}) for _ in range(28)])
    broken = tmp_path / "results" / "calibrations" / "bench.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{}")
    calibrate(saved=str(tmp_path / "pool"), results=tmp_path / "results")
    assert record.load(tmp_path / "results", "bench") is not None


def test_cells_without_a_noise_floor_are_counted_in_a_warning() -> None:
    known = calibration("Some CPU")
    both = [*times(*SEVEN), *(sample(COLD, metrics={"compile_time": t}) for t in SEVEN)]
    found = compare(both, both, calibration=known)
    assert any("is calibrated for 1 of the 2 judged times" in one for one in found.warnings)


@pytest.mark.parametrize("given", ["--with", "--python", "--samples", "--cluster"])
def test_options_of_measuring_are_refused_with_saved_results(tmp_path: Path, given: str) -> None:
    for label in ("3.3.6", "3.3.7"):
        journal(tmp_path, [sample()], under=header(label))
    sides = f"{tmp_path}:3.3.6", f"{tmp_path}:3.3.7"
    done = CliRunner().invoke(app, ["compare", *sides, given, "x"])
    assert isinstance(done.exception, SelectionError)
    assert str(done.exception) == f"saved results are compared as they are; drop {given}"


def test_a_spent_budget_ends_the_counting_after_the_first_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a comparison of old releases takes three times what was asked for."""
    counted: list[str] = []

    class Taking:
        def count(self, group: tuple[Cell, ...], deadline: float) -> bool:
            if deadline > time.monotonic():
                counted.append(str(group[0]))
            return deadline > time.monotonic()

        def trace(self, cells: tuple[Cell, ...]) -> None:
            counted.append("traced")

        def time(self, cells: object, pairs: int, deadline: float) -> bool:
            return False

    groups = (("NUMBA caches", (WARM,)), ("NUMBA variants", (COLD,)))
    machine = header().machine
    session = Session(INTERLEAVED, tmp_path, tmp_path, machine)
    comparer = Comparer(session, {}, setting(), Matrix(groups, (WARM,), (WARM,)), budget=0.0)
    monkeypatch.setattr(of_session, "measuring_lock", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(comparer, "_caches", lambda: contextlib.nullcontext(Taking()))
    monkeypatch.setattr(comparer, "compare", lambda *_: compare([], []))
    comparer.run()
    assert counted == [str(WARM)]
    assert [one.partition(" (")[0] for one in comparer._uncounted] == [
        "the budget ended before everything was counted",
        "the budget ended before Python calls were counted; a larger --budget counts them",
    ]


def test_what_stays_undecided_is_looked_at_again_until_the_last_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    class Taking:
        def time(self, cells: list[Cell], pairs: int, deadline: float) -> bool:
            assert cells == [WARM]
            taken.append(pairs)
            return True

    session = Session(INTERLEAVED, tmp_path, tmp_path, header().machine)
    matrix = Matrix((), (), (WARM, COLD))
    comparer = Comparer(session, {}, setting(), matrix, budget=60.0)
    undecided = compare(times(*SEVEN[:3]), times(*SEVEN[:3]))
    assert [verdict.conclusion for verdict in undecided.verdicts if verdict.kind == "noisy"]
    monkeypatch.setattr(comparer, "compare", lambda *_: undecided)
    comparer.matrix = Matrix((), (), (WARM,))
    comparer._time(Taking(), time.monotonic() + 60)  # type: ignore[arg-type]
    assert taken == [7, 3, 5, 15]


WORKED = Cell("radon", "warm_process", "NUMBA", "spawn")


class Counting:
    """Takes counts of work at once, until its budget of pairs is spent; notes what was taken.

    ``head``: instructions of HEAD in every cell; ``calls``: its more Python calls by scenario.
    """

    calls: Mapping[str, float] = {}
    worked: ClassVar[list[Cell]] = []

    def __init__(self, comparer: Comparer, pairs: int, head: float = 2.0e9) -> None:
        self.comparer, self.pairs, self.head = comparer, pairs, head
        self.taken: list[str] = []

    def count(self, group: tuple[Cell, ...], deadline: float) -> bool:
        self.taken.append(f"counted {group[0].scenario}")
        return True

    def work(self, cells: tuple[Cell, ...], measure: str, rounds: range, deadline: float) -> bool:
        self.taken.append(f"{measure} {[*rounds]}")
        if measure == "work" and not self.enough(rounds):
            return False
        able = cells[: self.pairs] if measure == "work" else cells
        for cell, _, side in product(able, rounds, ("base", "head")):
            more = side == "head"
            if measure == "work":
                counted = {"instructions": self.head if more else 2.0e9}
                taken = sample(cell, "work", counted, counted_by="callgrind")
            else:
                calls = 1_000_000 * (1 + (more and self.calls.get(cell.scenario, 0.0)))
                taken = sample(cell, "tracing", {"python_calls": round(calls)})
            self.comparer.sides[side].evidence.add(taken)  # type: ignore[index]
        if measure == "work":
            self.worked.extend(cells)
        return measure != "work" or self.pairs >= len(cells)

    def enough(self, rounds: range) -> bool:
        return True

    def repeat(self, cells: tuple[Cell, ...], measure: str, rounds: int) -> None:
        if cells:
            self.taken.append(f"{measure} {[str(cell) for cell in cells]}")

    def time(self, cells: object, pairs: int, deadline: float) -> bool:
        return False


def counting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matrix: Matrix, pairs: int = 9,
    workers: int = 2, base: Side | None = None, **more: float,
) -> tuple[Comparison, list[str]]:  # fmt: skip
    session = Session(INTERLEAVED, tmp_path, tmp_path, header().machine, workers=workers)
    sides = {name: Measured(None, None) for name in ("base", "head")}  # type: ignore[arg-type]
    both = setting(base=base) if base else setting()
    # Whatever else this machine does.
    monkeypatch.setattr(fitness, "at_a_time", lambda workers, _: workers)
    comparer = Comparer(session, sides, both, matrix, 60.0)  # type: ignore[arg-type]
    taking = Counting(comparer, pairs, **more)
    monkeypatch.setattr(of_session, "measuring_lock", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(comparer, "_caches", lambda: contextlib.nullcontext(taking))
    return comparer.run(), taking.taken


def test_work_is_counted_after_the_first_group_and_before_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variants = Cell("radon", "variants", "NUMBA", "spawn")
    groups = (("NUMBA caches", (WORKED,)), ("NUMBA siblings and variants", (variants,)))
    _, taken = counting(tmp_path, monkeypatch, Matrix(groups, (), (), (WORKED,)))
    work = ["tracing [0]", "work [0]"]
    assert taken == ["counted warm_process", *work, "counted variants"]
    _, taken = counting(tmp_path, monkeypatch, Matrix(groups[:1], (), (), (WORKED,)))
    assert taken == ["counted warm_process", *work]
    _, taken = counting(tmp_path, monkeypatch, Matrix((), (), (), (WORKED,)))
    assert taken == work


def test_what_does_more_work_is_counted_again_and_traced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Cell("radon", "call", "NUMBA", "spawn")
    matrix = Matrix((), (), (), (WORKED, call))
    found, taken = counting(tmp_path, monkeypatch, matrix, head=2.1e9)
    assert {verdict.cell for verdict in found.worse} == {WORKED, call}
    each = ["work [0]", "work [1, 2]"]
    assert taken == ["tracing [0]", *each, *each, "tracing [1]"]
    traced = Matrix((), (WORKED,), (), (WORKED,))
    _, taken = counting(tmp_path, monkeypatch, traced, head=2.1e9)
    assert taken == ["tracing [0]", *each, "tracing [1]"]


def test_a_budget_that_ends_in_between_names_the_cells_without_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Cell("radon", "warm_disk", "NUMBA", "spawn")
    matrix = Matrix((), (), (), (WORKED, disk))
    found, _ = counting(tmp_path, monkeypatch, matrix, pairs=1, workers=4)
    assert [(one.cell, one.side) for one in found.missing] == [(disk, "both")]
    assert "before the instructions were counted" in found.missing[0].reason
    assert outcome_of(found) == "undecided"


def test_a_budget_for_no_instructions_still_gives_a_verdict_on_every_cell_by_its_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Cell("radon", "warm_disk", "NUMBA", "spawn")
    monkeypatch.setattr(Counting, "enough", lambda *_: False)
    monkeypatch.setattr(Counting, "calls", {"warm_disk": 0.01})
    found, taken = counting(tmp_path, monkeypatch, Matrix((), (), (), (WORKED, disk)))
    assert taken[:2] == ["tracing [0]", "tracing [1, 2]"]
    assert {(one.cell, one.metric) for one in found.worse} == {(disk, "python_calls")}
    assert {one.cell for one in found.missing} == {WORKED, disk}
    assert {v.conclusion for v in found.verdicts if v.cell == WORKED} == {"unaffected"}


def test_cells_whose_calls_changed_are_the_first_of_which_instructions_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [Cell("radon", one, "NUMBA", "spawn") for one in ("call", "warm_disk", "warm_process")]
    monkeypatch.setattr(Counting, "calls", {"call": 0.001, "warm_process": 0.02})
    worked: list[Cell] = []
    monkeypatch.setattr(Counting, "worked", worked)
    counting(tmp_path, monkeypatch, Matrix((), (), (), tuple(cells)))
    order = list(dict.fromkeys(cell.scenario for cell in worked))
    assert order[:2] == ["warm_process", "call"]


def test_a_cell_is_settled_before_the_next_so_that_a_short_budget_gives_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Cell("radon", "warm_disk", "NUMBA", "spawn")
    budget = iter([True, True, False])
    monkeypatch.setattr(Counting, "enough", lambda *_: next(budget))
    found, taken = counting(
        tmp_path, monkeypatch, Matrix((), (), (), (WORKED, disk)), head=2.1e9
    )  # fmt: skip
    assert taken[:4] == ["tracing [0]", "work [0]", "work [1, 2]", "work [0]"]
    assert {verdict.cell for verdict in found.worse} == {WORKED}
    assert [missing.cell for missing in found.missing] == [disk]


def test_what_was_counted_several_times_keeps_its_verdict_where_the_budget_ends_in_a_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All cells are traced in one round: a late sample of one takes nothing from the others."""
    disk = Cell("radon", "warm_disk", "NUMBA", "spawn")
    traces = Counting.work

    def work(
        self: Counting, cells: tuple[Cell, ...], measure: str, rounds: range, deadline: float
    ) -> bool:
        late = rounds.start > 0
        return traces(self, cells[:1] if late else cells, measure, rounds, deadline) and not late

    monkeypatch.setattr(Counting, "work", work)
    monkeypatch.setattr(Counting, "calls", {"warm_disk": 0.02, "warm_process": 0.02})
    found, _ = counting(tmp_path, monkeypatch, Matrix((), (), (), (WORKED, disk)))
    calls = {one.cell: one.conclusion for one in found.verdicts if one.metric == "python_calls"}
    assert calls == {WORKED: "worse", disk: "undecided"}


def test_where_python_counts_no_calls_nothing_is_traced_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = header().versions.model_copy(update={"python": "3.11.7"})
    base = side("3.3.6").model_copy(update={"versions": before})
    _, taken = counting(tmp_path, monkeypatch, Matrix((), (), (), (WORKED,)), base=base)
    assert taken == ["work [0]"]


def test_a_budget_that_ends_while_counting_says_what_it_left_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = (("NUMBA caches", (WORKED,)), ("NUMBA siblings and variants", (COLD,)))
    monkeypatch.setattr(Counting, "count", lambda _, group, __: group[0] == WORKED)
    found, _ = counting(tmp_path, monkeypatch, Matrix(groups, (), (), ()))
    (warning,) = found.warnings
    assert "(NUMBA siblings and variants); a larger --budget" in warning


def test_a_budget_that_ends_while_counting_leaves_traces_of_what_does_more_work_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace of all cells would take longer than what is left of it."""
    groups = (("NUMBA caches", (WORKED,)), ("NUMBA siblings and variants", (COLD,)))
    monkeypatch.setattr(Counting, "count", lambda _, group, __: group[0] == WORKED)
    matrix = Matrix(groups, (COLD,), (), (WORKED,))
    found, taken = counting(tmp_path, monkeypatch, matrix, head=2.1e9)
    assert taken == ["tracing [0]", "work [0]", "work [1, 2]", "tracing [1]"]
    told = "the budget ended before Python calls were counted; a larger --budget counts them"
    assert told in found.warnings


def test_one_count_of_each_side_proves_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = Matrix((), (), (), (WORKED,))
    monkeypatch.setattr(Counting, "enough", lambda _, rounds: rounds.start == 0)
    found, _ = counting(tmp_path, monkeypatch, matrix, head=2.1e9)
    (verdict,) = (one for one in found.verdicts if one.metric == "instructions")
    assert verdict.conclusion == "undecided"
    assert "one count proves nothing" in (verdict.reason or "")
    assert found.warnings == []
    found, _ = counting(tmp_path, monkeypatch, matrix)
    assert outcome_of(found) == "calm"


def test_a_small_change_is_counted_five_times_or_judged_by_three(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = Matrix((), (), (), (WORKED,))
    found, taken = counting(tmp_path, monkeypatch, matrix, head=2.009e9)
    assert taken[:4] == ["tracing [0]", "work [0]", "work [1, 2]", "work [3, 4]"]
    (verdict,) = found.worse
    assert (verdict.base.n, verdict.head.n) == (5, 5)
    monkeypatch.setattr(Counting, "enough", lambda _, rounds: rounds.start < 3)
    found, _ = counting(tmp_path, monkeypatch, matrix, head=2.009e9)
    assert [one.head.n for one in found.worse] == [3]
    (warning,) = found.warnings
    assert warning.endswith(f"{WORKED} was judged by fewer than 5 samples a side")


def without_a_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    found = counter.Counter("", "nothing counts instructions here: valgrind is not installed")
    monkeypatch.setattr(counter, "find", lambda: found)


def test_where_nothing_counts_work_alone_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    without_a_counter(monkeypatch)
    done = CliRunner().invoke(app, ["compare", "3.3.6", "3.3.7", "--pass", "work"])
    assert isinstance(done.exception, SubjectError)
    assert str(done.exception) == "nothing counts instructions here: valgrind is not installed"


def test_where_nothing_counts_a_comparison_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_a_counter(monkeypatch)
    warned: list[tuple[str, ...]] = []

    def compared_here(self: Comparer) -> Comparison:
        warned.append(self.warnings)
        assert self.matrix.worked == ()
        raise SubjectError("enough")

    made_without_environments(monkeypatch, compared_here)
    with pytest.raises(SubjectError, match="enough"):
        module.compare("3.3.6", "3.3.7", passes=["counting", "work"], state=tmp_path)
    ((times, work, last),) = warned
    assert last == "what no sample shows"
    assert times == module.NO_TIMES
    assert work == (
        "work was not counted: nothing counts instructions here: valgrind is not installed"
    )


class Subjects:
    def pair(self, *_: object) -> tuple[str, str]:
        return "3.3.6", "3.3.7"


def made_without_environments(
    monkeypatch: pytest.MonkeyPatch, run: Callable[[Comparer], Comparison]
) -> None:
    """Let a comparison begin at once; ``run`` is called where it would measure."""
    unchanged = Resolved(side().subject, {})
    monkeypatch.setattr(Comparer, "run", run)
    monkeypatch.setattr(module, "alike", lambda *_: (Together(unchanged, unchanged, {}), ""))
    monkeypatch.setattr(module, "side_of", lambda *_: (Measured(None, None), side()))  # type: ignore[arg-type]
    monkeypatch.setattr(module.implementations, "between", lambda *_: ["what no sample shows"])
    monkeypatch.setattr(Session, "subjects", Subjects())


@pytest.mark.parametrize("recorded", [("base", "head"), ("base",), ()])
def test_an_interrupted_comparison_says_how_to_judge_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: tuple[str, ...]
) -> None:
    """With a command to copy, which works as it is; without both sides there is none."""
    where, said = tmp_path / "of two words", list[str]()

    def interrupted(self: Comparer) -> Comparison:
        for name, label in zip(recorded, ("3.3.6", "3.3.7"), strict=False):
            journal(where / name, times(*SEVEN), under=header(label))
        raise KeyboardInterrupt

    made_without_environments(monkeypatch, interrupted)
    with pytest.raises(KeyboardInterrupt):
        module.compare(
            "3.3.6", "3.3.7", passes=["timing"], samples=where, state=tmp_path / "state",
            progress=lambda update: said.append(update.text),
        )  # fmt: skip
    offered = [line.removeprefix("To judge what was measured: ") for line in said
               if line.startswith("To judge")]  # fmt: skip
    assert where.exists() == bool(recorded)
    if len(recorded) < 2:
        assert offered == []
        return
    (again,) = offered
    done = CliRunner().invoke(app, shlex.split(again)[1:])
    assert done.exit_code == Exit.OK
    assert "3.3.6" in done.stdout


def test_what_every_sample_of_work_says_is_said_once_in_a_comment() -> None:
    cells = [Cell("radon", scenario, "NUMBA", "spawn") for scenario in ("warm_disk", "call")]
    nothing = [uncounted(cell) for cell in cells]
    text = comment(compare(nothing, nothing))
    assert text.count("Nothing counts instructions here") == 1


def test_a_build_that_fails_while_it_fills_a_cache_is_judged_though_nobody_asked_for_it() -> None:
    cold = replace(WARM, scenario="cold")
    good = [sample(cold, "counting", {"cache_misses": 9}), sample(WARM, "counting")]
    base, head = Evidence.of(good), Evidence.of([failed(cold, "counting")])
    found = comparison_of(compared(setting(), base, head, [WARM]))
    assert [(one.cell, one.metric) for one in found.worse] == [(cold, "crashed")]
    assert [cause.kind for cause in found.causes] == ["crashed"]
    calm = compared(setting(), base, Evidence.of(good), [WARM])
    assert {one.cell for one in calm.verdicts} == {WARM}


def test_the_workload_of_a_backend_that_is_not_asked_for_is_not_told() -> None:
    base, head = (Evidence.of([compiled(name), sample()]) for name in ("Add", "Sub"))
    assert compared(setting(), base, head, [WARM]).workload
    other = Cell("radon", "warm_disk", "C", "fork")
    assert compared(setting(), base, head, [other]).workload == []


def counted_work(calls: int, head: bool) -> list[Sample]:
    instructions = sample(WARM, "work", {"instructions": 1e9 * (1.2 if head else 1)})
    return [traced(calls), instructions.model_copy(update={"counted_by": "perf"})]


def test_more_work_is_said_with_the_function_that_it_begins_with() -> None:
    base, head = counted_work(1000, head=False), counted_work(1200, head=True)
    told = compare(base, head)
    reason = "`f` was entered 1,000 times, now 1,200 (100 % of the additional calls)"
    reasons = {verdict.metric: verdict.reason for verdict in told.worse}
    assert reasons == {"python_calls": reason, "instructions": reason}
    assert comment(told).count("**Begins with**: `f` was entered 1,000 times, now 1,200 (") == 1
    assert {verdict.reason for verdict in compare(head, base).verdicts} == {None}


def test_more_instructions_are_not_said_to_begin_with_one_call_more() -> None:
    base, head = counted_work(1000, head=False), counted_work(1001, head=True)
    told = compare(base, head)
    assert [verdict.metric for verdict in told.worse] == ["instructions"]
    assert "Begins with" not in comment(told)


def test_without_a_profile_of_both_sides_more_work_has_no_reason() -> None:
    base = [sample(WARM, "tracing", {"python_calls": 1000})]
    told = compare(base, [traced(1200)])
    assert [verdict.reason for verdict in told.worse] == [None]
    assert "Begins with" not in comment(told)


def test_an_improvement_hides_nothing_that_was_not_judged() -> None:
    """The text, the exit status and the check of a pull request say the same."""
    base = [sample(measure="counting", metrics={"cache_misses": 0})] * 2
    head = [sample(measure="counting", metrics={"cache_misses": n}) for n in (0, 1)]
    found = compare([*base, *times(*SEVEN)], [*head, *times(*(0.5 * one for one in SEVEN))])
    assert {v.conclusion for v in found.verdicts} >= {"better", "undecided"}
    first = comment(found).splitlines()[1]
    assert "Partly judged" in first
    assert "could not be fully judged" in first


def test_memory_of_two_cpus_is_not_compared() -> None:
    def of(size: int) -> list[Sample]:
        return [sample(measure="counting", metrics={"cache_misses": 0, "retained_bytes": size})]

    other = setting()
    machine = other.head.machine.model_copy(update={"cpu": "Another CPU"})
    head = other.head.model_copy(update={"machine": machine})
    apart = compare(of(10_000_000), of(12_000_000), head=head)
    assert "retained_bytes" not in {v.metric for v in apart.verdicts}
    assert any("is not compared" in warning for warning in apart.warnings)
    assert [*apart.worse, *apart.undecided] == []  # counts of two CPUs are compared
    assert compare(of(10_000_000), of(12_000_000)).worse


def test_up_to_stands_before_the_number_of_a_claim() -> None:
    spawn = replace(WARM, launch="spawn")
    sides = [
        [sample(cell, "counting", {"uncacheable": n}) for cell, n in ((WARM, a), (spawn, b))]
        for a, b in ((0, 0), (2, 3))
    ]
    assert "Worse: the cache refuses up to 3 functions in " in comment(compare(*sides))


def test_where_no_time_was_judged_nothing_is_said_to_be_unchanged_but_counts() -> None:
    counted = [sample(measure="counting", metrics={"cache_misses": 0})]
    assert "No regression: the only cell is unaffected in its counts" in comment(
        compare(counted, counted)
    )
    timed = [*counted, *times(*SEVEN)]
    assert "counts" not in comment(compare(timed, timed)).splitlines()[1]


def test_of_saved_results_only_what_is_asked_for_is_judged(tmp_path: Path) -> None:
    for label, misses, seconds in (("3.3.6", 0, 0.25), ("3.3.7", 35, 1.0)):
        counted = sample(measure="counting", metrics={"cache_misses": misses})
        cold = compiled("Add", "Mul" if misses else "Sub")
        journal(tmp_path / label, [counted, cold, *times(*[seconds] * 7)], under=header(label))
    sides = [str(tmp_path / label) for label in ("3.3.6", "3.3.7")]

    def told(*options: str) -> Comparison:
        done = CliRunner().invoke(app, ["compare", *sides, "--json", "-", *options])
        return Comparison.model_validate_json(done.stdout)

    assert {v.metric for v in told().worse} == {"cache_misses", "compile_time"}
    counted_only = told("--pass", "counting")
    assert {v.metric for v in counted_only.worse} == {"cache_misses"}
    assert {v.kind for v in counted_only.verdicts} == {"exact"}
    assert counted_only.warnings == [module.NO_TIMES]  # none on what a change of times counts
    assert module.NO_TIMES not in told("--scenario", "warm_disk").warnings
    narrow = told(
        "--scenario", "cold", "--backend", "NUMBA", "--launch", "fork", "--model", "radon"
    )
    assert {v.cell.scenario for v in narrow.verdicts} == {"cold"}
    assert told("--scenario", "warm_disk").workload  # what the cold builds tell of those cells
    done = CliRunner().invoke(app, ["compare", *sides, "--backend", "C"])
    assert isinstance(done.exception, SubjectError)
    assert "no saved sample is left to compare" in str(done.exception)


def test_saved_results_are_compared_beside_a_clone_too(tmp_path: Path) -> None:
    """As a workflow calls it that always has a clone."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    for label, misses in (("3.3.6", 0), ("3.3.7", 35)):
        counted = sample(measure="counting", metrics={"cache_misses": misses})
        journal(tmp_path / label, [counted], under=header(label))
    sides = [str(tmp_path / label) for label in ("3.3.6", "3.3.7")]
    done = CliRunner().invoke(app, ["compare", "--repo", str(clone), *sides])
    assert done.exit_code == Exit.WORSE, done.output
    assert "35" in done.output


def test_a_long_reason_fits_into_the_record_that_holds_it() -> None:
    base = [sample(WARM, "counting", {"cache_misses": 0})]
    head = [sample(WARM, "counting", {"cache_misses": n * 10_000}) for n in range(900)]
    (verdict,) = [v for v in compare(base, head).verdicts if v.metric == "cache_misses"]
    assert "not deterministic" in (verdict.reason or "")
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


def test_a_slower_import_is_explained_by_the_module_that_is_new() -> None:
    place = Cell("radon", "warm_disk", "NUMBA", "spawn")

    def imported(seconds: float, **modules: float) -> list[Sample]:
        tracing = traced(100, place)
        assert tracing.profile is not None
        found = [ImportedModule(name=name, depth=0, seconds=own) for name, own in modules.items()]
        known = tracing.profile.model_copy(update={"imports": found})
        times = [sample(place, metrics={"import_time": seconds + one}) for one in SEVEN]
        return [tracing.model_copy(update={"profile": known}), *times]

    found = compare(imported(0.0, numba=0.3), imported(0.21, numba=0.3, pandas=0.21))
    (verdict,) = found.worse
    assert (verdict.metric, verdict.reason) == (
        "import_time", "`pandas` is newly imported, which takes 210 ms (in one sample)",
    )  # fmt: skip
    said = comment(found).replace("\N{NO-BREAK SPACE}", " ")
    assert "Begins with**: `pandas` is newly imported, which takes 210 ms (in one sample)" in said


@pytest.mark.parametrize(
    ("subjects", "advised"),
    [(("1.0", "2.0"), True), (("1.0", "3.0"), False), (("0123456789", "01234567"), True)],
)
def test_subjects_that_results_have_may_be_judged_without_measuring(
    subjects: tuple[str, str],
    advised: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for label in ("1.0", "2.0"):
        journal(tmp_path, [sample(WARM)], under=header(label))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "01234567-virtualenv.json").write_text("{}")

    def refused(*_: object, **__: object) -> None:
        raise SubjectError("enough")

    monkeypatch.setattr(command, "compare_subjects", refused)
    found = CliRunner().invoke(app, ["compare", *subjects, "--results", str(tmp_path)])
    assert isinstance(found.exception, SubjectError)
    base, head = (f"{tmp_path}:{one}" for one in subjects)
    assert (f"observatory compare {base} {head}" in found.stderr) is advised
