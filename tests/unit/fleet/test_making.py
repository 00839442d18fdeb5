"""An environment elsewhere: the same as the client's, or a sentence that says what differs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from observatory.fleet import making
from observatory.fleet.making import described, keep, lacking, made
from observatory.fleet.orders import Recipe
from observatory.run.environments import Environment, EnvironmentMakingError
from tests.factories import header
from tests.unit.run.test_installed import environment

VERSIONS = header().versions
COMMIT = "pytensor @ git+file:///clone@" + "a" * 40


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """The wheel of a commit, as the client's machine builds it."""
    path = tmp_path / "client" / "pytensor-3.3.8+1.gaaaa-cp313.whl"
    path.parent.mkdir()
    path.write_bytes(b"a wheel")
    return path


@pytest.fixture
def sent(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Recipe, dict[str, bytes]]:
    """What the client sends for a commit, and for a wheel of numba."""

    class Wheels:
        def replacing(self, text: str, *_: object) -> Any:
            return making.ExitStack() if text != COMMIT else self

        def __enter__(self) -> str:
            return f"pytensor @ {wheel.as_uri()}"

        def __exit__(self, *_: object) -> None:
            pass

    class Found:
        def of(self, minor: str) -> str:
            return minor

    class Subjects:
        found = Found()

    monkeypatch.setattr(making.Environments, "wheels", lambda self: Wheels())
    monkeypatch.setattr(making, "local_subjects", lambda state: Subjects())
    subject = header().subject.model_copy(update={"requirements": (COMMIT, "numba==0.68.0")})
    own = Environment(environment(tmp_path / "client" / "env"), VERSIONS, "key", tmp_path)
    return described(subject, ("jax",), {"scipy": "1.16"}, own, tmp_path / "state")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What the other machine is asked to make; it makes ``env``."""
    told: dict[str, Any] = {"env": environment(tmp_path / "there" / "env"), "versions": VERSIONS}

    def make(subject: Any, _: object, __: Path, **options: Any) -> Environment:
        told.update(options, requirements=subject.requirements)
        return Environment(told["env"], told["versions"], "other", tmp_path)

    monkeypatch.setattr(making, "environment_of", make)
    return told


def test_the_wheel_of_a_commit_is_sent_once_and_kept_by_its_hash(
    tmp_path: Path, sent: tuple[Recipe, dict[str, bytes]], asked: dict[str, Any]
) -> None:
    recipe, wheels = sent
    there = tmp_path / "there" / "state"
    (lacks,) = lacking(there, recipe.wheels)
    with pytest.raises(EnvironmentMakingError, match="is not kept here any more"):
        made(recipe, there)
    with pytest.raises(EnvironmentMakingError, match="arrived with a different content"):
        keep(there, lacks, b"something else")
    keep(there, lacks, wheels[lacks.digest])
    assert lacking(there, recipe.wheels) == []
    made(recipe, there)
    first, second = asked["requirements"]
    assert first.startswith(f"pytensor @ file://{there}/envs/wheels/sent/{lacks.digest}/pytensor-")
    assert second == "numba==0.68.0"
    assert asked["added"] == ("jax",)
    packages = {name: one for name, one in VERSIONS.every.items() if name != "pytensor"}
    assert asked["pins"] == packages | {"scipy": "1.16"}
    (kept,) = (there / "envs/wheels/sent" / lacks.digest).iterdir()
    kept.write_bytes(b"torn")
    assert lacking(there, recipe.wheels) == [lacks]


def test_an_environment_that_is_not_the_clients_is_refused_with_what_differs(
    tmp_path: Path, sent: tuple[Recipe, dict[str, bytes]], asked: dict[str, Any]
) -> None:
    recipe = replace(sent[0], wheels=())

    def refusal() -> str:
        with pytest.raises(EnvironmentMakingError) as raised:
            made(recipe, tmp_path / "state")
        return str(raised.value)

    asked["versions"] = VERSIONS.model_copy(update={"python": "3.13.99"})
    assert f"is not the client's: python 3.13.99, not {VERSIONS.python}" in refusal()
    asked["versions"] = VERSIONS
    asked["env"] = environment(tmp_path / "rebuilt", code="a = 2\n")
    assert "the files of some-name are others, in the same version" in refusal()
    asked["env"] = environment(tmp_path / "torn")
    (tmp_path / "torn/lib/python3.13/site-packages/some/name.py").write_text("a = 3\n")
    assert "some/name.py is not what was installed; remove" in refusal()
