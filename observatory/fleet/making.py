"""Environments under test elsewhere: the client describes its own, another machine makes the same.

An environment cannot be moved, because its files hold its path, and is some hundred MB large. What
is sent is its recipe: the versions of all distributions, a hash of the files of each, and the
wheels that no package index has. Wheels are kept by the hash of their content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement

from observatory.fleet.orders import Recipe, Wheel
from observatory.run.environments import Environment, EnvironmentMakingError, Environments
from observatory.run.installed import contents, damaged
from observatory.run.local import environment_of, local_subjects
from observatory.store.base.files import write_atomic
from observatory.store.records.subject import Subject, name_of

_KEPT = Path("envs", "wheels", "sent")
"""Below STATE: the wheels that were sent, each in a directory that its hash names."""


def described(
    subject: Subject, added: Sequence[str], pins: Mapping[str, str], environment: Environment,
    state: Path,
) -> tuple[Recipe, dict[str, bytes]]:  # fmt: skip
    """The recipe of the client's own environment, and the wheels that it names, by their hashes.

    Raises UvError, GitError and OSError if the wheel of a commit can be made no more.
    """
    wheels, sent = [], {}
    with ExitStack() as held:
        for text in subject.requirements:
            url = Requirement(text).url or ""
            if url.startswith("git+file:"):
                interpreter = local_subjects(state).found.of(subject.python)
                own = Environments(state / "envs").wheels()
                built = own.replacing(text, interpreter, subject.exclude_newer)
                url = Requirement(held.enter_context(built)).url or ""
            if url.startswith("file:"):
                path = Path(unquote(urlsplit(url).path))
                content = path.read_bytes()
                digest = hashlib.sha256(content).hexdigest()
                wheels.append(Wheel(text, name_of(text), path.name, digest))
                sent[digest] = content
    found = contents(environment.python)
    return Recipe(subject, tuple(added), dict(pins), environment, found, tuple(wheels)), sent


def lacking(state: Path, wheels: Iterable[Wheel]) -> list[Wheel]:
    """Those of some wheels that are not kept here, or not as they were sent."""
    return [one for one in wheels if _digest(_place(state, one)) != one.digest]


def keep(state: Path, wheel: Wheel, content: bytes) -> None:
    """Keep a wheel that was sent. Raises EnvironmentMakingError if it is another one."""
    if hashlib.sha256(content).hexdigest() != wheel.digest:
        raise EnvironmentMakingError(f"{wheel.file} arrived with a different content than was sent")
    place = _place(state, wheel)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(place, content)


def made(recipe: Recipe, state: Path) -> Environment:
    """Make the environment of a recipe, or find it, and check that it is the client's.

    Raises EnvironmentMakingError, whose message says what differs, and NoInterpreterError.
    """
    if lacking(state, recipe.wheels):
        raise EnvironmentMakingError(
            f"a wheel of {recipe.subject.label} is not kept here any more; start the command again"
        )
    wanted = recipe.environment.versions
    here = {
        wheel.requirement: f"{wheel.distribution} @ {_place(state, wheel).absolute().as_uri()}"
        for wheel in recipe.wheels
    }
    requirements = tuple(here.get(text, text) for text in recipe.subject.requirements)
    subject = recipe.subject.model_copy(update={"requirements": requirements})
    asked = {wheel.distribution for wheel in recipe.wheels} | {"pytensor"}
    pins = {name: one for name, one in wanted.every.items() if name not in asked} | recipe.pins
    found = environment_of(subject, local_subjects(state), state, added=recipe.added, pins=pins)
    if problem := _unlike(recipe, found):
        raise EnvironmentMakingError(
            f"the environment of {recipe.subject.label} is not the client's: {problem}"
        )
    return found


def _unlike(recipe: Recipe, found: Environment) -> str:
    """What of an environment is not as in the client's; empty if all is."""
    wanted = recipe.environment.versions
    mine, theirs = ({"python": e.python, **e.every} for e in (found.versions, wanted))
    names = [name for name in sorted(mine | theirs) if mine.get(name) != theirs.get(name)]
    if names:
        return ", ".join(
            f"{n} {mine.get(n, 'absent')}, not {theirs.get(n, 'absent')}" for n in names[:5]
        )
    own = contents(found.python)
    if names := [
        name for name in sorted(recipe.contents) if own.get(name) != recipe.contents[name]
    ]:
        return f"the files of {', '.join(names[:5])} are others, in the same version"
    if path := damaged(found.python):
        return f"{path} is not what was installed; remove {found.python.parent.parent}"
    return ""


def _place(state: Path, wheel: Wheel) -> Path:
    return state / _KEPT / wheel.digest / wheel.file


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
