from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from observatory.errors import Exit
from observatory.run import nightly as module
from observatory.run.night_steps import STEPS, Wishes, steps
from observatory.run.nightly import Nightly, command_of, one_at_a_time
from observatory.store.journal import night as record
from observatory.store.journal.night import Night, NightStep
from tests.factories import RUN, journal, sample

NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)


class Stage:
    """Where commands are acted: what was started, and with which status each ends."""

    def __init__(self, tmp_path: Path, **statuses: int) -> None:
        self.started: list[str] = []
        self.said: list[str] = []
        self.statuses = statuses
        self.now = NOW
        self.results = tmp_path / "results"
        self.results.mkdir()
        self.directory = tmp_path / "nights"
        self.nightly = Nightly(
            self.directory, self.start, self.said.append, lambda: self.now, self.wait
        )

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def start(self, command: Sequence[str]) -> int:
        self.started.append(" ".join(command))
        return self.statuses.get(command[0], 0)

    def night(self, *steps: NightStep) -> Night:
        return Night(
            schema="observatory/night/1", id="20261121T020000Z", asked=[],
            results=str(self.results), started_at=NOW, steps=list(steps),
        )  # fmt: skip


def step(name: str, **changes: object) -> NightStep:
    return NightStep(name=name, command=[name]).model_copy(update=changes)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_every_step_is_done_and_recorded(stage: Stage) -> None:
    night = stage.nightly.carry_out(stage.night(step("run"), step("alerts"), step("dashboard")))
    assert stage.started == ["run", "alerts", "dashboard"]
    assert night.over
    assert record.load(stage.directory / "20261121T020000Z.json") == night


def test_a_step_that_fails_does_not_hide_the_next(stage: Stage) -> None:
    stage.statuses = {"run": 3, "alerts": -9}
    night = stage.nightly.carry_out(stage.night(step("run"), step("alerts"), step("dashboard")))
    assert [one.status for one in night.steps] == [3, -9, 0]


def test_what_needs_a_step_that_failed_is_not_done(stage: Stage) -> None:
    stage.statuses = {"alerts": 2}
    deliver = step("deliver", needs=["alerts"])
    night = stage.nightly.carry_out(stage.night(step("alerts"), deliver, step("publish")))
    assert stage.started == ["alerts", "publish"]
    assert night.steps[1].skipped == "because alerts failed"
    assert night.over


@pytest.mark.parametrize("status", [0, 9])
def test_alerts_that_are_open_are_told(stage: Stage, status: int) -> None:
    stage.statuses = {"alerts": status}
    stage.nightly.carry_out(stage.night(step("alerts"), step("deliver", needs=["alerts"])))
    assert stage.started == ["alerts", "deliver"]


def test_without_results_nothing_can_be_shown(stage: Stage) -> None:
    stage.results.rmdir()
    night = stage.nightly.carry_out(stage.night(step("canary"), step("site")))
    assert stage.started == ["canary"]
    assert "there is no results directory" in str(night.steps[1].skipped)


def test_what_was_done_before_a_kill_is_not_done_again(stage: Stage) -> None:
    begun = stage.night(step("run", status=3, tries=1), step("alerts", tries=1), step("dashboard"))
    night = stage.nightly.carry_out(begun)
    assert stage.started == ["alerts", "dashboard"]
    assert [one.tries for one in night.steps] == [1, 2, 1]


def test_an_interrupted_step_is_left_for_the_next_time(stage: Stage) -> None:
    stage.statuses = {"run": Exit.INTERRUPTED}
    night = stage.nightly.carry_out(stage.night(step("run"), step("alerts")))
    assert stage.started == ["run"]
    assert not night.over
    assert record.load(stage.directory / "20261121T020000Z.json").steps[0].tries == 1


def test_measuring_goes_on_only_with_what_this_night_has_taken(stage: Stage) -> None:
    journal(stage.results, [sample()], RUN)
    measure = step("run", resumable=True)
    stage.statuses = {"run": Exit.INTERRUPTED}
    night = stage.nightly.carry_out(stage.night(measure))
    assert night.steps[0].before == RUN
    night = stage.nightly.carry_out(night)
    journal(stage.results, [sample()], "20261121T020001Z")
    stage.nightly.carry_out(night)
    assert stage.started == ["run", "run", "run --resume"]


def test_a_night_begins_in_another_second_than_the_newest_run(stage: Stage) -> None:
    journal(stage.results, [sample()], NOW.strftime("%Y%m%dT%H%M%SZ"))
    night = stage.nightly.carry_out(stage.night(step("run", resumable=True)))
    assert night.steps[0].began is not None
    assert night.steps[0].began >= NOW + timedelta(seconds=1)


def test_a_run_of_tomorrow_keeps_nobody_waiting(stage: Stage) -> None:
    journal(stage.results, [sample()], "20991231T000000Z")
    stage.nightly.carry_out(stage.night(step("run", resumable=True)))
    assert stage.now == NOW


def test_one_night_waits_for_another(tmp_path: Path) -> None:
    order = []

    def second() -> None:
        with one_at_a_time(tmp_path, lambda _: order.append("waits")):
            order.append("second")

    with one_at_a_time(tmp_path, order.append):
        thread = threading.Thread(target=second)
        thread.start()
        while not order:
            time.sleep(0.01)
        order.append("first")
    thread.join()
    assert order == ["waits", "first", "second"]


def test_the_lock_is_held_as_long_as_a_step_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over, ended = tmp_path / "over", tmp_path / "ended"
    lives = f"(while [ ! -e {over} ]; do sleep 0.01; done; touch {ended}) & exit 7"
    monkeypatch.setattr(module, "PROGRAM", ("sh", "-c", lives))
    with one_at_a_time(tmp_path, print) as lock:
        assert command_of([], lock) == 7
    said: list[str] = []

    def waits(text: str) -> None:
        said.append(text)
        over.touch()

    with one_at_a_time(tmp_path, waits):
        assert ended.exists()
    assert "is running" in said[0]


class _Stopped(BaseException):
    pass


def test_what_stops_a_night_stops_its_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, told = tmp_path / "there", tmp_path / "told"
    script = (
        f"trap 'echo stopped > {told}; exit 130' INT; touch {there}; while :; do sleep 0.01; done"
    )
    monkeypatch.setattr(module, "PROGRAM", ("sh", "-c", script))

    def stop(*_: object) -> None:
        raise _Stopped

    def stopping() -> None:
        while not there.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        threading.Thread(target=stopping).start()
        with one_at_a_time(tmp_path, print) as lock, pytest.raises(_Stopped):
            command_of([], lock)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert told.read_text() == "stopped\n"


def test_what_stops_a_night_while_a_step_is_being_started_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def stop(*_: object) -> None:
        raise _Stopped

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)  # type: ignore[call-overload]
            started.append(self)
            signal.raise_signal(signal.SIGUSR1)

    monkeypatch.setattr(module.subprocess, "Popen", Interrupted)
    monkeypatch.setattr(module, "PROGRAM", ("sleep", "3600"))
    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with one_at_a_time(tmp_path, print) as lock, pytest.raises(_Stopped):
            command_of([], lock)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert started[0].returncode == -signal.SIGINT


def commands(wishes: Wishes) -> dict[str, str]:
    return {step.name: " ".join(step.command) for step in steps(wishes)}


EVERYTHING = Wishes(
    subjects=["newest"], feed=True, deliver="pymc-devs/pytensor", publish="results",
    url="https://example.org/", census_budget="90m", explore_budget="10m",
)  # fmt: skip


def test_the_steps_come_in_their_order() -> None:
    names = [step.name.partition(" ")[0] for step in steps(EVERYTHING)]
    assert tuple(names) == STEPS


def test_each_step_is_a_command_that_a_person_would_type() -> None:
    assert commands(EVERYTHING) == {
        "sentinel": "sentinel --results results",
        "measure newest": "run --subject newest --preset night --results results",
        "canary": "canary newest --results results",
        "contracts": "contracts newest --results results",
        "work newest": "run --subject newest --preset work --budget 15m --results results",
        "census": "run --subject newest --preset census --budget 90m --results results",
        "explore": "explore newest --budget 10m --results results",
        "tomorrow": "tomorrow newest --census-budget 90m --results results",
        "torture newest": "torture newest --new --budget 20m --results results",
        "alerts": "alerts --results results",
        "search": "bisect --open --budget 30m --results results",
        "site": "dashboard --results results --out html --triage-url "
        "https://github.com/pymc-devs/pytensor/new/results/triage --url https://example.org/",
        "feed": "alerts --results results --feed html/alerts.atom --url https://example.org/",
        "deliver": "deliver --results results --repo pymc-devs/pytensor "
        "--url https://example.org/",
        "publish": "publish results --repo . --branch results --remote origin --push",
    }  # fmt: skip


def test_what_nobody_asked_for_is_left_out() -> None:
    assert list(commands(Wishes(subjects=["newest"]))) == [
        "sentinel", "measure newest", "canary", "contracts", "tomorrow", "torture newest",
        "work newest", "alerts", "search", "site",
    ]  # fmt: skip
    only = Wishes(subjects=["newest"], only=frozenset({"alerts", "publish"}), publish="results")
    assert list(commands(only)) == ["alerts", "publish"]


def test_culprits_are_searched_along_the_clone_as_the_night_measures() -> None:
    wishes = Wishes(
        subjects=[], clone=Path("pytensor"), search_budget="5m", machine="runner", python="3.13",
        extras=["pymc"], state=Path("kept"), only=frozenset({"search"}),
    )  # fmt: skip
    assert commands(wishes) == {
        "search": "bisect --open --budget 5m --results results --repo pytensor --with pymc "
        "--python 3.13 --state kept --machine runner"
    }
    assert steps(wishes)[0].needs == ["alerts"]


def test_commits_are_measured_once_and_the_last_is_guarded() -> None:
    commits = [f"pytensor @ git+file:///clone@{digit * 40}" for digit in "ab"]
    found = commands(Wishes(subjects=[], commits=commits, preset="history"))
    assert list(found)[1:3] == ["measure aaaaaaaaaa", "measure bbbbbbbbbb"]
    assert found["measure aaaaaaaaaa"] == (
        f"run --subject {commits[0]} --preset history --results results --resume"
    )
    assert found["canary"] == f"canary {commits[1]} --results results"
    assert not any(step.resumable for step in steps(Wishes(subjects=[], commits=commits)))


def test_no_subject_is_measured_longer_than_its_time() -> None:
    found = commands(Wishes(
        subjects=["3.3.7"], commits=["pytensor @ git+file:///clone@" + 40 * "a"],
        measure_budget="25m", preset="history",
    ))  # fmt: skip
    for name in ("measure 3.3.7", "measure aaaaaaaaaa"):
        assert "--preset history --budget 25m --results results" in found[name]
    assert "--budget 15m" in found["work aaaaaaaaaa"]


def test_work_comes_after_all_checks_and_the_newest_commit_first() -> None:
    commits = [f"pytensor @ git+file:///clone@{digit * 40}" for digit in "ab"]
    found = commands(Wishes(subjects=["3.3.7"], commits=commits, work_budget="5m"))
    assert list(found)[7:11] == [
        "torture 3.3.7", "work 3.3.7", "work bbbbbbbbbb", "work aaaaaaaaaa",
    ]  # fmt: skip
    assert found["work aaaaaaaaaa"] == (
        f"run --subject {commits[0]} --preset work --budget 5m --results results --resume"
    )


def test_the_caches_of_releases_are_put_under_faults_and_those_of_commits_are_not() -> None:
    commits = [f"pytensor @ git+file:///clone@{'a' * 40}"]
    wishes = Wishes(
        subjects=["3.3.7"], commits=commits, only=frozenset({"torture"}), torture_budget="5m",
        stored=Path("stored"), machine="ci", python="3.13",
    )  # fmt: skip
    assert commands(wishes) == {
        "torture 3.3.7": "torture 3.3.7 --new --budget 5m --stored stored --results results "
        "--python 3.13 --machine ci"
    }


def test_the_census_is_taken_of_the_last_subject_if_a_time_is_given() -> None:
    assert "census" not in commands(Wishes(subjects=["3.3.7"]))
    wishes = Wishes(subjects=["3.3.6", "3.3.7"], census_budget="90m", explore_budget="10m",
                    backends=["NUMBA", "C_VM"], launches=["fork"], machine="ci")  # fmt: skip
    found = commands(wishes)
    # The census has no start method to choose, and a generated pair is for one backend.
    assert found["census"] == (
        "run --subject 3.3.7 --preset census --budget 90m --results results --machine ci "
        "--backend NUMBA --backend C_VM"
    )
    assert found["explore C_VM"] == "explore 3.3.7 --budget 10m --results results --backend C_VM"
    assert "explore NUMBA" in found
    (census,) = (step for step in steps(wishes) if step.name == "census")
    assert census.resumable


def test_settings_are_crossed_only_if_asked_and_recorded_under_the_name_of_the_machine() -> None:
    """Hosted machines have a new name each night: under their own, no two would be compared."""
    asked = Wishes(subjects=(), commits=["a@1", "b@2"], machine="shared")
    assert "canary settings" not in commands(asked)
    found = commands(replace(asked, settings=True))
    assert found["canary settings"] == "canary b@2 --settings --results results --machine shared"


def test_generated_pairs_are_explored_only_if_a_time_is_given() -> None:
    assert "explore" not in commands(Wishes(subjects=["3.3.7"]))
    found = commands(Wishes(subjects=["3.3.6", "3.3.7"], explore_budget="10m"))
    assert found["explore"] == "explore 3.3.7 --budget 10m --results results"
    names = list(found)
    assert names.index("contracts") < names.index("explore") < names.index("work 3.3.6")


def test_why_no_work_is_counted_is_said_once_for_all_subjects(stage: Stage) -> None:
    why = "nothing counts instructions here"
    planned = steps(Wishes(subjects=["3.3.6", "3.3.7"], no_work=why, only=frozenset({"work"})))
    assert [(step.name, step.skipped) for step in planned] == [("work", f"because {why}")]
    assert stage.nightly.carry_out(stage.night(*planned)).over
    assert stage.started == []


@pytest.mark.parametrize(
    ("name", "narrowed"),
    [
        ("census", {"backends": ["C"], "census_budget": "10m"}),
        ("explore C", {"backends": ["C"], "explore_budget": "10m"}),
        ("work", {"scenarios": ["cold"]}),
    ],
)
def test_a_step_of_which_the_options_leave_nothing_is_skipped_with_the_reason(
    name: str, narrowed: dict[str, Any]
) -> None:
    (step,) = (one for one in steps(Wishes(subjects=["3.3.7"], **narrowed)) if one.name == name)
    assert step.command == []
    assert step.skipped
    assert step.skipped.startswith("because ")


def test_a_step_of_which_the_options_leave_something_is_taken() -> None:
    found = commands(
        Wishes(subjects=["3.3.7"], backends=["C", "NUMBA"], census_budget="10m",
               explore_budget="5m")
    )  # fmt: skip
    assert "--backend C --backend NUMBA" in found["census"]
    assert found["explore NUMBA"]
    assert found["explore C"] == ""


def test_where_and_with_what_is_passed_on() -> None:
    wishes = Wishes(
        subjects=["3.3.7"], python="3.12", extras=["numba==0.66.0"], launches=["fork"],
        backends=["C", "NUMBA"], scenarios=["cold"], machine="ci", state=Path("state"),
        results=Path("r"), settings=True,
    )  # fmt: skip
    found = commands(wishes)
    place = "--results r --with numba==0.66.0 --python 3.12 --state state"
    assert found["measure 3.3.7"] == (
        f"run --subject 3.3.7 --preset night {place} --launch fork --machine ci "
        "--backend C --backend NUMBA --scenario cold"
    )
    assert found["canary"] == f"canary 3.3.7 {place} --launch fork --machine ci"
    # Settings are checked in the same cells always.
    assert found["canary settings"] == f"canary 3.3.7 --settings {place} --machine ci"
    assert found["contracts"] == (
        "contracts 3.3.7 numba==0.66.0 --results r --python 3.12 --state state"
    )


def test_without_a_remote_the_branch_of_the_clone_is_meant() -> None:
    found = commands(Wishes(subjects=["newest"], publish="results", remote=""))
    assert found["publish"] == "publish results --repo . --branch results"


def test_results_go_to_an_object_store_if_an_address_is_given() -> None:
    to = "s3://bucket/results"
    found = commands(Wishes(subjects=["newest"], publish=to, deliver="pymc-devs/pytensor"))
    assert found["publish"] == f"publish results --to {to}"
    assert "--triage-url" not in found["site"]


def test_a_part_of_the_plan_is_measured_and_the_first_times_the_machine() -> None:
    first = commands(Wishes(subjects=["newest"], shard="1/3"))
    assert first["measure newest"].endswith("--shard 1/3")
    assert "--shard" not in first["canary"] + first["work newest"]
    assert "sentinel" in first
    kept = commands(Wishes(subjects=["newest"], shard="1/3", stored=Path("stored"), machine="ci"))
    assert kept["sentinel"] == "sentinel --results results --stored stored --machine ci"
    assert "sentinel" not in commands(Wishes(subjects=["newest"], shard="2/3"))


@pytest.mark.parametrize("name", ["feed", "deliver"])
def test_what_is_told_needs_what_was_found(name: str) -> None:
    (step,) = (step for step in steps(EVERYTHING) if step.name == name)
    assert step.needs == ["alerts"]
