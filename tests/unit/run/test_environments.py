import fcntl
import importlib.util
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fakes import FakeUv, option

from observatory.run.environments import EnvironmentMakingError, Environments, importable
from observatory.run.interpreters import Interpreter
from observatory.run.uv import UvError
from observatory.store.base.locking import locked
from observatory.store.records.subject import Subject

INTERPRETER = Interpreter(Path("/py/3.13.0/bin/python"), "3.13.0")
SUBJECT = Subject(
    label="3.3.7",
    requirements=("pytensor==3.3.7", "numba==0.68.0"),
    python="3.13",
    commit="0" * 40,
    date=datetime(2026, 11, 2, tzinfo=UTC),
    exclude_newer=datetime(2026, 11, 3, tzinfo=UTC),
)
ANSWER = '["3.13.0", {"pytensor": "3.3.7", "numba": "0.68.0", "Typing_Extensions": "4.1"}]'


class _MakingUv(FakeUv):
    """Makes environments whose python answers with its packages; fails while ``broken``."""

    def __init__(self, said: str = ANSWER) -> None:
        self.said = said
        self.broken = False
        super().__init__(self._answer)

    def _answer(self, args: tuple[str, ...], stdin: str) -> str:
        if args[0] == "venv":
            python = Path(args[-1]) / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.write_text(f"#!/bin/sh\necho '{self.said}'\n")
            python.chmod(0o755)
        elif self.broken:
            raise UvError("uv pip install", "no wheel for this machine")
        return ""

    @property
    def made(self) -> int:
        return sum(args[0] == "venv" for args, _ in self.asked)


@pytest.fixture
def uv():
    return _MakingUv()


@pytest.fixture
def environments(tmp_path, uv):
    return Environments(tmp_path / "envs", uv)


def test_an_environment_is_made_once_and_found_again(environments, uv):
    first = environments.ensure(SUBJECT, INTERPRETER)
    assert environments.ensure(SUBJECT, INTERPRETER) == first
    assert Environments(environments.root, uv).ensure(SUBJECT, INTERPRETER) == first
    assert uv.made == 1
    assert first.versions.pytensor == "3.3.7"
    assert first.versions.packages["typing-extensions"] == "4.1"


def test_a_uv_that_outlives_a_killed_process_keeps_others_from_the_environment(tmp_path):
    slow, started, go_on = (tmp_path / name for name in ("uv", "started", "go_on"))
    slow.write_text(f"#!/bin/sh\ntouch {started}\nuntil [ -e {go_on} ]; do sleep 0.1; done\n")
    slow.chmod(0o755)
    making = (
        "import sys, test_environments as t; from pathlib import Path; "
        "from observatory.run.uv import RealUv; "
        "t.Environments(Path(sys.argv[1]), RealUv(sys.argv[2])).ensure(t.SUBJECT, t.INTERPRETER)"
    )
    where = (str(Path(__file__).parent), *sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", making, str(tmp_path / "envs"), str(slow)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(where)},
    ) as process:
        while not started.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    (lock,) = (tmp_path / "envs").glob("*.lock")
    try:
        with lock.open() as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        go_on.touch()
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # uv has ended


def test_whoever_makes_an_environment_is_told_and_who_finds_one_is_not(environments):
    told = []

    @contextmanager
    def making():
        told.append("begins")
        yield
        told.append("ends")

    for _ in range(2):
        replace(environments, making=making).ensure(SUBJECT, INTERPRETER)
    assert told == ["begins", "ends"]


def test_whoever_waits_for_an_environment_is_told(environments):
    told = []

    @contextmanager
    def making():
        told.append("begins")
        go_on.set()
        yield
        told.append("ends")

    key = environments.key(SUBJECT, INTERPRETER)
    go_on = threading.Event()
    environments.ensure(SUBJECT, INTERPRETER)
    waiting = replace(environments, making=making)
    with ThreadPoolExecutor(1) as pool:
        with locked(environments.root / f"{key}.lock"):
            ready = pool.submit(waiting.ensure, SUBJECT, INTERPRETER)
            assert go_on.wait(120)
        ready.result()
    assert told == ["begins", "ends"]


def test_an_environment_with_pins_is_another_one_and_uv_is_told_them(environments, uv):
    own = environments.ensure(SUBJECT, INTERPRETER)
    pinned = environments.ensure(SUBJECT, INTERPRETER, pins={"scipy": "1.1", "numba": "0.6"})
    assert pinned.key != own.key
    args, _ = uv.asked[-1]
    constraints = Path(option(args, "--constraint") or "").read_text().splitlines()
    assert constraints == ["scipy==1.1", "numba==0.6"]
    assert environments.ensure(SUBJECT, INTERPRETER, pins={"scipy": "1.2"}).key != pinned.key


def test_what_is_added_beside_a_subject_keeps_its_pins(environments, uv):
    environments.ensure(SUBJECT, INTERPRETER, ["jax"], pins={"jax": "0.9.0", "ml-dtypes": "0.5"})
    args, _ = uv.asked[-1]
    constraints = Path(option(args, "--constraint") or "").read_text().splitlines()
    assert constraints[-2:] == ["jax==0.9.0", "ml-dtypes==0.5"]
    assert len(constraints) > 2  # and all of its own


def test_uv_is_asked_for_bytecode_and_for_the_day_of_the_subject(environments, uv):
    environments.ensure(SUBJECT, INTERPRETER)
    args, _ = uv.asked[1]
    assert "--compile-bytecode" in args
    assert option(args, "--exclude-newer") == "2026-11-03T00:00:00Z"
    assert args[args.index("--") + 1 :] == SUBJECT.requirements


@pytest.mark.parametrize(
    ("requirements", "installed"),
    [
        (("pytensor==2.35.1",), ("pytensor==2.35.1", "numba")),
        (("pytensor==2.35.1", "Numba>=0.6"), ("pytensor==2.35.1", "Numba>=0.6")),
        (("pytensor==2.35.1", "numba-stats"), ("pytensor==2.35.1", "numba-stats", "numba")),
    ],
)
def test_numba_is_added_where_nobody_names_it(environments, uv, requirements, installed):
    environments.ensure(SUBJECT.model_copy(update={"requirements": requirements}), INTERPRETER)
    args, _ = uv.asked[1]
    assert args[args.index("--") + 1 :] == installed


def test_whatever_decides_the_content_decides_the_key(environments):
    variations = [
        {"requirements": ("pytensor==3.3.6",)},
        {"exclude_newer": None},
        {"commit": "1" * 40},
        {"extras": ("numba==0.68.0",)},
    ]
    keys = {environments.key(SUBJECT.model_copy(update=v), INTERPRETER) for v in variations}
    keys.add(environments.key(SUBJECT, INTERPRETER))
    keys.add(environments.key(SUBJECT, Interpreter(INTERPRETER.path, "3.13.1")))
    assert len(keys) == 6
    renamed = SUBJECT.model_copy(update={"label": "another name"})
    assert environments.key(renamed, INTERPRETER) == environments.key(SUBJECT, INTERPRETER)


def test_a_lifted_bound_makes_another_environment_and_is_told_to_uv(environments, uv):
    plain = environments.ensure(SUBJECT, INTERPRETER)
    assert "--override" not in uv.asked[-1][0]
    lifted = Environments(environments.root, uv, ("numba==0.69.0",))
    made = lifted.ensure(SUBJECT, INTERPRETER)
    assert made.key != plain.key
    args, _ = uv.asked[-1]
    assert Path(option(args, "--override")).read_text() == "numba==0.69.0\n"
    other = Environments(environments.root, uv, ("numba==0.70.0",))
    assert other.key(SUBJECT, INTERPRETER) != made.key


@pytest.mark.parametrize("damage", ["no marker", "half a marker", "no python"])
def test_an_environment_that_is_not_complete_is_made_again(environments, uv, damage):
    python = environments.ensure(SUBJECT, INTERPRETER).python
    where = python.parents[1]
    litter = where / "left-over"
    litter.touch()
    if damage == "no marker":
        (where / "ready.json").unlink()
    elif damage == "half a marker":
        (where / "ready.json").write_text('{"key": "')
    else:
        python.unlink()
    environments.ensure(SUBJECT, INTERPRETER)
    assert uv.made == 2
    assert not litter.exists()


def test_a_failed_installation_leaves_nothing_and_quotes_uv(environments, uv):
    uv.broken = True
    with pytest.raises(EnvironmentMakingError, match=r"3\.3\.7 on Python 3\.13\.0.*no wheel for"):
        environments.ensure(SUBJECT, INTERPRETER)
    assert [path for path in environments.root.iterdir() if path.is_dir()] == []
    uv.broken = False
    environments.ensure(SUBJECT, INTERPRETER)
    assert uv.made == 2


@pytest.mark.parametrize(
    ("said", "error"),
    [('["3.13.0", {}]', "has no pytensor"), ("nonsense", "cannot list its packages")],
)
def test_an_environment_that_holds_no_pytensor_is_refused(tmp_path, said, error):
    environments = Environments(tmp_path, _MakingUv(said))
    with pytest.raises(EnvironmentMakingError, match=error):
        environments.ensure(SUBJECT, INTERPRETER)
    assert not list(tmp_path.glob("*/ready.json"))


def test_only_the_benchmarks_are_importable_from_anywhere(environments, tmp_path):
    environment = environments.ensure(SUBJECT, INTERPRETER)
    asked = (
        "import importlib.util as u; print([n for n in ('benchmarks.catalogue', 'observatory',"
        " 'dashboard', 'tests') if u.find_spec(n)])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", asked],
        env=environment.variables(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "['benchmarks.catalogue']"


def test_two_installations_with_one_state_have_their_own_benchmarks(tmp_path, monkeypatch):
    ours = importable(tmp_path)
    package = tmp_path / "other" / "benchmarks"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    spec = importlib.util.spec_from_file_location("benchmarks", package / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    theirs = importable(tmp_path)
    assert (theirs / "benchmarks").resolve() == package
    assert (ours / "benchmarks").resolve() != package
    assert importable(tmp_path) == theirs


def test_the_variables_are_scrubbed_and_the_rest_is_kept(environments, monkeypatch):
    environment = environments.ensure(SUBJECT, INTERPRETER)
    base = {
        "PYTHONHASHSEED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTENSOR_FLAGS": "x",
        "NUMBA_CACHE_DIR": "x",
        "VIRTUAL_ENV": "x",
        "GH_TOKEN": "x",
        "PATH": "/bin",
    }
    monkeypatch.setattr(os, "environ", base)
    assert environment.variables() == {
        "PATH": "/bin",
        "PYTHONPATH": str(environment.importable),
    }


def test_the_command_runs_a_module_in_the_environment(environments):
    environment = environments.ensure(SUBJECT, INTERPRETER)
    command = environment.command("benchmarks.sample", "--model", "radon")
    assert command == [str(environment.python), "-m", "benchmarks.sample", "--model", "radon"]
