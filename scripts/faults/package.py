"""A release of a package with a fault of the kit in it, as a wheel that takes its place.

    .venv/bin/python -m scripts.faults.package numba==0.68.0 numba_index_of_process DIR
    observatory cross 3.3.0 "3.3.8 DIR/numba-0.68.0-....whl" --cell "radon warm_disk NUMBA spawn"

The wheel contains all that the release installs, and the fault of scripts/faults/kit.py. For the
installer it is the release itself: what requires this version accepts it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from observatory.run.uv import RealUv
from scripts.faults.kit import OF_NUMBA, files_of, pack

_NOT_OF_A_WHEEL = ("INSTALLER", "REQUESTED", "RECORD", "uv_build.json", "direct_url.json")


@dataclass(frozen=True)
class Release:
    """What the wheel of a release installs."""

    stem: str
    """Name and version as a wheel writes them: `numba-0.68.0`."""
    tag: str
    files: Mapping[str, bytes]
    """By path, without the record of them."""

    def packed(self, directory: Path) -> Path:
        """Write a wheel of it, and return its path."""
        wheel = directory / f"{self.stem}-{self.tag}.whl"
        return pack(self.files, f"{self.stem}.dist-info/RECORD", wheel)


def released(requirement: str, python: str) -> Release:
    """Return what a release, "numba==0.68.0", installs.

    ``python``: the version that it is for, such as "3.13". Raises UvError if the index has no wheel
    of it.
    """
    with TemporaryDirectory(prefix="observatory-faulty-") as place:
        root = Path(place)
        RealUv()(
            "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:",
            "--python", sys.executable, "--python-version", python, "--target", place, requirement,
        )  # fmt: skip
        (metadata,) = root.glob("*.dist-info")
        files = {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and path.name not in _NOT_OF_A_WHEEL and _is_of_it(path, root)
        }
    told = files[f"{metadata.name}/WHEEL"].decode().splitlines()
    tag = next(line.removeprefix("Tag: ") for line in told if line.startswith("Tag: "))
    return Release(metadata.stem, tag, files)


def repack(requirement: str, fault: str, directory: Path, python: str) -> Path:
    """Write the wheel of a release with a fault in it; return its path.

    Raises what `released` raises, and KeyError for an unknown fault.
    """
    release = released(requirement, python)
    return replace(release, files={**release.files, **files_of(fault)}).packed(directory)


def _is_of_it(path: Path, root: Path) -> bool:
    """Whether a file comes from the wheel: not a script or bytecode, which installers make."""
    inside = path.relative_to(root).parts
    return inside[0] != "bin" and "__pycache__" not in inside and not inside[0].startswith(".")


def main(argv: list[str] | None = None) -> int:
    """Write a wheel and print its path."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("requirement", help="the release, for example numba==0.68.0")
    parser.add_argument("fault", choices=[one.name for one in OF_NUMBA])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--python", default="3.13", help="the version that it is for")
    options = parser.parse_args(argv)
    print(repack(options.requirement, options.fault, options.directory, options.python))
    return 0


if __name__ == "__main__":
    sys.exit(main())
