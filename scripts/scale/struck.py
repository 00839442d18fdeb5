"""The commands that `fleet_kills` strikes: what they take, and what must be in their journals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from observatory.benchmarks.catalogue import METRICS
from observatory.run.interleave import SIDES
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from observatory.store.records.sample import Sample

_CELLS = ("--backend", "C", "--launch", "spawn")
_BUILDS = tuple(f"--scenario={one}" for one in ("cold", "warm_disk", "warm_process", "call"))


@dataclass(frozen=True)
class Kind:
    """A command that takes samples below a directory."""

    name: str
    subject: str

    @property
    def paired(self) -> bool:
        """Whether its times are taken in pairs, by a comparison of the subject with itself."""
        return self.name == "compare"

    def command(self, where: Path, number: int) -> list[str]:
        """The first try or a later one."""
        results = ("--results", str(where / "results"))
        if self.paired:
            chosen = (*_CELLS, "--scenario", "warm_disk", "--pass", "timing", "--budget", "2m")
            samples = ("--samples", str(where / str(number)))
            return ["compare", self.subject, self.subject, *chosen, *samples, *results]
        chosen = ("--quick", *_CELLS, *_BUILDS, "--pass=counting", "--pass=timing")
        resumed = ["--resume"] * (number > 0)
        return ["run", "--subject", self.subject, *chosen, *results, *resumed]

    def is_over(self, where: Path, number: int, status: int) -> bool:
        """Whether it has ended well; a comparison may call a time worse on a busy machine."""
        return (where / str(number) / "comparison.json").exists() if self.paired else status == 0

    def recorded(self, where: Path) -> list[list[list[Sample]]]:
        """What its tries recorded, each by side; all tries of a run record the same run."""
        if not self.paired:
            return [[_recorded(where / "results")]]
        tries = sorted(one for one in where.iterdir() if one.name.isdigit())
        return [[_recorded(one / side) for side in SIDES] for one in tries]

    def counts(self, side: Sequence[Sample]) -> Counter[str]:
        """The samples of a side that are not in pairs, each with its status and exact counts."""
        return Counter(
            f"{one.cell} {one.measure} {one.status} "
            f"{[(n, v) for n, v in sorted(one.metrics.items()) if METRICS[n].kind == 'exact']}"
            for one in side
            if not self.paired or one.measure != "timing"
        )


def _recorded(results: Path) -> list[Sample]:
    found = []
    for path in layout.journals(results):
        journal = read_journal(path)
        assert not journal.problems, journal.problems
        found += [one.sample for one in journal.entries]
    return found


def separated(sides: Sequence[Sequence[Sample]]) -> tuple[int, timedelta]:
    """How many times have not the one of the other side beside them; the longest gap in a pair."""
    times = sorted(
        ((one.started_at, side, one) for side in (0, 1) for one in sides[side]
         if one.measure == "timing"),
        key=lambda one: one[0], reverse=True,
    )  # fmt: skip
    alone, longest = 0, timedelta()
    while times:
        begun, side, first = times.pop()
        if not times or times[-1][1] == side or times[-1][2].cell != first.cell:
            alone += 1
            continue
        assert first.overhead is not None
        ended = begun + timedelta(seconds=first.overhead.total)
        longest = max(longest, times.pop()[0] - ended)
    return alone, longest


@dataclass(frozen=True)
class Found:
    """What a struck command left."""

    lost: int
    doubled: int
    split: int
    gap: timedelta
    recorded: int


def found_in(kind: Kind, where: Path, wanted: Sequence[Counter[str]]) -> Found:
    """Compare what is recorded with what the command records if nothing strikes it."""
    tries = kind.recorded(where)
    counts = [[kind.counts(side) for side in sides] for sides in tries]
    pairs = [separated(sides) for sides in tries if kind.paired] or [(0, timedelta())]
    lost = [(right - own).total() for own, right in zip(counts[-1], wanted, strict=True)]
    doubled = [
        (own - right).total() for one in counts for own, right in zip(one, wanted, strict=True)
    ]
    return Found(
        sum(lost), sum(doubled), sum(alone for alone, _ in pairs), max(gap for _, gap in pairs),
        sum(len(side) for sides in tries for side in sides),
    )  # fmt: skip
