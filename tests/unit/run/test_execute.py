"""What the tool makes of a primitive that prints no valid record."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import MEMBERS, Cell, Measure
from observatory.benchmarks.plan import Task
from observatory.run import execute
from observatory.run.environments import Environment
from observatory.run.execute import Executor, shares_cache, with_symbols
from observatory.run.started import LARGEST, LAST, Started
from observatory.store.records.subject import Versions
from tests import factories
from tests.factories_scan import mangled, object_of, put

TASK = Task(Cell("radon", "cold", "NUMBA", "spawn"), "counting", 0)
FORK = Cell("lookalikes", "siblings_nested", "NUMBA", "fork")
FORK_OF_CLOSURES = Cell("closures", "cold", "NUMBA", "spawn")


@dataclass(frozen=True)
class Scripted(Environment):
    """An environment under test in which a script stands for the benchmark process."""

    script: str

    def command(self, module: str, *arguments: str) -> list[str]:
        assert module == "benchmarks.sample"
        return [sys.executable, "-c", self.script, *arguments]


def executor(tmp_path: Path, script: str) -> Executor:
    versions = Versions(pytensor="3.3.7", numba=None, python="3.13.0", packages={})
    environment = Scripted(Path(sys.executable), versions, "key", tmp_path, script)
    return Executor(environment, tmp_path, timeout=60, flags="x=1")


@pytest.mark.parametrize(
    ("script", "status", "said", "signal", "code"),
    [
        ("import sys; print('it broke', file=sys.stderr); sys.exit(7)", "raised",
         "the benchmark process exited with code 7 without a valid record", None, 7),
        ("import os; os.kill(os.getpid(), 9)", "killed",
         "the benchmark process died of SIGKILL without a valid record", "SIGKILL", None),
        ("import os; os.kill(os.getpid(), 37)", "killed",
         "the benchmark process died of signal 37 without a valid record", "signal 37", None),
        ("print(input(), '{\"schema\": \"observatory/sample/1\"}')", "raised",
         "the benchmark process exited with code 0 without a valid record: it does not fit",
         None, 0),
    ],
)  # fmt: skip
def test_a_primitive_that_prints_no_valid_record_is_a_sample_that_crashed(
    tmp_path: Path, script: str, status: str, said: str, signal: str | None, code: int | None
) -> None:
    found = executor(tmp_path, script).run(TASK)
    assert found.status == status
    assert found.metrics == {"crashed": 1}
    assert (found.cell, found.measure) == (TASK.cell, "counting")
    assert found.failure is not None
    assert found.failure.message.startswith(said)
    assert (found.failure.signal, found.failure.exit_code) == (signal, code)
    assert found.failure.stderr == (["it broke"] if code == 7 else [])


@pytest.mark.parametrize(
    ("measure", "status", "metrics"),
    [("counting", "timeout", {"crashed": 1}), ("work", "unavailable", {})],
)
def test_a_sample_that_does_not_end_is_ended_and_work_is_missing_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measure: Measure, status: str,
    metrics: dict[str, float],
) -> None:  # fmt: skip
    monkeypatch.setattr(execute, "_MARGIN", 0.2)
    endless = replace(executor(tmp_path, "import time; time.sleep(600)"), timeout=0.0)
    found = endless.run(replace(TASK, measure=measure))
    assert (found.status, found.metrics) == (status, metrics)
    assert found.failure is not None
    assert found.failure.message.endswith("the sample did not end within 0.2 s and was ended")


def test_a_task_becomes_options_of_a_process_in_a_scrubbed_session_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTENSOR_FLAGS", "cxx=")
    script = (
        "import os, sys; print(*sys.argv[1:], os.getcwd(), os.environ['PYTHONPATH'],"
        " 'PYTENSOR_FLAGS' in os.environ, os.getsid(0) == os.getpid(), file=sys.stderr)"
    )
    (tmp_path / "filled").mkdir()
    for cache, options in (("filled", ["--cache", f"{tmp_path}/filled"]), ("gone", [])):
        found = executor(tmp_path, script).run(replace(TASK, cache=cache, keep="kept"))
        assert found.failure is not None
        assert found.failure.stderr[0].split() == [
            "--end-with-parent", "--sealed", "--pass", "counting", "--model", "radon",
            "--scenario", "cold", "--backend", "NUMBA", "--launch", "spawn", "--timeout", "60",
            *options,
            "--keep-cache", f"{tmp_path}/kept", "--flags", "x=1",
            str(tmp_path), str(tmp_path), "False", "True",
        ]  # fmt: skip


def test_symbols_are_read_where_several_processes_fill_a_cache_of_numbas() -> None:
    assert shares_cache(Task(FORK, "counting", 0))
    assert not shares_cache(Task(FORK, "timing", 0))
    assert not shares_cache(Task(Cell("lookalikes", "siblings", "C", "fork"), "counting", 0))
    assert not shares_cache(Task(factories.WARM, "counting", 0))


def test_what_a_scan_counts_becomes_metrics_of_the_sample(tmp_path: Path) -> None:
    symbol = mangled("pytensor.numba_funcified_fgraph", 17)
    for name, body in (("one", "x + 1"), ("two", "x + 2")):
        put(tmp_path, name, object_of({symbol: body}))
    sample = factories.sample(FORK, "counting", absent={"collided_symbols": "not yet"})
    found = with_symbols(sample, tmp_path)
    assert found.metrics["collided_symbols"] == 1
    assert found.absent == {}


def test_a_cache_that_is_not_there_or_cannot_be_read_gives_no_number(tmp_path: Path) -> None:
    sample = factories.sample(FORK, "counting")
    assert with_symbols(sample, tmp_path / "absent") == sample
    assert "no cache of numba's" in with_symbols(sample, tmp_path).absent["collided_symbols"]
    (data,) = put(tmp_path, "one", object_of({mangled("f", 17): "x + 1"}))
    data.write_bytes(b"not a pickle")
    broken = with_symbols(sample, tmp_path)
    assert "collided_symbols" not in broken.metrics
    assert "cannot be read" in broken.absent["collided_symbols"]


def test_a_sample_is_asked_for_the_graphs_of_its_own_model(tmp_path: Path) -> None:
    names = MEMBERS["closures"][:2]
    told = executor(tmp_path, "import sys; sys.exit(' '.join(sys.argv[1:]))")
    both = replace(told, only=(*names, MEMBERS["keys"][0]))
    asked = both.run(replace(TASK, cell=FORK_OF_CLOSURES)).failure
    assert asked is not None
    assert " ".join(asked.stderr).count("--graph") == len(names)
    assert f"--graph {names[0]} --graph {names[1]}" in " ".join(asked.stderr)


METRICS = '"metrics":{'
KILLED = "sys.stdout.flush(); import os; os.kill(os.getpid(), 9)"
GOOD = factories.sample(TASK.cell, "counting").model_dump_json(by_alias=True)


def printing(*texts: str, code: int = 0, sealed: bool = True) -> str:
    """A primitive that prints these texts, the last of them behind the seal."""
    *before, last = texts
    said = "".join(f"print({text!r}, flush=True);" for text in before)
    return (
        f"import sys; seal = input(); {said} print({'seal, ' * sealed}{last!r}); sys.exit({code})"
    )


def test_a_record_of_what_was_asked_for_is_taken(tmp_path: Path) -> None:
    assert executor(tmp_path, printing(GOOD)).run(TASK).status == "ok"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (printing(GOOD, sealed=False), "does not begin with the code"),
        (printing("0" * 32 + " " + GOOD, GOOD), "does not begin with the code"),
        (printing(GOOD, GOOD), "does not begin with the code"),
        (printing(GOOD + "\n" + GOOD), "it is not JSON"),
        (printing(GOOD, code=3), "its status ok does not fit"),
        (printing(GOOD, code=1), "its status ok does not fit"),
        (printing(GOOD).replace("sys.exit(0)", KILLED), "its status ok does not fit"),
        (printing(GOOD.replace('"NUMBA"', '"C"')), "a record of radon cold C spawn (counting)"),
        (printing(GOOD.replace('"counting"', '"timing"')), "(timing), which was not requested"),
        (printing(GOOD.replace(METRICS, f'{METRICS}"x":{"9" * 400},')), "less than or"),
        (printing(GOOD.replace(METRICS, METRICS + '"x":NaN,')), "finite"),
        (printing(GOOD.replace(METRICS, METRICS + '"x":1e300,')), "less than or"),
    ],
)  # fmt: skip
def test_no_other_record_is_passed_off_as_the_samples(
    tmp_path: Path, script: str, said: str
) -> None:
    found = executor(tmp_path, script).run(TASK)
    assert found.failure is not None
    assert said in found.failure.message
    assert found.metrics == {"crashed": 1}


def test_what_a_process_prints_without_an_end_is_not_kept(tmp_path: Path) -> None:
    """Nor does it wait for ever to print it."""
    code = (
        "import sys\n"
        "for _ in range(100):\n"
        "    for stream in (sys.stdout, sys.stderr): print('x' * 2**20, file=stream)"
    )
    with Started([sys.executable, "-c", code], cwd=tmp_path, env={}) as process:
        out, err = process.printed(300)
    assert process.returncode == 0
    assert len(out) == LARGEST
    assert LAST <= len(err) <= 2 * LAST


def test_what_was_printed_before_the_time_was_over_is_not_lost(tmp_path: Path) -> None:
    code = "import time; input(); print('begun', flush=True); open('said', 'w'); time.sleep(600)"
    with Started([sys.executable, "-c", code], "line", cwd=tmp_path, env={}) as process:
        while not (tmp_path / "said").exists():
            with pytest.raises(subprocess.TimeoutExpired):
                process.printed(0.1)
        process.kill()
        assert process.printed() == ("begun\n", "")
