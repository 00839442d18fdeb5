"""`observatory census`: what it passes on, what it says, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from observatory.app.census import MODELS, Census
from observatory.app.session import Session
from observatory.benchmarks.catalogue import MEMBERS
from observatory.cli.commands import census as module
from observatory.errors import Exit
from observatory.run.subjects import Subjects
from observatory.store.reading.fates import Fate
from observatory.store.records.subject import Subject
from tests.command import observatory
from tests.factories import subject

PAIR = "differ.size.dirichlet"


class World:
    """What the command asks for, and what it gets: a census for each subject and backend."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}
        self.fates: dict[str, str] = {}
        self.failing: tuple[str, ...] = ()

    def parse_all(self, _: Any, texts: list[str], extras: Any, python: str | None) -> list[Subject]:
        self.asked |= {"texts": list(texts), "extras": tuple(extras), "python": python}
        return [subject(label) for label in texts]

    def census(
        self, session: Session, subjects: list[Subject], graphs: dict[str, str],
        backends: list[str], flags: str | None,
    ) -> Iterator[Census]:  # fmt: skip
        self.asked |= {"graphs": graphs, "backends": list(backends), "flags": flags,
                       "timeout": session.timeout}  # fmt: skip
        for one in subjects:
            for backend in backends:
                fate = Fate(PAIR, self.fates.get(one.label, "right"))
                failures = self.failing if one is subjects[-1] else ()
                yield Census(one.label, backend, {PAIR: fate}, {}, failures)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(module, "census", made.census)
    monkeypatch.setattr(Subjects, "parse_all", lambda *words: made.parse_all(*words))
    return made


def test_the_list_has_every_graph_and_builds_none(world: World) -> None:
    done = observatory("census", "--list")
    assert done.stdout.split() == [name for model in MODELS for name in MEMBERS[model]]
    assert {"linalg.cholesky", PAIR, "nodes.10"} <= {*done.stdout.split()}
    assert done.returncode == Exit.OK
    assert world.asked == {}


def test_without_a_graph_it_says_how_to_name_one(world: World) -> None:
    done = observatory("census", "3.3.7")
    assert done.returncode == Exit.USAGE
    assert "--graph 'differ.size.*'" in " ".join(done.stderr.split())
    assert world.asked == {}


def test_what_is_asked_for_is_passed_on(world: World) -> None:
    words = ["--graph", PAIR, "--backend", "C_VM", "--backend", "NUMBA",
             "--flags", "floatX=float32", "--with", "numba==0.68.0", "--python", "3.13",
             "--timeout", "9"]  # fmt: skip
    done = observatory("census", "3.3.6", "3.3.7", *words)
    assert done.returncode == Exit.OK, done.stderr
    assert world.asked == {
        "texts": ["3.3.6", "3.3.7"], "extras": ("numba==0.68.0",), "python": "3.13",
        "graphs": {PAIR: "keys"}, "backends": ["C_VM", "NUMBA"], "flags": "floatX=float32",
        "timeout": 9.0,
    }  # fmt: skip


def test_the_newest_release_and_numba_are_meant_if_none_is_named(world: World) -> None:
    observatory("census", "--graph", PAIR)
    assert (world.asked["texts"], world.asked["backends"]) == (["newest"], ["NUMBA"])
    assert world.asked["flags"] is None


def test_a_table_has_a_column_for_each_subject(world: World) -> None:
    world.fates = {"3.3.6": "collided"}
    done = observatory("census", "3.3.6", "3.3.7", "--graph", PAIR)
    row = next(line for line in done.stdout.splitlines() if PAIR in line)
    assert row.split()[-2:] == ["COLLIDED", "right"]
    assert done.returncode == Exit.WRONG_RESULTS


def test_a_backend_has_a_table_of_its_own(world: World) -> None:
    done = observatory(
        "census", "3.3.7", "--graph", PAIR, "--backend", "C_VM", "--backend", "NUMBA"
    )
    assert sum(PAIR in line for line in done.stdout.splitlines()) == 2


def test_a_failure_is_told_and_wrong_numbers_come_first(world: World) -> None:
    world.failing = ("keys pairs_first NUMBA spawn: [late]",)
    done = observatory("census", "3.3.6", "3.3.7", "--graph", PAIR)
    assert "3.3.7: keys pairs_first NUMBA spawn: [late]" in " ".join(done.stdout.split())
    assert done.returncode == Exit.SAMPLE_FAILED
    world.fates = {"3.3.6": "wrong"}
    done = observatory("census", "3.3.6", "3.3.7", "--graph", PAIR)
    assert done.returncode == Exit.WRONG_RESULTS
