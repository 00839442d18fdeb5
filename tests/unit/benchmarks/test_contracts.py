"""The contracts' machinery, without numba: verdicts, other processes, areas that die, sources."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from observatory.benchmarks import workers
from observatory.benchmarks.contracts import __main__ as command
from observatory.benchmarks.contracts.__main__ import AREAS, checked
from observatory.benchmarks.contracts.making import Area, Broken, Contract, Unavailable, promised
from observatory.benchmarks.contracts.names import uses_in
from observatory.benchmarks.contracts.uids import _uses
from observatory.benchmarks.process import Exit
from observatory.benchmarks.sandbox import Sandbox
from observatory.benchmarks.typed_json import to_json


def raising(error: BaseException) -> str:
    raise error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Broken("two numbers are one"), ("broken", "two numbers are one")),
        (Unavailable("not in 2.35.1"), ("unavailable", "not in 2.35.1")),
        (KeyError("uid"), ("failed", "KeyError: 'uid'")),
    ],
)
def test_how_a_check_ends_is_its_status(error: Exception, expected: tuple[str, str]) -> None:
    found = checked(Contract("area", "c", "it holds", "it is needed", lambda: raising(error)))
    assert (found.status, found.detail) == expected


def test_an_error_in_what_was_promised_breaks_the_contract() -> None:
    with (
        pytest.raises(Broken, match="it is not true that numba compiles: ValueError: no"),
        promised("numba compiles"),
    ):
        raise ValueError("no")


@pytest.mark.parametrize("error", [Unavailable("x"), TimeoutError("slow machine")])
def test_what_decides_nothing_is_not_taken_for_broken(error: Exception) -> None:
    with pytest.raises(type(error)), promised("numba compiles"):
        raise error


def test_every_contract_has_a_name_of_its_own_and_says_what_and_why() -> None:
    contracts = [one for area in AREAS for one in area.contracts]
    assert len({one.name for one in contracts}) == len(contracts)
    for one in contracts:
        assert one.holds, one.name
        assert one.needed, one.name
        assert not one.holds.endswith("."), one.name


def test_a_forked_child_answers() -> None:
    assert workers.forked(lambda: [os.getpid() != os.getppid(), 2**127]) == [True, 2**127]


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (lambda: raising(ValueError("uid")), "a forked child raised ValueError: uid"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "a forked child died of SIGKILL"),
    ],
)
def test_a_forked_child_that_gives_no_answer_says_how_it_ended(ending, said) -> None:
    with pytest.raises(workers.WorkerDied, match=said):
        workers.forked(ending)


def test_forked_children_run_side_by_side() -> None:
    reading, writing = os.pipe()
    waiting = workers.start(lambda: os.read(reading, 1).decode())
    assert not waiting.ended()
    workers.forked(lambda: os.write(writing, b"x"))
    assert waiting.answer() == "x"


def test_a_fresh_process_has_the_hash_seed_that_is_asked_for() -> None:
    assert workers.fresh(os.getenv, "PYTHONHASHSEED", hash_seed=7) == "7"


NAMES = ("one", "two", "three")
AREA = Area("area", [Contract("area", name, "h", "n", lambda: "seen") for name in NAMES])


@pytest.fixture
def check_area(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Checks AREA with a stand-in for its process, which may die: {name: what it does}."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    box = Sandbox.make()

    def check(fates: dict[str, str]) -> dict[str, tuple[str, str]]:
        def exited(code: int, timed_out: bool = False, *stderr: str) -> Exit:
            return Exit(code, timed_out, stderr, 0.0, 1.0, 0)

        def run(box: Sandbox, report: Path, names: list[str], timeout: float) -> Exit:
            for contract in AREA.contracts:
                name = contract.name
                if name not in names:
                    continue
                if fates.get(name) == "never begins":
                    return exited(1, False, "ImportError: no numba")
                with report.open("a") as stream:
                    if fates.get(name) == "crashes":
                        stream.write('{"name": "tor')
                        return exited(-signal.SIGSEGV)
                    if fates.get(name) == "hangs":
                        return exited(-signal.SIGKILL, True)
                    stream.write(to_json(contract.record("holds", "seen")) + "\n")
            return exited(0)

        monkeypatch.setattr(command, "_run", run)
        found = command.check_area(box, AREA, set(NAMES), 5.0)
        assert [(one.area, one.name) for one in found] == [("area", name) for name in NAMES]
        return {one.name: (one.status, one.detail) for one in found}

    yield check
    box.remove()


def test_the_contracts_that_a_process_checked_are_all_recorded_in_order(check_area) -> None:
    assert set(check_area({}).values()) == {("holds", "seen")}


def test_a_crash_costs_only_the_contract_that_it_happened_in(check_area) -> None:
    found = check_area({"two": "crashes"})
    assert found["one"] == found["three"] == ("holds", "seen")
    assert found["two"] == ("failed", "the process that checked it died of SIGSEGV")


def test_several_crashes_cost_one_contract_each(check_area) -> None:
    found = check_area({"one": "crashes", "three": "crashes"})
    assert [status for status, _ in found.values()] == ["failed", "holds", "failed"]


def test_a_process_that_cannot_begin_costs_every_contract_and_says_why(check_area) -> None:
    found = check_area({"one": "never begins", "two": "never begins", "three": "never begins"})
    assert {status for status, _ in found.values()} == {"failed"}
    assert "exit code 1: ImportError: no numba" in found["one"][1]


def test_an_area_that_hangs_keeps_what_it_had_checked(check_area) -> None:
    found = check_area({"two": "hangs"})
    assert found["one"] == ("holds", "seen")
    assert (
        found["two"] == found["three"] == ("failed", "not checked: its area took longer than 5 s")
    )


def paths(text: str) -> dict[str, tuple[int, tuple[str, ...]] | None]:
    return {use.path: use.call for use in uses_in(text, "x.py")}


def test_names_are_followed_through_imports_and_attributes() -> None:
    found = paths(
        "import numba.np.unsafe.ndarray as nd\n"
        "from numba.core import cgutils as cg\n"
        "def f(b):\n"
        "    from numba.core.caching import CacheImpl\n"
        "    CacheImpl._locator_classes.insert(0, b)\n"
        "    return cg.alloca_once(b, 1, name='x'), nd.to_fixed_tuple, b.core.unknown\n"
    )
    assert found["numba.core.cgutils.alloca_once"] == (2, ("name",))
    assert found["numba.np.unsafe.ndarray.to_fixed_tuple"] is None
    assert "numba.core.caching.CacheImpl._locator_classes.insert" in found
    assert not any("unknown" in path for path in found)


def test_arguments_that_cannot_be_counted_are_said_to_be_open() -> None:
    (use,) = [
        use
        for use in uses_in("from numba.core import cgutils\ncgutils.pack(*x, y)", "x.py")
        if use.call
    ]
    assert use.call == (1, ())
    assert not use.complete


@pytest.mark.parametrize(
    ("line", "is_next"),
    [
        ("uid = next(cls._unique_ids)", True),
        ("uid = copy(cls._unique_ids)", False),
        ("uid = next(cls._unique_ids, None)", True),
        ("uid = getattr(cls, '_unique_ids')", False),
        ("ids = iter(FunctionIdentity._unique_ids)", False),
    ],
)
def test_every_use_of_the_counter_but_next_is_seen(line: str, is_next: bool) -> None:
    import ast

    assert [found for _, found in _uses(ast.parse(line))] == [is_next]


def test_the_definition_of_the_counter_is_no_use_of_it() -> None:
    import ast

    assert list(_uses(ast.parse("class F:\n    _unique_ids = itertools.count(1)"))) == []
