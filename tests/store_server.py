"""A server that speaks S3, as a process of its own, for tests and scripts."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

BUCKET = "results"


@contextlib.contextmanager
def server(directory: Path) -> Iterator[dict[str, str]]:
    """A server with one bucket below ``directory``; yields the variables that lead to it."""
    (directory / BUCKET).mkdir(parents=True)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    log = (directory.parent / f"{directory.name}.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "localbucket", str(directory), "--port", str(port)],
        stdout=log, stderr=log,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address, process)
        yield {
            "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": address,
            "XDG_CACHE_HOME": os.fspath(directory.parent / "cache"),
        }  # fmt: skip
    finally:
        process.kill()
        process.wait()
        log.close()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "the server has ended"
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(address, timeout=5).close()
            return
        time.sleep(0.1)
    raise AssertionError(f"{address} does not answer")
