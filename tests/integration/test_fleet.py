"""A run on a cluster: the same values as without one, and nothing lost when a part of it dies.

The samples are stand-ins (`tests/fake_sampling.py`), the cluster is real.
`scripts.scale.fleet_kills` makes many more kills.
"""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pandas as pd
import pytest
from distributed import Client, Worker

from observatory.app.cluster import on_cluster
from observatory.app.results import frame
from observatory.benchmarks.catalogue import Cell
from observatory.errors import Exit
from observatory.fleet.opening import opened
from observatory.run.environments import Environment
from observatory.run.interleave import SIDES, Interleaving, SideName
from observatory.run.schedule import TakesSamples
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout, searches
from observatory.store.records.comparison import Comparison
from tests.by_value import values
from tests.factories import header
from tests.fake_sampling import KILLS
from tests.fleet_client import BESIDE, counted, environment, run_beside, session, tasks
from tests.fleet_cluster import (
    TAKEN,
    Cluster,
    cluster,
    kill,
    left_running,
    missing_and_doubled,
    wait_for,
)
from tests.integration.conftest import lend
from tests.integration.test_kills import COMMANDS, STATUS, Commands, zygote  # noqa: F401

pytestmark = pytest.mark.integration
CPUS = len(os.sched_getaffinity(0))
LOCAL = f"local:{min(2, CPUS)}"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster takes longer to start than most tests need it for; `made` starts it."""
    made = Cluster(tmp_path_factory.mktemp("cluster"), min(2, CPUS))
    yield made
    ended(made)


@pytest.fixture
def made(shared: Cluster) -> Cluster:
    """The cluster of several tests: whole, idle, and without a sample that was taken."""
    shared.make_whole()
    return shared


@pytest.fixture(autouse=True)
def _all_cpus(request: pytest.FixtureRequest, shared: Cluster) -> None:
    """The workers of the shared cluster own the CPUs, which another cluster needs: it ends here."""
    if "made" not in request.fixturenames:
        ended(shared)


def ended(made: Cluster) -> None:
    """End a cluster, of which nothing may be left."""
    made.stop()
    until = time.monotonic() + 30
    while (left := made.left_running()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("struck", ["worker", "client"])
def test_whatever_dies_no_sample_is_lost_or_doubled(
    made: Cluster, tmp_path: Path, struck: str, beside: bool
) -> None:
    where, address = tmp_path / "run", ("--cluster", made.address, *["--beside"] * beside)
    client = made.client(where, *address)
    wait_for(3, made.taken)
    if struck == "worker":
        kill(made.worker_of(made.busy(0)))
        assert client.wait(120) == 0
        log = (tmp_path / "run.log").read_text()
        assert "workers or connections were lost: 1 sample begun again" in log
    else:
        kill(client.pid)
        client.wait()
        assert made.client(where, *address, "--resume").wait(120) == 0
    wanted = len(BESIDE) * counted() if beside else tasks()
    lost, doubled = missing_and_doubled(where / "results", wanted)
    assert not lost
    assert not doubled
    until = time.monotonic() + 30
    while (left := made.orphans()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left


@pytest.mark.parametrize("struck", ["scheduler", "client"])
def test_a_stopped_scheduler_or_client_costs_nothing_but_time(
    made: Cluster, tmp_path: Path, struck: str
) -> None:
    client = made.client(tmp_path / "run", "--cluster", made.address)
    wait_for(3, made.taken)
    assert made.scheduler is not None
    process = made.scheduler.pid if struck == "scheduler" else client.pid
    kill(process, signal.SIGSTOP)
    while made.taking():  # the workers end what they have begun, and are given nothing else
        time.sleep(0.1)
    kill(process, signal.SIGCONT)
    assert client.wait(240) == 0
    assert missing_and_doubled(tmp_path / "run" / "results", tasks()) == ({}, {})
    assert "were lost" not in (tmp_path / "run.log").read_text()


@pytest.mark.parametrize("struck", ["worker", "client"])
def test_a_pair_is_recorded_whole_or_not_at_all_whatever_dies(
    made: Cluster, tmp_path: Path, struck: str
) -> None:
    where, pairs = tmp_path / "run", ("--cluster", made.address, "--pairs", "2")
    client = made.client(where, *pairs)
    while not list(made.taken.glob("*-timing-*")):
        assert client.poll() is None
        time.sleep(0.02)
    if struck == "worker":
        kill(made.worker_of(made.busy(0)))
        assert client.wait(240) == 0
    else:
        kill(client.pid)
        client.wait()
        assert made.client(where, *pairs).wait(240) == 0
    for side in SIDES:
        (path,) = layout.journals(where / "results" / side)
        samples = [one.sample for one in read_journal(path).entries]
        assert [one.status for one in samples] == ["ok"] * len(samples)
        assert sum(one.measure == "timing" for one in samples) == 2
    assert not list((where / "state" / "fleet" / "spool").iterdir())


def test_both_sides_of_a_comparison_are_taken_from_caches_of_their_own(
    made: Cluster, tmp_path: Path
) -> None:
    chosen = tuple(dict.fromkeys(task.cell for task in tasks() if task.cell.launch == "spawn"))
    taken: list[tuple[str, str, str]] = []
    own_session = session(tmp_path)
    with on_cluster(own_session, made.address) as own, ExitStack() as held:
        assert own.fleet is not None
        placing = own.fleet.placing()
        executors: dict[SideName, TakesSamples] = {
            side: held.enter_context(
                own.taking(
                    tmp_path / side, header().subject, environment(tmp_path / "env"),
                    own.state / "caches" / side, placing=placing,
                )
            )
            for side in SIDES
        }  # fmt: skip
        interleaving = Interleaving(
            executors, lambda _: None,
            lambda job, one: taken.append((job.side, str(one.cell), one.measure)),
            own.workers, random.Random(0),
        )  # fmt: skip
        assert interleaving.count(chosen)
        assert interleaving.time(chosen, 1, math.inf)
    for side in SIDES:
        found = [one[1:] for one in taken if one[0] == side]
        assert sorted(found) == sorted(
            (str(task.cell), task.measure) for task in tasks() if task.cell in chosen
        )
        kept = {task.keep for task in tasks() if task.keep and task.cell in chosen}
        assert {one.name for one in (own.state / "caches" / side).iterdir()} == kept
    timed = [one for one in taken if one[2] == "timing"]
    for first, second in zip(timed[::2], timed[1::2], strict=True):  # a pair after the other
        assert first[1] == second[1]
        assert {first[0], second[0]} == {*SIDES}


def test_a_run_that_was_begun_alone_goes_on_with_a_cluster(made: Cluster, tmp_path: Path) -> None:
    where = tmp_path / "run"
    client = made.client(where)
    wait_for(4, made.taken)
    kill(client.pid)
    client.wait()
    before = sum(
        1 for path in layout.journals(where / "results") for _ in read_journal(path).entries
    )
    assert 0 < before < len(tasks())
    assert made.client(where, "--resume", "--cluster", made.address).wait(240) == 0
    assert missing_and_doubled(where / "results", tasks()) == ({}, {})


def test_an_interrupted_run_keeps_what_it_has_and_goes_on_without_the_cluster(
    made: Cluster, tmp_path: Path
) -> None:
    where = tmp_path / "run"
    client = made.client(where, "--cluster", made.address)
    wait_for(4, made.taken)
    client.send_signal(signal.SIGINT)
    assert client.wait(60) != 0
    lost, doubled = missing_and_doubled(where / "results", tasks())
    assert not doubled
    assert 0 < sum(lost.values()) < len(tasks())
    made.stop()
    assert made.client(where, "--resume").wait(120) == 0
    assert missing_and_doubled(where / "results", tasks()) == ({}, {})


def test_two_subjects_at_once_give_the_values_of_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OBSERVATORY_LOCK", str(tmp_path))
    for name, where in (("alone", None), ("fleet", LOCAL)):
        monkeypatch.setenv(TAKEN, str(tmp_path / name))
        (tmp_path / name).mkdir()
        tally = run_beside(tmp_path / name / "run", where)
        assert (tally.taken, tally.failed) == (2 * len(counted()), 0)
    alone, fleet = (tmp_path / name / "run" / "results" for name in ("alone", "fleet"))
    pd.testing.assert_frame_equal(values(alone), values(fleet))
    assert set(values(alone)["subject"]) == set(BESIDE)


TWO_MACHINES = pytest.mark.skipif(CPUS < 2, reason="each worker owns a CPU")


@TWO_MACHINES
@pytest.mark.parametrize(
    ("struck", "blow"), [(0, signal.SIGKILL), (1, signal.SIGKILL), (1, signal.SIGTERM)]
)
def test_a_run_goes_on_elsewhere_when_a_machine_disappears(
    tmp_path: Path, struck: int, blow: int
) -> None:
    """It is the client's own or another one; both fill caches then.

    Slurm sends SIGTERM to all processes of a job that it ends, also to the sample.
    """
    where, elsewhere = tmp_path / "run", {1: tmp_path / "other"}
    with cluster(tmp_path / "made", 2, elsewhere=elsewhere, stops={struck: "radon-"}) as made:
        client = made.client(where, "--cluster", made.address, "--elsewhere")
        made.take_away(blow)
        assert client.wait(240) == 0
    assert missing_and_doubled(where / "results", tasks()) == ({}, {})
    assert "1 sample taken elsewhere, because no worker came back" in log_of(where)
    assert not list((where / "state" / "fleet" / "owners").iterdir())


@TWO_MACHINES
def test_a_machine_that_joins_replaces_one_that_disappears(tmp_path: Path) -> None:
    where, more = tmp_path / "run", {"elsewhere": {1: tmp_path / "other"}, "absent": {1}}
    with cluster(tmp_path / "made", 2, stops={0: "radon-warm_disk"}, **more) as made:
        client = made.client(where, "--cluster", made.address, "--elsewhere")
        number, processes = made.stopped()
        assert number == 0
        made.absent.clear()
        made.start()
        while "has joined, and takes samples" not in log_of(where):
            assert client.poll() is None
            time.sleep(0.05)
        made.absent.add(0)
        for process in processes:
            kill(process)
        assert client.wait(240) == 0
    assert missing_and_doubled(where / "results", tasks()) == ({}, {})
    said = log_of(where)
    assert "1 sample taken elsewhere, because no worker came back" in said
    assert "taken again to fill a cache elsewhere" in said


@TWO_MACHINES
def test_a_pair_is_taken_again_as_a_whole_where_the_machine_of_the_other_did_not_disappear(
    tmp_path: Path,
) -> None:
    where, elsewhere = tmp_path / "run", {1: tmp_path / "other"}
    stops = dict.fromkeys((0, 1), "radon-warm_disk-C-spawn-timing")
    with cluster(tmp_path / "made", 2, elsewhere=elsewhere, stops=stops) as made:
        client = made.client(where, "--cluster", made.address, "--elsewhere", "--pairs", "3")
        made.take_away()
        assert client.wait(240) == 0
    for side in SIDES:
        (path,) = layout.journals(where / "results" / side)
        samples = [one.sample for one in read_journal(path).entries]
        assert sum(one.measure == "timing" for one in samples) == 3
        assert sum(one.measure == "counting" for one in samples) == 2
    assert "2 samples taken again to fill a cache elsewhere" in log_of(where)


def log_of(where: Path) -> str:
    return where.with_name(f"{where.name}.log").read_text()


def test_a_sample_that_kills_its_worker_is_given_up_and_blames_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a scheduler that somebody else has started, with Dask's own settings."""
    deadly = Cell("radon", "warm_disk", "C", "spawn"), "timing"
    monkeypatch.setenv(KILLS, "radon-warm_disk-C-spawn-timing-")
    where = tmp_path / "run"
    with cluster(tmp_path / "cluster", min(2, CPUS)) as made:
        client = made.client(where, "--cluster", made.address)
        assert client.wait(240) == 0
        begun = list(made.taken.glob(f"{os.environ[KILLS]}*"))
    assert len(begun) == 3
    (path,) = layout.journals(where / "results")
    status = {
        (one.sample.cell, one.sample.measure): one.sample.status
        for one in read_journal(path).entries
    }
    assert status == {
        (task.cell, task.measure): "killed" if (task.cell, task.measure) == deadly else "ok"
        for task in tasks()
    }
    assert (
        "1 sample given up, because it ended its worker each time"
        in (tmp_path / "run.log").read_text()
    )


def test_a_client_that_is_killed_takes_its_own_workers_with_it(tmp_path: Path) -> None:
    """They are its children, and a cluster of nobody would measure beside whoever comes next."""
    made, where = Cluster(tmp_path / "made"), tmp_path / "run"
    made.taken.mkdir(parents=True)
    client = made.client(where, "--cluster", LOCAL)
    wait_for(3, made.taken)
    kill(client.pid)
    client.wait()
    until = time.monotonic() + 120
    while (left := made.left_running()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left
    assert made.client(where, "--resume").wait(240) == 0
    assert missing_and_doubled(where / "results", tasks()) == ({}, {})


def test_a_comparison_of_real_subjects_on_a_cluster_judges_both_sides(
    newest: Environment, observatory: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:  # fmt: skip
    version, state, samples = newest.versions.pytensor, tmp_path / "state", tmp_path / "samples"
    lend(state, newest)
    done = observatory(
        "compare", version, version, "--scenario", "cold", "--backend", "C", "--launch", "spawn",
        "--pass", "counting", "--state", str(state), "--samples", str(samples),
        "--cluster", LOCAL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = Comparison.model_validate_json((samples / "comparison.json").read_bytes())
    counted = {one.metric: one for one in found.verdicts if one.kind == "exact"}
    assert counted["cache_misses"].base.values == counted["cache_misses"].head.values
    assert found.worse == []
    assert found.missing == []
    assert not list((state / "fleet" / "spool").iterdir())


def test_without_the_option_dask_is_not_imported() -> None:
    code = (
        "import sys; import observatory.app.measurement, observatory.app.comparison, "
        "observatory.cli.commands.run, observatory.cli.commands.doctor; "
        "sys.exit(bool({'dask', 'distributed'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["run", "canary", "bisect"])
def test_a_command_gives_the_same_values_on_a_cluster(
    zygote: subprocess.Popen[str],  # noqa: F811
    name: str,
    tmp_path: Path,
) -> None:
    """What they measure is a stand-in; the cluster and its workers are real.

    `run` has times as well as counts: each sample keeps to the CPUs that it may use.
    """
    alone, fleet = Commands(tmp_path / "alone", zygote), Commands(tmp_path / "fleet", zygote)
    for commands, more in ((alone, ()), (fleet, ("--cluster", LOCAL))):
        commands.begin([*COMMANDS[name], *more])
        assert commands.status() == STATUS.get(name, 0), commands.log
    pd.testing.assert_frame_equal(values(alone.place / "results"), values(fleet.place / "results"))
    assert alone.ended == fleet.ended
    if name == "bisect":
        culprits = [
            [(one.after.label, one.certainty) for one in found.culprits]
            for place in (alone.place, fleet.place)
            for found in searches.readable(place / "results")
        ]
        assert culprits[0] == culprits[1] == [("3.3.5", "confirmed")]
    if name == "run":
        counting, timing = (cpus_of(fleet.taken, measure) for measure in ("counting", "timing"))
        every = ",".join(map(str, sorted(os.sched_getaffinity(0))[: min(2, CPUS)]))
        assert timing == {every}  # alone on its machine, with all CPUs of the workers
        assert counting
        assert all("," not in one for one in counting)
    used = [(one.place / "state" / "fleet" / "spool").is_dir() for one in (alone, fleet)]
    assert used == [False, True]
    assert not list((fleet.place / "state" / "fleet" / "spool").iterdir())
    assert not left_running(fleet.place)


def cpus_of(taken: Path, measure: str) -> set[str]:
    """The CPUs that the samples of a pass could use, joined by commas."""
    begun = [path for path in taken.glob(f"*-{measure}-*") if path.suffix != ".ended"]
    return {path.read_text().split()[1] for path in begun}


def test_a_night_on_a_cluster_measures_the_newest_release(
    newest: Environment, observatory: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:  # fmt: skip
    """Here the samples are real."""
    version, state = newest.versions.pytensor, tmp_path / "state"
    lend(state, newest)
    done = observatory(
        "nightly", version, "--preset", "quick", "--scenario", "cold", "--backend", "C",
        "--launch", "spawn", "--only", "measure", "--only", "alerts", "--state", str(state),
        "--results", str(tmp_path / "results"), "--cluster", LOCAL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = frame(tmp_path / "results", metrics=["wrong_results", "compiler_runs"])
    assert set(found["subject"]) == {version}
    taken = dict(zip(found["metric"], found["value"], strict=True))
    assert taken["wrong_results"] == 0
    assert taken["compiler_runs"] > 0
    assert not list((state / "fleet" / "spool").iterdir())


def test_doctor_refuses_workers_that_share_a_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})  # the workers inherit it
    try:
        with cluster(tmp_path / "cluster", 2) as made:
            os.sched_setaffinity(0, cpus)
            address = f"tcp://127.0.0.1:{made.proxies[0].port}"
            with Client(address, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=120)
            done = subprocess.run(
                [sys.executable, "-m", "observatory", "doctor", "--cluster", address,
                 "--state", str(tmp_path / "state")],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
    finally:
        os.sched_setaffinity(0, cpus)
    assert done.returncode == Exit.UNFIT, done.stderr
    assert done.stdout.count(f"CPU {min(cpus)}, ") == 1  # one of them owns it
    assert done.stdout.count("it takes nothing") == 1
    assert "of which other workers own" in done.stdout
    assert "NOT FIT to measure: worker tcp://127.0.0.1:" in done.stdout


def test_of_containers_that_own_the_same_cpu_only_one_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = tmp_path / "apart.py"  # as if each worker had a /dev/shm of its own
    apart.write_text(
        "import tempfile\nfrom pathlib import Path\nfrom observatory.run import cpus\n"
        f"cpus.claim.__defaults__ = (Path(tempfile.mkdtemp(dir={str(tmp_path)!r})),)\n"
    )
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", str([str(apart)]))
    said: list[str] = []
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})  # the workers inherit it
    try:
        with cluster(tmp_path / "cluster", 2) as made:
            os.sched_setaffinity(0, cpus)
            with Client(made.address, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=120)
            with opened(made.address, tmp_path / "state", said.append) as fleet:
                assert fleet.workers == 1
                (site,) = fleet.crew.sites.values()
                (owner,) = site.addresses
                given = fleet.crew.client.run(_resources)
    finally:
        os.sched_setaffinity(0, cpus)
    shares = f"it shares CPU {min(cpus)} with the worker {owner}; give each its own CPU"
    assert [text.partition(" is left out: ")[2] for text in said] == [shares]
    place = site.place.resource  # a task is bound to its place by it
    assert {address: one[place] for address, one in given.items()} == {
        address: int(address == owner) for address in given
    }


def _resources(dask_worker: Worker) -> dict[str, float]:
    return dict(dask_worker.state.total_resources)
