"""`observatory passport` as a workflow uses it; the Python it asks is a script that answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from observatory.errors import Exit
from observatory.guard.passports import Fact, Known
from observatory.store.records.passport import load
from tests.command import observatory
from tests.factories_cache import COMPILEDIR
from tests.factories_scan import MACHINE, NUMBA, RANDOM_UID, mangled, object_of, put

FGRAPH = "pytensor.link.numba.dispatch.basic.numba_funcified_fgraph"


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python that has PyTensor 1.1.0; it was measured to be safe on its own cache."""
    facts = {
        "python": "3.13.0", "pytensor": "1.1.0", "numba": NUMBA, "machine": MACHINE,
        "numpy_abi": "0x2000000",
    }  # fmt: skip
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\necho '{json.dumps(facts)}'\n")
    path.chmod(0o755)
    monkeypatch.setenv("PYTENSORRC", str(tmp_path / "none"))
    monkeypatch.setenv("PYTENSOR_FLAGS", "cxx=")
    known = Known(
        facts=[
            Fact(kind="numba", base="1.1.0", head="1.1.0", numba=NUMBA, use="safe",
                 base_settings={"cxx": ""}, head_settings={"cxx": ""}),
        ]
    )  # fmt: skip
    monkeypatch.setattr("observatory.cli.commands.passport.shipped", lambda: known)
    return path


def test_the_key_is_printed_for_a_workflow(python: Path) -> None:
    done = observatory("passport", "--python", python, "--github")
    key = done.stdout.splitlines()[0].removeprefix("key=")
    assert key.startswith(f"pytensor-1.1.0-numba-{NUMBA}-py3.13.0-znver4-")
    assert done.stdout.splitlines()[1:] == [
        "restore-keys<<END_OF_KEYS", f"{key}-", "END_OF_KEYS",
    ]  # fmt: skip
    said = json.loads(observatory("passport", "--python", python, "--json").stdout)
    assert (said["key"], said["restore_keys"], said["numba"]) == (key, [f"{key}-"], NUMBA)


def test_a_cache_says_who_used_it_from_the_first_build_on(python: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = observatory("passport", cache, "--python", python, "--stamp")
    assert (done.returncode, len(load(cache))) == (Exit.OK, 1)
    put(cache, "sound", object_of({mangled(FGRAPH, RANDOM_UID): "x"}))
    done = observatory("passport", cache, "--python", python)
    assert done.returncode == Exit.OK
    assert done.stdout.startswith(f"{cache}: safe: what is loaded returns the numbers of an empty")


def test_a_cache_of_unknown_origin_is_refused_and_stays_unstamped(
    python: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    put(cache, "sound", object_of({mangled(FGRAPH, RANDOM_UID): "x"}))
    done = observatory("passport", cache, "--python", python, "--stamp")
    assert done.returncode == Exit.UNSAFE_CACHE
    assert "it does not say which PyTensor filled it" in done.stdout
    assert done.stdout.endswith("It must not be used here: delete it, or use another one.\n")
    assert load(cache) == []


def test_what_is_no_cache_is_not_called_empty(python: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (cache / "a" / "b" / "c").mkdir(parents=True)
    done = observatory("passport", cache, "--python", python, "--stamp")
    assert done.returncode == Exit.UNSAFE_CACHE
    assert "nothing in it is known to be a cache" in done.stdout


def test_a_python_without_pytensor_is_named(python: Path) -> None:
    python.write_text(python.read_text().replace("1.1.0", ""))
    done = observatory("passport", "--python", python)
    assert done.returncode == Exit.ENVIRONMENT
    assert f"{python} has no PyTensor" in done.stderr


def test_stamp_needs_a_cache(python: Path) -> None:
    done = observatory("passport", "--python", python, "--stamp")
    assert done.returncode == Exit.USAGE
    assert "--stamp needs the directory of the cache" in done.stderr


def test_an_imported_pytensor_leaves_an_empty_cache(python: Path, tmp_path: Path) -> None:
    (tmp_path / "cache" / COMPILEDIR).mkdir(parents=True)
    (tmp_path / "cache" / COMPILEDIR / "__init__.py").touch()
    done = observatory("passport", tmp_path / "cache", "--python", python)
    assert done.returncode == Exit.OK
    assert "it is empty" in done.stdout


def test_a_file_is_no_cache_and_github_gets_a_key(python: Path, tmp_path: Path) -> None:
    done = observatory("passport", python, "--python", python)
    assert done.returncode == Exit.USAGE
    assert "is a file: name the directory of a cache" in done.stderr
    done = observatory("passport", tmp_path, "--python", python, "--github")
    assert done.returncode == Exit.USAGE
    assert "--github prints the key: leave out DIR" in done.stderr
