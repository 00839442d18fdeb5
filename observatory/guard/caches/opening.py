"""Opening the files of a cache such that the cache stays as it is."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def unnoticed(path: Path | str) -> BinaryIO:
    """Open a file to read without renewing the time of its last access, if it is ours.

    By that time, PyTensor decides which modules nobody uses any more. Raises OSError, also for what
    is no file: to open a pipe might take for ever.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags | os.O_NOATIME)
    except PermissionError:  # only its owner may
        descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")
