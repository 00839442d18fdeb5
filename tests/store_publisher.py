"""A publisher that kills itself: `python -m tests.store_publisher ADDRESS RESULTS ...`.

`--kill 3` sends SIGKILL before the third object is created, `--kill 3.5` after it. `--go FILE`
waits for a file when everything is imported, so that several publishers begin at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from observatory.cli.commands import publish  # noqa: F401 - imported before the file is waited for
from observatory.cli.main import main as observatory
from observatory.objects.bucket import Bucket


def killed_at(place: float) -> None:
    """Let this process kill itself around one of the objects that it creates."""
    whole, number = Bucket.create, 0

    def create(self: Bucket, name: str, content: bytes) -> bool:
        nonlocal number
        number += 1
        if number == place:
            os.kill(os.getpid(), signal.SIGKILL)
        done = whole(self, name, content)
        if number + 0.5 == place:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    Bucket.create = create  # type: ignore[method-assign]


def main() -> None:
    """Publish, or die on the way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("results")
    parser.add_argument("--kill", type=float, default=0)
    parser.add_argument("--go", type=Path)
    given = parser.parse_args()
    if given.kill:
        killed_at(given.kill)
    if given.go:
        Path(f"{given.go}-{os.getpid()}").touch()
        while not given.go.exists():
            time.sleep(0.005)
    sys.argv[1:] = ["publish", given.results, "--to", given.address]
    observatory()


if __name__ == "__main__":
    main()
