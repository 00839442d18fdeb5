"""The warning on implementations of Ops whose code changed under the same version."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from observatory.app.implementations import between, between_commits
from observatory.app.upgrade import under_the_same_version
from observatory.run.environments import Environment
from observatory.store.records.upgrades import Side
from tests.factories import header, subject
from tests.factories_git import git as git_in

ROOT = Path(__file__).parents[3]
OF_OPS = """
@register({name})
def {name}(op):
    return njit(lambda x: {code}), 1
"""


def written(packages: Path, **codes: str) -> Path:
    """A directory with a PyTensor that has an implementation for each name."""
    place = packages / "pytensor/link/numba/dispatch"
    place.mkdir(parents=True, exist_ok=True)
    sources = [OF_OPS.format(name=name, code=code) for name, code in codes.items()]
    (place / "ops.py").write_text("".join(sources))
    return packages


def environment(where: Path, kind: str = "", **codes: str) -> Environment:
    """An environment with the interpreter of the tests and such a PyTensor; ``kind``: t or none."""
    major, minor = sys.version_info[:2]
    python = where / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    written(where / "lib" / f"python{major}.{minor}{kind}" / "site-packages", **codes)
    (where / "importable").mkdir()
    (where / "importable" / "benchmarks").symlink_to(ROOT / "benchmarks")
    versions = header().versions.model_copy(update={"python": f"{major}.{minor}.0"})
    return Environment(python, versions, "key", where / "importable")


def test_what_changed_under_the_same_version_is_a_warning(tmp_path: Path) -> None:
    base = environment(tmp_path / "base", dot="x", add="x", solve="x")
    head = environment(tmp_path / "head", dot="x + 1", add="x", solve="-x")
    (warning,) = between(print, base, head)
    assert "of 2 implementations of Ops, but not their version: `dot` and `solve`. " in warning
    assert between(print, base, base) == []


def test_a_free_threaded_python_has_packages_in_a_directory_of_its_own(tmp_path: Path) -> None:
    base, head = (
        environment(tmp_path / name, "t", dot=code) for name, code in (("a", "x"), ("b", "-x"))
    )
    (warning,) = between(print, base, head)
    assert "1 implementation of Ops" in warning


def test_a_warning_names_three_and_counts_the_others(tmp_path: Path) -> None:
    names = ["a" * 150, *"bcde"]
    base = environment(tmp_path / "base", **dict.fromkeys(names, "x"))
    head = environment(tmp_path / "head", **dict.fromkeys(names, "-x"))
    (warning,) = between(print, base, head)
    assert "code of 5 implementations" in warning
    assert "…" in warning
    assert "`b`, `c` and 2 more. " in warning
    assert len(warning) < 300


@pytest.mark.parametrize("side", ["base", "head"])
def test_where_there_is_nothing_to_compare_nothing_is_said(tmp_path: Path, side: str) -> None:
    said: list[str] = []
    sides = {name: environment(tmp_path / name, dot=name) for name in ("base", "head")}
    for path in tmp_path.glob(f"{side}/lib/*/*/**/ops.py"):
        path.unlink()
    assert between(said.append, sides["base"], sides["head"]) == []
    assert said == []


def test_sources_that_cannot_be_read_are_no_warning_but_said(tmp_path: Path) -> None:
    said: list[str] = []
    base, head = (environment(tmp_path / name, dot=code) for name, code in (("a", "x"), ("b", ")")))
    assert between(said.append, base, head) == []
    assert "needs a newer Python than this one" in said[0]


def test_the_sources_of_commits_come_from_the_clone(tmp_path: Path) -> None:
    clone, said = tmp_path / "clone", list[str]()
    clone.mkdir()
    git = partial(git_in, clone)
    git("init", "--quiet")
    commits = []
    for code in ("x", "-x"):
        written(clone, dot=code)
        git("add", ".")
        git("commit", "--quiet", "-m", code)
        commits.append(git("rev-parse", "HEAD"))
    where = environment(tmp_path / "environment")
    (warning,) = between_commits(said.append, clone, *commits, where)
    assert "1 implementation of Ops, but not its version: `dot`. " in warning
    assert between_commits(said.append, clone, commits[0], commits[0], where) == []
    assert said == []
    assert between_commits(said.append, clone, "0" * 40, commits[0], where) == []
    assert "git archive failed" in said[0]


def test_each_step_of_an_upgrade_is_looked_at(tmp_path: Path) -> None:
    """A step that only changes flags has one environment, and nothing to compare."""
    versions = header().versions
    steps = [("1.0", "x"), ("1.1", "-x"), ("1.2", "-x")]
    sides = [
        (Side(subject=subject(name), versions=versions), environment(tmp_path / name, dot=code))
        for name, code in steps
    ]
    (warning,) = under_the_same_version(print, [*sides, sides[-1]])
    assert warning.startswith("1.1 changes the code of 1 implementation of Ops, but not its ")
    assert "A cache that 1.0 filled" in warning
