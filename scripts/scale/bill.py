"""The bill of a night at any scale: what was measured, as a row, and the arithmetic on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scripts.docs.rows import Row

DETECTOR, LIST = "detector", "list of files"
PAGES_SERIES, PAGES_VALUES = "pages by series", "pages by values"
STORE, BRANCH, CLIENT = "to a store", "to a branch", "client"
Points = Mapping[int, float]
"""CPU seconds by the size that they were measured at."""


@dataclass(frozen=True)
class Cost:
    """What RESULTS say of a subject, on average."""

    samples: float
    seconds: float
    """Of all its samples, one after the other."""
    series: float
    journal: float
    """Bytes, compressed as git and object stores keep them."""
    ledgers: float
    """New files with a ledger; most are shared with other subjects."""
    ledger: float
    """Bytes of one."""


class Planned(Row):
    """What was measured, and the scale that it is multiplied to."""

    projects: int
    series: int
    """Of each project."""
    commits: int
    """Of each project that have results already."""
    cost: Cost
    subjects: int
    """In RESULTS."""
    curves: dict[str, dict[int, float]]
    """By the names above: `Points`."""
    built: int
    """Series of each collection of `PAGES_VALUES`."""
    published: int
    """Samples of each publication of `STORE`."""
    requests: int
    """Of such a publication."""
    listed: float
    """Bytes of memory of a publisher for each file in a store."""


def power(points: Points) -> float:
    """The power of the size with which the seconds grow: a line through all logarithms."""
    return float(np.polyfit(np.log([*points]), np.log([*points.values()]), 1)[0])


def last_power(points: Points) -> float:
    """The same between the two largest sizes."""
    return power(dict(sorted(points.items())[-2:]))


def at(points: Points, size: float) -> float:
    """The seconds at a size: between two measured ones, or further along the last power."""
    largest = max(points)
    if size > largest:
        return points[largest] * (size / largest) ** last_power(points)
    sizes = sorted(points)
    logs = np.interp(math.log(size), np.log(sizes), np.log([points[one] for one in sizes]))
    return math.exp(float(logs))


@dataclass(frozen=True)
class Bill:
    """What one new commit of each project costs."""

    planned: Planned

    @property
    def share(self) -> float:
        """How many times a project has what a subject in RESULTS has."""
        return self.planned.series / self.planned.cost.series

    @property
    def samples(self) -> float:
        """Of all projects."""
        return self.planned.projects * self.planned.cost.samples * self.share

    @property
    def files(self) -> float:
        """New files of one project: a journal, and ledgers that no earlier commit has."""
        return 1 + self.planned.cost.ledgers * self.share

    @property
    def bytes(self) -> float:
        """Of these files."""
        cost = self.planned.cost
        return self.share * (cost.journal + cost.ledgers * cost.ledger)

    @property
    def client(self) -> float:
        """CPU seconds a sample, of a client with its scheduler and of a worker; the largest."""
        return max(self.planned.curves[CLIENT].values())

    @property
    def hours(self) -> float:
        """Of measuring on one CPU, one sample after the other."""
        return self.planned.projects * self.planned.cost.seconds * self.share / 3600

    @property
    def client_hours(self) -> float:
        """CPU hours of clients, schedulers and workers, besides the samples."""
        return self.samples * self.client / 3600

    @property
    def publish_hours(self) -> float:
        """CPU hours of publishing to stores, if none of them has files yet."""
        each = max(self.planned.curves[STORE].values()) / self.planned.published
        return self.samples * each / 3600

    @property
    def listed(self) -> float:
        """Files of one project after all commits."""
        return self.planned.commits * self.files

    @property
    def list_seconds(self) -> float:
        """CPU seconds of reading the list of these files."""
        return at(self.planned.curves[LIST], self.listed)

    @property
    def page_seconds(self) -> float:
        """CPU seconds of building the pages of one project again, after one new commit.

        Beyond the longest measured series they grow with the square, as the search for steps does.
        """
        points, commits = self.planned.curves[PAGES_VALUES], self.planned.commits
        once = at(points, min(commits, max(points))) * max(1, commits / max(points)) ** 2
        return once * self.planned.series / self.planned.built

    @property
    def detector_hours(self) -> float:
        """CPU hours of the detector, if it divides every series from its first value on."""
        return self._of_series(at(self.planned.curves[DETECTOR], self.planned.commits))

    @property
    def tail_hours(self) -> float:
        """The same for the last 300 values."""
        return self._of_series(self.planned.curves[DETECTOR][300])

    def _of_series(self, seconds: float) -> float:
        return self.planned.projects * self.planned.series * seconds / 3600

    def try_seconds(self, parts: int) -> float:
        """CPU seconds of one try to publish, if the night of a project has several parts."""
        each = self.publish_hours * 3600 / self.planned.projects / parts
        return each + self.list_seconds
