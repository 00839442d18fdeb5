"""`observatory compare` as a whole, on the newest release, with and without a known fault."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from observatory.errors import Exit
from observatory.run.environments import Environment
from observatory.store.records.comparison import Comparison
from scripts.faults.kit import build
from tests.integration.conftest import lend

pytestmark = pytest.mark.integration

Command = Callable[..., subprocess.CompletedProcess[str]]
OF_C = ("--backend", "C", "--scenario", "warm_disk", "--launch", "spawn")
"""One module is compiled, where numba compiles 35 functions."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fault: the keys of C modules differ between processes."""
    return build("c_key_salted", tmp_path_factory.mktemp("wheel"))


def test_a_cache_that_stopped_hitting_is_told_with_its_cause(
    newest: Environment, observatory: Command, wheel: Path, tmp_path: Path,
    environment_of: Callable[..., Environment],
) -> None:  # fmt: skip
    version, state = newest.versions.pytensor, tmp_path / "state"
    lend(state, newest)
    environment_of(f"{version} {wheel}", state=state)
    out, comment = tmp_path / "told.json", tmp_path / "comment.md"
    done = observatory(
        "compare", version, f"{version} {wheel}", *OF_C, "--budget", "1s", "--state", str(state),
        "--samples", str(tmp_path / "samples"), "--json", str(out), "--markdown", str(comment),
    )  # fmt: skip
    assert done.returncode == Exit.WORSE, done.stderr
    told = Comparison.model_validate_json(out.read_bytes())
    (cause,) = told.causes
    assert cause.kind == "keys differ between processes"
    assert [(cell.scenario, cell.launch) for cell in cause.cells] == [("warm_disk", "spawn")]
    assert cause.functions
    exact = {v.metric: v.cause for v in told.worse if v.kind == "exact"}
    # What misses is compiled and stored anew, so that the cache grows.
    metrics = ("cache_misses", "compiler_runs", "files_grown", "bytes_grown")
    assert exact == dict.fromkeys(metrics, cause.id)
    assert "#### Keys differ between processes" in comment.read_text()
    assert "counted again" in done.stderr


def test_a_subject_against_itself_is_silent_and_judged_again_from_its_samples(
    newest: Environment, observatory: Command, tmp_path: Path
) -> None:
    version, samples = newest.versions.pytensor, tmp_path / "samples"
    done = observatory(
        "compare", version, version, *OF_C, "--budget", "1s",
        "--samples", str(samples),
    )  # fmt: skip
    # Nothing is worse; a budget of a second decides no time.
    assert done.returncode == Exit.UNDECIDED, done.stderr
    first = Comparison.model_validate_json((samples / "comparison.json").read_bytes())
    assert first.interleaved
    assert first.worse == []
    assert first.missing == []
    assert "How it was measured" in (samples / "comparison.md").read_text()
    again = tmp_path / "again.json"
    done = observatory(
        "compare", str(samples / "base"), str(samples / "head"), "--json", str(again)
    )
    # Nobody asks saved results for times that they do not hold.
    assert done.returncode == Exit.OK, done.stderr
    second = Comparison.model_validate_json(again.read_bytes())
    assert second.interleaved
    asked = {verdict.cell for verdict in first.verdicts}  # not the one that filled the caches
    again_told = [verdict for verdict in second.verdicts if verdict.cell in asked]
    assert again_told == [v for v in first.verdicts if v not in first.undecided]


def test_without_times_a_subject_against_itself_is_decided(
    newest: Environment, observatory: Command, tmp_path: Path
) -> None:
    """As `git bisect run` needs it: nothing worse is status 0, not "could not judge"."""
    version, out = newest.versions.pytensor, tmp_path / "told.json"
    done = observatory(
        "compare", version, version, *OF_C, "--pass", "counting", "--pass", "tracing",
        "--samples", str(tmp_path / "samples"), "--json", str(out),
    )  # fmt: skip
    assert done.returncode == Exit.OK, done.stderr
    told = Comparison.model_validate_json(out.read_bytes())
    assert {verdict.kind for verdict in told.verdicts} == {"exact", "near_exact"}
    assert any("times were not compared" in warning for warning in told.warnings)
    assert told.profiled is not None
    assert "Flame graph of" in (tmp_path / "samples" / "profile.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("3.3.7", "nonsense"), "accepted: a release"),
        (("3.3.7", "3.3.7", "--budget", "soon"), "is not a time"),
        (("3.3.7", "3.3.7", "--backend", "TPU"), "there is no backend 'TPU'"),
        (("results:0.0.0", "results:3.3.7"), "no subject '0.0.0'"),
        (("results:3.3.7", "3.3.7"), "give saved results for both"),
    ],
)
def test_what_is_not_understood_is_said_in_a_sentence(
    observatory: Command, arguments: tuple[str, ...], said: str
) -> None:
    done = observatory("compare", *arguments)
    assert done.returncode == Exit.USAGE
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
