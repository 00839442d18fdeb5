"""The distribution: what is in it, and that it works where there is no checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from observatory.run.environments import Environment
from observatory.run.uv import RealUv
from tests.integration.conftest import Shelf, lend

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]
SOURCES = ("observatory", "benchmarks", "dashboard", "pyproject.toml", "README.md", "LICENSE")
NARROW = ("--quick", "--backend", "C", "--launch", "spawn", "--pass", "counting",
          "--scenario", "cold", "--scenario", "warm_disk")  # fmt: skip


@pytest.fixture(scope="module")
def built(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a source distribution and of the wheel that is built from it."""
    tree = tmp_path_factory.mktemp("tree")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, tree / name)
    return shelf.made("dist", lambda out: RealUv()("build", "--out-dir", str(out), str(tree)))


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment in which the wheel and what it requires are installed."""
    where, uv = tmp_path_factory.mktemp("installed") / "venv", RealUv()
    uv("venv", str(where))
    (wheel,) = built.glob("*.whl")
    uv("pip", "install", "--python", str(where / "bin/python"),
       "--constraint", str(ROOT / "constraints.txt"), str(wheel))  # fmt: skip
    return where / "bin"


def run(programs: Path, where: Path, *words: object) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(programs / str(words[0])), *map(str, words[1:])]
    return subprocess.run(
        command, cwd=where, env=kept, capture_output=True, text=True, check=False, timeout=1200
    )


def test_everything_is_below_one_name_and_nothing_twice(built: Path) -> None:
    (wheel,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
    assert wheel.name.startswith("pytensor_observatory-")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"observatory"}
    for needed in (
        "observatory/py.typed", "observatory/benchmarks/sample.py",
        "observatory/dashboard/assets/style.css", "observatory/dashboard/templates/index.html.j2",
    ):  # fmt: skip
        assert needed in names
    with tarfile.open(source) as archive:
        inside = [name.partition("/")[2] for name in archive.getnames()]
    assert not [name for name in inside if name.startswith(("benchmarks", "dashboard", "tests"))]
    tracked = subprocess.run(
        ["git", "ls-files", *SOURCES[:3]], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    links = {"observatory/benchmarks", "observatory/dashboard"}
    wanted = {
        name if name.startswith("observatory/") else f"observatory/{name}"
        for name in set(tracked) - links
    }
    assert wanted - set(names) == set()


def test_it_measures_and_shows_where_there_is_no_checkout(
    installed: Path, newest: Environment, tmp_path: Path
) -> None:
    lend(tmp_path / ".observatory", newest)
    measured = run(installed, tmp_path, "observatory", "run", *NARROW)
    assert measured.returncode == 0, measured.stderr
    assert "2 samples" in measured.stdout
    shown = run(installed, tmp_path, "observatory", "dashboard")
    assert shown.returncode == 0, shown.stderr
    page = (tmp_path / "html/index.html").read_text(encoding="utf-8")
    assert "no wrong results" in page


def test_what_an_optional_dependency_does_is_missed_with_a_sentence(
    installed: Path, tmp_path: Path
) -> None:
    for name in ("benchmarks", "dashboard", "matplotlib", "hypothesis"):
        assert run(installed, tmp_path, "python", "-c", f"import {name}").returncode != 0
    results = ROOT / "results"
    done = run(installed, tmp_path, "observatory", "digest", "--results", results,
               "--picture", tmp_path / "week.png")  # fmt: skip
    assert done.returncode == 2
    assert "matplotlib is not installed" in done.stderr
    assert "pip install 'pytensor-observatory[plot] @ git+https://" in done.stderr
