"""A small client of WebDriver BiDi, which Firefox speaks by itself: pages in it, and what they do.

Written after https://w3c.github.io/webdriver-bidi/ and RFC 6455 (the socket).
"""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 120.0  # seconds
_LISTENING = re.compile(r"WebDriver BiDi listening on ws://([\d.]+):(\d+)")


class Firefox:
    """Commands to a running Firefox, and the events that came meanwhile."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), timeout=_PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET /session HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while self._read_line():
            pass
        self._number = 0
        self.events: list[dict[str, Any]] = []
        self.ask("session.new", capabilities={})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command. Raises RuntimeError if Firefox refuses it."""
        self._number += 1
        self._send(json.dumps({"id": self._number, "method": method, "params": params}).encode())
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
                result: dict[str, Any] = answer["result"]
                return result

    def evaluate(self, context: str, script: str) -> Any:
        """The value of an expression in a page; a promise is waited for. None for undefined."""
        result = self.ask(
            "script.evaluate", expression=f"Promise.resolve({script}).then(JSON.stringify)",
            target={"context": context}, awaitPromise=True,
        )["result"]  # fmt: skip
        return json.loads(result["value"]) if "value" in result else None

    def _send(self, content: bytes) -> None:
        mask, size = os.urandom(4), len(content)
        head = b"\x81" + (
            bytes([0x80 | size]) if size < 126
            else b"\xfe" + size.to_bytes(2, "big") if size < 65536
            else b"\xff" + size.to_bytes(8, "big")
        )  # fmt: skip
        masked = bytes(byte ^ mask[n % 4] for n, byte in enumerate(content))
        self._socket.sendall(head + mask + masked)

    def _receive(self) -> dict[str, Any]:
        """The next message; events are kept."""
        parts = b""
        while True:
            first, second = self._read(2)
            size = second & 0x7F
            if size > 125:
                size = int.from_bytes(self._read(2 if size == 126 else 8), "big")
            content = self._read(size)
            if first & 0x0F in (0, 1):
                parts += content
            if first & 0x80 and first & 0x0F in (0, 1):
                break
        message: dict[str, Any] = json.loads(parts)
        if message.get("type") == "event":
            self.events.append(message)
        return message

    def _read(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            found += self._socket.recv(size - len(found)) or _closed()
        return found

    def _read_line(self) -> bytes:
        line = b""
        while not line.endswith(b"\r\n"):
            line += self._read(1)
        return line[:-2]


def _closed() -> bytes:
    raise RuntimeError("Firefox has closed the connection")


@contextmanager
def firefox(binary: str) -> Iterator[Firefox]:
    """A Firefox without a window and with an empty profile; ended afterwards."""
    with tempfile.TemporaryDirectory(prefix="observatory-firefox-") as profile:
        command = [binary, "--headless", "--no-remote", "--profile", profile,
                   "--remote-debugging-port", "0"]  # fmt: skip
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            yield Firefox(*_address(process))
        finally:
            process.terminate()
            process.wait(timeout=60)


def _address(process: subprocess.Popen[str]) -> tuple[str, int]:
    end = time.monotonic() + _PATIENCE
    assert process.stderr is not None
    while time.monotonic() < end and (line := process.stderr.readline()):
        if found := _LISTENING.search(line):
            return found[1], int(found[2])
    raise RuntimeError("Firefox does not listen: is it Firefox 129 or newer?")
