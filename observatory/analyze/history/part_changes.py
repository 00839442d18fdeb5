"""Parts of builds that do much more where the whole does not, from one subject to the next. Pure.

What `work_changes` says of a whole build, this says of its rewriters, functions and phases: the
judge of a comparison (`judging`) decides which of them changed for sure. False discoveries are
controlled over the parts of all builds of a subject.

A subject has one traced sample of a cell. What shows the spread are its other start methods, which
build the same graph with another hash seed; a build that was traced under one start method alone
is compared with the last few subjects before. Only earlier subjects and the first sample of a cell
decide, and compaction keeps that sample: a later night never changes what was found.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.rules import judged_values, rule_of
from observatory.analyze.history.followed import CountedSubject, History
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.segments import STILL
from observatory.analyze.profiles.difference import pass_runs
from observatory.analyze.profiles.judging import (
    KINDS,
    Part,
    count_in,
    grown_parts,
    grown_passes,
    judged,
    may_have_grown,
    p_values,
    parts_of,
    sure,
)
from observatory.analyze.statements import Occurrence, Statement, id_of, over_by
from observatory.benchmarks.catalogue import METRICS, SCENARIOS, Cell, Metric
from observatory.store.records.alerts import At, Change, SeriesChange, series_id
from observatory.store.records.comparison import CALM
from observatory.store.records.profile import PartChange, Profile

PART = "more work in a part"
"""The kind of the alerts."""
CALLS, _RUNS = METRICS["python_calls"], METRICS["llvm_pass_runs"]
_ENTRIES, _CALLS_IN, _RUNS_OF = "entries of ", f"{CALLS.name} in ", f"{_RUNS.name} of "
_EARLIER = 4
"""Subjects before a build with one sample that show its spread, at most."""
_Build = tuple[str, str, str]
"""Model, scenario and backend."""
_Traced = Mapping[_Build, Mapping[str, Profile]]
"""By build and start method."""


@dataclass(frozen=True)
class GrownPart:
    """A part that does much more in one build."""

    part: PartChange
    total: int
    """The calls of the build before it grew; of a pass of LLVM, the runs."""
    cells: tuple[Cell, ...]


@dataclass
class _Followed:
    """One grown part in one cell, followed from subject to subject."""

    build: _Build
    launch: str
    part: Part
    change: SeriesChange
    cpu: str
    over: At | None = None

    def update(self, subject: CountedSubject, traced: _Traced) -> None:
        """Update with the count of a later subject."""
        profile = traced.get(self.build, {}).get(self.launch)
        if self.over or profile is None:
            return
        if self.part[0] == "pass" and (subject.cpu != self.cpu or profile.llvm_passes is None):
            return
        now, before, after = count_in(profile, self.part), self.change.before, self.change.after
        if now <= 0 or math.log(now / before) / math.log(after / before) < STILL:
            self.over = subject.at
        news = {"now": now, "newest": subject.at, "holds": self.over is None}
        self.change = self.change.model_copy(update=news)


@dataclass(frozen=True)
class _Pair:
    """One build of two subjects: calm as a whole, under the start methods that both traced."""

    build: _Build
    base: CountedSubject
    bases: Mapping[str, Profile]
    heads: Mapping[str, Profile]
    earlier: Sequence[Profile]
    """Of subjects before the base, where the build has one sample."""
    passes_calm: bool
    """Whether the runs of all LLVM passes together are as before, too, on the same CPU."""

    def may_have_grown(self) -> bool:
        return any(may_have_grown(self.bases[one], head) for one, head in self.heads.items())

    def parts(self) -> set[Part]:
        return {part for head in self.heads.values() for part in parts_of(head)}

    def p_values(self) -> dict[Part, float]:
        bases, heads = [*self.bases.values()], [*self.heads.values()]
        others = [kind for kind in KINDS if kind != "pass"]
        found = p_values([*self.earlier, *bases], heads, others)
        # Earlier subjects may be of another CPU, for which LLVM runs other passes.
        return found | (p_values(bases, heads, ("pass",)) if self.passes_calm else {})

    def grown(self, changed: Collection[Part]) -> list[PartChange]:
        found = judged([*self.bases.values()], [*self.heads.values()], changed)
        if found is None:
            return []
        return [*grown_parts(found), *(grown_passes(found) if self.passes_calm else [])]

    def total(self, part: PartChange) -> int:
        """All calls of the build before it grew; of a pass of LLVM, all runs."""
        if part.kind == "pass":
            return min(sum(pass_runs(one).values()) for one in self.bases.values())
        return min(one.tree.calls for one in self.bases.values() if one.tree is not None)

    def counts(self, part: PartChange, launch: str) -> tuple[int, int]:
        """How much a part does in both subjects under a start method; 0 where it was not kept."""
        before = count_in(self.bases[launch], (part.kind, part.replaces or part.name))
        return before, count_in(self.heads[launch], (part.kind, part.name))

    def launches(self, part: PartChange) -> list[str]:
        """The start methods under which it was seen to grow: it may be too small for a profile."""
        counts = {one: self.counts(part, one) for one in self.heads}
        return [one for one, (before, after) in counts.items() if 0 < before < after]

    def cell(self, launch: str) -> Cell:
        return Cell(*self.build, launch)


@dataclass(frozen=True)
class _Grown:
    """One part that grew in a build, and the start methods under which it was seen."""

    pair: _Pair
    part: PartChange
    launches: Sequence[str]


@dataclass
class PartChanges:
    """The parts of the builds of a history. It sees the subjects as somebody else reads them."""

    history: History
    floors: MachineFloors = field(default_factory=MachineFloors)
    """They decide whether a whole build is calm, as they do for its own alerts."""
    _earlier: dict[_Build, deque[tuple[CountedSubject, Mapping[str, Profile]]]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=_EARLIER))
    )
    _sources: dict[_Build, str | None] = field(default_factory=dict)
    """What counted the calls of the newest subject."""
    _found: list[tuple[Occurrence, list[_Followed]]] = field(default_factory=list)

    def watched(self) -> History:
        """The history, whose subjects are seen here as they are taken from it."""

        def subjects() -> Iterator[CountedSubject]:
            for one in self.history.subjects:
                self._see(one)
                yield one

        return replace(self.history, subjects=subjects())

    def occurrences(self) -> Iterator[Occurrence]:
        """One change for each subject at which parts grew, once all subjects were seen."""
        for one, followed in self._found:
            series = [each.change for each in followed]
            over = over_by([each.over for each in followed])
            yield replace(
                one, change=one.change.model_copy(update={"series": series}), recovered=over
            )

    def _see(self, subject: CountedSubject) -> None:
        traced = _traced(subject.evidence)
        for _, followed in self._found:
            for one in followed:
                one.update(subject, traced)
        for build, profiles in traced.items():
            source = subject.evidence.source(Cell(*build, next(iter(profiles))), CALLS)
            if self._sources.setdefault(build, source) != source:  # other calls were counted
                self._earlier[build].clear()
                self._sources[build] = source
        self._judge(subject, traced)
        at = replace(subject, evidence=Evidence())  # the rest of its samples need not be kept
        for build, profiles in traced.items():
            self._earlier[build].append((at, profiles))

    def _judge(self, head: CountedSubject, traced: _Traced) -> None:
        pairs = [one for build, heads in traced.items() if (one := self._pair(head, build, heads))]
        large = [one for one in pairs if one.may_have_grown() and one.grown(one.parts())]
        if not large:
            return  # as in most nights: there is nothing to test, and no statistics to import
        changed = sure(
            {(one.build, part): p for one in pairs for part, p in one.p_values().items()}
        )
        grown = [
            _Grown(pair, part, launches) for pair in large
            for part in pair.grown({part for build, part in changed if build == pair.build})
            if (launches := pair.launches(part))
        ]  # fmt: skip
        if grown:
            followed = [
                self._followed(one.pair, one.part, launch, head)
                for one in grown for launch in one.launches
            ]  # fmt: skip
            followed.sort(key=lambda one: (-one.change.size, one.change.key))
            first = min((one.pair.base for one in grown), key=lambda one: one.number)
            change = Change(
                id=id_of(PART, head.at.commit), kind=PART, sentence="", last_good=first.at,
                first_bad=head.at, between=head.number - first.number - 1,
            )  # fmt: skip
            self._found.append((Occurrence(change, True, _statement(grown)), followed))

    def _pair(
        self, head: CountedSubject, build: _Build, heads: Mapping[str, Profile]
    ) -> _Pair | None:
        if not self._earlier[build]:
            return None
        *before, (base, bases) = self._earlier[build]
        launches = sorted(heads.keys() & bases.keys())
        if not launches or not all(
            self._calm(head, Cell(*build, one), bases[one], heads[one]) for one in launches
        ):
            return None
        alone = launches if len(launches) == 1 else []
        return _Pair(
            build, base,
            {one: bases[one] for one in launches}, {one: heads[one] for one in launches},
            [own[one] for _, own in before for one in alone if one in own],
            base.cpu == head.cpu
            and all(self._passes_calm(head, Cell(*build, o), bases[o], heads[o]) for o in launches),
        )  # fmt: skip

    def _calm(self, subject: CountedSubject, cell: Cell, base: Profile, head: Profile) -> bool:
        """Whether the work of a whole build changed neither for the worse nor for the better."""
        assert base.tree is not None
        assert head.tree is not None
        noise = self.floors.noise(self.history.machine, subject.cpu, cell, CALLS.name)
        source = self._sources[cell.model, cell.scenario, cell.backend]
        rule = rule_of(CALLS, cell.scenario, noise, source)
        return judged_values(rule, base.tree.calls, head.tree.calls) in CALM

    def _passes_calm(
        self, subject: CountedSubject, cell: Cell, base: Profile, head: Profile
    ) -> bool:
        before, after = (sum(pass_runs(one).values()) for one in (base, head))
        noise = self.floors.noise(self.history.machine, subject.cpu, cell, _RUNS.name)
        rule = rule_of(_RUNS, cell.scenario, noise, None)
        return min(before, after) > 0 and judged_values(rule, before, after) in CALM

    def _followed(
        self, pair: _Pair, part: PartChange, launch: str, head: CountedSubject
    ) -> _Followed:
        before, after = pair.counts(part, launch)
        machine, env_name, benchmark, metric = series_id(
            self.history.machine, self.history.env_name, str(pair.cell(launch)), metric_of(part)
        )
        change = SeriesChange(
            machine=machine, env_name=env_name, benchmark=benchmark, metric=metric,
            unit=_counted_by(part).unit, kind="near_exact",
            before=before, after=after, now=after,
            last_good=pair.base.at, first_bad=head.at, newest=head.at, holds=True,
        )  # fmt: skip
        return _Followed(pair.build, launch, (part.kind, part.name), change, head.cpu)


def metric_of(part: PartChange) -> str:
    """The name of the count of a part, as alerts have it in place of a metric."""
    words = {"function": _ENTRIES, "pass": _RUNS_OF}.get(part.kind, _CALLS_IN)
    return f"{words}{part.name}"


def is_of_part(metric: str) -> bool:
    """Whether a name is that of the count of a part."""
    return metric.startswith((_ENTRIES, _CALLS_IN, _RUNS_OF))


def _counted_by(part: PartChange) -> Metric:
    return _RUNS if part.kind == "pass" else CALLS


def _traced(evidence: Evidence) -> _Traced:
    """The first traced profile of each cell, by build and start method."""
    found: dict[_Build, dict[str, Profile]] = defaultdict(dict)
    for cell in sorted(evidence.cells):
        if SCENARIOS[cell.scenario].apart:
            continue  # many graphs, of which two subjects do not have the same ones
        for one in evidence.taken(cell, "tracing"):
            if one.status == "ok" and one.profile is not None and one.profile.tree is not None:
                found[cell.model, cell.scenario, cell.backend][cell.launch] = one.profile
                break
    return found


def _statement(grown: Iterable[_Grown]) -> Statement:
    """What grew, the largest growth first, with all cells where it did."""
    by_part: dict[Part, list[GrownPart]] = defaultdict(list)
    for one in grown:
        part, cells = one.part, tuple(map(one.pair.cell, one.launches))
        by_part[part.kind, part.name].append(GrownPart(part, one.pair.total(part), cells))
    largest = [
        replace(
            max(own, key=lambda one: one.part.calls),
            cells=tuple(cell for one in own for cell in one.cells),
        )
        for own in by_part.values()
    ]
    ordered = sorted(largest, key=lambda one: -one.part.calls / one.total)
    return Statement("parts grew", (ordered,))
