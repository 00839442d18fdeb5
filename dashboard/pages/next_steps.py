"""What a person does about an alert: repeat it, find the commit, and decide."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from observatory.analyze.history.level_changes import DRIFT
from observatory.analyze.history.part_changes import CALLS, is_of_part
from observatory.benchmarks.catalogue import (
    BACKENDS,
    COMPARED,
    CORRECTNESS,
    DEFAULT_MODEL,
    LAUNCHES,
    MEASURES,
    MODELS,
    SCENARIOS,
)
from observatory.store.base.releases import is_release
from observatory.store.records.alerts import Alert, At, Change, SeriesChange
from observatory.text.alerts import between
from observatory.text.forge import Forge, are_pins, is_release_with_pins, ref_of
from observatory.text.issue import issue_text, issue_title
from observatory.text.titles import title_of

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_BUILD = 30.0
"""Seconds: about what building PyTensor from a checkout takes on two cores."""
_SAMPLES = {"exact": 1, "near_exact": 3, "noisy": 10}
"""How many of a subject tell its value; of a time about five, each beside one of the first."""
_ACCEPTED, _PUT_OFF = timedelta(days=3650), timedelta(weeks=4)

_DECISIONS = (
    ("expected", "The change was made on purpose.", "expected: ...", _ACCEPTED),
    ("bug", "Open an issue, and put the alert off for four weeks.", "bug: https://...", _PUT_OFF),
    (
        "noise",
        "The change is noise or comes from the machine. Put the alert off for four weeks.",
        "noise: ...",
        _PUT_OFF,
    ),
)
"""The ways to settle an alert: name, what it means, why, and for how long."""

NextStep = tuple[str, str]
"""What a person does next: why, and what to type."""


@dataclass(frozen=True)
class Decision:
    """One of the ways to settle an alert."""

    name: str
    meaning: str
    text: str = ""
    """An entry of the triage file, ready to commit."""
    link: str = ""
    """The address of a form for the entry or the issue, filled in already."""
    button: str = ""
    """What the link does."""
    command: str = ""
    """What does the same in a terminal."""


def steps(change: Change, commits: int = 0) -> Iterator[NextStep]:
    """How to reproduce a change and find its commit; nothing for failed and late runs.

    ``commits``: how many there are in its range; 0: not known.
    """
    good, bad = change.last_good, change.first_bad
    narrowed = _narrowed(change.series)
    if good is None or not narrowed:
        return
    releases = is_release_with_pins(good.label) and is_release_with_pins(bad.label)
    if releases:
        ends = shlex.join([good.label, bad.label])
        yield "Measure both side by side:", f"observatory compare {ends} {narrowed}"
    elif found := _in_clone(good, bad):
        ends = found
        again = f"observatory compare --repo . {ends} {narrowed}"
        yield "Measure both side by side, in a clone of PyTensor:", again
    else:
        return
    commits_alone = not any(is_release(at.label.partition(" ")[0]) for at in (good, bad))
    if change.kind.startswith(DRIFT) or (commits_alone and change.between == 0):
        return  # no commit is to blame, or the first bad one is it
    known = [one for one in change.series if one.metric in COMPARED]
    searched = min(known, key=lambda one: _SAMPLES[one.kind], default=None)
    if searched is None:
        return
    which = f'--cell "{searched.benchmark}" --metric {searched.metric}'
    if releases and searched.kind != "noisy":
        command = f"observatory cross {ends} {which}"
        yield "Find out whether PyTensor, numba or another package caused it:", command
    # Not in the clone, because what is measured is recorded in ./results.
    reason = (
        "Find the commit. Run this in the directory that holds results/, with a clone of PyTensor "
        f"in ../pytensor{_cost(searched, commits)}:"
    )
    yield reason, f"observatory bisect {ends} {which} --repo ../pytensor"


def _in_clone(good: At, bad: At) -> str:
    """What a clone calls both ends, with their further packages; empty if it does not have them."""
    refs = [ref_of(at.label, at.commit) for at in (good, bad)]
    more = {tuple(at.label.split(" ")[1:]) for at in (good, bad)}
    # A command gives both sides the same packages.
    if not all(refs) or len(more) > 1 or not are_pins(min(more)):
        return ""
    short = [ref[:12] if _COMMIT.fullmatch(ref) else ref for ref in refs]
    return shlex.join([*short, *(word for one in min(more) for word in ("--with", one))])


def bisections(commits: int) -> int:
    """How many of so many commits a bisection probes."""
    return math.ceil(math.log2(commits + 1)) if commits > 0 else 0


def _cost(series: SeriesChange, commits: int) -> str:
    """What the bisection takes: for a commit a build and the samples that tell its value."""
    _, scenario, backend, _ = series.benchmark.split()
    samples = _SAMPLES[series.kind] * SCENARIOS[scenario].seconds_with(backend)
    each = _BUILD + samples
    minutes = math.ceil(bisections(commits) * each / 60)
    if not commits:
        return f" (about {math.ceil(each / 60)} min for each commit that it measures)"
    return (
        f" (it measures {bisections(commits)} of {commits} commits, about {minutes} min on two "
        "cores)"
    )


def decisions(alert: Alert, forge: Forge, now: datetime) -> list[Decision]:
    """The three ways to settle an alert: expected, bug, noise. None for a resolved one.

    ``now``: the time of the entries of the triage file; that of the newest sample, so that the
    same results give the same page. An entry is later than the one that counts, to replace it.
    """
    if alert.state == "resolved":
        return []
    if alert.acknowledged is not None:
        now = max(now, alert.acknowledged.at + timedelta(seconds=1))
    issue = forge.new_issue(issue_title(alert), issue_text(alert))
    found = []
    for name, meaning, why, span in _DECISIONS:
        text = _entry(alert, why, now, span)
        form = forge.new_file(f"{alert.id}-{name}.toml", text)
        link, button = (issue, "Open an issue") if name == "bug" else (form, "Commit this")
        until = f"{span // timedelta(weeks=1)}w"
        command = f'observatory ack {alert.id} --why "{why}" --until {until}'
        found.append(Decision(name, meaning, text, link, button * bool(link), command))
    return found


def _entry(alert: Alert, why: str, now: datetime, span: timedelta) -> str:
    moments = (f"{when.replace(microsecond=0):%Y-%m-%dT%H:%M:%SZ}" for when in (now, now + span))
    at, until = moments
    return (
        f"# {title_of(alert.kind)}, {between(alert)}\n[[acknowledged]]\n"
        f'id = "{alert.id}"\nwho = "..."\nwhy = "{why}"\nat = {at}\nuntil = {until}'
    )


def _narrowed(series: Sequence[SeriesChange]) -> str:
    """The options that select the alert's cells and passes; empty if there are none of ours."""
    cells = [one.benchmark.split() for one in series]
    axes = (MODELS, SCENARIOS, BACKENDS, LAUNCHES)
    names = ("model", "scenario", "backend", "launch")
    if not cells or not all(
        len(words) == len(axes) and all(word in own for word, own in zip(words, axes, strict=True))
        for words in cells
    ):
        return ""
    options = []
    for axis, (name, words) in enumerate(zip(names, axes, strict=True)):
        found = [word for word in words if any(cell[axis] == word for cell in cells)]
        if name == "model" and found == [DEFAULT_MODEL]:
            continue
        if len(found) < len(words):
            options += [f"--{name} {word}" for word in found]
    return " ".join([*options, *_passes(series)])


def _passes(series: Sequence[SeriesChange]) -> Iterator[str]:
    """The passes that an alert on counts needs: times would be undecided."""
    counted = [one.metric for one in series if one.kind != "noisy"]
    if not counted or not set(CORRECTNESS).isdisjoint(counted):
        return  # every pass finds wrong values and crashes
    passes = {
        COMPARED[name].measure if name in COMPARED
        else CALLS.measure if is_of_part(name) else "counting"
        for name in counted
    }  # fmt: skip
    if "timing" not in passes:
        yield "--budget 1h"  # counting ends when all is counted, and long before
        yield from (f"--pass {name}" for name in MEASURES if name in passes)
