"""What became of caches under faults, as a table and as sentences. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from observatory.analyze.history.faults import Moved
from observatory.store.records.torture import CONTROL, Fault, Torture, Verdict
from observatory.text.plain import clean, shorten
from observatory.text.tables import Table
from observatory.text.words import first_of, listed, several

GROUPS = {
    "files": "Files of one entry",
    "foreign": "Entries of others",
    "disk": "Disks",
    "processes": "Processes at once",
    "clock": "Clocks",
    "place": "The directory",
    "commands": "The command pytensor-cache",
    "kept": "With the flag nocleanup",
    "control": "Control",
}
CACHES = {"numba": "numba's cache", "c": "the C cache"}
_OTHERS = {"python": "Python", "numba": "numba", "pytensor": "PyTensor"}
_NAMED = 4
_LEFT = 25
MEANINGS: dict[Verdict, str] = {
    "safe": "nothing differs from a build without the fault",
    "recompiles": "the values are right, but something is compiled again",
    "slower": "the values are right, but it takes more work than usual",
    "raises": "the user sees an exception",
    "hangs": "the process did not end in time",
    "dies": "a signal ended the process",
    "WRONG": "the user gets a wrong number and no error",
}


def brief(one: Fault) -> str:
    """A verdict in a few words: the process's own, then the next ones' where they differ.

    >>> from observatory.store.records.torture import Fault
    >>> brief(Fault(name="x", cache="c", group="files", what="", certain=True, verdict="raises",
    ...             after="safe", outcomes=[], skipped="", seconds=0))
    'raises once'
    """
    if one.verdict is None or one.after is None:
        return "-"
    return _brief(one.verdict, one.after)


def _brief(verdict: str, after: str) -> str:
    if verdict == after:
        return verdict if verdict == "safe" else f"{verdict} every time"
    return f"{verdict} once" if after == "safe" else f"{verdict}, then {after}"


def torture_table(records: Sequence[Torture]) -> Table:
    """A row for each fault, a column for each subject; the footnotes quote what is worst."""
    rows: dict[tuple[str, str], dict[int, Fault]] = {}
    for place, record in enumerate(records):
        for one in record.faults:
            rows.setdefault(one.key, {})[place] = one
    labels = [shorten(one.tried.subject.label, 40) if one.tried else "?" for one in records]
    texts = tuple(
        (CACHES.get(cache, clean(cache)), clean(name),
         *(brief(own[at]) if at in own else "" for at in range(len(records))))
        for (cache, name), own in rows.items()
    )  # fmt: skip
    notes = [note for record in records for note in _notes(record)]
    return Table("PyTensor's caches under faults", ("cache", "fault", *labels), texts, tuple(notes))


def _notes(record: Torture) -> list[str]:
    label = shorten(record.tried.subject.label, 40) if record.tried else "?"
    told = [*sentences(record), *left_sentences(record), *map(_untried, _skipped(record))]
    return [f"{label}: {text}" for text in told]


def _skipped(record: Torture) -> list[Fault]:
    return [one for one in record.faults if one.verdict is None]


def _untried(one: Fault) -> str:
    return (
        f"{clean(one.name)} of {CACHES.get(one.cache, one.cache)} not tried: {clean(one.skipped)}"
    )


def sentences(record: Torture) -> list[str]:
    """What raises, hangs, dies or is wrong, one sentence for each fault; the worst first."""
    found = sorted(
        record.of("raises", "hangs", "dies", "WRONG"), key=lambda one: one.rank, reverse=True
    )
    return [fault_sentence(one) for one in found]


def fault_sentence(one: Fault) -> str:
    """What became of one fault, with the first words of what was seen."""
    worst = one.outcomes[0] if one.outcomes else None
    detail = f": {shorten(worst.detail, 160)}" if worst and worst.detail else ""
    count = f" in {worst.cases} of {several(one.cases, 'step')}" if worst and one.cases > 1 else ""
    cache = CACHES.get(one.cache, clean(one.cache))
    return f"{brief(one)}{count} where {clean(one.what)} ({cache}, {clean(one.name)}){detail}"


def left_sentences(record: Torture) -> list[str]:
    """After which faults files stay in a cache for ever, the most first; one for each cache."""
    told = []
    for cache, name in CACHES.items():
        found = [
            one for one in record.faults
            if one.cache == cache and one.left > 0 and one.group != CONTROL
        ]  # fmt: skip
        faults = [
            f"{clean(one.name)} ({one.left:,})"
            for one in sorted(found, key=lambda one: one.left, reverse=True)
        ]
        if faults:
            told.append(
                f"after {several(len(faults), 'fault')}, files or directories stay in {name} that "
                f"no later process deletes: {', '.join(faults[:_LEFT])}"
            )
    return told


def moved_sentence(one: Moved) -> str:
    """What becomes of a fault, and what became of it before."""
    cache = CACHES.get(one.after.cache, clean(one.after.cache))
    return f"{clean(one.after.name)} of {cache}: {brief(one.after)} (before: {brief(one.before)})"


def got_worse_sentence(
    label: str, told: Sequence[tuple[str, str, str, str, str, str]], base: str
) -> str:
    """What a release withstands worse than the one before it.

    ``told``: for each fault its cache, what is done, and its verdicts, then those of the one
    before.
    """
    parts = [
        f"{CACHES.get(cache, cache)} {_brief(now, then)} where {what} (before: {_brief(*was)})"
        for cache, what, now, then, *was in told
    ]
    return (
        f"{label} copes worse than {base} with {several(len(told), 'fault')}: "
        f"{first_of(parts, _NAMED, between='; ')}"
    )


def left_over(record: Torture) -> str:
    """What the time did not suffice for."""
    done = len(record.faults)
    return (
        f"the budget ended after {several(done, 'fault')}; run the same command again to try the "
        f"{record.left} that are left"
    )


def others_sentence(record: Torture) -> str:
    """Who filled the caches of others; empty if nobody did."""
    if record.tried is None or not record.tried.others:
        return ""
    told = [f"{_OTHERS.get(name, clean(name))} {clean(version)}"
            for name, version in record.tried.others.items()]  # fmt: skip
    return f"The other versions in of_python, of_numba and of_pytensor are {listed(told)}."


def counted(record: Torture) -> str:
    """How many faults came out how, and what it took."""
    counts: dict[str, int] = {}
    for one in record.faults:
        if one.group != "control":
            counts[one.verdict or "not tried"] = counts.get(one.verdict or "not tried", 0) + 1
    order = [*reversed(MEANINGS), "not tried"]
    parts = [f"{counts[word]} {word}" for word in order if word in counts]
    steps = sum(one.cases for one in record.faults)
    return (
        f"{several(len(record.faults), 'fault')} in {several(steps, 'step')}: {', '.join(parts)} "
        f"({record.minutes:.0f} min, added up over both caches)"
    )
