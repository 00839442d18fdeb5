from __future__ import annotations

from pathlib import Path

import pytest

from observatory.run.nightly import STEPS, Wishes, steps


def commands(wishes: Wishes) -> dict[str, str]:
    return {step.name: " ".join(step.command) for step in steps(wishes)}


EVERYTHING = Wishes(
    subjects=["newest"], feed=True, deliver="pymc-devs/pytensor", publish="results",
    link="https://example.org/",
)  # fmt: skip


def test_the_steps_come_in_their_order() -> None:
    names = [step.name.partition(" ")[0] for step in steps(EVERYTHING)]
    assert tuple(names) == STEPS


def test_each_step_is_a_command_that_a_person_would_type() -> None:
    assert commands(EVERYTHING) == {
        "measure newest": "run --subject newest --preset quick --results results",
        "canary": "canary newest --results results",
        "contracts": "contracts newest --results results",
        "alerts": "alerts --results results",
        "site": "dashboard --results results --out html",
        "feed": "alerts --results results --feed html/alerts.atom --link https://example.org/",
        "deliver": "deliver --results results --repo pymc-devs/pytensor "
        "--page https://example.org/",
        "publish": "publish results --repo . --branch results --remote origin --push",
    }  # fmt: skip


def test_what_nobody_asked_for_is_left_out() -> None:
    assert list(commands(Wishes(subjects=["newest"]))) == [
        "measure newest", "canary", "contracts", "alerts", "site",
    ]  # fmt: skip
    only = Wishes(subjects=["newest"], only=frozenset({"alerts", "publish"}), publish="results")
    assert list(commands(only)) == ["alerts", "publish"]


def test_commits_are_measured_once_and_the_last_is_guarded() -> None:
    commits = [f"pytensor @ git+file:///clone@{digit * 40}" for digit in "ab"]
    found = commands(Wishes(subjects=[], commits=commits, preset="history"))
    assert list(found)[:2] == ["measure aaaaaaaaaa", "measure bbbbbbbbbb"]
    assert found["measure aaaaaaaaaa"] == (
        f"run --subject {commits[0]} --preset history --results results --resume"
    )
    assert found["canary"] == f"canary {commits[1]} --results results"
    assert not any(step.resumable for step in steps(Wishes(subjects=[], commits=commits)))


def test_where_and_with_what_is_passed_on() -> None:
    wishes = Wishes(
        subjects=["3.3.7"], python="3.12", extras=["numba==0.66.0"], launches=["fork"],
        backends=["C", "NUMBA"], scenarios=["cold"], machine="ci", state=Path("state"),
        results=Path("r"),
    )  # fmt: skip
    found = commands(wishes)
    place = "--results r --with numba==0.66.0 --python 3.12 --state state"
    assert found["measure 3.3.7"] == (
        f"run --subject 3.3.7 --preset quick {place} --launch fork --machine ci "
        "--backend C --backend NUMBA --scenario cold"
    )
    assert found["canary"] == f"canary 3.3.7 {place} --launch fork --machine ci"
    assert found["contracts"] == (
        "contracts 3.3.7 numba==0.66.0 --results r --python 3.12 --state state"
    )


def test_without_a_remote_the_branch_of_the_clone_is_meant() -> None:
    found = commands(Wishes(subjects=["newest"], publish="results", remote=""))
    assert found["publish"] == "publish results --repo . --branch results"


@pytest.mark.parametrize("name", ["feed", "deliver"])
def test_what_is_told_needs_what_was_found(name: str) -> None:
    (step,) = (step for step in steps(EVERYTHING) if step.name == name)
    assert step.needs == ["alerts"]
