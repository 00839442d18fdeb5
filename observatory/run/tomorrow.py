"""Tomorrow's stack: a subject with the numba and llvmlite that are announced, and its checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.run.contracts import Numbas
from observatory.run.subjects import Subjects
from observatory.store.base.problems import RecordError
from observatory.store.journal.night import NightStep
from observatory.store.reading.saved import labelled


@dataclass(frozen=True)
class Tomorrow:
    """A subject as it is today, and with the pre-releases on the index."""

    today: str
    """Its label."""
    text: str
    """Names the subject with the pre-releases, as commands take it."""
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
    own = today.label if text.split()[0] == "newest" else " ".join([text, *extras])
    named = " ".join([own, *found.overrides])
    return Tomorrow(today.label, named, subjects.parse(named, python=today.python).label)


def steps_of(
    found: Tomorrow, results: Path, census_budget: str, options: Sequence[str], machine: str | None
) -> Iterator[NightStep]:
    """The checks in their order: the quickest first, and the judgement when all is measured.

    ``options``: Python and state, as every command takes them.
    """
    where = ["--results", str(results), *options]
    on = ["--machine", machine] if machine else []
    run = ["run", "--subject", found.text]
    yield NightStep(name="contracts", command=["contracts", found.text, *where])
    yield NightStep(name="canary", command=["canary", found.text, *where, *on])
    quick = [*run, "--preset", "quick", *where, *on]
    yield NightStep(name="measure", command=quick, resumable=True)
    census = [*run, "--preset", "census", "--budget", census_budget, *where, *on]
    yield NightStep(name="census", command=census, resumable=True)
    sides = [f"{results}:{found.today}", f"{results}:{found.label}"]
    missing = _not_saved(results, found.today)
    yield NightStep(name="compare", command=["compare", *sides], skipped=missing)


def _not_saved(results: Path, label: str) -> str | None:
    try:
        labelled(results, label, ledgers=False)
    except RecordError as error:
        return f"because {error}"
    return None
