"""What moved together is one change, with one reason: noisy series gathered. Pure.

The reason of a time is not known, but building, calling, importing and memory are told apart: they
have different causes. A step is placed within a subject or two; steps of one family and direction
whose places may be one are one change.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.catalogue import METRICS
from observatory.analyze.history.level_changes import LevelChange
from observatory.analyze.statements import Statement
from observatory.store.records.alerts import At, Change, SeriesChange

DRIFT = "slow drift"
_MOST_SERIES = 500
_TRENDS = {
    **{name: one.trend for name, one in METRICS.items() if one.trend is not None},
    **dict.fromkeys(("time", "timeraw"), ("slower", "faster")),
    **dict.fromkeys(("memory", "peakmemory"), ("more memory", "less memory")),
}
"""The words for worse and better by metric, or by asv's type of a benchmark."""


@dataclass(frozen=True)
class Occurrence:
    """A change that was found. The sentence of its record is empty: ``statement`` has its values.

    ``recovered``: the subject by which it was over, if it is.
    """

    change: Change
    worse: bool
    statement: Statement
    recovered: At | None = None

    def renamed(self, id_: str) -> Occurrence:
        """The same under the id that it was known by before."""
        return replace(self, change=self.change.model_copy(update={"id": id_}))


def over_with(recovered: Sequence[At | None]) -> At | None:
    """By which subject all are over; None as long as one is not, or if there is none."""
    done = [at for at in recovered if at is not None]
    return max(done, key=lambda at: at.date) if done and len(done) == len(recovered) else None


def id_of(*words: str) -> str:
    """A short id that depends on these words alone."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:10]


def gathered(moved: Iterable[LevelChange]) -> Iterator[Occurrence]:
    """The changes that the moves of series make."""
    for kind, cluster in _clusters(moved):
        yield _occurrence(kind, cluster)


def _clusters(moved: Iterable[LevelChange]) -> Iterator[tuple[str, list[LevelChange]]]:
    """What moved in one family and direction, and may have moved at the subject of the first.

    A drift is of no subject: those of one machine and environment are one.
    """
    groups: dict[tuple[str, ...], list[LevelChange]] = defaultdict(list)
    for one in moved:
        kind = _TRENDS.get(one.told.metric, ("higher", "lower"))[0 if one.worse else 1]
        if one.drifting:
            groups[f"{DRIFT}: {kind}", one.told.machine, one.told.env_name].append(one)
        else:
            groups[kind,].append(one)
    for (kind, *_), members in groups.items():
        members.sort(key=lambda m: (m.told.first_bad.date, m.told.key))
        cluster: list[LevelChange] = []
        for one in members:
            if cluster and not one.drifting and one.within[0] >= cluster[0].within[1]:
                yield kind, cluster
                cluster = []
            cluster.append(one)
        yield kind, cluster


def _occurrence(kind: str, cluster: Sequence[LevelChange]) -> Occurrence:
    """It begins where most of its series do; a drift begins nowhere."""
    commit, _ = Counter(one.told.first_bad.commit for one in cluster).most_common(1)[0]
    first = next(one for one in cluster if one.told.first_bad.commit == commit)
    where = (first.told.machine, first.told.env_name) if first.drifting else (commit,)
    told = sorted((one.told for one in cluster), key=lambda s: (-_size(s), s.key))
    change = Change(
        id=id_of(kind, *where), kind=kind, sentence="",
        last_good=first.told.last_good, first_bad=first.told.first_bad,
        between=0 if first.drifting else first.between,
        series=told[:_MOST_SERIES],
    )  # fmt: skip
    values = tuple(told), kind.removeprefix(f"{DRIFT}: "), first.drifting
    recovered = over_with([one.recovered for one in cluster])
    return Occurrence(change, first.worse, Statement("level changed", values), recovered)


def _size(told: SeriesChange) -> float:
    """How far a level moved, the same both ways."""
    low, high = sorted((told.before, told.after))
    return high / low - 1 if low > 0 else float("inf")
