"""A uv that must not be asked, and interpreters that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FakeUv

from observatory.run.interpreters import Interpreter, Interpreters
from observatory.run.uv import UvError


def no_network(args: tuple[str, ...], stdin: str) -> str:
    raise UvError("uv " + " ".join(args), "the index was asked, which this test does not expect")


@pytest.fixture
def silent_uv() -> FakeUv:
    return FakeUv(no_network)


@pytest.fixture
def found() -> Interpreters:
    return Interpreters(
        tuple(Interpreter(Path(f"/py/{v}/bin/python"), v) for v in ("3.13.0", "3.12.1", "3.11.7"))
    )
