"""Changes that must change nothing: what the table of faults tries beside the faults.

Each control is the same release once more, in surroundings that a rebuild, an installation or
chance could give it. An alarm of a control is false.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from observatory.run.environments import Environment
from scripts.faults.kit import build_none
from scripts.faults.looks import SETTINGS, Under
from scripts.faults.package import Release, released
from scripts.faults.properties import with_wheel

_SUFFIX = "+rebuilt"


@dataclass(frozen=True)
class Control:
    """One change that must change nothing."""

    meaning: str
    make: Callable[[Environment, Path], Environment] = lambda environment, _: environment
    """Returns the environment, made in an empty directory where it is another one."""
    under: Under = SETTINGS[""]


def _hooked(environment: Environment, scratch: Path) -> Environment:
    return with_wheel(environment, build_none(scratch), scratch)


def _rebuilt(environment: Environment, scratch: Path) -> Environment:
    return with_wheel(environment, _release(environment).packed(scratch), scratch)


def _suffixed(environment: Environment, scratch: Path) -> Environment:
    """Install PyTensor with a suffix of its version, in its metadata and where PyTensor says it.

    Raises ValueError where its files do not say the version there.
    """
    release, version = _release(environment), environment.versions.pytensor
    said = re.compile(rf'(?m)^(Version: |.*"version": "){re.escape(version)}\b'.encode())
    stem = f"{release.stem}{_SUFFIX}"
    files = {
        path.replace(f"{release.stem}.dist-info/", f"{stem}.dist-info/"): (
            said.sub(rb"\g<0>" + _SUFFIX.encode(), content)
            if path.endswith((".dist-info/METADATA", "pytensor/_version.py"))
            else content
        )
        for path, content in release.files.items()
    }
    changed = sum(content not in release.files.values() for content in files.values())
    if changed != 2:
        raise ValueError(f"{changed} files of PyTensor {version} say its version, instead of 2")
    return with_wheel(environment, Release(stem, release.tag, files).packed(scratch), scratch)


def _elsewhere(environment: Environment, scratch: Path) -> Environment:
    place = scratch / ("another-place-" * 4) / "below"
    place.mkdir(parents=True)
    return _rebuilt(environment, place)


def _release(environment: Environment) -> Release:
    python = ".".join(environment.versions.python.split(".")[:2])
    return released(f"pytensor=={environment.versions.pytensor}", python)


CONTROLS: Mapping[str, Control] = {
    "again": Control("the same environment is measured once more"),
    "hook": Control("a wheel of the fault kit is installed that puts no fault in", _hooked),
    "rebuilt": Control("PyTensor is installed from a wheel that was packed again", _rebuilt),
    "version": Control(f"the same with the suffix `{_SUFFIX}` of its version", _suffixed),
    "path": Control("the same under another, longer path", _elsewhere),
    "hash_seed": Control(
        "the hash seed of every process is 4711", under=Under(variables={"PYTHONHASHSEED": "4711"})
    ),
}
