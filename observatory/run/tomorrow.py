"""Tomorrow's stack: a subject with the numba and llvmlite that are announced, and its checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.run.contracts import Numbas
from observatory.run.incomplete import lacking
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.subjects import Subjects
from observatory.store.base.problems import RecordError
from observatory.store.journal.night import NightStep
from observatory.store.journal.reader import read_header, read_journal
from observatory.store.reading.saved import labelled
from observatory.store.records import layout

_QUICK = "quick"
"""The preset that is compared."""


@dataclass(frozen=True)
class Tomorrow:
    """A subject as it is today, and with the pre-releases on the index."""

    today: str
    """Its label."""
    now: str
    """Names the subject as it is today, as commands take it."""
    text: str
    """The same of the subject with the pre-releases."""
    label: str

    @property
    def announced(self) -> str:
        """The pre-releases, as they are required."""
        return self.label.removeprefix(self.today).strip()


def tomorrow_of(
    subjects: Subjects, text: str, extras: Sequence[str], python: str | None
) -> Tomorrow | None:
    """The subject with the newest pre-release of numba and its llvmlite.

    None if the index has none that is newer than the last release. Raises as `Subjects.parse`.
    """
    today = subjects.parse(text, extras, python)
    found = Numbas(subjects.index, today).newest_prerelease()
    if found is None:
        return None
    # All steps are of one release, also if another one appears meanwhile.
    now = today.label if text.split()[0] == "newest" else " ".join([text, *extras])
    named = " ".join([now, *found.overrides])
    return Tomorrow(today.label, now, named, subjects.parse(named, python=today.python).label)


def steps_of(
    found: Tomorrow, results: Path, census_budget: str, options: Sequence[str], machine: str | None
) -> Iterator[NightStep]:
    """The checks in their order: the quickest first, and the judgement when all is measured.

    What ``results`` lack of today is measured as well. ``options``: Python and state, as every
    command takes them.
    """
    where = ["--results", str(results), *options]
    on = ["--machine", machine] if machine else []
    quick = ["--preset", _QUICK, *where, *on]
    run = ["run", "--subject", found.text]
    yield NightStep(name="contracts", command=["contracts", found.text, *where])
    yield NightStep(name="canary", command=["canary", found.text, *where, *on])
    yield NightStep(name="measure", command=[*run, *quick], resumable=True)
    if new := _lacks(results, found.today):
        today = ["run", "--subject", found.now, *quick]
        yield NightStep(name="measure today", command=today, resumable=True)
    census = [*run, "--preset", "census", "--budget", census_budget, *where, *on]
    yield NightStep(name="census", command=census, resumable=True)
    sides = [f"{results}:{found.today}", f"{results}:{found.label}"]
    unfit = None if new else _unfit(results, found.today)
    yield NightStep(name="compare", command=["compare", *sides], skipped=unfit)


def _lacks(results: Path, label: str) -> bool:
    """Whether results have a subject on no machine as completely as it is compared."""
    for path in layout.journals(results):
        header = read_header(path)
        if header is not None and header.subject.label == label:
            samples = [one.sample for one in read_journal(path).entries]
            if not lacking(tasks_of(PRESETS[_QUICK], Narrowed()), samples):
                return False
    return True


def _unfit(results: Path, label: str) -> str | None:
    """Why what results have of a subject is no side of a comparison; None if it is one."""
    try:
        labelled(results, label, ledgers=False)
    except RecordError as error:
        return f"because {error}"
    return None
