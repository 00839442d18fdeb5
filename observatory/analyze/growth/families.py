"""The families of a sample that grow, each with its curves; and the judged counts of each. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from observatory.analyze.growth.curve import Curve, Point
from observatory.benchmarks.catalogue import SCENARIOS
from observatory.store.records.sample import Build, Sample, Size

JUDGED = "python_calls"
"""The metric of work whose exponent and cliffs are judged: counts repeat, times do not."""
LIMITED = "cpu_time"
"""The metric of the limit at which a build is ended."""
COUNTED = "functions_compiled"
OF_SIZES = ("work_cliffs", "sizes_past_cliff", "work_exponent", "functions_added")
"""The judged counts of a family, which say something of all its sizes."""
SURE = 0.5
"""An exponent is judged if its interval reaches no further than this to either side."""
_DIGITS = 2


@dataclass(frozen=True)
class Family:
    """The sizes of one family in one sample."""

    name: str
    noun: str
    equal_layers: bool
    builds: tuple[Build, ...]
    """By size, the smallest first; also those that were ended or not begun."""

    def curve(self, metric: str) -> Curve:
        """The curve of a metric over the sizes that have it; CPU time also where it was ended."""
        points = [
            Point(one.size.number, float(one.metrics[metric]))
            for one in self.builds
            if one.size is not None and one.metrics.get(metric, 0) > 0
        ]
        measured = {point.size for point in points}  # one pass may be ended and another one not
        if metric == LIMITED and self.ended is not None and self.ended.number not in measured:
            points.append(Point(self.ended.number, self.ended.limit, at_least=True))
        return Curve(tuple(sorted(points)))

    @property
    def ended(self) -> Size | None:
        """The smallest size that took more than its limit; None if none did."""
        return next((o.size for o in self.builds if o.size and o.status == "limited"), None)

    @property
    def failed(self) -> tuple[Build, ...]:
        """The sizes that raised an exception or ended their process."""
        return tuple(one for one in self.builds if one.metrics.get("graphs_raised"))


def families(builds: Iterable[Build]) -> list[Family]:
    """The families of a sample, in the order of its builds."""
    found: dict[str, list[Build]] = {}
    for one in builds:
        if one.size is not None:
            found.setdefault(one.size.family, []).append(one)
    return [_family(name, own) for name, own in found.items()]


def by_subject(measured: Iterable[tuple[str, Sequence[Family]]]) -> dict[str, tuple[Family, ...]]:
    """The families of each subject, from all its cells, in the order of the subjects.

    ``measured``: labels of subjects, each with the families of one cell, all of one machine and
    Python: their numbers stand side by side. Of a family in several cells the first one counts.
    """
    found: dict[str, dict[str, Family]] = {}
    for label, of in measured:
        own = found.setdefault(label, {})
        for family in of:
            own.setdefault(family.name, family)
    return {label: tuple(own.values()) for label, own in found.items()}


def over_shared_sizes(
    bases: Sequence[Sample], heads: Sequence[Sample]
) -> tuple[Sequence[Sample], Sequence[Sample], tuple[Size, ...]]:
    """Leave out the sizes of a family that one side ended and the other one built.

    Returns the samples of both sides, with what is judged of a family made of the sizes that are
    left, and the smallest size of each family that HEAD ended and BASE built.
    """
    before, after = _ended(bases), _ended(heads)
    least = {
        name: min((of[name] for of in (before, after) if name in of), key=_number)
        for name in before.keys() | after.keys()
    }
    apart = {
        name: size for name, size in least.items()
        if _number(before.get(name)) != _number(after.get(name))
    }  # fmt: skip
    if not apart:
        return bases, heads, ()
    lost = tuple(apart[name] for name in sorted(apart) if apart[name] == after.get(name))
    sides = ([_up_to(sample, apart) for sample in side] for side in (bases, heads))
    return next(sides), next(sides), lost


def _number(size: Size | None) -> float:
    return math.inf if size is None else size.number


def _ended(samples: Iterable[Sample]) -> dict[str, Size]:
    """The smallest size of each family that one of the samples ended."""
    found: dict[str, Size] = {}
    for family in (one for sample in samples for one in families(sample.steps)):
        if family.ended is not None:
            known = found.setdefault(family.name, family.ended)
            found[family.name] = min(known, family.ended, key=_number)
    return found


def _up_to(sample: Sample, ends: Mapping[str, Size]) -> Sample:
    """A sample without the sizes of some families from an end on."""
    kept = [
        one for one in sample.steps
        if one.name not in ends
        and not (one.size and one.size.number >= _number(ends.get(one.size.family)))
    ]  # fmt: skip
    made = (_judged(one) for one in families(kept) if one.name in ends)
    return sample.model_copy(update={"steps": [*kept, *filter(None, made)]})


def _family(name: str, builds: Sequence[Build]) -> Family:
    sizes = [one.size for one in builds if one.size is not None]
    ordered = sorted(builds, key=lambda one: one.size.number if one.size else 0)
    return Family(name, sizes[0].noun, sizes[0].equal_layers, tuple(ordered))


def with_judged_counts(sample: Sample) -> Sample:
    """The sample with a build for each family, which has what is judged of the family.

    A sample without families is returned as it is.
    """
    own = SCENARIOS.get(sample.cell.scenario)
    if own is None or own.family != "growth" or sample.status != "ok":
        return sample
    derived = [made for one in families(sample.steps) if (made := _judged(one)) is not None]
    totals: dict[str, float] = {}
    for build in derived:
        for name, value in build.metrics.items():
            totals[name] = totals.get(name, 0) + value
    return sample.model_copy(
        update={"steps": [*sample.steps, *derived], "metrics": {**sample.metrics, **totals}}
    )


def _judged(family: Family) -> Build | None:
    metrics: dict[str, float] = {}
    notes = []
    work = family.curve(JUDGED)
    if work.points:
        metrics["work_cliffs"] = len(work.cliffs)
        first = work.cliffs[0].at if work.cliffs else math.inf
        metrics["sizes_past_cliff"] = sum(point.size >= first for point in work.points)
        notes += [
            f"from {one.below} to {one.at} {family.noun}, one more takes {one.each:.3g} times as "
            f"many calls as before"
            for one in work.cliffs
        ]
        found = work.exponent
        if found is not None and found.high - found.low <= 2 * SURE:
            metrics["work_exponent"] = round(max(0.0, found.estimate), _DIGITS)
            notes.append(f"exponent {found.estimate:.2f}")
    functions = [point.value for point in family.curve(COUNTED).points]
    if family.equal_layers and len(functions) > 1:
        # The second of two layers may be unlike the first, which nothing comes before.
        metrics["functions_added"] = max(functions[1:]) - functions[1]
        notes.append(f"{functions[1]:g} to {max(functions):g} functions")
    return Build(name=family.name, metrics=metrics, note="; ".join(notes)) if metrics else None
