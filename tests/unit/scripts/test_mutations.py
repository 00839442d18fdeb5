"""Small changes of a source: each is made once, and only where it is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scripts.mutants import reach, trials
from scripts.mutants.mutations import mutations
from scripts.mutants.reach import reached
from scripts.mutants.trials import Mutants, Tried

SOURCE = '''
import hashlib

def key(op, version):
    """Text of its own."""
    if op is None:
        raise ValueError("an op")
    print("only says something")
    return hashlib.sha256(f"{op} {version}".encode())

def other(op):
    return op
'''


def found(source: str = SOURCE, function: str = "key") -> dict[str, str]:
    return {one.what: one.source for one in mutations(source, lambda name: name == function)}


def test_a_key_loses_each_part_in_turn() -> None:
    made = found()
    assert "f'{op} '" in made["text without version"]
    assert "f' {version}'" in made["text without op"]


def test_a_test_is_turned_round_and_left_out() -> None:
    made = found()
    assert "if op is not None" in made["turned round: op is None"]
    assert {"if True: op is None", "if False: op is None"} <= made.keys()


def test_texts_messages_and_imports_stay() -> None:
    assert not [what for what in found() if "says" in what or "Text" in what or "an op" in what]


def test_only_wanted_functions_are_changed_and_no_change_is_made_twice() -> None:
    assert found(function="other").keys() == {"returns None: return op"}
    every = [one.source for one in mutations(SOURCE, lambda _: True)]
    assert len(every) == len(set(every))
    for source in every:
        compile(source, "mutant", "exec")


def test_a_tuple_a_sum_and_an_argument_lose_a_part() -> None:
    made = found("def key(a, b):\n    x = (a, b)\n    return f(a + b, c=x)\n")
    assert {"tuple without a", "tuple without b", "call without c=x"} <= made.keys()
    assert {"without the first part: a + b", "without the second part: a + b"} <= made.keys()


def test_a_mutant_is_reached_where_a_line_of_its_statement_runs() -> None:
    source = "def key(a):\n    if a:\n        b = f(\n            a, c=1\n        )\n    return 2\n"
    made = {one.what: one for one in mutations(source, lambda _: True)}
    assert made["call without c=1"].lines == (3, 5)
    ran = {"module": [2, 6]}
    assert not reached(ran, "module", made["call without c=1"])
    assert reached(ran, "module", made["if False: a"])
    assert not reached(ran, "another", made["if False: a"])


def test_of_an_implementation_only_the_statements_of_its_key_are_changed() -> None:
    source = (
        "def funcify(op):\n"
        "    code = f(op, a=1)\n"
        "    cache_version = 3\n"
        "    if code is None:\n"
        "        key = None\n"
        "    else:\n"
        "        key = sha256(f'{op} {cache_version}')\n"
        "    return code, key\n"
        "def op_cache_key(op):\n"
        "    return (op, 1, code)\n"
    )
    made = [one.name for one in mutations(source, lambda _: True, keys_only=True)]
    assert "funcify:7: text without op" in made
    assert "funcify:8: tuple without key" in made
    assert "op_cache_key:10: tuple without code" in made
    assert "funcify:3: left out: cache_version = 3" in made
    assert not [name for name in made if "4 for 3" in name], "another version is meant to differ"
    assert not [name for name in made if name.startswith(("funcify:2", "funcify:4"))]


def test_only_the_samples_that_run_a_mutant_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    (changed, *_) = mutations("def key(a):\n    return a\n", lambda _: True)
    taken = []

    def alarm(self: Mutants, where: Any, module: str, mutation: Any) -> str:
        taken.append(where)
        return ""

    monkeypatch.setattr(trials, "TRIES", {"numba": ("first", "second")})
    monkeypatch.setattr(trials, "TARGETS", {"m": ("numba", ("",))})
    monkeypatch.setattr(Mutants, "_alarm", alarm)
    monkeypatch.setattr(Mutants, "_tortured", lambda *_: "torture")
    nothing: Any = None

    def tried(*lines: reach.Lines) -> Tried:
        one = Mutants(nothing, nothing, Path(), {"numba": lines})
        return one.tried("m", changed)

    assert not tried({"m": [2]}, {}, {}).found
    assert taken == ["first"]
    assert tried({}, {"m": [2]}, {"m": [2]}).by == "torture"
    assert taken == ["first", "second"]
    assert not tried({}, {}, {"m": [1]}).reached
    assert taken == ["first", "second"]
