"""The wheel of a commit, made from that of another one; a fake builds as setuptools would."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from observatory.run.interpreters import Interpreter
from observatory.run.wheels import CommitWheels
from tests.factories_git import git

PYTHON = Interpreter(Path("/python"), "3.13.0")
VERSION_FILE = "pytensor/_version.py"


def commit(repository: Path, files: Mapping[str, str]) -> str:
    for name, text in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "change")
    return git(repository, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    where = tmp_path / "pytensor"
    where.mkdir()
    git(where, "init", "--quiet")
    commit(where, {
        "pyproject.toml": "[project]\n", "pytensor/scan/perform.pyx": "x = 1\n",
        "pytensor/__init__.py": "one = 1\n", VERSION_FILE: "computed\n", "tests/test_a.py": "a\n",
    })  # fmt: skip
    git(where, "tag", "rel-1.2.0")
    return where


@dataclass
class Building:
    """A uv that packs a clone as setuptools does: an extension, and what versioneer writes."""

    skips: str = ""
    """A Python file that is not installed."""
    built: list[str] = field(default_factory=list)

    def __call__(
        self, *args: str, stdin: str = "", timeout: float = 600.0, held: Sequence[int] = ()
    ) -> str:
        del stdin, timeout
        clone, out = Path(args[-1]), Path(args[args.index("--out-dir") + 1])
        out.mkdir()
        self.built.append(git(clone, "rev-parse", "HEAD"))
        assert git(clone, "status", "--porcelain") == ""
        told = git(clone, "describe", "--tags", "--long").removeprefix("rel-").split("-")
        version = told[0] if told[1] == "0" else f"{told[0]}+{told[1]}.{told[2]}"
        pythons = [path for path in clone.glob("pytensor/**/*.py") if path.name != self.skips]
        files = {str(path.relative_to(clone)): path.read_text() for path in pythons}
        date = git(clone, "show", "--no-patch", "--format=%ci").replace(" ", "T", 1)
        files[VERSION_FILE] = json.dumps(
            {"version": version, "full": self.built[-1], "date": date.replace(" ", "")}
        )
        info = f"pytensor-{version}.dist-info"
        files |= {
            "pytensor/scan/perform.so": "machine code", f"{info}/RECORD": "",
            f"{info}/METADATA": f"Name: pytensor\nVersion: {version}\n\nText",
        }  # fmt: skip
        with zipfile.ZipFile(out / f"pytensor-{version}-cp313-cp313-linux_x86_64.whl", "w") as made:
            for name, text in files.items():
                made.writestr(name, text)
        return ""


def wheel(
    uv: Building, root: Path, repository: Path, commit: str, python: Interpreter = PYTHON
) -> tuple[str, dict[str, str]]:
    """The name of the wheel of a commit, and its content without the record."""
    requirement = f"pytensor @ git+{repository.as_uri()}@{commit}"
    with CommitWheels(root, uv).replacing(requirement, python, None) as replaced:
        path = Path(unquote(urlsplit(replaced.removeprefix("pytensor @ ")).path))
        with zipfile.ZipFile(path) as opened:
            assert opened.testzip() is None
            content = {name: opened.read(name).decode() for name in opened.namelist()}
    return path.name, {name: text for name, text in content.items() if "RECORD" not in name}


def test_a_derived_wheel_is_what_building_would_give(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, {"pytensor/a.py": "a = 1\n", "tests/test_a.py": "b\n"})
    second = commit(repository, {"pytensor/__init__.py": "one = 2\n", "pytensor/new/b.py": "b\n"})
    git(repository, "rm", "--quiet", "pytensor/a.py")
    third = commit(repository, {})
    uv, other = Building(), Building()
    wheel(uv, tmp_path / "shelf", repository, first)
    for one in (second, third):
        derived = wheel(uv, tmp_path / "shelf", repository, one)
        assert derived == wheel(other, tmp_path / f"shelf {one}", repository, one)
    assert (uv.built, other.built) == ([first], [second, third])


def test_a_free_threaded_python_gets_no_wheel_of_an_ordinary_one(
    repository: Path, tmp_path: Path
) -> None:
    uv, one = Building(), git(repository, "rev-parse", "HEAD")
    free = replace(PYTHON, free_threaded=True)
    for python in (PYTHON, free, PYTHON, free):
        wheel(uv, tmp_path / "shelf", repository, one, python)
    assert uv.built == [one, one]


def test_the_record_names_every_file(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, {})
    second = commit(repository, {"pytensor/a.py": "a = 2\n"})
    uv = Building()
    wheel(uv, tmp_path / "shelf", repository, first)
    requirement = f"pytensor @ git+{repository.as_uri()}@{second}"
    with (
        CommitWheels(tmp_path / "shelf", uv).replacing(requirement, PYTHON, None) as replaced,
        zipfile.ZipFile(unquote(urlsplit(replaced.removeprefix("pytensor @ ")).path)) as made,
    ):
        names = made.namelist()
        (record,) = [name for name in names if name.endswith("RECORD")]
        lines = made.read(record).decode().splitlines()
    assert sorted(line.split(",")[0] for line in lines) == sorted(names)
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"a = 2\n").digest()).decode().rstrip("=")
    assert f"pytensor/a.py,sha256={digest},6" in lines


def test_a_wheel_that_is_derived_again_has_the_same_bytes(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = commit(repository, {})
    second = commit(repository, {"pytensor/a.py": "a = 2\n"})
    wheel(Building(), tmp_path / "shelf", repository, first)
    requirement = f"pytensor @ git+{repository.as_uri()}@{second}"
    made, clock = [], zipfile.time.localtime
    for later in (0, 7200):
        monkeypatch.setattr(zipfile.time, "localtime", lambda now, by=later: clock(now + by))
        wheels = CommitWheels(tmp_path / "shelf", Building())
        with wheels.replacing(requirement, PYTHON, None) as replaced:
            path = Path(unquote(urlsplit(replaced.removeprefix("pytensor @ ")).path))
            made.append(path.read_bytes())
            with zipfile.ZipFile(path) as opened:
                ways = {(one.compress_type, one.external_attr >> 16) for one in opened.infolist()}
    assert ways == {(zipfile.ZIP_DEFLATED, 0o600)}
    assert made[0] == made[1]


@pytest.mark.parametrize(
    "files",
    [
        {"pytensor/scan/perform.pyx": "x = 2\n"},
        {"pyproject.toml": "[project]\nname = 'pytensor'\n"},
        {"setup.py": "setup()\n"},
    ],
)
def test_what_the_extension_depends_on_is_built_anew(
    repository: Path, tmp_path: Path, files: dict[str, str]
) -> None:
    first, second = commit(repository, {}), commit(repository, files)
    uv = Building()
    for one in (first, second):
        wheel(uv, tmp_path / "shelf", repository, one)
    assert uv.built == [first, second]


def test_nothing_is_derived_where_a_build_leaves_files_out(
    repository: Path, tmp_path: Path
) -> None:
    first = commit(repository, {"pytensor/conftest.py": "c\n"})
    second = commit(repository, {"pytensor/a.py": "a\n"})
    uv = Building(skips="conftest.py")
    for one in (first, second):
        wheel(uv, tmp_path / "shelf", repository, one)
    assert uv.built == [first, second]


def test_nothing_is_derived_without_a_tag(repository: Path, tmp_path: Path) -> None:
    first, second = commit(repository, {}), commit(repository, {})
    uv = Building()
    wheel(uv, tmp_path / "shelf", repository, first)
    git(repository, "tag", "--delete", "rel-1.2.0")
    git(repository, "tag", "v1.2.0", first)
    wheel(uv, tmp_path / "shelf", repository, second)
    assert uv.built == [first, second]


def test_other_requirements_stay_as_they_are(tmp_path: Path) -> None:
    for text in ("pytensor==3.3.7", "numba", "pytensor @ file:///a.whl"):
        with CommitWheels(tmp_path, Building()).replacing(text, PYTHON, None) as replaced:
            assert replaced == text
