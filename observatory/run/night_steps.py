"""Which commands a night consists of. Pure: each is one that a person could have typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from observatory.store.journal.night import NightStep

MEASURING = ("measure", "canary", "contracts")
STEPS = (*MEASURING, "alerts", "site", "feed", "deliver", "publish")
"""In the order in which they are done."""


@dataclass(frozen=True)
class Wishes:
    """What a night should do; empty or None: the step is left out."""

    subjects: Sequence[str]
    commits: Sequence[str] = ()
    """Subjects that are measured once and for all: what is recorded of them stands."""
    only: frozenset[str] = frozenset(STEPS)
    results: Path = Path("results")
    out: Path = Path("html")
    preset: str = "quick"
    python: str | None = None
    extras: Sequence[str] = ()
    launches: Sequence[str] = ()
    backends: Sequence[str] = ()
    """Of what is measured; guards look at those that they concern."""
    scenarios: Sequence[str] = ()
    """Of what is measured."""
    machine: str | None = None
    state: Path | None = None
    link: str = ""
    """Address of the site."""
    feed: bool = False
    deliver: str = ""
    publish: str = ""
    """The branch."""
    repository: Path = field(default_factory=Path)
    """Where that is."""
    remote: str = "origin"


def steps(wishes: Wishes) -> list[NightStep]:
    """The steps of a night, in their order."""
    made = (
        *_measuring(wishes), *_canary(wishes), *_contracts(wishes), *_alerts(wishes),
        *_site(wishes), *_feed(wishes), *_deliver(wishes), *_publish(wishes),
    )  # fmt: skip
    return [step for step in made if step.name.partition(" ")[0] in wishes.only]


def _measuring(wishes: Wishes) -> Iterator[NightStep]:
    options = ["--preset", wishes.preset, *_where(wishes), *_launches(wishes), *_machine(wishes)]
    options += _each("--backend", wishes.backends) + _each("--scenario", wishes.scenarios)
    for text in wishes.subjects:
        name = f"measure {text}"[:200]
        yield NightStep(name=name, command=["run", "--subject", text, *options], resumable=True)
    for text in wishes.commits:
        # A commit is measured once: whatever its last run lacks is taken, and nothing else.
        command = ["run", "--subject", text, *options, "--resume"]
        yield NightStep(name=f"measure {text.rpartition('@')[2][:10]}", command=command)


def _canary(wishes: Wishes) -> Iterator[NightStep]:
    command = ["canary", *_newest(wishes), *_where(wishes), *_launches(wishes), *_machine(wishes)]
    yield NightStep(name="canary", command=command)


def _contracts(wishes: Wishes) -> Iterator[NightStep]:
    place = _where(wishes, with_extras=False)
    yield NightStep(
        name="contracts", command=["contracts", *_newest(wishes), *wishes.extras, *place]
    )


def _alerts(wishes: Wishes) -> Iterator[NightStep]:
    yield NightStep(name="alerts", command=["alerts", *_results(wishes)])


def _site(wishes: Wishes) -> Iterator[NightStep]:
    yield NightStep(name="site", command=["dashboard", *_results(wishes), "--out", str(wishes.out)])


def _feed(wishes: Wishes) -> Iterator[NightStep]:
    if wishes.feed:
        where = ["--feed", str(wishes.out / "alerts.atom")]
        link = ["--link", wishes.link] if wishes.link else []
        command = ["alerts", *_results(wishes), *where, *link]
        yield NightStep(name="feed", command=command, needs=["alerts"])


def _deliver(wishes: Wishes) -> Iterator[NightStep]:
    if wishes.deliver:
        page = ["--page", wishes.link] if wishes.link else []
        command = ["deliver", *_results(wishes), "--repo", wishes.deliver, *page]
        yield NightStep(name="deliver", command=command, needs=["alerts"])


def _publish(wishes: Wishes) -> Iterator[NightStep]:
    if wishes.publish:
        push = ["--remote", wishes.remote, "--push"] if wishes.remote else []
        where = ["--repo", str(wishes.repository), "--branch", wishes.publish, *push]
        yield NightStep(name="publish", command=["publish", str(wishes.results), *where])


def _newest(wishes: Wishes) -> list[str]:
    """What is guarded: the last of what is measured."""
    return [*wishes.subjects, *wishes.commits][-1:]


def _results(wishes: Wishes) -> list[str]:
    return ["--results", str(wishes.results)]


def _where(wishes: Wishes, with_extras: bool = True) -> list[str]:
    found = _results(wishes)
    for extra in wishes.extras if with_extras else ():
        found += ["--with", extra]
    found += ["--python", wishes.python] if wishes.python else []
    return found + (["--state", str(wishes.state)] if wishes.state else [])


def _launches(wishes: Wishes) -> list[str]:
    return _each("--launch", wishes.launches)


def _each(option: str, words: Sequence[str]) -> list[str]:
    return [text for word in words for text in (option, word)]


def _machine(wishes: Wishes) -> list[str]:
    return ["--machine", wishes.machine] if wishes.machine else []
