"""An environment under test whose samples sleep as long as real ones took. FOR SIMULATIONS ONLY."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from observatory.benchmarks.catalogue import Cell
from observatory.run.environments import Environment
from tests.factories import sample

SPEED, LOG = "FLEET_SIMULATION_SPEED", "FLEET_SIMULATION_LOG"
"""How many times faster than the recorded durations; and the file of the sleeps that were taken."""


class Sleeping:
    """What stands for the process of a sample."""

    returncode = 0

    def __init__(self, durations: Path, words: tuple[str, ...], seal: str) -> None:
        self._durations, self._words, self._seal = durations, words, seal

    def printed(self, timeout: float | None = None) -> tuple[str, str]:
        """Sleep, and return the record of a sample."""
        began, clock = datetime.now(UTC), time.monotonic()
        cell = Cell(*map(self._given, ("--model", "--scenario", "--backend", "--launch")))
        measure = self._given("--pass")
        recorded = float((self._durations / f"{cell} {measure}").read_text())
        time.sleep(recorded / float(os.environ[SPEED]))
        if kept := self._given("--keep-cache"):
            Path(kept).mkdir(exist_ok=True)
        found = sample(cell, measure, started_at=began).model_dump_json(by_alias=True)
        with Path(os.environ[LOG]).open("a") as stream:
            stream.write(f"{os.getpid()} {clock} {time.monotonic()} {time.process_time()}\n")
        return f"{self._seal} {found}", ""

    def send_signal(self, number: int) -> None:
        """Do nothing: a sleep is short."""

    def wait(self, timeout: float | None = None) -> int:
        """Return the status."""
        return 0

    def poll(self) -> int:
        """Return the status."""
        return 0

    def _given(self, option: str) -> str:
        words = self._words
        return words[words.index(option) + 1] if option in words else ""


class Simulated(Environment):
    """Its ``importable`` holds a file for each cell and pass, with the seconds that it takes."""

    def start(self, directory: Path, module: str, *args: str, line: str = "", **_: object) -> Any:
        """Return what stands for the process of a sample."""
        assert module == "benchmarks.sample"
        return Sleeping(self.importable, args, line)
