"""What an environment under test consists of, by the content of its files.

Versions do not tell two wheels of one version apart: of another platform, or built again. Each
installed distribution has a file RECORD, in which its installer wrote the hash of each file.
"""

from __future__ import annotations

import base64
import csv
import hashlib
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.utils import canonicalize_name

_OF_INSTALLING = frozenset(
    {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_build.json", "uv_cache.json"}
)
"""Files beside the metadata that say how it was installed, and not what."""


def contents(python: Path) -> dict[str, str]:
    """By distribution, a hash of all files that its RECORD names, with their own hashes.

    ``python``: the interpreter of the environment. What differs between two installations of one
    wheel does not count: scripts, which hold a path, and bytecode. Reads no other file than RECORD.
    """
    found: dict[str, str] = {}
    for one in _installed(python):
        lines = sorted(f"{path} {digest}" for path, digest in _files(one))
        text = "\n".join(lines)
        found[canonicalize_name(one.metadata["Name"])] = hashlib.sha256(text.encode()).hexdigest()
    return found


def damaged(python: Path) -> str:
    """The first file that is not what its RECORD says, relative; empty if there is none.

    It reads all files, some hundred MB: a second.
    """
    for one in _installed(python):
        for path, digest in _files(one):
            try:
                content = Path(str(one.locate_file(path))).read_bytes()
            except OSError:
                return path
            if digest != f"sha256={_encoded(content)}":
                return path
    return ""


def _installed(python: Path) -> Iterator[Distribution]:
    for place in sorted(python.parent.parent.glob("lib/python3*/site-packages")):
        for one in distributions(path=[str(place)]):
            if one.metadata["Name"]:
                yield one


def _files(one: Distribution) -> Iterator[tuple[str, str]]:
    """The files that belong to a distribution, wherever it is installed, with their hashes."""
    for row in csv.reader((one.read_text("RECORD") or "").splitlines()):
        path, digest = (*row, "", "")[:2]
        folder, _, name = path.rpartition("/")
        about = folder.endswith(".dist-info") and name in _OF_INSTALLING
        if digest and not about and not path.startswith("..") and not path.endswith(".pyc"):
            yield path, digest


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
