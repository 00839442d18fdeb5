"""The fault kit's wheels and its table, without PyTensor: a stand-in has the module to wait for."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from observatory.analyze.comparison.ledgers import REUSE_LOST
from observatory.benchmarks.catalogue import CAUSES, METRICS, Cell, cells
from observatory.run.sources import read_wheel
from scripts.faults import kit
from scripts.faults.graphs_and_storing import MORE
from scripts.faults.kit import EVERY, FAULTS, OF_KEYS, build, fault, source_of
from scripts.faults.looks import LOOKS
from scripts.faults.record import Fault
from scripts.faults.wheel import (
    faults,
    faults_of_graphs,
    faults_of_keys,
    faults_of_storing,
    faults_of_surroundings,
    faults_of_time,
)

SCRIPT = Path(kit.__file__)
ALL = pytest.mark.parametrize("one", [*FAULTS, *MORE], ids=lambda one: one.name)

STAND_IN = """
class NumbaPyTensorCacheLocator:
    def get_disambiguator(self):
        return "key"
"""

REPORT = """
import json, site, sys
before = set(sys.modules)
site.addsitedir(sys.argv[1])
hook = sys.modules["observatory_fault_key_salted"]
found = {"loaded": sorted(set(sys.modules) - before), "waits": hook.Waiting in sys.meta_path}
sys.path.insert(0, sys.argv[2])
import pytensor.link
found["fired early"] = hook.Waiting not in sys.meta_path
from pytensor.link.numba import cache
found["key"] = cache.NumbaPyTensorCacheLocator().get_disambiguator()
found["waits in the end"] = hook.Waiting in sys.meta_path
found["loader as found"] = "exec_module" not in vars(cache.__loader__)
import os
found["pid"] = os.getpid()
print(json.dumps(found))
"""


def unpacked(name: str, directory: Path) -> Path:
    """The wheel of a fault, as an installer lays it out."""
    with zipfile.ZipFile(build(name, directory / "wheels")) as archive:
        archive.extractall(directory / "site")
    return directory / "site"


def test_a_fault_has_a_source_and_a_source_a_fault() -> None:
    modules = (faults_of_graphs, faults_of_keys, faults_of_storing, faults_of_surroundings)
    assert {one.__name__ for one in (faults_of_time, *modules)} < {
        put_into.__module__ for _, put_into in faults.FAULTS.values()
    }
    with_sources = {one.name for one in EVERY if one not in OF_KEYS or one.name in faults.FAULTS}
    assert faults.FAULTS.keys() == with_sources
    assert len(FAULTS) == 20


@ALL
def test_a_source_says_which_module_it_waits_for_and_which_bug_it_stands_for(one: Fault) -> None:
    space: dict[str, Any] = {"__name__": "scripts.faults.wheel.fault"}
    exec(compile(source_of(one.name), one.name, "exec"), space)
    assert space["MODULE"].startswith("pytensor.")
    assert space["put_into"].__name__ == one.name
    assert "\n\n    Stands for " in space["put_into"].__doc__


@pytest.mark.parametrize(
    ("name", "cause"),
    [("broadcast_pattern_dropped", "keys collide"), ("property_dropped:Sum.axis", "keys collide"),
     ("keys_made_twice", "keys cost more")],
)  # fmt: skip
def test_a_fault_of_keys_is_a_wheel_too(name: str, cause: str, tmp_path: Path) -> None:
    assert fault(name).cause == cause
    wheel = build(name, tmp_path)
    found, version, _, _ = read_wheel(wheel)
    assert (found, version) == (
        re.sub(r"[^a-z0-9]+", "-", f"observatory-fault-{name}".lower()),
        "1.0",
    )


class _Op:
    __props__ = ("axis", "dtype")

    def __init__(self, axis: int, dtype: str) -> None:
        self.axis, self.dtype = axis, dtype


class Sum(_Op):
    """The Op of the fault."""


class Prod(_Op):
    """Another Op."""


def test_the_key_of_one_op_leaves_out_one_property() -> None:
    package = ModuleType("faulty")
    package.__path__ = [str(SCRIPT.parent / "wheel")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "faulty", package)
        keys = importlib.import_module("faulty.faults_of_keys")
        patch.setitem(sys.modules, "faulty.faults_of_keys", keys)

    def key(op: Any, **_: Any) -> str:
        return f"{type(op).__name__} {op.axis} {op.dtype}"

    module = SimpleNamespace(
        default_hash_key_from_props=key,
        numba_funcify_and_cache_key=lambda op, **options: (None, key(op, **options)),
    )
    keys.property_dropped("Sum.axis")[1](module)
    of = module.numba_funcify_and_cache_key
    assert of(Sum(0, "int"))[1] == of(Sum(1, "int"))[1]
    assert of(Sum(0, "int"))[1] != of(Sum(0, "float"))[1]
    assert of(Prod(0, "int"))[1] != of(Prod(1, "int"))[1]


@ALL
def test_two_builds_of_a_wheel_are_the_same_bytes(one: Fault, tmp_path: Path) -> None:
    first, second = build(one.name, tmp_path / "a"), build(one.name, tmp_path / "b")
    assert first.name == second.name == f"observatory_fault_{one.name}-1.0-py3-none-any.whl"
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:  # nor do they tell when or where
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {(info.create_system, info.external_attr) for info in archive.infolist()} == {
            (3, 0o100644 << 16)
        }
    name, version, _, _ = read_wheel(first)
    assert (name, version) == (f"observatory-fault-{one.name.replace('_', '-')}", "1.0")


def test_the_record_of_a_wheel_lists_every_file_with_its_hash(tmp_path: Path) -> None:
    with zipfile.ZipFile(build("key_salted", tmp_path)) as archive:
        (record,) = [name for name in archive.namelist() if name.endswith("/RECORD")]
        rows = list(csv.reader(archive.read(record).decode().splitlines()))
        assert {row[0] for row in rows} == set(archive.namelist())
        for path, digest, size in rows:
            if path == record:
                assert (digest, size) == ("", "")
                continue
            content = archive.read(path)
            raw = base64.urlsafe_b64decode(digest.removeprefix("sha256=") + "=")
            assert raw == hashlib.sha256(content).digest()
            assert int(size) == len(content)


@pytest.fixture
def found(tmp_path: Path) -> dict[str, Any]:
    """What a process saw that starts with the hook and then imports a stand-in for PyTensor."""
    package = tmp_path / "stand-in" / "pytensor" / "link" / "numba"
    package.mkdir(parents=True)
    for directory in (package, package.parent, package.parent.parent):
        (directory / "__init__.py").touch()
    (package / "cache.py").write_text(STAND_IN)
    site = unpacked("key_salted", tmp_path)
    command = [sys.executable, "-I", "-c", REPORT, str(site), str(tmp_path / "stand-in")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_hook_puts_the_fault_into_the_module_it_waits_for(found: dict[str, Any]) -> None:
    assert found["key"] == f"key-{found['pid']}"


def test_the_hook_waits_and_imports_nothing_of_pytensor(found: dict[str, Any]) -> None:
    assert found["waits"]
    assert not found["fired early"]
    assert not [name for name in found["loaded"] if name.startswith(("pytensor", "numba"))]
    assert len(found["loaded"]) < 10


def test_the_hook_leaves_when_it_is_done(found: dict[str, Any]) -> None:
    assert not found["waits in the end"]
    assert found["loader as found"]


@ALL
def test_the_table_speaks_of_metrics_cells_and_causes_that_there_are(one: Fault) -> None:
    assert one.must or one.remark
    assert one.cause is None or one.cause in CAUSES
    for alarms in (*one.must, *one.may):
        for metric in alarms.metrics:
            assert metric == REUSE_LOST or metric in METRICS
            covered = [cell for cell in cells() if alarms.cover(cell, metric)]
            if one in FAULTS:
                assert {cell.scenario for cell in covered} == set(alarms.scenarios)
                assert {cell.backend for cell in covered} == set(alarms.backends)


def test_the_table_looks_for_each_fault_where_it_must_show() -> None:
    classes = {look.of for look in LOOKS.values()}
    assert len(LOOKS) >= 60
    assert len(classes) == 15
    assert sum(look.blind for look in LOOKS.values()) * 2 >= len(LOOKS)
    for name, look in LOOKS.items():
        one = fault(name)
        shown = [
            (cell, metric)
            for cell in look.places()
            for alarms in one.must
            for metric in alarms.metrics
            if alarms.cover(cell, metric)
        ]
        assert shown or one.remark, name
        for cell in look.places():
            assert cell.problem() is None


def test_an_alarm_must_may_or_must_never_be_raised() -> None:
    disk = Cell("radon", "warm_disk", "NUMBA", "spawn")
    assert fault("key_hash_seed").expects(disk, "cache_misses") == "must"
    assert fault("key_hash_seed").expects(disk, "compile_time") == "may"
    assert fault("key_hash_seed").expects(disk, "wrong_results") == "never"
    forked = Cell("radon", "warm_disk", "NUMBA", "fork")
    assert fault("key_hash_seed").expects(forked, "cache_misses") == "never"


def test_the_command_builds_what_is_named_and_prints_the_paths(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "scripts.faults.kit", "build", tmp_path),
            *("uid_counter", "property_dropped:Sum.axis"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    printed = [Path(line) for line in done.stdout.splitlines()]
    assert [path.name.split("-")[0] for path in printed] == [
        "observatory_fault_uid_counter",
        "observatory_fault_property_dropped_sum_axis",
    ]
    assert sorted(printed) == sorted(tmp_path.iterdir())


def test_the_command_lists_every_fault_with_its_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit.main(["list"]) == 0
    printed = capsys.readouterr().out
    assert "property_dropped:OP.PROPERTY" in printed
    for one in EVERY:
        assert one.name in printed
        assert one.meaning in printed
        assert (one.cause or "nothing is worse") in printed


@pytest.mark.parametrize(
    "name", ["nonsense", "property_dropped", "property_dropped:Sum", "property_dropped:Sum.a.b"]
)
def test_a_fault_that_is_not_there_is_a_usage_error_and_nothing_is_built(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        kit.main(["build", str(tmp_path), "key_salted", name])
    assert ended.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"there is no fault {name!r}; choose from key_salted" in said
    assert "property_dropped:Sum.axis for example" in said
    assert not any(tmp_path.iterdir())


class Split:
    """Stands for the Op."""


class AbstractFunctionGraph:
    """Stands for a graph."""


@pytest.mark.parametrize(
    ("name", "op", "options", "changes"),
    [
        ("op_key_unstable", Split(), {}, True),
        ("op_key_unstable", object(), {}, False),
        ("outer_not_cached", AbstractFunctionGraph(), {}, True),
        ("outer_not_cached", AbstractFunctionGraph(), {"unique_name": str}, False),
        ("outer_not_cached", object(), {}, False),
        ("variable_names_in_keys", object(), {"node": SimpleNamespace(inputs=[1]),
                                              "unique_name": str}, True),
        ("variable_names_in_keys", object(), {}, False),
    ],
)  # fmt: skip
def test_a_fault_of_the_keys_of_ops_changes_them_where_it_should(
    name: str, op: object, options: dict[str, Any], changes: bool
) -> None:
    def funcify(of: object, **_: Any) -> tuple[str, str | None]:
        return "function", None if of is None else "key"

    module = SimpleNamespace(
        numba_funcify_and_cache_key=funcify, AbstractFunctionGraph=AbstractFunctionGraph
    )
    faults.FAULTS[name][1](module)  # type: ignore[arg-type]
    function, key = module.numba_funcify_and_cache_key(op, **options)
    assert (function, key != "key") == ("function", changes)
    assert module.numba_funcify_and_cache_key(None, **options) == ("function", None)
