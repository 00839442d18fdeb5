import stat
from pathlib import Path

import pytest
from fakes import FakeUv, option

from observatory.run.interpreters import Interpreters, NoInterpreterError, find, newest_supported
from observatory.run.uv import Index, UvError


@pytest.fixture
def python(tmp_path):
    """Make a program that answers the probe as an interpreter of that version would."""

    def make(version, **facts):
        path = tmp_path / f"python-{version}-{len(list(tmp_path.iterdir()))}"
        known = {"final": True, "free_threaded": False, "headers": True} | facts
        literal = ", ".join(f'"{k}": {str(v).lower()}' for k, v in known.items())
        path.write_text(
            f'#!/bin/sh\necho \'{{"version": "{version}", "implementation": "cpython", '
            f'"executable": "{path}", {literal}}}\'\n'
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


def test_the_newest_patch_of_each_minor_is_found_newest_first(silent_uv, python):
    paths = [python("3.11.9"), python("3.13.0"), python("3.13.10"), python("3.13.9")]
    found = find(silent_uv, paths)
    assert [i.version for i in found.interpreters] == ["3.13.10", "3.11.9"]
    assert found.of("3.13").path == paths[2]


def test_interpreters_that_cannot_be_measured_are_passed_over_with_a_reason(silent_uv, python):
    paths = [
        python("3.12.1", headers=False),
        python("3.14.0", final=False),
    ]
    found = find(silent_uv, paths)
    assert found.interpreters == ()
    reasons = ("Python.h", "pre-release")
    for reason, said in zip(reasons, found.skipped, strict=True):
        assert reason in said
    with pytest.raises(NoInterpreterError, match=r"Python\.h"):
        found.of("3.12")


def test_a_free_threaded_interpreter_has_to_be_asked_for(silent_uv, python, monkeypatch):
    """No such interpreter was ever at hand: a script answers as one would."""
    path = python("3.14.0", free_threaded=True)
    (path.parent / "python3.14t").symlink_to(path)
    for name in ("PATH", "PYENV_ROOT", "HOME"):
        monkeypatch.setenv(name, str(path.parent))
    alone = find(silent_uv)
    assert [one.minor for one in alone.interpreters] == ["3.14t"]
    assert alone.ordinary == ()
    with pytest.raises(NoInterpreterError, match=r"3\.14t has to be named: --python 3\.14t"):
        newest_supported(Index(silent_uv), alone)
    found = find(silent_uv, [path, python("3.13.0"), python("3.14.0")])
    assert [one.minor for one in found.ordinary] == ["3.14", "3.13"]
    assert found.of("3.14t").path == path
    assert found.of("3.14").path != path


def test_those_that_uv_has_installed_are_found(tmp_path, python, monkeypatch):
    for name in ("PATH", "PYENV_ROOT", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))
    managed = tmp_path / "managed"
    for version in ("3.13.1", "3.14.0"):
        place = managed / f"cpython-{version}-linux-x86_64-gnu" / "bin"
        place.mkdir(parents=True)
        (place / f"python{version[:4]}").symlink_to(python(version))
    (managed / "cpython-3.13-linux-x86_64-gnu").symlink_to("cpython-3.13.1-linux-x86_64-gnu")
    uv = FakeUv(lambda args, _: f"{managed}\n" if args == ("python", "dir") else "")
    assert [one.version for one in find(uv).interpreters] == ["3.14.0", "3.13.1"]


def test_the_index_is_asked_for_the_ordinary_build():
    uv = FakeUv(lambda *_: "numba==0.68.0\n")
    Index(uv).resolve(["numba"], minor="3.14t")
    ((asked, _),) = uv.asked
    assert option(asked, "--python-version") == "3.14"


def test_programs_that_do_not_run_and_unsupported_versions_are_left_out(
    silent_uv, python, tmp_path
):
    broken = tmp_path / "python3.12"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    missing = tmp_path / "not-there"
    assert find(silent_uv, [broken, missing, python("3.10.1")]) == Interpreters(())


def test_a_uv_that_fails_does_not_hide_the_interpreters_on_path(silent_uv, python, monkeypatch):
    path = python("3.12.7")
    (path.parent / "python3.12").symlink_to(path)
    monkeypatch.setenv("PATH", str(path.parent))
    monkeypatch.setenv("PYENV_ROOT", str(path.parent))
    monkeypatch.setenv("HOME", str(path.parent))
    assert [i.version for i in find(silent_uv).interpreters] == ["3.12.7"]


def _offering(offers):
    def answer(args, stdin):
        minor = option(args, "--python-version")
        if minor is None:
            minor = ".".join(Path(option(args, "--python")).parts[2].split(".")[:2])
        if minor not in offers:
            raise UvError("uv pip compile", "No solution found")
        return f"pytensor=={offers[minor]}\n"

    return Index(FakeUv(answer))


def test_among_interpreters_that_get_the_same_pytensor_the_newest_is_chosen(found):
    choice = newest_supported(_offering({"3.11": "3.0.7", "3.12": "3.3.7", "3.13": "3.3.7"}), found)
    assert (choice.interpreter.minor, choice.pytensor, choice.note) == ("3.13", "3.3.7", None)


def test_an_older_interpreter_that_gets_a_newer_pytensor_is_chosen(found):
    choice = newest_supported(_offering({"3.12": "3.10.0", "3.13": "3.9.0"}), found)
    assert (choice.interpreter.minor, choice.pytensor) == ("3.12", "3.10.0")


def test_falling_back_to_an_old_python_says_what_that_means(found):
    only = Interpreters(tuple(i for i in found.interpreters if i.minor == "3.11"))
    choice = newest_supported(_offering({"3.11": "3.0.7", "3.12": "3.3.7", "3.13": "3.3.7"}), only)
    assert choice.pytensor == "3.0.7"
    assert choice.note == (
        "only Python 3.11 was found; the newest PyTensor it can run is 3.0.7, while the index "
        "offers 3.3.7 for Python 3.12: install Python 3.12 or later to measure it"
    )


def test_no_interpreter_at_all_says_what_to_install():
    with pytest.raises(NoInterpreterError, match="install one"):
        newest_supported(_offering({}), Interpreters((), ("Python 3.12.1 comes without Python.h",)))


def test_an_index_that_refuses_every_interpreter_is_quoted(found):
    with pytest.raises(NoInterpreterError, match="No solution found"):
        newest_supported(_offering({}), found)


def test_a_user_without_a_home_has_the_interpreters_of_the_path(
    silent_uv, python, tmp_path, monkeypatch
):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    real = python("3.12.5")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.12").symlink_to(real)
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(Path, "home", homeless)
    assert find(silent_uv).of("3.12").path == real


def test_shims_of_pyenv_are_not_started_and_their_versions_are(
    silent_uv, python, tmp_path, monkeypatch
):
    root = tmp_path / "pyenv"
    real = python("3.12.5")
    for version in ("3.9.1", "3.12.5"):
        (root / "versions" / version / "bin").mkdir(parents=True)
        (root / "versions" / version / "bin" / "python").symlink_to(real)
    shim = root / "shims" / "python3.12"
    shim.parent.mkdir()
    shim.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nexec {real}\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(root))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{shim.parent}:/bin")
    assert find(silent_uv).of("3.12").path == real
    assert not (tmp_path / "started").exists()
