"""Where the code of the measured project is: its addresses, and the commits in a local clone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from observatory.analyze.history.suspects import SuspectedRange, culprits_of, ranked
from observatory.run.commits import commits_between, definitions
from observatory.run.git import Git
from observatory.store.asv import config
from observatory.store.base.problems import RecordError
from observatory.store.records.alerts import Alert, Alerts
from observatory.text.alerts import with_page
from observatory.text.forge import Forge, forge_of, ref_of


@dataclass(frozen=True)
class Source:
    """Where the code of the measured project is: addresses, and a local clone."""

    asv_config: Path | None = None
    """An asv.conf.json; by default the one beside the results."""
    clone: Path | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Those that are given rather than found: `commit`, `compare`, `triage`, and the `name`."""

    def forge(self, results: Path) -> Forge:
        """The project's name and addresses. Raises RecordError if a given file is broken."""
        path = self.asv_config or config.beside(results)
        try:
            found = config.AsvConfig() if path is None else config.load(path)
        except RecordError:
            if self.asv_config is not None:
                raise
            found = config.AsvConfig()  # nobody asked for it
        return forge_of(found, self.addresses)

    def ranges(self, alerts: Alerts) -> dict[str, SuspectedRange]:
        """By alert the commits of its range, ranked; or why there are none."""
        if self.clone is None:
            absent = SuspectedRange(absent="no clone was given; build the pages with `observatory "
                                           "dashboard --repo CLONE`")  # fmt: skip
            return {one.id: absent for one in with_page(alerts) if one.last_good}
        git = Git(self.clone)
        return {one.id: _suspected(git, one) for one in with_page(alerts) if one.last_good}


def _suspected(git: Git, alert: Alert) -> SuspectedRange:
    good, bad = (ref_of(at.label, at.commit) for at in (alert.last_good, alert.first_bad) if at)
    if not good or not bad:
        return SuspectedRange(absent="one of the two subjects is no commit and no release")
    found = commits_between(git, good, bad)
    if found.absent:
        return SuspectedRange(absent=found.absent)
    known = definitions(git, bad, culprits_of(alert))
    return SuspectedRange(tuple(ranked(alert, found.commits, known)))
