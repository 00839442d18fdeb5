"""Trials of one surface in this process: cases, what they raised, memory, and what was executed."""

from __future__ import annotations

import hashlib
import re
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from observatory.errors import ObservatoryError
from tests.hostile.surface import Surface, emptied

CORPORA = Path(__file__).parents[1] / "corpora"
EXECUTED = "executed"
"""What the commands and pickles in the contents would leave behind, in the working directory."""
SLOW = 60.0
"""Seconds of CPU that reading one content may take."""


@dataclass
class Outcome:
    """What came of the trials of a surface. Sizes in MB."""

    cases: int = 0
    refused: int = 0
    executed: int = 0
    largest: float = 0.0
    """By how much the process grew while it read one content, at most."""
    slowest: float = 0.0
    failures: dict[str, str] = field(default_factory=dict)
    """The last lines of a traceback, by the name of the file that keeps the case."""


class Trials:
    """Trials of a surface: each content is read, and what ends in a traceback is kept.

    ``scratch`` is this process's own; ``kept`` is where the cases stay.
    """

    def __init__(self, surface: Surface, scratch: Path, kept: Path) -> None:
        self.surface, self.scratch, self.kept = surface, scratch, kept
        self._works, self._home = emptied(scratch / "work"), Path.cwd()
        self.found = Outcome()
        for content in surface.seeds():  # what is imported then is no content's
            _read(surface, content, next(self._works))

    def read(self, content: bytes) -> None:
        """Read one content as a command does, and note what came of it."""
        # A process that the kernel ends leaves the case behind.
        (self.scratch / "last").write_bytes(content)
        before = memory("VmRSS")
        _forget_peak()
        began = time.process_time()
        refused, said = _read(self.surface, content, next(self._works))
        took = time.process_time() - began
        self.found.largest = max(self.found.largest, memory("VmHWM") - before)
        self.found.cases += 1
        self.found.refused += refused
        self.found.slowest = max(self.found.slowest, took)
        if took > SLOW:
            said = said or f"it took {took:.0f} s"
        if said:
            self.found.failures.setdefault(_kept(self.kept, content), said)
        for where in (self._home, self.scratch, self.scratch / "work"):
            if (where / EXECUTED).exists():
                (where / EXECUTED).unlink()
                self.found.executed += 1
                _kept(self.kept, content)

    def outcome(self) -> Outcome:
        """What came of all of them."""
        return self.found


def tried(surface: Surface, contents: Iterable[bytes], scratch: Path, kept: Path) -> Outcome:
    """Read each content; keep those that end in a traceback in the directory ``kept``."""
    trials = Trials(surface, scratch, kept)
    for content in contents:
        trials.read(content)
    return trials.outcome()


def place_of(name: str) -> str:
    """The directory of a surface's cases."""
    return re.sub(r"\W+", "-", name).strip("-")


def corpus(name: str) -> list[bytes]:
    """The cases of a surface that got through once."""
    return [path.read_bytes() for path in sorted((CORPORA / place_of(name)).glob("*"))]


def until(deadline: float, surface: Surface, seeds: list[bytes], dice: Random) -> Iterator[bytes]:
    """Contents as strangers could write them until a time of `time.monotonic`."""
    while time.monotonic() < deadline:
        yield surface.case(seeds, dice)


def some(number: int, surface: Surface, dice: Random) -> Iterator[bytes]:
    """The good contents, and a number as strangers could write them."""
    seeds = surface.seeds()
    yield from seeds
    for _ in range(number):
        yield surface.case(seeds, dice)


def memory(name: str) -> float:
    """VmRSS or VmHWM of this process, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def _forget_peak() -> None:
    """Let VmHWM begin anew, where the kernel can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _read(surface: Surface, content: bytes, work: Path) -> tuple[bool, str]:
    """Whether it was refused with a sentence, and the end of the traceback if there was one."""
    try:
        surface.read(content, work)
    except ObservatoryError as error:
        sentence = str(error)
        return True, "" if 0 < len(sentence) < 5_000 else f"its sentence is {len(sentence)} long"
    except (Exception, RecursionError):
        return True, "".join(traceback.format_exc().splitlines(keepends=True)[-12:])
    return False, ""


def _kept(where: Path, content: bytes) -> str:
    name = hashlib.sha256(content).hexdigest()[:16]
    where.mkdir(parents=True, exist_ok=True)
    (where / name).write_bytes(content)
    return name
