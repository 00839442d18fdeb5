"""The steps of a night: which commands it runs, and with which options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from observatory.run.looking import cannot_look
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.store.journal.night import NightStep

STEPS = (
    "sentinel",
    "measure",
    "canary",
    "contracts",
    "census",
    "explore",
    "tomorrow",
    "torture",
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


@dataclass(frozen=True)
class Wishes:
    """The options of a night and their defaults; a step without its option is left out."""

    subjects: Sequence[str]
    commits: Sequence[str] = ()
    """Subjects that are measured only once: a later night takes only the samples they lack."""
    only: frozenset[str] = frozenset(STEPS)
    results: Path = Path("results")
    out: Path = Path("html")
    preset: str = "night"
    measure_budget: str = ""
    """The longest time for measuring one subject; empty: there is no limit."""
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
    torture_budget: str = "20m"
    """The longest time for injecting faults into caches; a later night goes on."""
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
    stored: Path | None = None
    """Results of earlier nights: what they have of commits, and of releases under faults, is not
    taken again, and the sentinel keeps its release."""
    url: str = ""
    """The address of the pages."""
    feed: bool = False
    deliver: str = ""
    """The GitHub repository whose issues are updated."""
    config: Path | None = None
    """The settings of that repository; None: those in the working directory, if any."""
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
    stored = ["--stored", str(wishes.stored)] if wishes.stored else []
    budget = ["--budget", wishes.measure_budget] if wishes.measure_budget else []
    run = ["--preset", wishes.preset, *budget, *options, *cells, *shard, *fleet]
    if wishes.shard.partition("/")[0] in ("", "1"):  # the part that takes the times
        yield NightStep(name="sentinel", command=["sentinel", *results, *stored, *state, *machine])
    for text in wishes.subjects:
        command = ["run", "--subject", text, *run]
        yield NightStep(name=f"measure {text}"[:200], command=command, resumable=True)
    for text in wishes.commits:
        command = ["run", "--subject", text, *run, "--resume", *stored]
        yield NightStep(name=f"measure {text.rpartition('@')[2][:10]}", command=command)
    newest = [*wishes.subjects, *wishes.commits][-1:]
    yield NightStep(name="canary", command=["canary", *newest, *options, *fleet])
    if wishes.settings:
        command = ["canary", *newest, "--settings", *where, *machine]
        yield NightStep(name="canary settings", command=command)
    command = ["contracts", *newest, *wishes.extras, *results, *state]
    yield NightStep(name="contracts", command=command)
    if wishes.census_budget:
        budget = ["--preset", "census", "--budget", wishes.census_budget]
        command = ["run", *_each("--subject", newest), *budget, *where, *machine]
        command += [*_each("--backend", wishes.backends), *fleet]
        lacks = _lacks("census", Narrowed(backends=wishes.backends or None))
        yield _step("census", command, resumable=True, without=lacks)
    if wishes.explore_budget:
        budget = ["--budget", wishes.explore_budget]
        command = ["explore", *newest, *budget, *where]
        for backend in wishes.backends or [""]:
            own = _each("--backend", filter(None, [backend]))
            lacks = cannot_look(backend) if backend else None
            yield _step(f"explore {backend}".rstrip(), [*command, *own], without=lacks)
    census = ["--census-budget", wishes.census_budget] if wishes.census_budget else []
    yield NightStep(name="tomorrow", command=["tomorrow", *newest, *census, *where, *machine])
    # A release does not change: its faults are tried once.
    budget = ["--budget", wishes.torture_budget, *stored]
    for text in wishes.subjects:
        command = ["torture", text, "--new", *budget, *where, *machine]
        yield NightStep(name=f"torture {text}"[:200], command=command)
    narrowed = Narrowed(
        None, wishes.scenarios or None, wishes.backends or None, wishes.launches or None
    )
    if no_work := wishes.no_work or _lacks("work", narrowed):
        yield _step("work", [], without=no_work)
        return
    # After everything else, the newest commit first: it may take minutes of each subject.
    work = ["--preset", "work", "--budget", wishes.work_budget, *options, *cells, *fleet]
    for text in wishes.subjects:
        command = ["run", "--subject", text, *work]
        yield NightStep(name=f"work {text}"[:200], command=command, resumable=True)
    for text in reversed(wishes.commits):
        command = ["run", "--subject", text, *work, "--resume", *stored]
        yield NightStep(name=f"work {text.rpartition('@')[2][:10]}", command=command)


def _step(
    name: str, command: list[str], *, resumable: bool = False, without: str | None = None
) -> NightStep:
    """A step; ``without``: why it is skipped, if it is."""
    if without:
        return NightStep(name=name, command=[], skipped=f"because {without}")
    return NightStep(name=name, command=command, resumable=resumable)


def _lacks(preset: str, narrowed: Narrowed) -> str | None:
    """Why nothing of a preset is measured, if the options leave none of its cells."""
    left = tasks_of(PRESETS[preset], narrowed)
    return None if left else narrowed.none_left(f"the preset {preset}")


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
    url = ["--url", wishes.url] if wishes.url else []
    site = ["dashboard", *results, "--out", str(wishes.out), *forms, *url]
    yield NightStep(name="site", command=site)
    if wishes.feed:
        feed = ["--feed", str(wishes.out / "alerts.atom")]
        yield NightStep(name="feed", command=[*alerts, *feed, *url], needs=["alerts"])
    if wishes.deliver:
        config = ["--config", str(wishes.config)] if wishes.config else []
        command = ["deliver", *results, "--repo", wishes.deliver, *config, *url]
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
