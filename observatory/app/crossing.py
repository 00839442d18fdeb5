"""Find which of PyTensor, numba, Python and the other packages changed a count or a work."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from packaging.version import InvalidVersion, Version

from observatory import tool_version
from observatory.analyze.cross import Combination, Crossing
from observatory.analyze.search import Search
from observatory.app.axes import Between, Mixed, Side
from observatory.app.conditions import under_each
from observatory.app.lost import prober_of
from observatory.app.probing import OutOfTimeError, Prober
from observatory.app.session import Session
from observatory.app.unwritten import write_left
from observatory.benchmarks.catalogue import Cell
from observatory.errors import SelectionError
from observatory.run.environments import EnvironmentMakingError
from observatory.run.sources import SubjectError
from observatory.run.uv import UvError, because
from observatory.store.records import crossings
from observatory.store.records.alerts import at_of, cut
from observatory.store.records.crossings import (
    Along,
    Combined,
    Crossed,
    CrossedAxis,
    CrossedCause,
    CrossedRelease,
    CrossedStep,
    UnderCondition,
)
from observatory.store.records.subject import Subject
from observatory.text.units import human
from observatory.text.words import listed

_WHY = 4000


@dataclass(frozen=True)
class Asked:
    """Between which subjects, and for what, the axis is looked for."""

    old: Subject
    new: Subject
    cell: Cell
    metric: str
    along: bool = True
    """Whether the search goes on along the releases of the package that did it."""
    conditions: bool = False
    """Whether both are also measured with single settings other than usual."""
    graphs: Sequence[str] = ()
    """The only graphs that are built and counted; empty: all of the model."""
    supposed: bool = False
    """Whether it is only supposed that these graphs show the change."""


def cross(session: Session, asked: Asked) -> Crossed:
    """Find which axes made a change between two subjects, and record it.

    Combinations that are recorded already are not measured again; each new one is recorded, so that
    an interrupted search goes on where it was. Where the time of the session is over, the record
    says so. Raises SubjectError if the metric is a time, or if one of the two has no value, and
    SelectionError for a backend with packages of its own.
    """
    if asked.cell.installs:
        raise SelectionError(
            f"the backend {asked.cell.backend} adds {', '.join(asked.cell.installs)} to each "
            "environment, and `cross` cannot choose its version; measure both versions with "
            "`observatory run --with`"
        )
    began = time.monotonic()
    for line in write_left(session.state):
        session.say(line, "warning")
    narrowed = session.narrowed(asked.graphs)
    prober = prober_of(narrowed, asked.cell, asked.metric, (asked.old, asked.new))
    work: _Work | None = None
    finished = True
    try:
        low, high = (_end(one, asked, prober) for one in (asked.old, asked.new))
        sides = [Side(one, prober.packages(one)) for one in (asked.old, asked.new)]
        if asked.graphs and asked.supposed and prober.same(low, high):
            session.say("these graphs alone do not show the change: searching with all of them")
            return cross(session, replace(asked, graphs=()))
        work = _Work(prober, Between(*sides), low, high)
        work.carry_out(asked.along)
        if asked.conditions and not prober.same(low, high):
            settings = replace(prober, samples=0)
            for one in under_each(settings, asked.old, asked.new, high):
                work.conditions.append(one)
    except OutOfTimeError as over:
        finished = False
        session.say(str(over), "warning")
    found = Crossed(
        observatory=tool_version(), machine=session.machine.machine, cell=asked.cell,
        metric=asked.metric, graphs=list(narrowed.only),
        good=at_of(asked.old), bad=at_of(asked.new),
        **({} if work is None else work.found(finished)),
        samples=prober.samples, seconds=round(time.monotonic() - began, 1), finished=finished,
        taken_at=datetime.now(UTC),
    )  # fmt: skip
    crossings.save(session.results, found)
    return found


def _end(subject: Subject, asked: Asked, prober: Prober) -> float:
    """The value of one of the two ends. Raises SubjectError if it has none."""
    value = prober.recorded([subject]).get(0)
    if value is None:
        value = prober.value(subject)
    if value is None:
        raise SubjectError(
            f"{subject.label} gave no {asked.metric} in {asked.cell}: name other "
            "subjects for GOOD and BAD"
        )
    return value


@dataclass
class _Work:
    """A search between two ends with values, as far as it is."""

    prober: Prober
    between: Between
    low: float
    high: float
    tried: list[Combined] = field(default_factory=list)
    along: list[Along] = field(default_factory=list)
    conditions: list[UnderCondition] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.crossing = Crossing([one.name for one in self.between.axes])

    @property
    def is_about_something(self) -> bool:
        """Whether the value changed, and something differs that may have changed it."""
        return bool(self.crossing.axes) and not self.prober.same(self.low, self.high)

    def carry_out(self, along: bool) -> None:
        """Measure what is needed; ``along``: also releases of the package that did it."""
        crossing = self.crossing
        while self.is_about_something and (wanted := crossing.wanted()) is not None:
            one = self._combined(wanted)
            self.tried.append(one)
            crossing.values[wanted] = None if one.value is None else self._is_new(one.value)
        if along and self.is_about_something:
            for cause in crossing.causes():
                if not cause.untried:
                    for axis in sorted(cause.axes):
                        self._go_along(axis, cause.axes)

    def found(self, finished: bool) -> dict[str, Any]:
        """What is known, as fields of the record."""
        crossing, about = self.crossing, self.is_about_something
        place = {name: number for number, name in enumerate(crossing.axes)}
        causes = [
            CrossedCause(
                axes=sorted(one.axes, key=place.__getitem__),
                untried=[sorted(part, key=place.__getitem__) for part in one.untried],
            )
            for one in (crossing.causes() if about and finished else ())
        ]
        axes = [
            CrossedAxis(
                name=one.name, versions=_cut(self.between.versions(one)),
                needed=crossing.needed(one.name) if about else None,
            )
            for one in self.between.axes
        ]  # fmt: skip
        return {
            "low": self.low, "high": self.high, "axes": axes, "combinations": self.tried,
            "causes": causes, "along": self.along, "conditions": self.conditions,
            "full_product": crossing.product * len(self.prober.tasks),
        }  # fmt: skip

    def _is_new(self, value: float) -> bool:
        """Whether a value is nearer to the new one: an axis may add little to what another did."""
        return abs(value - self.high) < abs(value - self.low)

    def _combined(self, new: Combination) -> Combined:
        names = [name for name in self.crossing.axes if name in new]
        text = f"new {listed(names)}, the rest old"
        value, why, measured = self._value(self.between.mixed(new), text)
        return Combined(new=names, value=value, why=why[:_WHY], measured=measured)

    def _value(self, mixed: Mixed, text: str) -> tuple[float | None, str, bool]:
        """The value of a combination, why it has none, and whether it was measured now."""
        subject, session = mixed.subject, self.prober.session
        known = self.prober.recorded([subject])
        if known and not mixed.problem(self.prober.packages(subject)):
            return known[0], "", False
        if time.monotonic() > session.deadline:
            raise OutOfTimeError
        try:
            environment = session.environment(subject, pins=mixed.pins)
            problem = mixed.problem(environment.versions.packages)
        except EnvironmentMakingError as error:
            reason = error.__cause__
            problem = because(reason) if isinstance(reason, UvError) else str(error)
        if problem:
            session.say(f"{text}: cannot be installed", "warning")
            return None, f"cannot be installed: {problem}", False
        value = self.prober.value(subject, mixed.pins)
        told = "no value" if value is None else human(value, self.prober.metric.unit)
        session.say(f"{text}: {told}")
        return value, "gave no value" if value is None else "", True

    def _go_along(self, axis: str, cause: Combination) -> None:
        """Search along the releases of a package, while the rest of the cause is new."""
        releases = self._releases(axis)
        if len(releases) < 3:
            return
        last, before = len(releases) - 1, self.prober.samples
        search = Search(len(releases), self.prober.same, {0: self.low, last: self.high})
        while wanted := search.wanted():
            version = releases[wanted[0]]
            mixed = self.between.mixed(cause - {axis}, {axis: version})
            search.values[wanted[0]], _, _ = self._value(mixed, f"{axis} {version}")
        taken, self.prober.samples = self.prober.samples - before, before
        self.along.append(Along(
            package=axis, releases=len(releases), samples=taken,
            values=[
                CrossedRelease(version=releases[place], value=value)
                for place, value in sorted(search.values.items())
            ],
            steps=[
                CrossedStep(
                    before=releases[one.before], after=releases[one.after],
                    low=one.low, high=one.high,
                    skipped=[releases[place] for place in one.skipped],
                )
                for one in search.steps()
            ],
        ))  # fmt: skip

    def _releases(self, axis: str) -> list[str]:
        """The releases of a package from the old to the new one; empty where there are none.

        A wheel that a person gave is no release, and PyTensor's own are what `bisect` searches.
        """
        old, new = (side.version(axis) for side in (self.between.old, self.between.new))
        try:
            ends = Version(old or ""), Version(new or "")
        except InvalidVersion:  # an axis that is no package
            return []
        if any(one.local for one in ends):
            return []
        session, minor = self.prober.session, self.between.old.subject.python
        low, high = sorted(ends)
        inside = session.subjects.index.between(axis, str(low), str(high), minor)
        found = [str(low), *inside, str(high)]
        return found if ends[0] == low else found[::-1]


def _cut(versions: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    return {name: (cut(old), cut(new)) for name, (old, new) in versions.items()}
