"""What counts as making a key, without PyTensor."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks.probes import key_cost
from observatory.run import interpreters

Names = dict[str, Any]


@pytest.fixture
def modules() -> tuple[Names, Names]:
    """Two modules. The second one has imported a function of the first."""
    first: Names = {}

    def hash_from_pickle_dump(value: object) -> str:
        return f"hash of {value}"

    def default_hash_key_from_props(op: object) -> str:
        found: str = first["hash_from_pickle_dump"](op)
        return found

    first |= {
        "hash_from_pickle_dump": hash_from_pickle_dump,
        "default_hash_key_from_props": default_hash_key_from_props,
        "other": lambda: "no key",
    }
    return first, {"hash_from_pickle_dump": hash_from_pickle_dump}


def events_of(modules: tuple[Names, Names], work: Callable[[], object]) -> list[str]:
    """What is told while ``work`` runs."""
    events: list[str] = []
    with key_cost._watching(modules, lambda: events.append("in"), lambda: events.append("out")):
        work()
    return events


def test_a_function_that_makes_a_key_is_watched_in_every_module_that_has_it(
    modules: tuple[Names, Names],
) -> None:
    first, second = modules

    def work() -> None:
        assert first["hash_from_pickle_dump"](1) == second["hash_from_pickle_dump"](1)
        first["other"]()

    assert events_of(modules, work) == ["in", "out"] * 2


def test_a_key_that_another_function_helps_to_make_is_one_key(modules: tuple[Names, Names]) -> None:
    first, _ = modules
    assert events_of(modules, lambda: first["default_hash_key_from_props"]("op")) == ["in", "out"]


def test_a_key_that_fails_ends_and_all_functions_are_themselves_again(
    modules: tuple[Names, Names],
) -> None:
    first, second = modules
    before = dict(first), dict(second)

    def fails() -> None:
        with pytest.raises(TypeError):
            first["hash_from_pickle_dump"]()

    found = events_of(modules, fails)
    assert found == ["in", "out"]
    assert (first, second) == before


def test_the_time_between_two_keys_is_not_theirs(
    modules: tuple[Names, Names], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter([1.0, 1.5, 10.0, 10.25])
    monkeypatch.setattr(key_cost.time, "thread_time", lambda: next(now))
    monkeypatch.setattr(key_cost, "_modules", lambda: modules)
    with key_cost.timing_keys() as cost:
        modules[0]["default_hash_key_from_props"]("op")
        modules[1]["hash_from_pickle_dump"]("constant")
    assert cost.seconds == pytest.approx(0.75)


_COUNTS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from observatory.benchmarks.probes import key_cost

def helper():
    pass

def hash_from_ndarray(value):
    helper()

def cache_key_for_constant(value):
    names["hash_from_ndarray"](value)

names = {"hash_from_ndarray": hash_from_ndarray, "cache_key_for_constant": cache_key_for_constant}
key_cost._modules = lambda: [names]
found = []
for number in (0, 1, 10):
    with key_cost.counting_key_calls() as cost:
        for _ in range(number):
            helper()
            names["cache_key_for_constant"](1)
    helper()
    found.append(cost.calls)
print(json.dumps(found))
"""


def test_all_that_a_key_calls_is_counted_and_nothing_of_the_probe() -> None:
    known = interpreters.find().interpreters
    if not known or tuple(map(int, known[0].minor.split("."))) < (3, 12):
        pytest.skip("sys.monitoring needs Python 3.12, and there is none")
    root = Path(__file__).resolve().parents[3]
    command = [known[0].path, "-c", _COUNTS, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [0, 3, 30]
