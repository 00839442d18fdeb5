"""The steps of a night: which commands it runs, and running them so that a kill loses nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from observatory.errors import Exit
from observatory.store.base.locking import locked
from observatory.store.journal import night as record
from observatory.store.journal.night import Night, NightStep

PROGRAM = (sys.executable, "-P", "-m", "observatory")
"""The program whose commands are the steps."""
STEPS = (
    "sentinel",
    "measure",
    "canary",
    "contracts",
    "census",
    "explore",
    "tomorrow",
    "work",
    "alerts",
    "search",
    "site",
    "feed",
    "deliver",
    "publish",
)
"""The first words of the steps' names, in their order."""
MEASURING = STEPS[: STEPS.index("alerts")]
"""The steps that do not need results to exist."""
_ALERTS_WRITTEN = (Exit.OK, Exit.ALERTS)
"""Exit statuses with which `observatory alerts` has written what it found."""
_POLL = 0.05
"""Seconds between two looks at the clock."""


@dataclass(frozen=True)
class Wishes:
    """The options of a night; a step without its option is left out."""

    subjects: Sequence[str]
    commits: Sequence[str] = ()
    """Subjects that are measured only once: a later night takes only the samples they lack."""
    only: frozenset[str] = frozenset(STEPS)
    results: Path = Path("results")
    out: Path = Path("html")
    preset: str = "night"
    python: str | None = None
    extras: Sequence[str] = ()
    launches: Sequence[str] = ()
    backends: Sequence[str] = ()
    """Backends to measure; canary and contracts choose their own."""
    scenarios: Sequence[str] = ()
    """Scenarios to measure."""
    work_budget: str = "15m"
    """The longest time for the work of one subject."""
    census_budget: str = ""
    """The longest time for the census of the last subject; empty: there is none."""
    settings: bool = False
    """Whether the canary also crosses settings."""
    explore_budget: str = ""
    """The time for generated pairs of graphs; empty: there are none."""
    search_budget: str = "30m"
    """The longest time for finding the culprits of open alerts."""
    clone: Path | None = None
    """A clone of PyTensor, along whose commits culprits are searched."""
    no_work: str = ""
    """Why the work of no subject is counted; empty: it is."""
    machine: str | None = None
    state: Path | None = None
    cluster: str = ""
    """The workers that take samples; empty: each step does by itself."""
    shard: str = ""
    """The part of each plan that is measured, such as ``2/3``; empty: the whole."""
    link: str = ""
    """The address of the pages."""
    feed: bool = False
    deliver: str = ""
    """The GitHub repository whose issues are updated."""
    publish: str = ""
    """The branch, or the address of an object store, that the results are added to."""
    repository: Path = field(default_factory=Path)
    """The git repository of that branch."""
    remote: str = "origin"


def steps(wishes: Wishes) -> list[NightStep]:
    """Return the steps of a night in their order; each is a command that a person could type."""
    all_steps = (*_measuring(wishes), *_reporting(wishes))
    return [step for step in all_steps if step.name.partition(" ")[0] in wishes.only]


def _measuring(wishes: Wishes) -> Iterator[NightStep]:
    results = ["--results", str(wishes.results)]
    state = _state(wishes)
    where = [*results, *_each("--with", wishes.extras), *state]
    machine = ["--machine", wishes.machine] if wishes.machine else []
    options = [*where, *_each("--launch", wishes.launches), *machine]
    cells = _each("--backend", wishes.backends) + _each("--scenario", wishes.scenarios)
    fleet = _cluster(wishes)
    shard = ["--shard", wishes.shard] if wishes.shard else []
    run = ["--preset", wishes.preset, *options, *cells, *shard, *fleet]
    if wishes.shard.partition("/")[0] in ("", "1"):  # the part that takes the times
        yield NightStep(name="sentinel", command=["sentinel", *results, *state, *machine])
    for text in wishes.subjects:
        command = ["run", "--subject", text, *run]
        yield NightStep(name=f"measure {text}"[:200], command=command, resumable=True)
    for text in wishes.commits:
        command = ["run", "--subject", text, *run, "--resume"]
        yield NightStep(name=f"measure {text.rpartition('@')[2][:10]}", command=command)
    newest = [*wishes.subjects, *wishes.commits][-1:]
    yield NightStep(name="canary", command=["canary", *newest, *options, *fleet])
    if wishes.settings:
        command = ["canary", *newest, "--settings", *where]
        yield NightStep(name="canary settings", command=command)
    command = ["contracts", *newest, *wishes.extras, *results, *state]
    yield NightStep(name="contracts", command=command)
    if wishes.census_budget:
        budget = ["--preset", "census", "--budget", wishes.census_budget]
        command = ["run", *_each("--subject", newest), *budget, *where, *machine]
        command += [*_each("--backend", wishes.backends), *fleet]
        yield NightStep(name="census", command=command, resumable=True)
    if wishes.explore_budget:
        budget = ["--budget", wishes.explore_budget]
        command = ["explore", *newest, *budget, *where]
        for backend in wishes.backends or [""]:
            own = _each("--backend", filter(None, [backend]))
            yield NightStep(name=f"explore {backend}".rstrip(), command=[*command, *own])
    census = ["--census-budget", wishes.census_budget] if wishes.census_budget else []
    yield NightStep(name="tomorrow", command=["tomorrow", *newest, *census, *where, *machine])
    if wishes.no_work:
        yield NightStep(name="work", command=[], skipped=f"because {wishes.no_work}")
        return
    # After everything else, the newest commit first: it may take minutes of each subject.
    work = ["--preset", "work", "--budget", wishes.work_budget, *options, *cells, *fleet]
    for text in wishes.subjects:
        command = ["run", "--subject", text, *work]
        yield NightStep(name=f"work {text}"[:200], command=command, resumable=True)
    for text in reversed(wishes.commits):
        command = ["run", "--subject", text, *work, "--resume"]
        yield NightStep(name=f"work {text.rpartition('@')[2][:10]}", command=command)


def _reporting(wishes: Wishes) -> Iterator[NightStep]:
    results = ["--results", str(wishes.results)]
    alerts = ["alerts", *results]
    yield NightStep(name="alerts", command=alerts)
    search = ["bisect", "--open", "--budget", wishes.search_budget]
    yield NightStep(
        name="search", command=[*search, *_where(wishes), *_cluster(wishes)], needs=["alerts"]
    )
    settle = f"https://github.com/{wishes.deliver}/new/{wishes.publish}/triage"
    on_branch = wishes.publish and "://" not in wishes.publish
    forms = ["--triage-url", settle] if wishes.deliver and on_branch else []
    site = ["dashboard", *results, "--out", str(wishes.out), *forms]
    yield NightStep(name="site", command=site)
    if wishes.feed:
        feed = ["--feed", str(wishes.out / "alerts.atom")]
        link = ["--link", wishes.link] if wishes.link else []
        yield NightStep(name="feed", command=[*alerts, *feed, *link], needs=["alerts"])
    if wishes.deliver:
        page = ["--page", wishes.link] if wishes.link else []
        command = ["deliver", *results, "--repo", wishes.deliver, *page]
        yield NightStep(name="deliver", command=command, needs=["alerts"])
    if wishes.publish:
        command = ["publish", str(wishes.results), *_published_to(wishes)]
        yield NightStep(name="publish", command=command)


def _published_to(wishes: Wishes) -> list[str]:
    """The options that say where results are published: an address, or a branch."""
    if "://" in wishes.publish:
        return ["--to", wishes.publish]
    push = ["--remote", wishes.remote, "--push"] if wishes.remote else []
    return ["--repo", str(wishes.repository), "--branch", wishes.publish, *push]


def _where(wishes: Wishes) -> list[str]:
    """The options of a search: whose results, along which clone, and on which machine."""
    clone = ["--repo", str(wishes.clone)] if wishes.clone else []
    machine = ["--machine", wishes.machine] if wishes.machine else []
    extras = _each("--with", wishes.extras)
    return ["--results", str(wishes.results), *clone, *extras, *_state(wishes), *machine]


def _cluster(wishes: Wishes) -> list[str]:
    """The option of the steps that plan samples; the others measure on this machine."""
    return ["--cluster", wishes.cluster] if wishes.cluster else []


def _state(wishes: Wishes) -> list[str]:
    state = ["--python", wishes.python] if wishes.python else []
    return [*state, *(["--state", str(wishes.state)] if wishes.state else [])]


def _each(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


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
                schema="observatory/night/1", id=now.strftime("%Y%m%dT%H%M%SZ"), asked=asked,
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
            self.say(f"{step.name}: observatory {' '.join(command)}")
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
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        pass_fds=[lock],
        start_new_session=True,  # Ctrl-C reaches it through this process, and not twice
    )
    try:
        return process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise


def severest(statuses: Sequence[int], order: Sequence[int]) -> int:
    """Return the worst status: the earliest in ``order``, or 0 if all are 0.

    A status that ``order`` does not contain comes right after its first.
    """
    failed = [status for status in statuses if status != 0]
    return min(failed, key=lambda s: order.index(s) if s in order else 0.5, default=0)
