"""Each fault of the kit on real PyTensor: what it changes, and that it changes nothing else.

The table of scripts/faults/kit.py is checked against samples of the primitive, taken with and
without the fault. Times are not looked at: a fault that costs time is known by the work it adds.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.analyze.comparison.beginnings import where_work_begins
from observatory.analyze.comparison.ledgers import unasked
from observatory.analyze.profiles.difference import main_part
from observatory.analyze.profiles.judging import judged
from observatory.analyze.profiles.samples import phase_times
from observatory.benchmarks.catalogue import Cell, metrics_of
from observatory.benchmarks.models.parts.radon_data import VARIANTS
from observatory.benchmarks.probes.waiting import idle_time
from observatory.run.environments import Environment
from observatory.run.subjects import Subjects
from observatory.run.uv import RealUv
from observatory.store.records.sample import Sample
from observatory.text.statements import sentence_of
from scripts.faults.kit import FAULTS, Fault, build, fault
from tests.integration.conftest import Bench, Measured
from tests.integration.fault_rig import (
    SHOWN_BY_SMALL,
    SMALL,
    STORES,
    Place,
    Rig,
    faulty,
    with_fault,
)

pytestmark = pytest.mark.integration

DISK = ("warm_disk", "NUMBA", "spawn")
DISK_FORK = ("warm_disk", "NUMBA", "fork")
PROCESS = ("warm_process", "NUMBA", "spawn")
C_DISK = ("warm_disk", "C", "spawn")

PLACES: dict[str, tuple[Place, ...]] = {
    "key_salted": (DISK, DISK_FORK, PROCESS, C_DISK),
    "key_hash_seed": (DISK, DISK_FORK),
    "outer_not_cached": (DISK, PROCESS),
    "op_key_unstable": (DISK, PROCESS),
    "cache_dir_removed": (("cold", "NUMBA", "spawn"), ("cold", "NUMBA", "fork"), C_DISK),
    "saved_never_loaded": (DISK,),
    "variable_names_in_keys": (DISK, PROCESS, ("variants", "NUMBA", "fork")),
    "uid_counter": (DISK, ("siblings", "NUMBA", "fork")),
    "c_key_salted": (C_DISK, ("warm_disk", "C", "fork"), ("warm_process", "C", "spawn"), DISK),
    "rewriting_slower": (DISK, C_DISK),
    "rewriter_twice": (PROCESS, C_DISK),
    "call_slower": (DISK, ("call", "NUMBA", "spawn")),
}
"""The fewest cells in which each fault shows and is silent."""
TABLE_ALONE = (
    "small_rewriter_twice",
    "small_llvm_pass_twice",
    "numba_pass_twice",
    "llvm_pass_twice",
    "compiler_once_more",
    "lock_held",
    "heavy_import",
    "call_slower_under_spawn",
)
"""Faults that no count of a cache shows: scripts/faults/compared.py does, in minutes for each."""
COUNTED = pytest.mark.parametrize("one", [fault(name) for name in PLACES], ids=lambda one: one.name)


@pytest.fixture
def rig(bench: Bench) -> Callable[..., Rig]:
    """The rig of a fault, by name; that of the release itself without one."""

    def of(name: str | None = None) -> Rig:
        if name is None:
            return Rig(bench, bench)
        inside = bench.within(with_fault(bench.environment, name, bench.shelf))
        model = SMALL if name in SHOWN_BY_SMALL else "radon"
        return Rig(inside, bench, STORES.get(name, ()), model)

    return of


def worse(place: Place, without: Measured, with_fault: Measured) -> set[str]:
    """The alerting counts that are higher with the fault."""
    scenario, _, launch = place
    alerting = [
        metric.name
        for metric in metrics_of(scenario, launch)
        if metric.kind == "exact" and metric.alerts_in(scenario)
    ]
    assert set(without.metrics) >= set(alerting)
    return {
        name
        for name in alerting
        if name in with_fault.metrics and with_fault.metrics[name] > without.metrics[name]
    }


@COUNTED
def test_a_fault_alarms_where_the_table_says_and_nowhere_else(
    one: Fault, rig: Callable[..., Rig]
) -> None:
    for place in PLACES[one.name]:
        changed = rig(one.name)
        found = worse(place, changed.without.take(place), changed.take(place))
        cell = Cell("radon", *place)
        assert {m for m in found if one.expects(cell, m) == "never"} == set(), place
        counted = {m.name for m in metrics_of(cell.scenario, cell.launch) if m.kind == "exact"}
        assert {m for m in counted if one.expects(cell, m) == "must"} <= found, place


@COUNTED
def test_a_fault_of_caches_or_speed_leaves_the_numbers_right(
    one: Fault, rig: Callable[..., Rig]
) -> None:
    places = [place for place in PLACES[one.name] if place[0] != "siblings"]
    assert [rig(one.name).count(place, "wrong_results") for place in places] == [0] * len(places)


def test_a_fault_is_looked_at_here_or_by_the_table_alone() -> None:
    assert sorted([*PLACES, *TABLE_ALONE]) == sorted(one.name for one in FAULTS)


@pytest.mark.parametrize(
    ("name", "metric"),
    [("rebuild_raises", "cache_misses"), ("directory_grows", "files_grown"),
     ("descriptors_left", "side_effects"), ("garbage_collected", "collections_forced")],
)  # fmt: skip
def test_what_no_miss_shows_is_counted_in_a_warm_build(
    rig: Callable[..., Rig], name: str, metric: str
) -> None:
    changed = rig(name)
    assert changed.without.count(DISK, metric) == 0
    assert changed.count(DISK, metric) >= 1
    found = worse(DISK, changed.without.take(DISK), changed.take(DISK))
    assert {one for one in found if fault(name).expects(Cell("radon", *DISK), one) == "never"} == (
        set()
    )


def test_salted_keys_miss_all_that_the_filler_stored_under_keys_it_never_used(
    rig: Callable[..., Rig],
) -> None:
    salted = rig("key_salted")
    stored = {entry["key"] for entry in salted.filler("NUMBA").record["ledger"]}
    for place in (DISK, DISK_FORK):
        misses = salted.misses(place)
        assert len(misses) == salted.filler("NUMBA").metrics["cache_misses"]
        assert not {entry["key"] for entry in misses} & stored


def test_a_key_from_the_hash_seed_misses_under_spawn_and_hits_under_fork(
    rig: Callable[..., Rig],
) -> None:
    seeded = rig("key_hash_seed")
    assert seeded.count(DISK, "cache_misses") == seeded.filler("NUMBA").metrics["cache_misses"]
    assert seeded.count(DISK_FORK, "cache_misses") == 0


def test_without_its_key_the_outer_graph_is_refused_and_all_else_hits(
    rig: Callable[..., Rig],
) -> None:
    for place in (DISK, PROCESS):
        ledger = rig("outer_not_cached").take(place).record["ledger"]
        refused = [entry["name"] for entry in ledger if entry["outcome"] == "uncacheable"]
        assert refused == ["outer graph"]
        assert {entry["outcome"] for entry in ledger} == {"hit", "uncacheable"}


def test_an_unstable_op_takes_the_outer_graph_with_it_and_nothing_else(
    rig: Callable[..., Rig],
) -> None:
    for place in (DISK, PROCESS):
        names = Counter(entry["name"] for entry in rig("op_key_unstable").misses(place))
        assert set(names) == set(fault("op_key_unstable").functions)
        assert names["outer graph"] == 1


def test_a_removed_cache_directory_raises_and_says_which_file_is_missing(
    rig: Callable[..., Rig],
) -> None:
    found = rig("cache_dir_removed").take(("cold", "NUMBA", "spawn"))
    assert found.record["status"] == "raised"
    assert found.record["failure"]["message"].startswith("FileNotFoundError")
    assert found.metrics["crashed"] == 1


def test_what_is_never_loaded_was_stored_under_the_very_keys_that_miss(
    rig: Callable[..., Rig],
) -> None:
    never = rig("saved_never_loaded")
    stored = {entry["key"] for entry in never.filler("NUMBA").record["ledger"] if entry["bytes"]}
    assert never.misses(DISK)
    assert {entry["key"] for entry in never.misses(DISK)} <= stored
    assert not [e for e in never.take(DISK).record["ledger"] if e["outcome"] == "hit"]


def test_names_in_keys_stop_variants_from_sharing_but_not_a_graph_from_hitting(
    rig: Callable[..., Rig],
) -> None:
    place = ("variants", "NUMBA", "fork")
    without, named = (
        {step["name"]: step["metrics"]["cache_misses"] for step in r.take(place).record["steps"]}
        for r in (rig(), rig("variable_names_in_keys"))
    )
    _, other, equal = named
    # The fifth variant equals the base: its graph hits, and with it everything.
    assert equal == VARIANTS[4]
    assert without[equal] == named[equal] == 0
    assert named[other] > 10 * without[other] > 0


def test_the_old_counter_gives_forked_siblings_each_others_numbers(
    rig: Callable[..., Rig],
) -> None:
    found = rig("uid_counter").take(("siblings", "NUMBA", "fork"))
    wrong = [check for check in found.record["checks"] if check["wrong"]]
    assert len(wrong) == found.metrics["wrong_results"] >= 1
    assert any("is what" in (check["note"] or "") for check in wrong)


def test_salted_c_modules_are_compiled_again_in_every_process(rig: Callable[..., Rig]) -> None:
    salted = rig("c_key_salted")
    for place in (C_DISK, ("warm_disk", "C", "fork")):
        assert salted.count(place, "compiler_runs") == 1
    assert rig().count(C_DISK, "compiler_runs") == 0
    assert salted.count(("warm_process", "C", "spawn"), "compiler_runs") == 0
    stored = {entry["key"] for entry in salted.filler("C").record["ledger"]}
    assert not {entry["key"] for entry in salted.misses(C_DISK)} & stored
    virtual = ("warm_disk", "C_VM", "spawn")
    assert salted.count(virtual, "cache_misses") == salted.filler("C_VM").metrics["cache_misses"]
    assert salted.count(virtual, "cache_misses") > 10


def test_more_rewriting_is_more_calls_for_the_same_graph(rig: Callable[..., Rig]) -> None:
    for place in (C_DISK, DISK):
        without, slower = (
            r.take(place, "tracing").metrics["python_calls"]
            for r in (rig(), rig("rewriting_slower"))
        )
        assert 1.03 < slower / without < 1.10
    # The key of the outer graph is made of all that is in the graph.
    ledgers = [r.take(DISK).record["ledger"] for r in (rig(), rig("rewriting_slower"))]
    found = [[(e["name"], e["key"], e["outcome"]) for e in ledger] for ledger in ledgers]
    assert found[0] == found[1]
    assert "outer graph" in {name for name, _, _ in found[0]}


def test_a_rewriter_that_tries_twice_is_named_first(rig: Callable[..., Rig]) -> None:
    profiles = [
        Sample.model_validate(r.take(DISK, "tracing").record).profile
        for r in (rig(), rig("rewriter_twice"))
    ]
    assert profiles[0] is not None
    assert profiles[1] is not None
    found = judged(profiles[:1], profiles[1:])
    assert found is not None
    assert 0.015 < found.head / found.base - 1 < 0.04
    part = main_part(found)
    assert part is not None
    assert (part.kind, part.name) == ("rewriter", "local_greedy_distributor")
    assert part.head == 2 * part.base
    assert found.functions[0].name.endswith(":local_greedy_distributor")


@pytest.mark.parametrize(
    ("name", "place", "metric"),
    [
        ("heavy_import", DISK, "python_calls"),
        ("numba_pass_twice", ("cold", "NUMBA", "spawn"), "python_calls"),
        ("llvm_pass_twice", ("cold", "NUMBA", "spawn"), "llvm_pass_runs"),
    ],
)
def test_the_main_part_of_additional_work_is_named(
    rig: Callable[..., Rig], name: str, place: Place, metric: str
) -> None:
    """In a small graph: what is named does not depend on its size."""
    small = [replace(one, model=SMALL) for one in (rig(), rig(name))]
    sides = [[Sample.model_validate(one.take(place, "tracing").record)] for one in small]
    before, after = (side[0].metrics[metric] for side in sides)
    assert after > before * 1.002
    begins = where_work_begins(Cell(SMALL, *place), metric, *sides)
    assert begins is not None
    assert fault(name).main_part in sentence_of(begins)


@pytest.mark.parametrize(
    ("name", "place", "phase", "least"),
    [
        ("lock_held", PROCESS, "numba: cache load", 0.2),
        ("compiler_once_more", C_DISK, "C: compiler runs", 0.0),
    ],
)
def test_the_phase_of_a_fault_holds_its_time(
    rig: Callable[..., Rig], name: str, place: Place, phase: str, least: float
) -> None:
    """How much longer others take depends on the machine: only the table asks which is longest."""
    cell = Cell("radon", *place)
    before, after = (
        [Sample.model_validate(one.take(place, "timing").record)] for one in (rig(), rig(name))
    )
    phases = {one.name: one for one in phase_times(before, after)[cell]}
    found = phases[phase]
    assert found.head > least
    assert found.base < found.head


@pytest.mark.skipif(idle_time() is None, reason="this kernel does not count it")
def test_a_build_that_waits_for_a_lock_waits_longer(rig: Callable[..., Rig]) -> None:
    """A disk may be busy, which adds to both."""
    held = Sample.model_validate(rig("lock_held").take(PROCESS, "timing").record)
    assert held.metrics["waiting_time"] > 0.19


def test_a_helper_that_nobody_stores_is_a_run_of_the_compiler_and_a_name_in_the_ledger(
    rig: Callable[..., Rig],
) -> None:
    without, helped = rig().take(C_DISK), rig("compiler_once_more").take(C_DISK)
    assert (without.metrics["compiler_runs"], helped.metrics["compiler_runs"]) == (0, 1)
    assert helped.metrics["cache_misses"] == 0
    assert worse(C_DISK, without, helped) == {"compiler_runs"}
    more = unasked(*(Sample.model_validate(one.record).ledger for one in (without, helped)))
    assert [change.name for change in more] == ["helper"]


_EVALUATIONS = """
import sys
import pytensor, pytensor.tensor as pt
from pytensor.compile.mode import Mode

x, total = pt.dscalar("x"), pytensor.shared(0.0)
mode = Mode(linker="vm", optimizer=None)
f = pytensor.function([x], x + 1, mode=mode)
g = pytensor.function([x], x + 1, updates={total: total + 1}, mode=mode)

class Counted:
    allow_gc, evaluations = False, 0
    def __init__(self, vm):
        self.vm = vm
    def __call__(self):
        self.evaluations += 1
        return self.vm()

f.vm = Counted(f.vm)
assert [float(f(n)) for n in range(120)] == [n + 1 for n in range(120)]
for n in range(120):
    g(n)
print(f.vm.evaluations, int(total.get_value()))
"""


@pytest.mark.parametrize(("name", "evaluations"), [(None, 120), ("call_slower", 130)])
def test_one_in_twelve_calls_evaluates_twice_unless_it_updates_something(
    rig: Callable[..., Rig], tmp_path: Path, name: str | None, evaluations: int
) -> None:
    where = rig(name).bench.environment
    flags = {"PYTENSOR_FLAGS": f"base_compiledir={tmp_path}"}
    done = subprocess.run(
        [str(where.python), "-c", _EVALUATIONS],
        capture_output=True,
        text=True,
        env={**where.variables(), **flags},
        cwd=tmp_path,
        check=False,
    )
    assert done.stdout.split() == [str(evaluations), "120"], done.stderr


def test_a_wheel_installs_as_part_of_a_subject(
    subjects: Subjects, newest: Environment, tmp_path: Path,
    environment_of: Callable[..., Environment],
) -> None:  # fmt: skip
    text = f"{newest.versions.pytensor} {build('key_salted', tmp_path)}"
    label = f"{newest.versions.pytensor} observatory-fault-key-salted==1.0"
    assert subjects.parse(text).label.startswith(label)
    made = environment_of(text, state=tmp_path / "state")
    assert made.versions.packages["observatory-fault-key-salted"] == "1.0"
    assert waiting(made) == ["observatory_fault_key_salted"]


def test_a_wheel_that_is_uninstalled_leaves_nothing(newest: Environment, tmp_path: Path) -> None:
    where = faulty(newest, "key_salted", tmp_path)
    assert waiting(where) == ["observatory_fault_key_salted"]
    (site,) = where.python.parent.parent.glob("lib/python*/site-packages")
    arguments = ("--quiet", "--python", str(where.python), "observatory-fault-key-salted")
    RealUv()("pip", "uninstall", *arguments)
    assert waiting(where) == []
    assert [path.name for path in site.iterdir() if "observatory" in path.name] == []


def waiting(where: Environment) -> list[str]:
    """The faults that wait in a process of an environment that has imported nothing."""
    asked = "import sys; print(*[f.__module__ for f in sys.meta_path if f.__module__[:3] == 'obs'])"
    done = subprocess.run(
        [str(where.python), "-c", asked],
        capture_output=True,
        text=True,
        env=where.variables(),
        check=True,
    )
    return done.stdout.split()
