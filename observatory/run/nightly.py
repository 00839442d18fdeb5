"""A night, step by step: each a process, each recorded before and after, none hiding another."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from observatory.store.base.locking import locked
from observatory.store.journal import night as record
from observatory.store.journal.night import Night, NightStep

PROGRAM = (sys.executable, "-m", "observatory")
"""Every step is a command of it."""
INTERRUPTED = 130
"""Exit status of a command that a person or a machine has stopped."""
_TOLD_NOTHING_NEW = (0, 9)
"""Exit statuses with which `observatory alerts` has written what it found."""
_A_MOMENT = 0.05
_LOCK = "lock"


@dataclass
class Nightly:
    """Carries out a night. Killed at any instant, the next one goes on where this one stopped."""

    directory: Path
    """Where nights are kept."""
    start: Callable[[Sequence[str]], int]
    """Runs a command of the observatory to its end; returns its exit status."""
    say: Callable[[str], None]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    wait: Callable[[float], None] = time.sleep

    def carry_out(self, night: Night) -> Night:
        """Do what is left of a night, and return it as it is then.

        It is not over if a step was interrupted. Raises OSError where nothing can be written.
        """
        for place, step in enumerate(night.steps):
            if step.over:
                continue
            if reason := self._why_not(step, night):
                night = self._changed(night, place, skipped=reason)
                self.say(f"{step.name}: skipped, {reason}")
                continue
            night, command = self._begun(night, place)
            self.say(f"{step.name}: observatory {' '.join(command)}")
            status = self.start(command)
            if status == INTERRUPTED:
                return night
            night = self._changed(night, place, status=status, ended=self.clock())
        return night

    def _begun(self, night: Night, place: int) -> tuple[Night, list[str]]:
        """The night with a step begun, and its command."""
        step, results = night.steps[place], Path(night.results)
        newest = record.newest_run(results)
        changes: dict[str, object] = {"tries": step.tries + 1}
        command = list(step.command)
        if step.tries == 0:
            self._let_pass(newest)
            changes |= {"began": self.clock(), "before": newest}
        elif step.resumable and newest > step.before:
            # What was taken before the kill is this night's: without it, --resume would go on with
            # another night, which was complete, and nothing would be measured.
            command.append("--resume")
        return self._changed(night, place, **changes), command

    def _let_pass(self, run: str) -> None:
        """Wait until a run that begins now is told from that one, which names a second."""
        for _ in range(int(2 / _A_MOMENT)):
            if self.clock().strftime("%Y%m%dT%H%M%SZ") != run:
                return
            self.wait(_A_MOMENT)

    def _why_not(self, step: NightStep, night: Night) -> str | None:
        by_name = {one.name: one for one in night.steps}
        for name in step.needs:
            needed = by_name.get(name)
            if needed is not None and needed.status not in _TOLD_NOTHING_NEW:
                return f"because {name} {'failed' if needed.skipped is None else 'was skipped'}"
        measures = step.name.partition(" ")[0] in ("measure", "canary", "contracts")
        if not measures and not Path(night.results).is_dir():
            return f"because there is no results directory {night.results}"
        return None

    def _changed(self, night: Night, place: int, **changes: object) -> Night:
        changed = night.with_step(place, **changes)
        record.save(self.directory, changed)
        return changed


@contextlib.contextmanager
def one_at_a_time(directory: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Hold the lock of a directory of nights; wait for another holder, and ``say`` so once.

    Yields its descriptor, for steps to inherit: a step outlives a nightly that is killed, and as
    long as it does nobody may go on with its night.
    """
    directory.mkdir(parents=True, exist_ok=True)
    waiting = "another night, or a step that one has left, is under way; waiting for it to end"
    with locked(directory / _LOCK, lambda: say(waiting)) as descriptor:
        yield descriptor


def command_of(arguments: Sequence[str], lock: int) -> int:
    """Run a command of the observatory as a process; returns its exit status.

    What stops the night stops it, once: it ends what it measures, and says what is recorded.
    """
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        pass_fds=[lock],
        start_new_session=True,  # Ctrl-C reaches it through here, and not twice
    )
    try:
        return process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise


def severest(statuses: Sequence[int], order: Sequence[int]) -> int:
    """The status that outranks the others; one that ``order`` does not have outranks all but 5."""
    left = [status for status in statuses if status != 0]
    return min(left, key=lambda s: order.index(s) if s in order else 0.5, default=0)
