"""`observatory explore`: what it passes on, what it says, and how it ends."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from observatory.app.explored import Explored
from observatory.benchmarks.described import DescribedGraph, DescribedPair, Node, Source
from observatory.cli.commands import explore as module
from observatory.errors import Exit
from observatory.store.records.explored import Counterexample
from tests.command import observatory

X = Source("float64", (3,), ("0.75", "-1.5", "2.25"), (None,))
GRAPH = DescribedGraph((X,), (Node("neg", (0,)),), (1,))
PAIR = DescribedPair(GRAPH, GRAPH, "names", "names")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command asks for; it gets what the key "found" has."""
    seen: dict[str, Any] = {"found": []}

    def explore(subject: str, **options: Any) -> Explored:
        seen.update(options, subject=subject)
        return Explored("3.3.7", "NUMBA", 5, datetime(2026, 11, 23, tzinfo=UTC),
                        tried={"names": 30, "axis": 18}, absent=2, batches=2, seconds=90.0,
                        cpu_seconds=120.0, found=seen["found"])  # fmt: skip

    monkeypatch.setattr(module, "explore", explore)
    return seen


def counterexample(finding: str, **more: Any) -> Counterexample:
    given: dict[str, Any] = {"after": 7, "shrunk": True, **more}
    named = f"{finding}_neg"
    return Counterexample(name=named, finding=finding, note="[a] note", pair=PAIR, **given)


def test_the_options_are_passed_on(asked: dict[str, Any], tmp_path: Path) -> None:
    done = observatory("explore", "3.3.7", "--seed", "0", "--budget", "2m", "--pairs", "9",
                       "--backend", "C_VM", "--keep", tmp_path / "k", "--results", tmp_path / "r",
                       "--with", "numba==0.68.0", "--python", "3.13", "--timeout", "8",
                       "--state", tmp_path / "s")  # fmt: skip
    assert done.returncode == Exit.OK, done.stderr
    del asked["found"], asked["progress"]
    assert asked == {
        "subject": "3.3.7", "seed": 0, "budget": 120.0, "pairs": 9, "backend": "C_VM",
        "keep": tmp_path / "k", "results": tmp_path / "r", "requirements": ["numba==0.68.0"],
        "python": "3.13", "timeout": 8.0, "state": tmp_path / "s",
    }  # fmt: skip


def test_the_summary_has_kinds_rate_and_counterexamples(asked: dict[str, Any]) -> None:
    asked["found"] = [
        counterexample("collided", known=True), counterexample("unstable", shrunk=False),
    ]  # fmt: skip
    done = observatory("explore")
    assert asked["subject"] == "newest"
    assert asked["seed"] is None
    said = " ".join(done.stdout.split())
    assert "3.3.7, NUMBA, seed 5: 48 pairs in" in said
    assert "(24.0 pairs a minute of CPU), 2 not judged, 2 counterexamples, 1 of them new." in said
    assert "collided_neg (known): collided. [a] note" in said
    assert "unstable_neg (new, not made smaller): unstable. [a] note" in said
    assert "axis 18" in said.replace("│", "").replace("  ", " ")
    assert done.returncode == Exit.COUNTEREXAMPLES


@pytest.mark.parametrize(
    ("finding", "status"),
    [("collided", Exit.WRONG_RESULTS), ("wrong", Exit.WRONG_RESULTS),
     ("raised", Exit.COUNTEREXAMPLES)],
)  # fmt: skip
def test_the_status_says_what_is_new(finding: str, status: Exit, asked: dict[str, Any]) -> None:
    asked["found"] = [counterexample(finding)]
    assert observatory("explore").returncode == status


@pytest.mark.parametrize("words", [("--seed", "-1"), ("--pairs", "0"), ("--budget", "soon")])
def test_what_makes_no_sense_is_refused(words: tuple[str, str], asked: dict[str, Any]) -> None:
    assert observatory("explore", *words).returncode == Exit.USAGE
    assert "subject" not in asked
