"""Running the suite, with stand-ins for the Python of an environment."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from observatory.run.contracts import SuiteError, check
from observatory.run.environments import Environment
from observatory.store.records.subject import Versions
from tests.factories import subject
from tests.factories_contracts import contracts

VERSIONS = Versions(pytensor="3.3.7", numba="0.68.0", python="3.13.0", packages={})


def environment(tmp_path: Path, script: str) -> Environment:
    """An environment whose Python is a shell script."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    return Environment(python, VERSIONS, "key", tmp_path)


def test_the_record_of_the_suite_is_told_whose_it_is(tmp_path: Path) -> None:
    printed = tmp_path / "printed.json"
    printed.write_text(contracts(checked=None).model_dump_json(by_alias=True))
    asked = tmp_path / "asked"
    place = environment(tmp_path, f'echo "$@" > {asked}; cat {printed}')
    record = check(place, subject(), lifted=True)
    assert record.checked is not None
    assert record.checked.subject == subject()
    assert record.checked.lifted
    assert asked.read_text() == "-m benchmarks.contracts --end-with-parent\n"


def test_a_suite_that_prints_no_record_is_quoted(tmp_path: Path) -> None:
    place = environment(tmp_path, "echo nonsense; echo No module named numba >&2; exit 1")
    with pytest.raises(SuiteError, match=r"status 1.*no record.*No module named numba"):
        check(place, subject())


def test_a_record_of_another_schema_is_refused(tmp_path: Path) -> None:
    place = environment(tmp_path, f"echo '{json.dumps({'schema': 'other'})}'")
    with pytest.raises(SuiteError, match="does not fit the schema"):
        check(place, subject())


def test_a_suite_that_hangs_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    place = environment(tmp_path, f"echo $$ > {pid}; exec sleep 60")
    for limit in (0.5, 5.0, 50.0):  # on a slow machine, it may be ended before it has begun
        with pytest.raises(SuiteError, match=f"did not end within {limit:g} s"):
            check(place, subject(), timeout=limit)
        if pid.exists():
            break
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
