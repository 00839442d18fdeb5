"""Noisy series that moved together are one change. Pure.

The cause of a time is unknown, but building, calling, importing and memory are separate, because
they have different causes. A step is located to within a subject or two: steps of one family and
direction that may be at the same subject are one change.
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
        """The same change under the id that it had before."""
        return replace(self, change=self.change.model_copy(update={"id": id_}))


def over_with(recovered: Sequence[At | None]) -> At | None:
    """The subject by which all are over; None as long as one is not, or if there is none."""
    done = [at for at in recovered if at is not None]
    return max(done, key=lambda at: at.date) if done and len(done) == len(recovered) else None


def id_of(*words: str) -> str:
    """A short id that depends only on these words."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:10]


def gathered(moved: Iterable[LevelChange]) -> Iterator[Occurrence]:
    """The changes of the series in ``moved``, those at one subject together."""
    for kind, cluster in _clusters(moved):
        yield _occurrence(kind, cluster)


def _clusters(moved: Iterable[LevelChange]) -> Iterator[tuple[str, list[LevelChange]]]:
    """Series of one family and direction that may have moved at the same subject.

    A drift begins at no subject: all drifts of one machine and environment are one cluster.
    """
    groups: dict[tuple[str, ...], list[LevelChange]] = defaultdict(list)
    for one in moved:
        kind = _TRENDS.get(one.change.metric, ("higher", "lower"))[0 if one.worse else 1]
        if one.drifting:
            groups[f"{DRIFT}: {kind}", one.change.machine, one.change.env_name].append(one)
        else:
            groups[kind,].append(one)
    for (kind, *_), members in groups.items():
        members.sort(key=lambda m: (m.change.first_bad.date, m.change.key))
        cluster: list[LevelChange] = []
        for one in members:
            if cluster and not one.drifting and one.within[0] >= cluster[0].within[1]:
                yield kind, cluster
                cluster = []
            cluster.append(one)
        yield kind, cluster


def _occurrence(kind: str, cluster: Sequence[LevelChange]) -> Occurrence:
    """The change of a cluster: it begins where most of its series do."""
    commit, _ = Counter(one.change.first_bad.commit for one in cluster).most_common(1)[0]
    first = next(one for one in cluster if one.change.first_bad.commit == commit)
    where = (first.change.machine, first.change.env_name) if first.drifting else (commit,)
    changes = sorted((one.change for one in cluster), key=lambda s: (-_size(s), s.key))
    change = Change(
        id=id_of(kind, *where), kind=kind, sentence="",
        last_good=first.change.last_good, first_bad=first.change.first_bad,
        between=0 if first.drifting else first.between,
        series=changes[:_MOST_SERIES],
    )  # fmt: skip
    values = tuple(changes), kind.removeprefix(f"{DRIFT}: "), first.drifting
    recovered = over_with([one.recovered for one in cluster])
    return Occurrence(change, first.worse, Statement("level changed", values), recovered)


def _size(change: SeriesChange) -> float:
    """How far a level moved, the same both ways."""
    low, high = sorted((change.before, change.after))
    return high / low - 1 if low > 0 else float("inf")
