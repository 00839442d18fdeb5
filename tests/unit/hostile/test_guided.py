"""What `scripts/fuzz.py --guided` does around atheris, which a stand-in plays here."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

from scripts import fuzz
from tests.hostile.guided import guide
from tests.hostile.surface import Surface

SEEDS = [b'{"a": 1}', b"[2, 3]"]


class Ended(Exception):
    """What ends a process."""


class FakeAtheris(ModuleType):
    """Reads the corpus, and then changes of it, for as long as it is let."""

    options: tuple[str, ...]
    one: Callable[[bytes], None]
    changed: Callable[[bytes, int, int], bytes]

    def Setup(  # noqa: N802
        self,
        argv: list[str],
        one: Callable[[bytes], None],
        custom_mutator: Callable[[bytes, int, int], bytes],
    ) -> None:
        self.options, self.one, self.changed = tuple(argv[1:]), one, custom_mutator

    def Mutate(self, content: bytes, most: int) -> bytes:  # noqa: N802
        return content[:most]

    def Fuzz(self) -> NoReturn:  # noqa: N802
        corpus = [path.read_bytes() for path in sorted(Path(self.options[-1]).iterdir())]
        for content in corpus:
            self.one(content)
        number = 0
        while True:
            number += 1
            made = self.changed(corpus[number % len(corpus)], 50, number)
            assert len(made) <= 50
            self.one(made)


@pytest.fixture
def atheris(monkeypatch: pytest.MonkeyPatch) -> FakeAtheris:
    module = FakeAtheris("atheris")
    monkeypatch.setitem(sys.modules, "atheris", module)
    return module


def test_the_seeds_are_read_and_then_changes_of_them_until_the_deadline(
    atheris: FakeAtheris, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    read: list[bytes] = []

    def end() -> NoReturn:
        raise Ended

    with pytest.raises(Ended):
        guide(
            read.append,
            Surface(lambda: SEEDS, lambda content, work: None),
            SEEDS,
            tmp_path / "corpus",
            tmp_path / "kept",
            seed=6,
            deadline=100,
            end=end,
        )
    assert read[:2] == SEEDS
    assert len(read) == 100
    assert "-seed=7" in atheris.options
    (limit,) = (o.removeprefix("-timeout=") for o in atheris.options if o.startswith("-timeout="))
    assert int(limit) >= 3600, "a slow machine takes seconds for one content"
    # Some are changes that know JSON, others are left to the fuzzer.
    assert {content in SEEDS for content in read[2:]} == {True, False}


def test_without_atheris_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "--guided"])
    assert fuzz.main() == 2
    assert "pip install -e '.[fuzz]'" in capsys.readouterr().out


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
def test_a_guided_worker_prints_what_came_of_it(tmp_path: Path) -> None:
    words = ["--worker", "settings", "--for", "2s", "--guided", "--kept", str(tmp_path / "kept")]
    done = subprocess.run(
        [sys.executable, str(Path(fuzz.__file__)), *words], capture_output=True, text=True,
        check=True, cwd=tmp_path,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["cases"] >= 1
    assert found["failures"] == {}
