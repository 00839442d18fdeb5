"""The radon tables over a stand-in for the primitive, whose samples are known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.factories import failed, sample

SCRIPT = Path(__file__).parents[3] / "scripts" / "radon_tables.py"
FACTS: dict[str, Any] = {"pytensor": "3.3.7", "numba": "0.68.0", "python": "3.13.0"}

STAND_IN = """\
#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
if sys.argv[1:3] == ["-I", "-c"]:
    sys.exit(print("PyTensor 3.3.7, numba 0.68.0, Python 3.13.0"))
assert sys.argv[1:3] == ["-m", "benchmarks.sample"], sys.argv
asked = dict(zip(sys.argv[3::2], sys.argv[4::2]))
log = here / "asked.jsonl"
taken = len(log.read_text().splitlines()) if log.exists() else 0
scenario, backend = asked["--scenario"], asked["--backend"]
special = here / f"{{scenario}}-{{backend}}.json"
record = json.loads((special if special.exists() else here / "sample.json").read_text())
metric, scale = ("call_time", 1e-6) if scenario == "call" else ("compile_time", 1.0)
seconds = scale * (taken + 1) / 7
if record["status"] == "ok":
    record["metrics"][metric] = seconds
with log.open("a") as stream:
    print(json.dumps({{**asked, "seconds": seconds}}), file=stream)
print(json.dumps(record))
"""


def stand_in(directory: Path) -> Path:
    """Looks like the Python of an environment under test."""
    python = directory / "python"
    python.write_text(STAND_IN.format(python=sys.executable))
    python.chmod(0o755)
    good = sample(environment=FACTS)
    (directory / "sample.json").write_text(good.model_dump_json(by_alias=True))
    return python


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return stand_in(tmp_path)


def tables(python: Path, *options: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run the script as its documentation says; what it printed, and pytest-benchmark's JSON."""
    # These tests may themselves run beside others, where pytest-benchmark measures nothing.
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    out = python.with_name("out.json")
    done = subprocess.run(
        [sys.executable, SCRIPT, "--python", python, f"--benchmark-json={out}", *options],
        capture_output=True,
        text=True,
        cwd=python.parent,
        env={**outside, "OBSERVATORY_ROUNDS": "4"},
        check=False,
    )
    return done, json.loads(out.read_text()) if out.exists() and out.stat().st_size else {}


@dataclass(frozen=True)
class Run:
    """A whole run in which every sample was good."""

    printed: str
    status: int
    rows: list[dict[str, Any]]
    asked: list[dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    python = stand_in(tmp_path_factory.mktemp("run"))
    done, stored = tables(python)
    return Run(done.stdout, done.returncode, stored["benchmarks"], asked(python))


def asked(python: Path) -> list[dict[str, Any]]:
    lines = python.with_name("asked.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_the_numbers_are_those_of_the_samples(run: Run) -> None:
    assert run.status == 0, run.printed
    found = {
        (row["extra_info"]["cell"]["scenario"], row["extra_info"]["cell"]["backend"]):
            row["stats"]["data"]
        for row in run.rows
    }  # fmt: skip
    taken: dict[tuple[str, str], list[float]] = {}
    for sample_ in run.asked:
        if sample_["--scenario"] != "cold":
            cell = (sample_["--scenario"], sample_["--backend"])
            taken.setdefault(cell, []).append(sample_["seconds"])
    assert found == taken
    assert [len(v) for v in taken.values()] == [4] * 4 + [1] * 4 + [4] * 4


def test_there_are_three_tables_in_the_words_and_the_order_of_pytensors(run: Run) -> None:
    versions = "PyTensor 3.3.7, numba 0.68.0, Python 3.13.0"
    compiled = ["C", "CVM", "NUMBA no cache", "NUMBA cache"]
    rows: dict[str, list[str]] = {}
    for row in run.rows:
        rows.setdefault(row["group"], []).append(row["param"])
    assert rows == {
        f"radon: compile repeatedly, {versions}": compiled,
        f"radon: compile eight variants, {versions}": compiled,
        f"radon: call by backend, {versions}": ["C", "CVM", "CVM_NOGC", "NUMBA"],
    }
    measured = {row["param"]: row["extra_info"]["cell"]["backend"] for row in run.rows}
    assert measured == {
        "C": "C", "CVM": "C_VM", "CVM_NOGC": "C_VM_NOGC", "NUMBA": "NUMBA",
        "NUMBA cache": "NUMBA", "NUMBA no cache": "NUMBA_NO_CACHE",
    }  # fmt: skip
    for group in rows:
        assert f"benchmark '{group}': 4 tests" in run.printed
    assert "compile_repeatedly[NUMBA no cache]" in run.printed
    assert "time in s)" in run.printed
    assert "time in us)" in run.printed


def test_warm_rows_start_from_one_filled_cache_a_backend(run: Run) -> None:
    filled = {s["--backend"]: s["--keep-cache"] for s in run.asked if "--keep-cache" in s}
    fills = [s["--backend"] for s in run.asked if s["--scenario"] == "cold"]
    assert sorted(fills) == sorted(filled) == ["C", "C_VM", "NUMBA"]
    parents = {"NUMBA_NO_CACHE": "NUMBA", "C_VM_NOGC": "C_VM"}
    for taken in run.asked:
        if taken["--scenario"] in ("warm_process", "call"):
            backend = taken["--backend"]
            assert taken["--cache"] == filled[parents.get(backend, backend)]


def test_a_row_whose_sample_failed_has_no_number_and_fails(python: Path) -> None:
    died = failed().model_dump_json(by_alias=True)
    python.with_name("call-C.json").write_text(died)
    done, stored = tables(python, "-k", "test_call")
    assert done.returncode == 1
    assert "died of SIGSEGV" in done.stdout
    assert [row["param"] for row in stored["benchmarks"]] == ["CVM", "CVM_NOGC", "NUMBA"]


def test_fast_and_wrong_is_not_fast(python: Path) -> None:
    wrong = sample(metrics={"wrong_results": 1}).model_dump_json(by_alias=True)
    python.with_name("variants-NUMBA.json").write_text(wrong)
    done, _ = tables(python, "-k", "test_compile_variants")
    assert done.returncode == 1
    assert "returned wrong results" in done.stdout


def test_a_row_that_the_environment_cannot_give_is_skipped_with_the_reason(python: Path) -> None:
    without = sample(status="unavailable", metrics={},
                     failure={"message": "numba is not installed"})  # fmt: skip
    text = without.model_copy(update={"metrics": {}}).model_dump_json(by_alias=True)
    python.with_name("variants-NUMBA.json").write_text(text)
    done, _ = tables(python, "-k", "test_compile_variants", "-rs")
    assert done.returncode == 0
    assert "numba is not installed" in done.stdout


def test_a_python_that_does_not_run_is_a_sentence_and_exit_code_2(tmp_path: Path) -> None:
    done, _ = tables(tmp_path / "absent")
    assert done.returncode == 2
    assert "absent is no Python that runs" in done.stderr
    assert "Traceback" not in done.stderr
