"""The clock of phases: each phase has its own seconds, and nothing stays replaced."""

import sys
from types import ModuleType

import pytest

from observatory.benchmarks import backends, bench
from observatory.benchmarks.probes import phases
from observatory.benchmarks.probes.phases import GARBAGE, PhaseClock


class Time:
    """A clock that only moves when it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def time(monkeypatch):
    made = Time()
    monkeypatch.setattr(phases.time, "perf_counter", made)
    return made


@pytest.fixture
def maker(monkeypatch, time):
    """A module that stands for PyTensor's, with a function maker whose rewriting also imports."""
    module = ModuleType("pytensor.compile.maker")

    class FunctionMaker:
        def create(self):
            time.now += 1

        @staticmethod
        def prepare_fgraph(fails=False):
            time.now += 10
            FunctionMaker().create()
            FunctionMaker().create()
            if fails:
                raise ValueError
            return "rewritten"

    module.FunctionMaker = FunctionMaker
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return FunctionMaker


def seconds(clock):
    # The garbage collector may run at any time.
    phases = [one for one in clock.profile().phases if one.name != GARBAGE]
    return {one.name: (one.entries, one.seconds) for one in phases}


def test_each_phase_has_the_seconds_that_no_phase_inside_it_has(maker):
    clock = PhaseClock()
    with clock.running():
        assert maker.prepare_fgraph() == "rewritten"
        maker().create()
    assert seconds(clock) == {"rewriting": (1, 10.0), "linking": (3, 3.0)}


def test_a_phase_that_raises_is_timed_and_raises(maker):
    clock = PhaseClock()
    with clock.running(), pytest.raises(ValueError):  # noqa: PT011
        maker.prepare_fgraph(fails=True)
    assert seconds(clock) == {"rewriting": (1, 10.0), "linking": (2, 2.0)}


def test_nothing_is_timed_and_nothing_stays_replaced_outside_the_block(maker):
    before = dict(vars(maker))
    clock = PhaseClock()
    with clock.running():
        assert vars(maker)["create"] is not before["create"]
        assert isinstance(vars(maker)["prepare_fgraph"], staticmethod)
    assert dict(vars(maker)) == before
    maker.prepare_fgraph()
    assert seconds(clock) == {}


def test_several_builds_add_up(maker):
    clock = PhaseClock()
    for _ in range(2):
        with clock.running():
            maker().create()
    assert seconds(clock) == {"linking": (2, 2.0)}


def test_a_phase_that_cannot_be_seen_is_said_and_one_that_is_not_entered_is_none(
    maker, monkeypatch
):
    clock = PhaseClock()
    with clock.running():
        maker.prepare_fgraph()
    assert "numba: lowering" in clock.unwatched  # there is no numba
    assert {"rewriting", "linking", "importing", GARBAGE}.isdisjoint(clock.unwatched)
    assert clock.profile().unwatched == clock.unwatched


def test_a_phase_whose_function_is_imported_during_the_build_cannot_be_seen(maker, monkeypatch):
    """Another function that begins it was there: the one of the C backend."""
    early, late = ModuleType("pytensor.link.c.basic"), ModuleType("pytensor.link.numba.linker")
    early.CLinker = type("CLinker", (), {"code_gen": lambda self: None})
    late.NumbaLinker = type("NumbaLinker", (), {"fgraph_convert": lambda self: None})
    monkeypatch.setitem(sys.modules, early.__name__, early)
    monkeypatch.delitem(sys.modules, late.__name__, raising=False)
    for imports_late in (False, True):
        clock = PhaseClock()
        with clock.running():
            maker().create()
            if imports_late:
                monkeypatch.setitem(sys.modules, late.__name__, late)
        assert ("code generation" in clock.unwatched) is imports_late


def test_every_function_of_a_phase_is_of_one_phase_alone():
    functions = [one for each in phases.PHASES.values() for one in each]
    assert len(functions) == len(set(functions)) == len(phases.PHASE_OF)


class SequentialGraphRewriter(list):
    name = "all"


class EquilibriumGraphRewriter:
    name = "canonicalize"


class WalkingGraphRewriter:
    name = "walk"


class Local:
    def __init__(self, name):
        self.__name__ = name


def test_rewriters_are_read_from_what_a_sequence_returns():
    one, two, merge = Local("local_one"), Local("local_two"), Local("merge")
    equilibrium, walking = EquilibriumGraphRewriter(), WalkingGraphRewriter()
    inner = SequentialGraphRewriter([walking])
    outer = SequentialGraphRewriter([equilibrium, merge, inner])
    profile = (
        outer, [5.0, 0.5, 2.0], None, None, 3, 4,
        [
            (equilibrium, [1.0], [{one: 3}, {one: 1, two: 2}], None, None, None,
             {one: 2.5, two: 0.25}, None, {one: 7}),
            (0, 0.5, None),
            (inner, [2.0], None, None, 4, 4, [(walking, 6, 4, 4)]),
        ],
    )  # fmt: skip
    found = {}
    phases._add_rewriters(found, profile)
    assert {
        one.name: (one.seconds, one.applications, one.nodes_created) for one in found.values()
    } == {
        "local_one": (2.5, 4, 7),
        "local_two": (0.25, 2, 0),
        "merge": (0.5, None, None),
        "walk": (2.0, 6, None),
    }  # fmt: skip
    phases._add_rewriters(found, profile)
    assert found["local_one"].applications == 8


@pytest.mark.parametrize("profile", [None, (), (1, 2), ([1], [], 0, 0, 0, 0, [])])
def test_a_result_of_another_form_adds_nothing(profile):
    found = {}
    phases._add_rewriters(found, profile)
    assert found == {}


def test_waiting_for_values_is_a_phase_under_the_name_that_a_measured_process_has_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There the package is `benchmarks`. The suites ask the module for the function each time."""
    (location,) = phases.PHASES["waiting for values"]
    module, _, name = location.partition(":")
    stand_in = ModuleType(module)
    vars(stand_in)[name] = vars(backends)[name]
    monkeypatch.setitem(sys.modules, module, stand_in)
    assert name not in vars(bench)
    clock = PhaseClock()
    with clock.running():
        assert stand_in.as_arrays([1.0, 2.0]) == [1.0, 2.0]
    assert clock.entries == {"waiting for values": 1}
