"""One run at a time on a machine: two at once would spoil each other's times."""

from __future__ import annotations

import contextlib
import errno
import socket
import sys
import time
from collections.abc import Callable, Iterator

_NAME = "\0observatory-measuring"
"""An abstract socket: no file is left behind, and the kernel frees it however the holder ends."""


@contextlib.contextmanager
def alone(say: Callable[[str], None], poll: float = 1.0) -> Iterator[None]:
    """Hold this machine's measuring mutex; wait for another holder, and `say` so once.

    ``poll``: seconds between two looks. Elsewhere than on Linux nothing is held.
    """
    if not sys.platform.startswith("linux"):
        yield
        return
    said = False
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mutex:
        while True:
            try:
                mutex.bind(_NAME)
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            if not said:
                say("another run is measuring on this machine; waiting for it to end")
                said = True
            time.sleep(poll)
        yield
