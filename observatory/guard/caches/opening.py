"""Opening the files of a cache such that the cache stays as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO


def unnoticed(path: Path | str) -> BinaryIO:
    """Open a file to read without renewing the time of its last access, if it is ours.

    By that time, PyTensor decides which modules nobody uses any more. Raises OSError.
    """

    def opener(name: str, flags: int) -> int:
        try:
            return os.open(name, flags | os.O_NOATIME)
        except PermissionError:  # only its owner may
            return os.open(name, flags)

    return open(path, "rb", opener=opener)
