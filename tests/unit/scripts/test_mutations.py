"""Small changes of a source: each is made once, and only where it is wanted."""

from __future__ import annotations

from scripts.mutant_reach import reached
from scripts.mutations import mutations

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
