"""A stand-in for uv that knows a few releases of numba, and pyproject.toml files to bump."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from observatory.run.uv import UvError

WHEELS: Mapping[str, tuple[str, ...]] = {
    "0.60.0": ("3.10", "3.11", "3.12"),
    "0.61.0": ("3.10", "3.11", "3.12"),
    "0.66.0": ("3.11", "3.12", "3.13"),
    "0.68.0": ("3.12", "3.13", "3.14"),
    "0.68.1": ("3.12", "3.13", "3.14"),
    "0.69.0rc1": ("3.12", "3.13", "3.14"),
}
PYPROJECT = """\
[project]
name = "pytensor"
requires-python = ">=3.12,<3.15"
dependencies = [
    "numpy>=2.0",
    "numba>=0.58,<=0.66.0",  # a comment on "numba<1"
]
[project.optional-dependencies]
numba = ["numba>=0.58,<=0.66.0", "llvmlite"]
"""


@dataclass
class FakeUv:
    """Answers `uv pip compile` as uv does; ``yanked`` releases count under == only."""

    wheels: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: WHEELS)
    yanked: tuple[str, ...] = ()
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __call__(
        self, *args: str, stdin: str = "", timeout: float = 600.0, held: Sequence[int] = ()
    ) -> str:
        assert timeout == 600.0
        requirement, minor = Requirement(stdin), args[args.index("--python-version") + 1]
        self.asked.append((stdin, minor))
        pinned = any(clause.operator == "==" for clause in requirement.specifier)
        versions = [
            Version(text)
            for text, minors in self.wheels.items()
            if minor in minors
            and requirement.specifier.contains(text)
            and not Version(text).is_prerelease
            and (pinned or text not in self.yanked)
        ]
        if not versions:
            raise UvError("uv pip compile", "your requirements are unsatisfiable.")
        return f"numba=={max(versions)}\n"


def repodata(*versions: str, **more: Any) -> bytes:
    """As conda-index writes it: two maps of file names, records with name and version."""
    records = {
        f"numba-{version}-py312h{at}_0.{'conda' if at % 2 else 'tar.bz2'}": {
            "build": f"py312h{at}_0", "build_number": 0, "depends": ["python >=3.12,<3.13.0a0"],
            "name": "numba", "subdir": "linux-64", "version": version,
        }
        for at, version in enumerate(versions)
    }  # fmt: skip
    strange = {"numba-stats-9.0-0.conda": {"name": "numba-stats", "version": "9.0"},
               "not-numba-9.0-0.conda": {"name": "not-numba", "version": "9.0"}}  # fmt: skip
    data = {
        "info": {"subdir": "linux-64"},
        "packages": {k: v for k, v in records.items() if k.endswith(".tar.bz2")},
        "packages.conda": {k: v for k, v in records.items() if k.endswith(".conda")} | strange,
        "removed": [],
        "repodata_version": 1,
    }
    return json.dumps({**data, **more}).encode()
