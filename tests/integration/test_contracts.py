"""The contracts on real PyTensor and numba: that they hold, and that each of them can fail."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from typer.testing import CliRunner

from observatory.benchmarks.contracts.__main__ import AREAS
from observatory.cli.main import app
from observatory.errors import Exit
from observatory.run import contracts, local
from observatory.run.environments import Environment, Environments
from observatory.run.printing import printed_record
from observatory.store.records.contracts import Contract, Contracts, load_all
from scripts.faults.kit import HOOK, build
from tests.integration.conftest import OF_TESTS, Uncompiled, borrowing
from tests.integration.numba_breaks import BREAKS, Break

pytestmark = pytest.mark.integration

NAMES = [contract.name for area in AREAS for contract in area.contracts]
PROTECTION = {"uid_replaced", "uid_fork", "sibling_symbols", "sibling_results"}
"""What the protection of PyTensor 2.38.3 is there for."""


def suite(environment: Environment, scratch: Path, *arguments: str) -> Contracts:
    """Run the suite as the command does; nothing of it may be left in ``scratch``."""
    command = environment.command("benchmarks.contracts", *arguments)
    temporary = scratch / "tmp"
    temporary.mkdir(exist_ok=True)
    variables = {**environment.variables(), "TMPDIR": str(temporary)}
    done = subprocess.run(
        command, capture_output=True, text=True, env=variables, cwd=scratch, check=False
    )
    assert done.stdout, done.stderr
    assert list(temporary.iterdir()) == []
    return Contracts.model_validate_json(done.stdout)


def told(contracts: list[Contract]) -> list[str]:
    return [f"{one.name}: {one.detail}" for one in contracts]


def test_the_contracts_about_the_counter_hold_on_the_newest_release(
    newest: Environment, tmp_path: Path
) -> None:
    """All others hold beside the wheel of the last test, which breaks these."""
    only = [word for name in PROTECTION for word in ("--only", name)]
    found = suite(newest, tmp_path, *only)
    assert told(found.of("broken", "failed")) == []
    assert {one.name for one in found.of("holds")} == PROTECTION
    assert found.environment["numba"] == newest.versions.numba
    assert found.declared is not None
    assert found.declared.startswith("numba<=")


def test_nothing_that_was_there_is_touched(newest: Environment, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    variables = {**newest.variables(), "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    command = newest.command("benchmarks.contracts", "--only", "locator_passes_on")
    subprocess.run(command, env=variables, cwd=tmp_path, check=True, capture_output=True)
    assert list(home.rglob("*")) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]


@pytest.fixture(scope="module")
def broken(
    newest: Environment, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Break], Environment]:
    """An environment in which every process breaks one thing of numba."""
    found, site = borrowing(newest, tmp_path_factory.mktemp("broken") / "env")
    (site / "zbreak.pth").write_text("import observatory_break\n")
    package = site / "observatory_break"
    package.mkdir()
    (package / "__init__.py").write_text(HOOK.read_text("utf-8"))
    # The code is data: a module that is rewritten twice a second may come from its bytecode.
    (package / "fault.py").write_text(
        dedent("""
        import json
        from pathlib import Path
        _given = json.loads(Path(__file__).with_name("break.json").read_text())
        MODULE = _given["module"]
        def put_into(module):
            exec(compile(_given["code"], "break", "exec"), {"module": module})
    """)
    )

    def environment(one: Break) -> Environment:
        given = {"module": one.module, "code": dedent(one.code)}
        (package / "break.json").write_text(json.dumps(given))
        return found

    return environment


_EACH_BROKEN = """
import importlib, json, os, subprocess, sys
from pathlib import Path

given, breaks = Path(sys.argv[1]), json.load(sys.stdin)
if len(sys.argv) == 2:  # in an environment like that of the suite
    from benchmarks.sandbox import Sandbox
    with Sandbox.open() as box:
        command = [sys.executable, "-c", os.environ["EACH_BROKEN"], str(given), "within"]
        subprocess.run(command, input=json.dumps(breaks), text=True, check=True, cwd=box.work,
                       env=box.environment(0, None))
    sys.exit()

import pytensor.link.numba.dispatch
from benchmarks.contracts.__main__ import AREAS, checked
contracts = {one.name: one for area in AREAS for one in area.contracts}
for one in breaks:
    given.write_text(json.dumps(one))  # for the processes that a contract starts
    child = os.fork()
    if child == 0:
        exec(compile(one["code"], "break", "exec"),
             {"module": importlib.import_module(one["module"])})
        print(json.dumps(vars(checked(contracts[one["contract"]]))), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
"""Breaks one thing of numba after another, each in a fork, and checks the contract about it.

The modules are there before they are broken: a process for each break would import them anew.
"""


@pytest.fixture(scope="module")
def noticed(broken: Callable[[Break], Environment]) -> dict[str, dict[str, Any]]:
    """The verdict on each contract, with what is to break it."""
    nothing = broken(Break("", "there.is.none", "", ""))
    (given,) = nothing.python.parent.parent.glob("lib/*/site-packages/observatory_break/break.json")
    late = [one for one in BREAKS if not one.early]
    breaks = [one._asdict() | {"code": dedent(one.code)} for one in late]
    done = subprocess.run(
        [str(nothing.python), "-c", _EACH_BROKEN, str(given)], input=json.dumps(breaks),
        env={**nothing.variables(), "EACH_BROKEN": _EACH_BROKEN}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    verdicts = map(json.loads, done.stdout.splitlines())
    found = {verdict["name"]: verdict for verdict in verdicts}
    assert list(found) == [one.contract for one in late], done.stderr
    return found


@pytest.mark.parametrize("one", BREAKS, ids=lambda one: one.contract)
def test_each_contract_notices_a_numba_that_breaks_it(
    one: Break,
    noticed: dict[str, dict[str, Any]],
    broken: Callable[[Break], Environment],
    tmp_path: Path,
) -> None:
    if one.early:
        (found,) = map(vars, suite(broken(one), tmp_path, "--only", one.contract).contracts)
    else:
        found = noticed[one.contract]
    assert found["status"] == "broken", found["detail"]
    assert one.seen in found["detail"]


def test_there_is_a_way_to_break_each_contract() -> None:
    names = {name for name in NAMES if not name.startswith("names:")}
    assert {one.contract for one in BREAKS} == names


_NAMES_GONE = """
import json
from observatory.benchmarks.contracts import names
from observatory.benchmarks.contracts.names import Use
from observatory.benchmarks.contracts.__main__ import checked
found = {}
for contract in names.AREA.contracts:
    module = contract.name.partition(":")[2]
    gone = (Use(f"{module}.is_gone", "pytensor/x.py:1"),)
    names._uses = lambda: gone
    found[contract.name] = vars(checked(contract))
called = (Use("numba.core.cgutils.alloca_once", "pytensor/x.py:2", (9, ("way",)), True),)
names._uses = lambda: called
(cgutils,) = [one for one in names.AREA.contracts if one.name == "names:numba.core.cgutils"]
print(json.dumps([found, vars(checked(cgutils))]))
"""


def test_each_module_of_names_notices_one_that_is_gone_or_takes_other_arguments(
    newest: Environment,
) -> None:
    command = [str(newest.python), "-c", _NAMES_GONE]
    said = subprocess.run(command, env=newest.variables(), capture_output=True, check=True).stdout
    found, called = json.loads(said)
    assert set(found) == {name for name in NAMES if name.startswith("names:")}
    for name, verdict in found.items():
        assert verdict["status"] == "broken", name
        assert "there is no" in verdict["detail"]
    assert called["status"] == "broken"
    assert "does not take what PyTensor gives it" in called["detail"]


def test_a_segmentation_fault_costs_one_contract(
    broken: Callable[[Break], Environment], tmp_path: Path
) -> None:
    crash = Break(
        "uid_asked",
        "numba.core.bytecode",
        "import ctypes\n"
        "original = module.FunctionIdentity.from_function.__func__\n"
        "def from_function(cls, function):\n"
        "    if function.__name__ == 'uid_asked':\n"
        "        ctypes.string_at(0)\n"
        "    return original(cls, function)\n"
        "module.FunctionIdentity.from_function = classmethod(from_function)\n",
        "",
    )
    wanted = ("--only", "uid_asked", "--only", "uid_next_only")
    first, second = suite(broken(crash), tmp_path, *wanted).contracts
    assert (first.status, second.status) == ("failed", "holds")
    assert "died of SIGSEGV" in first.detail


def test_a_release_without_a_cache_of_its_own_says_so(
    environment_of: Callable[[str], Environment], tmp_path: Path
) -> None:
    found = suite(environment_of("2.35.1"), tmp_path)
    assert told(found.of("broken", "failed")) == []
    absent = {one.name: one.detail for one in found.of("unavailable")}
    assert "has no cache of its own" in absent["locator_asked"]
    assert "uses nothing of" in absent["names:numba.core.caching"]
    assert {"elementwise_loops", "random_draws"} <= {one.name for one in found.of("holds")}


@pytest.fixture
def interrupted(newest: Environment, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    variables = {**newest.variables(), "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        newest.command("benchmarks.contracts"), env=variables, cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


def test_a_suite_that_is_ended_leaves_nothing(
    interrupted: subprocess.Popen[str], tmp_path: Path
) -> None:
    import time

    end = time.monotonic() + 600
    while time.monotonic() < end and not list(tmp_path.glob("*/out/uids-0.jsonl")):
        time.sleep(0.1)
    interrupted.terminate()
    interrupted.communicate(timeout=300)
    assert list(tmp_path.iterdir()) == []
    marked = f"={tmp_path}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            assert int(environ.parent.name) == os.getpid() or marked not in environ.read_bytes()
        except OSError:
            continue


def test_a_newer_numba_is_checked_against_the_bounds_of_pytensor(
    newest: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment is real. Of the contracts two are checked; the test below checks them all."""
    few = ("--only", "uid_asked", "--only", "loaded_raises")
    monkeypatch.setattr(
        contracts, "printed_record",
        lambda where, module, _, *more, **limits: printed_record(
            where, module, few, *more, **limits
        ),
    )  # fmt: skip
    monkeypatch.setattr(local, "Environments", partial(Environments, uv=Uncompiled()))
    version = newest.versions.pytensor
    places = ["--results", str(tmp_path), "--state", str(OF_TESTS)]
    done = CliRunner().invoke(app, ["contracts", version, "--newest", "--json", *places])
    assert done.exit_code in (Exit.OK, Exit.CONTRACTS), done.output
    (record,) = load_all(tmp_path)
    assert isinstance(record, Contracts)
    assert record.checked is not None
    printed: list[dict[str, Any]] = json.loads(done.stdout)
    assert Contracts.model_validate(printed[0]) == record
    assert {one.name for one in record.contracts} == {"uid_asked", "loaded_raises"}
    assert record.environment["pytensor"] == version
    assert record.checked.lifted == (record.numba not in (record.declared or ""))


def test_a_wheel_that_restores_the_counter_breaks_the_contracts_about_it_and_no_other(
    newest: Environment,
    observatory: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    environment_of: Callable[..., Environment],
) -> None:
    wheel, state = str(build("uid_counter", tmp_path)), tmp_path / "state"
    version = newest.versions.pytensor
    environment_of(f"{version} {wheel}", state=state)
    places = ("--results", str(tmp_path / "results"), "--state", str(state))
    done = observatory("contracts", version, wheel, *places)
    assert done.returncode == Exit.CONTRACTS, done.stderr
    (record,) = load_all(tmp_path / "results")
    assert isinstance(record, Contracts)
    assert [one.name for one in record.contracts] == NAMES
    assert {one.name for one in record.of("broken")} == PROTECTION
    assert told(record.of("failed")) == []
    assert "BROKEN sibling_results with numba" in done.stdout
