"""The primitive on real PyTensor: what it measures, and that it leaves nothing behind."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from observatory.benchmarks.probes.waiting import idle_time
from observatory.run.environments import Environment
from observatory.run.subjects import Subjects
from observatory.store.records.sample import Sample
from tests.integration.conftest import Bench, Measured
from tests.integration.fault_rig import FEW_VARIANTS

pytestmark = pytest.mark.integration


def names(measured: Measured) -> list[str]:
    return [event["event"] for event in measured.trace]


def where(measured: Measured, name: str) -> list[dict]:
    return [event for event in measured.trace if event["event"] == name]


def leftovers(scratch: Path) -> list[Path]:
    return list(scratch.glob("observatory-sandbox-*"))


def test_a_spawned_sample_runs_in_one_fresh_interpreter(bench: Bench) -> None:
    found = bench.taken("cold", "C", launch="spawn")
    assert names(found) == [
        "sandbox made",
        "process started",
        "interpreter ready",
        "subject imported",
        "span begins",
        "span ended",
        "reported",
        "process ended",
        "sandbox removed",
    ]
    (ready,) = where(found, "interpreter ready")
    assert ready["imported"] == []
    assert {e["pid"] for e in found.trace} == {found.trace[0]["pid"], ready["pid"]}


def test_a_forked_sample_is_measured_in_the_child_of_a_parent_that_built_nothing(
    bench: Bench,
) -> None:
    found = bench.taken("cold", "NUMBA")
    assert names(found) == [
        "sandbox made",
        "process started",
        "interpreter ready",
        "subject imported",
        "forking",
        "forked",
        "span begins",
        "span ended",
        "reported",
        "process ended",
        "sandbox removed",
    ]
    (parent,), (child,) = where(found, "forking"), where(found, "forked")
    (span,) = where(found, "span begins")
    assert child["parent"] == parent["pid"]
    assert span["pid"] == child["pid"] != parent["pid"]


def test_the_process_that_supervises_imports_nothing_heavy(bench: Bench) -> None:
    found = bench.taken("cold", "C")
    supervisor = found.trace[0]["pid"]
    assert all(e["imported"] == [] for e in found.trace if e["pid"] == supervisor)


def test_a_warm_sample_is_filled_by_another_process_and_starts_from_a_copy(bench: Bench) -> None:
    found = bench.sample("warm_disk", "C", "--pass", "counting")
    filler, measured = where(found, "process started")
    assert (filler["role"], measured["role"]) == ("fill", "measure")
    (copied,) = where(found, "cache copied")
    assert copied["source"] != copied["target"]
    order = [e for e in names(found) if e in ("process ended", "cache copied", "process started")]
    assert order == [
        "process started",
        "process ended",
        "cache copied",
        "process started",
        "process ended",
    ]
    assert found.metrics["cache_misses"] == 0


def test_a_miss_in_one_warm_sample_does_not_fill_the_cache_of_the_next(
    bench: Bench, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(bench.cache("cold", "C"), kept, symlinks=True)
    for entry in kept.rglob("*"):
        if entry.suffix in (".so", ".cpp", ".pkl"):
            entry.unlink()  # now every warm build of this cache has to compile
    for _ in range(2):
        found = bench.sample("warm_disk", "C", "--pass", "counting", "--cache", str(kept))
        assert found.metrics["cache_misses"] == 1


def test_fork_shares_the_hash_seed_of_the_filler_and_spawn_does_not(bench: Bench) -> None:
    seed = bench.taken("cold", "C").record["hash_seed"]
    cache = str(bench.cache("cold", "C"))
    seeds = {
        launch: bench.taken("warm_disk", "C", launch=launch, cache=cache).record["hash_seed"]
        for launch in ("fork", "spawn")
    }
    assert seeds["fork"] == seed
    assert seeds["spawn"] != seed


def test_timings_and_counters_come_from_separate_passes(bench: Bench) -> None:
    timed = bench.taken("cold", "C", measure="timing")
    counted = bench.taken("cold", "C")
    assert timed.record["ledger"] is None
    assert "cache_misses" not in timed.metrics
    assert "compile_time" not in counted.metrics
    assert timed.metrics["compile_time"] == pytest.approx(
        timed.metrics["function_time"] + timed.metrics["first_call_time"]
    )
    if idle_time() is not None:  # this kernel counts it
        # Most of a cold build is the wait for the compiler, which is left out.
        assert timed.metrics["waiting_time"] < 0.5 * timed.metrics["compile_time"]
    assert "waiting_time" not in counted.metrics
    assert counted.metrics["compiler_runs"] == 1
    assert counted.metrics["bootstrap_runs"] == 1


def test_the_probes_are_next_to_no_work_beside_a_build(bench: Bench) -> None:
    """In Python functions entered; `scripts.accuracy.probe_effect` takes the time."""
    if bench.environment.versions.python.startswith("3.11"):
        pytest.skip("counting Python calls needs Python 3.12")
    command = bench.environment.command(
        "benchmarks.probe_cost", "--backend", "NUMBA", "--pairs", "1", "--calls"
    )
    variables = {**bench.environment.variables(), "TMPDIR": str(bench.scratch)}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=True)
    calls = json.loads(done.stdout)
    assert 0 < calls["with"] - calls["without"] < calls["without"] / 200
    assert leftovers(bench.scratch) == []


def test_variants_agree_with_the_reference(bench: Bench) -> None:
    """Two of them, which the tests of faults build, too; each run of `variants` checks all."""
    found = replace(bench, graphs=FEW_VARIANTS).taken("variants", "NUMBA")
    checks = {check["name"]: check for check in found.record["checks"]}
    assert list(checks) == ["base", *FEW_VARIANTS]
    for check in checks.values():
        assert check["logp_error"] < 1e-8
        assert check["gradient_error"] < 1e-8
    assert found.metrics["wrong_results"] == 0


def test_the_ledger_names_the_ops_and_tells_what_became_of_them(bench: Bench) -> None:
    found = bench.taken("cold", "NUMBA")
    ledger = found.record["ledger"]
    outer = [entry for entry in ledger if entry["name"] == "outer graph"]
    assert [entry["outcome"] for entry in outer] == ["miss"]
    misses = [entry for entry in ledger if entry["outcome"] == "miss"]
    assert len(misses) == found.metrics["cache_misses"] > 10
    assert any(entry["name"].startswith("Composite") for entry in misses)
    assert all(entry["key"] and entry["bytes"] for entry in misses)
    assert {entry["source"] for entry in ledger if entry["outcome"] == "hit"} == {"disk"}
    assert any(entry["outcome"] == "internal" and not entry["key"] for entry in ledger)


def test_a_hung_sample_is_ended_with_its_compilers_and_recorded(
    bench: Bench, tmp_path: Path
) -> None:
    found = bench.sample("cold", "C_VM", "--timeout", "4")
    assert found.status == 3
    assert found.record["status"] == "timeout"
    assert found.metrics["crashed"] == 1
    assert "4 s" in found.record["absent"]["compile_time"]
    assert leftovers(tmp_path) == []
    assert processes_of(tmp_path) == []


def processes_of(scratch: Path) -> list[int]:
    """Processes that carry a sandbox below this directory in their environment."""
    marker = f"OBSERVATORY_SANDBOX={scratch}".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if marker in environ.read_bytes():
                found.append(int(environ.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sample_leaves_no_process_and_no_directory(
    bench: Bench, tmp_path: Path, sent: signal.Signals
) -> None:
    process = start_cold(bench, tmp_path)
    process.send_signal(sent)
    assert process.wait(120) != 0
    assert leftovers(tmp_path) == []
    assert processes_of(tmp_path) == []


def test_what_a_sample_killed_outright_leaves_is_swept_by_the_next(
    bench: Bench, tmp_path: Path
) -> None:
    process = start_cold(bench, tmp_path)
    process.kill()
    process.wait()
    wait_until(lambda: processes_of(tmp_path) == [])  # the kernel ended the orphan
    assert len(leftovers(tmp_path)) == 1
    bench.sample("warm_disk", "C", "--cache", str(bench.cache("cold", "C")))
    assert leftovers(tmp_path) == []


def start_cold(bench: Bench, scratch: Path) -> subprocess.Popen[bytes]:
    """A cold C_VM sample, returned when its measured process is compiling."""
    trace = scratch / "trace.jsonl"
    command = bench.environment.command(
        "benchmarks.sample", "--scenario", "cold", "--backend", "C_VM", "--trace", str(trace)
    )
    variables = {**bench.environment.variables(), "TMPDIR": str(scratch)}
    process = subprocess.Popen(
        command,
        env=variables,
        cwd=scratch,
        stdout=subprocess.DEVNULL,
        # A shell has its background jobs ignore Ctrl-C, and these tests may be part of one.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_until(lambda: trace.exists() and "span begins" in trace.read_text())
    return process


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("waited five minutes in vain")


def test_settings_of_the_user_change_nothing(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")
    rc = tmp_path / "pytensorrc"
    rc.write_text("[global]\nmode = FAST_COMPILE\nfloatX = float32\n")
    hostile = {
        "PYTENSORRC": str(rc),
        "PYTENSOR_FLAGS": "optimizer=None,numba__cache=False",
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONHASHSEED": "0",
    }
    cache = str(bench.cache("cold", "NUMBA"))
    options = ("--pass", "counting", "--cache", cache)
    found = bench.sample("warm_disk", "NUMBA", *options, env=hostile)
    assert found.metrics["cache_misses"] == 0
    assert found.metrics["functions_compiled"] == 0
    assert found.record["hash_seed"] != 0


def test_siblings_share_one_cache_and_a_fresh_process_reads_it(bench: Bench) -> None:
    two = replace(bench, graphs=("double", "put"))
    found = two.taken("siblings", "C_VM", model="lookalikes")
    assert len(where(found, "forked")) == 2
    assert len({event["pid"] for event in where(found, "forked")}) == 2
    roles = [event["role"] for event in where(found, "process started")]
    assert roles == ["siblings", "reader"]
    assert len(found.record["checks"]) == 4
    assert found.metrics["wrong_results"] == 0
    assert found.metrics["cache_misses"] == 0


def test_a_model_that_needs_pymc_is_unavailable_without_it(bench: Bench) -> None:
    found = bench.sample("cold", "NUMBA", "--model", "radon_pymc")
    assert found.status == 4
    assert found.record["status"] == "unavailable"
    assert found.record["failure"]["message"] == "pymc is not installed in this environment"
    assert found.metrics == {}


def test_the_pymc_model_is_the_same_posterior(
    bench: Bench, environment_of: Callable[[str], Environment]
) -> None:
    with_pymc = bench.within(environment_of(f"{bench.environment.versions.pytensor} pymc"))
    found = with_pymc.taken("cold", "C", model="radon_pymc")
    assert found.record["status"] == "ok"
    (check,) = found.record["checks"]
    assert check["logp_error"] < 1e-8
    assert check["gradient_error"] < 1e-8
    (imported,) = where(found, "subject imported")
    assert "pymc" in imported["imported"]
    plain = with_pymc.taken("cold", "C")
    assert all("pymc" not in event["imported"] for event in plain.trace)


def test_the_oldest_supported_release_is_measured(
    bench: Bench, environment_of: Callable[[str], Environment]
) -> None:
    found = bench.within(environment_of("2.34.0")).taken("cold", "C")
    assert found.metrics["cache_misses"] == 1
    assert found.metrics["wrong_results"] == 0


@pytest.mark.parametrize("backend", ["NUMBA", "C_VM"])
def test_the_profile_of_a_build_accounts_for_its_calls_and_its_seconds(
    bench: Bench, backend: str
) -> None:
    cache = str(bench.cache("cold", backend))
    traced = bench.taken("warm_process", backend, measure="tracing", cache=cache)
    profile = Sample.model_validate(traced.record).profile
    assert profile is not None
    assert profile.tree is not None
    assert profile.tree.calls == traced.metrics["python_calls"]
    if backend == "NUMBA":
        assert traced.metrics["llvm_pass_runs"] == 0  # everything is loaded
    else:
        assert "numba does not compile the build" in traced.record["absent"]["llvm_pass_runs"]
    assert sum(phase.calls or 0 for phase in profile.phases) > 0.9 * profile.tree.calls
    assert "local_dimshuffle_lift" in {rewriter.name for rewriter in profile.rewriters}
    assert len(json.dumps(traced.record["profile"])) < 70_000
    timed = bench.taken("warm_process", backend, measure="timing", cache=cache)
    profile = Sample.model_validate(timed.record).profile
    assert profile is not None
    assert profile.tree is None
    seconds = sum(phase.seconds or 0.0 for phase in profile.phases)
    assert 0.9 < seconds / timed.metrics["compile_time"] <= 1.0
    assert any(rewriter.applications for rewriter in profile.rewriters)


def test_libraries_that_the_machine_gets_are_no_work_of_the_subject(
    bench: Bench, tmp_path: Path
) -> None:
    """PyTensor lists them while it looks for a BLAS: ten calls for each of these files."""
    for number in range(300):
        (tmp_path / f"libmore{number}.so").touch()
    options = ("--pass", "tracing", "--hash-seed", "1", "--cache", str(bench.cache("cold", "C")))
    few, many = (
        bench.sample("warm_disk", "C", *options, env={"LIBRARY_PATH": path})
        for path in ("", str(tmp_path))
    )
    calls = few.metrics["python_calls"]
    assert abs(many.metrics["python_calls"] - calls) < 300 < 0.001 * calls
    assert "the search for a BLAS" in many.record["counted_by"]


def test_the_llvm_passes_of_a_build_are_named_and_asking_for_them_adds_no_call(
    newest: Environment,
) -> None:
    script = Path(__file__).with_name("llvm_of_a_function.py")
    done = subprocess.run([newest.python, script], capture_output=True, text=True, check=True,
                          env=newest.variables())  # fmt: skip
    found = json.loads(done.stdout)
    one, other = ({each["name"]: each for each in build} for build in found["passes"])
    assert one["InstCombinePass"]["phase"] == "LLVM: passes"
    assert one["InstCombinePass"]["seconds"] > 0
    assert one["InstCombinePass"]["runs"] == other["InstCombinePass"]["runs"] > 1
    first, second = found["runs"]
    assert first == second >= sum(each["runs"] or 0 for each in one.values())
    assert any("Instruction Selection" in name for name in one)
    silent, asking = (median(found["calls"][one]) for one in ("silent", "asking"))
    assert abs(asking - silent) < 0.002 * silent


def test_how_often_numba_compares_options_is_no_work(newest: Environment) -> None:
    script = Path(__file__).with_name("options_compared.py")
    done = subprocess.run([newest.python, script], capture_output=True, text=True, check=True,
                          env=newest.variables())  # fmt: skip
    found = json.loads(done.stdout)
    assert found["all"] > 50
    assert found["Tracer"] < 10
    assert found["EntryCounter"] < 10


def test_what_python_cannot_give_is_absent_with_a_reason(
    bench: Bench, subjects: Subjects, environment_of: Callable[..., Environment]
) -> None:
    if "3.11" not in {interpreter.minor for interpreter in subjects.found.interpreters}:
        pytest.skip("no Python 3.11 is installed")
    found = bench.within(environment_of("2.36.3", python="3.11")).taken(
        "cold", "C", measure="tracing"
    )
    assert found.status == 4
    assert "sys.monitoring" in found.record["absent"]["python_calls"]
    assert "python_calls" not in found.metrics
