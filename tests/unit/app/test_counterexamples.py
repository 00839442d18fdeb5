"""What becomes of a batch: with a judge in place of the processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from observatory.app import counterexamples
from observatory.app.counterexamples import bisected, examine
from observatory.app.explored import Explored, record
from observatory.benchmarks.described import DescribedGraph, DescribedPair, Node, Source, read_kept
from observatory.benchmarks.models.parts.pairs.described import kept
from observatory.errors import Exit
from observatory.run.looking import Finding, Found, Looked

X = Source("float64", (3,), ("0.75", "-1.5", "2.25"), (None,))


def graph(*ops: str) -> DescribedGraph:
    nodes = tuple(Node(op, (number,)) for number, op in enumerate(ops))
    return DescribedGraph((X,), nodes, (len(ops),))


def pair(first: DescribedGraph, second: DescribedGraph, **more: str) -> DescribedPair:
    return DescribedPair(first, second, **{"kind": "operation", **more})  # type: ignore[arg-type]


def ops(one: DescribedGraph) -> set[str]:
    return {node.op for node in one.nodes}


class FakeLooker:
    """A release that takes tanh for arctan, and has no neg; it counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def look(
        self,
        pairs: Mapping[str, DescribedPair],
        firsts: Mapping[str, DescribedPair] | None = None,
    ) -> Looked:
        self.asked += 1
        stored = {op for one in (firsts or pairs).values() for op in ops(one.first)}
        found = {name: self.judged(one, stored) for name, one in pairs.items()}
        return Looked({name: Found("") for name in firsts or pairs}, found)

    def judged(self, one: DescribedPair, stored: set[str]) -> Found:
        finding: Finding = ""
        if "neg" in ops(one.second):
            finding = "absent"
        elif "sqr" in ops(one.second):
            finding = "wrong"
        elif "tanh" in ops(one.second) and "arctan" in stored:
            finding = "collided"
        elif one.equal and "sigmoid" in ops(one.second):
            finding = "unstable"
        return Found(finding, "a note")


def explored() -> Explored:
    return Explored("3.3.8", "NUMBA", 7, datetime(2026, 11, 23, tzinfo=UTC))


def examined(tmp_path: Path, **drawn: DescribedPair) -> Explored:
    found = explored()
    examine(drawn, found, FakeLooker(), tmp_path)  # type: ignore[arg-type]
    return found


def test_a_collision_is_made_smaller_and_filed(tmp_path: Path) -> None:
    found = examined(tmp_path, one=pair(graph("abs", "arctan"), graph("abs", "tanh")))
    (counterexample,) = found.found
    assert counterexample.name == "collided_arctan_tanh"
    assert counterexample.shrunk
    stored = read_kept(tmp_path / "collided_arctan_tanh.json")
    assert (stored.subject, stored.seed, stored.finding) == ("3.3.8", 7, "collided")
    assert ops(stored.pair.first) == {"arctan"}
    assert found.exit_code == Exit.WRONG_RESULTS


def test_a_graph_that_another_one_of_its_batch_confuses_gets_it_as_partner(tmp_path: Path) -> None:
    harmless = {f"p{n}": pair(graph("abs"), graph("sigmoid")) for n in range(5)}
    found = examined(
        tmp_path,
        **harmless,
        other=pair(graph("arctan"), graph("abs")),
        one=pair(graph("abs"), graph("tanh")),
    )
    (counterexample,) = found.found
    assert ops(counterexample.pair.first) == {"arctan"}
    assert ops(counterexample.pair.second) == {"tanh"}
    assert counterexample.shrunk


def test_what_is_known_is_not_filed_again_and_is_no_failure(tmp_path: Path) -> None:
    drawn = {"one": pair(graph("arctan"), graph("tanh"))}
    examined(tmp_path, **drawn)
    (file,) = tmp_path.iterdir()
    file.write_text(before := file.read_text() + "\n")
    again = examined(tmp_path, **drawn)
    assert [one.known for one in again.found] == [True]
    assert again.exit_code == Exit.OK
    assert file.read_text() == before


def test_what_is_not_wrong_has_a_status_of_its_own(tmp_path: Path) -> None:
    equal = pair(graph("sigmoid"), graph("sigmoid"), kind="names", treatment="names")
    found = examined(tmp_path, one=equal)
    assert [one.finding for one in found.found] == ["unstable"]
    assert found.exit_code == Exit.COUNTEREXAMPLES
    assert [path.name for path in tmp_path.iterdir()] == ["unstable_sigmoid_names.json"]


def test_a_record_says_what_was_tried_and_found(tmp_path: Path) -> None:
    found = examined(tmp_path / "kept", one=pair(graph("arctan"), graph("tanh")))
    record(found, tmp_path)
    (path,) = (tmp_path / "explored").iterdir()
    written = json.loads(path.read_text())
    assert written["tried"] == {"operation": 1}
    assert (written["seed"], written["subject"], written["backend"]) == (7, "3.3.8", "NUMBA")
    (one,) = written["found"]
    assert (one["name"], one["finding"], one["after"]) == ("collided_arctan_tanh", "collided", 1)
    assert one["pair"]["first"]["nodes"][0]["op"] == "arctan"


def test_what_python_cannot_compute_is_counted_and_nothing_else(tmp_path: Path) -> None:
    found = examined(tmp_path, one=pair(graph("abs"), graph("neg")))
    assert (found.absent, found.found, found.exit_code) == (1, [], Exit.OK)


def test_only_the_first_counterexamples_are_made_smaller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counterexamples, "MOST_SHRUNK", 1)
    wrong = pair(graph("abs"), graph("sqr"))
    found = examined(tmp_path, one=wrong, two=replace(wrong, first=graph("tanh")))
    assert [one.shrunk for one in found.found] == [True, False]
    assert len(list(tmp_path.iterdir())) == 1


def test_kept_files_are_pairs_of_the_model_for_ever(tmp_path: Path) -> None:
    examined(tmp_path, one=pair(graph("arctan"), graph("tanh")))
    equal = pair(graph("sigmoid"), graph("sigmoid"), kind="names", treatment="names")
    examined(tmp_path, one=equal)
    found = kept(tmp_path)
    assert {name: one.equal for name, one in found.items()} == {
        "differ.grown.collided_arctan_tanh": False,
        "equal.grown.unstable_sigmoid_names": True,
    }


@pytest.mark.parametrize("guilty", range(7))
def test_halves_find_the_guilty_one(guilty: int) -> None:
    names = [str(n) for n in range(7)]
    assert bisected(names, lambda some: str(guilty) in some) == str(guilty)
    assert bisected(names, lambda _: False) is None
