"""Running the steps of a night, so that a kill loses nothing."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from observatory.errors import Exit
from observatory.run.night_steps import MEASURING
from observatory.store.base.locking import locked
from observatory.store.journal import night as record
from observatory.store.journal.night import Night, NightStep

PROGRAM = (sys.executable, "-P", "-m", "observatory")
"""The program whose commands are the steps."""
_ALERTS_WRITTEN = (Exit.OK, Exit.ALERTS)
"""Exit statuses with which `observatory alerts` has written what it found."""
_POLL = 0.05
"""Seconds between two looks at the clock."""


@dataclass
class Nightly:
    """Runs the steps of a night, and continues with the next unfinished one after a kill."""

    directory: Path
    """The directory of the nights' records."""
    start: Callable[[Sequence[str]], int]
    """Runs a command of the observatory to its end and returns its exit status."""
    say: Callable[[str], None]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    wait: Callable[[float], None] = time.sleep

    def night(
        self, asked: list[str], results: Path, planned: list[NightStep], fresh: bool
    ) -> Night:
        """Go on with the unfinished night that was asked for the same, or carry out a new one.

        ``fresh``: begin a new one in any case. Raises as `carry_out`, and RecordError if the
        record of the last night is broken.
        """
        now = self.clock()
        night = None if fresh else record.unfinished(self.directory, asked, now)
        if night is None:
            night = Night(
                schema="observatory/night/1", id=f"{now:%Y%m%dT%H%M%SZ-%f}", asked=asked,
                results=str(results), started_at=now, steps=planned,
            )  # fmt: skip
            record.save(self.directory, night)
        else:
            self.say(f"continuing the night of {night.started_at:%Y-%m-%d %H:%M} UTC")
        return self.carry_out(night)

    def carry_out(self, night: Night) -> Night:
        """Run the unfinished steps of a night, and return it with their outcomes.

        The night is not over if a step was interrupted. Raises OSError if it cannot be recorded.
        """
        for place, step in enumerate(night.steps):
            if step.over:
                continue
            if reason := self._why_skipped(step, night):
                night = self._changed(night, place, skipped=reason)
                self.say(f"{step.name}: skipped, {reason}")
                continue
            night, command = self._begun(night, place)
            self.say(f"{step.name}: observatory {shlex.join(command)}")
            status = self.start(command)
            if status == Exit.INTERRUPTED:
                return night
            night = self._changed(night, place, status=status, ended=self.clock())
        return night

    def _begun(self, night: Night, place: int) -> tuple[Night, list[str]]:
        """Return the night with a step begun, and the step's command."""
        step = night.steps[place]
        newest = record.newest_run(Path(night.results))
        changes: dict[str, object] = {"tries": step.tries + 1}
        command = list(step.command)
        if step.tries == 0:
            self._wait_for_next_second(newest)
            changes |= {"began": self.clock(), "before": newest}
        elif step.resumable and newest > step.before:
            # A run of this night was killed. Without such a run, --resume would continue a complete
            # one of an earlier night, and nothing would be measured.
            command.append("--resume")
        return self._changed(night, place, **changes), command

    def _wait_for_next_second(self, run: str) -> None:
        """Wait until a new run would get another name than ``run``; names are full seconds."""
        for _ in range(int(2 / _POLL)):
            if self.clock().strftime("%Y%m%dT%H%M%SZ") != run:
                return
            self.wait(_POLL)

    def _why_skipped(self, step: NightStep, night: Night) -> str | None:
        by_name = {one.name: one for one in night.steps}
        for name in step.needs:
            needed = by_name.get(name)
            if needed is not None and needed.status not in _ALERTS_WRITTEN:
                return f"because {name} {'failed' if needed.skipped is None else 'was skipped'}"
        measures = step.name.partition(" ")[0] in MEASURING
        if not measures and not Path(night.results).is_dir():
            return f"because there is no results directory {night.results}"
        return None

    def _changed(self, night: Night, place: int, **changes: object) -> Night:
        changed = night.with_step(place, **changes)
        record.save(self.directory, changed)
        return changed


def one_at_a_time(directory: Path, say: Callable[[str], None]) -> AbstractContextManager[int]:
    """Hold the lock of a directory of nights; if another process holds it, ``say`` so and wait.

    Yields the lock's descriptor, which steps inherit: a step outlives a nightly that is killed, and
    nobody may continue the night until it has ended.
    """
    directory.mkdir(parents=True, exist_ok=True)
    message = "another night, or a step that one has left, is running; waiting for it to end"
    return locked(directory / "lock", lambda: say(message))


def command_of(arguments: Sequence[str], lock: int) -> int:
    """Run a command of the observatory as a process and return its exit status.

    An exception here, such as Ctrl-C, interrupts the command once, so that it ends what it measures
    and says what is recorded.
    """
    process = None
    try:
        with _no_handlers():
            process = subprocess.Popen(
                [*PROGRAM, *arguments],
                pass_fds=[lock],
                start_new_session=True,  # Ctrl-C reaches it through this process, and not twice
            )
        return process.wait()
    except BaseException:
        if process is not None:
            process.send_signal(signal.SIGINT)
            process.wait()
        raise


@contextmanager
def _no_handlers() -> Iterator[None]:
    """Let the signals that Python handles wait for the end of the block.

    A handler that raises while a process is being started leaves it running, and nobody knows it.
    """
    caught: list[int] = []
    handlers = {one: signal.getsignal(one) for one in signal.valid_signals()}
    handled = {one: handler for one, handler in handlers.items() if callable(handler)}
    for one in handled:
        signal.signal(one, lambda number, _: caught.append(number))
    try:
        yield
    finally:
        for one, handler in handled.items():
            signal.signal(one, handler)
        for number in caught:
            signal.raise_signal(number)
