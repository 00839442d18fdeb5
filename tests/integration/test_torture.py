"""A short torture of real caches: that a planted wrong entry is seen, and a few faults."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from observatory.run.environments import Environment
from observatory.store.records.torture import Torture

pytestmark = pytest.mark.integration

FAULTS = ("exchanged", "index_missing", "index_empty", "killed")


OF_C = ("key_exchanged", "compiler_fails", "cleared", "kept_key_empty")


@pytest.fixture(scope="module")
def tried(newest: Environment, tmp_path_factory: pytest.TempPathFactory) -> Torture:
    """A few faults of numba's cache."""
    return tortured(newest, tmp_path_factory.mktemp("torture"), "numba", FAULTS)


def tortured(
    newest: Environment, scratch: Path, cache: str, faults: Sequence[str], *others: str
) -> Torture:
    """Put a cache under faults; nothing may be left in the scratch directory."""
    only = [word for name in faults for word in ("--only", name)]
    only += [word for one in others for word in ("--other", one)]
    command = newest.command("benchmarks.torture", "--cache", cache, "--steps", "2", *only)
    (scratch / "tmp").mkdir()
    variables = {**newest.variables(), "TMPDIR": str(scratch / "tmp")}
    done = subprocess.run(
        command, capture_output=True, text=True, env=variables, cwd=scratch, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list((scratch / "tmp").iterdir()) == []
    assert [path.name for path in scratch.iterdir()] == ["tmp"]
    return Torture.model_validate_json(done.stdout)


def test_an_entry_with_the_code_of_another_function_is_seen(tried: Torture) -> None:
    (control,) = [one for one in tried.faults if one.name == "exchanged"]
    assert (control.verdict, control.after) == ("WRONG", "WRONG")
    assert "up has a relative error of" in control.outcomes[0].detail
    assert tried.blind == []


def test_a_missing_entry_is_compiled_again_and_stored(tried: Torture) -> None:
    (missing,) = [one for one in tried.faults if one.name == "index_missing"]
    assert (missing.verdict, missing.after) == ("recompiles", "safe")


def test_an_empty_index_never_gives_a_wrong_number(tried: Torture) -> None:
    """It raises in every process in the releases that there are; a later one may recover."""
    (empty,) = [one for one in tried.faults if one.name == "index_empty"]
    assert empty.verdict in ("raises", "recompiles")
    assert empty.after in ("raises", "safe")


def test_a_killed_store_is_compiled_again_by_the_next_process(tried: Torture) -> None:
    (killed,) = [one for one in tried.faults if one.name == "killed"]
    if killed.verdict is None:
        pytest.skip(killed.skipped)  # no C compiler for the stand-in
    assert (killed.verdict, killed.after, killed.cases) == ("recompiles", "safe", 2)
    assert tried.environment["pytensor"]


def test_the_record_says_what_it_took(tried: Torture) -> None:
    assert {one.key for one in tried.faults} == {("numba", name) for name in FAULTS}
    assert 0 < tried.cpu_seconds < 10 * tried.seconds


def test_only_what_a_killed_store_began_stays_in_the_cache(tried: Torture) -> None:
    """numba writes a temporary file and renames it; nobody deletes one that was not renamed."""
    left = {one.name: one.left for one in tried.faults if one.verdict is not None}
    assert left.pop("killed", 1) == 1
    assert left == dict.fromkeys(left, 0)


def test_faults_of_the_cache_of_c_modules(newest: Environment, tmp_path: Path) -> None:
    """Another key, a compiler that fails, a cleared cache, and what must be deleted."""
    found = tortured(newest, tmp_path, "c", OF_C)
    faults = {one.name: one for one in found.faults}
    for name in ("key_exchanged", "cleared", "kept_key_empty"):
        assert (faults[name].verdict, faults[name].after) == ("recompiles", "safe"), faults[name]
    failed = faults["compiler_fails"]
    assert (failed.verdict, failed.after, failed.left) == ("raises", "safe", 0)
    assert failed.outcomes[0].detail.startswith("CompileError")
    assert faults["kept_key_empty"].warned == 1
    assert faults["kept_key_empty"].left == 0


def test_caches_of_other_environments(newest: Environment, tmp_path: Path) -> None:
    """That of the same versions is used; what nobody filled is imitated, or not tried."""
    names = ("of_python", "of_numba", "of_pytensor")
    for cache, imitated in ("numba", ("recompiles", "safe")), ("c", (None, None)):
        scratch = tmp_path / cache
        scratch.mkdir()
        found = tortured(newest, scratch, cache, names, f"pytensor={newest.python}")
        verdicts = {one.name: (one.verdict, one.after) for one in found.faults}
        same = ("safe", "safe")
        assert verdicts == {"of_python": imitated, "of_numba": imitated, "of_pytensor": same}
