"""Cache passports: what this machine's environment is, and what was measured of its caches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from observatory.app.caches import inspected
from observatory.benchmarks.catalogue import SCENARIOS, SYMBOLS, WARM_SCENARIOS
from observatory.guard.caches.judging import NoEntriesError
from observatory.guard.passports import (
    KINDS,
    Fact,
    Known,
    Ruling,
    Use,
    fact_of,
    rule,
    worst_of,
)
from observatory.run.readers import ReaderError, ask, compiler, settings
from observatory.run.upgrade import cells_of
from observatory.store.base.problems import RecordError, RecordUsageError
from observatory.store.base.strict_json import read_json
from observatory.store.reading.saved import Saved, read_saved
from observatory.store.records import layout, upgrades
from observatory.store.records import passport as record
from observatory.store.records.passport import Passport
from observatory.store.records.sample import Sample
from observatory.store.records.upgrades import Part


def passport_of(python: str) -> Passport:
    """Return the passport of the environment of a Python, under this process's variables.

    Raises ReaderError if it cannot be asked, or has no PyTensor.
    """
    reader = ask(python)
    if not reader.pytensor:
        raise ReaderError(f"{python} has no PyTensor: name the Python that has it with --python")
    set_here = settings()
    return Passport(
        pytensor=reader.pytensor, numba=reader.numba, python=reader.python, machine=reader.machine,
        numpy_abi=reader.numpy_abi, compiler=compiler(set_here), settings=set_here,
    )  # fmt: skip


def judged(directory: Path, here: Passport, python: str, known: Known) -> Ruling:
    """Say whether the environment of a Python may use a cache, which may be empty or missing.

    Raises ReaderError and RecordError.
    """
    if directory.is_file():
        raise RecordUsageError(f"{directory} is a file: name the directory of a cache")
    used_by = record.load(directory)
    try:
        return rule(here, used_by, inspected(directory, [python]), known)
    except NoEntriesError:
        if any(not _is_of_empty(path) for path in directory.rglob("*")):
            return Ruling("unknown", ("nothing in it is known to be a cache",))
        return Ruling("safe", ("it is empty",))


def _is_of_empty(path: Path) -> bool:
    """Whether a cache may hold this and be empty: PyTensor makes a directory when imported."""
    if path.is_dir():
        return path.name.startswith("compiledir_")
    return path.name in (record.NAME, "__init__.py")


def shipped() -> Known:
    """Return what the observatory itself has measured of releases."""
    text = files("observatory.guard").joinpath("measured.json").read_text(encoding="utf-8")
    return read_json(Known, text)


def known_of(results: Path) -> Known:
    """Return what the samples and upgrades of a results directory show. Raises RecordError."""
    facts = [*_of_upgrades(results)]
    for journal in layout.journals(results):
        saved = read_saved(journal, ledgers=False)
        if saved is not None and not saved.header.subject.extras:
            facts += _of_samples(saved)
    return Known(facts=sorted(worst_of(facts), key=lambda fact: fact.model_dump_json()))


def _of_upgrades(results: Path) -> Iterator[Fact]:
    for one in upgrades.load_all(results):
        if isinstance(one, RecordError):
            raise one
        found = [*one.parts, *_not_measured(one.parts)]
        yield from filter(None, (fact_of(one, part) for part in found))


def _not_measured(parts: Sequence[Part]) -> Iterator[Part]:
    """A failed part for each model that was left out: nobody knows what it would show."""
    for backend in dict.fromkeys(one.backend for one in parts):
        measured = {one.model for one in parts if one.backend == backend}
        every = {cell.model for cell in cells_of(None, [backend])}
        for model in sorted(every - measured):
            yield Part(model=model, backend=backend, failure="it was not measured")


def _of_samples(saved: Saved) -> Iterator[Fact]:
    """What siblings, warm builds and pairs of graphs show of a release on its own cache."""
    versions = saved.header.versions
    for kind in dict.fromkeys(KINDS.values()):
        own = [one for one in saved.samples if KINDS.get(one.cell.backend) == kind]
        use, names = _own_use(own)
        if use == "unknown":
            continue
        numba = (versions.numba or "") if kind == "numba" else ""
        yield Fact(
            kind=kind, base=versions.pytensor, head=versions.pytensor, numba=numba, use=use,
            names=names,
        )  # fmt: skip


def _own_use(samples: Sequence[Sample]) -> tuple[Use, list[str]]:
    """What may happen to a release on its own cache, and to which graphs."""
    shared = [one for one in samples if SCENARIOS[one.cell.scenario].family == "siblings"]
    warm = [one for one in samples if one.cell.scenario in WARM_SCENARIOS]
    paired = [one for one in samples if SCENARIOS[one.cell.scenario].of_pair == "second"]
    hurt = {*_wrong(shared), *({*_wrong(warm)} - {*_wrong_from_empty(samples)})}
    if hurt or any(one.metrics.get(name) for one in shared for name in SYMBOLS):
        return "wrong", sorted(hurt)
    if confused := sorted({*_wrong(paired)}):
        return "collides", confused
    decisive = (shared, warm, paired)
    whole = all(one.status in ("ok", "unavailable") for own in decisive for one in own)
    measured = all(any(one.status == "ok" for one in own) for own in decisive)
    return ("safe" if whole and measured else "unknown"), []


def _wrong(samples: Iterable[Sample]) -> Iterator[str]:
    for one in samples:
        yield from (f"{one.cell.model}: {check.name}" for check in one.checks if check.wrong)


def _wrong_from_empty(samples: Iterable[Sample]) -> Iterator[str]:
    """What is wrong whatever the cache holds."""
    empty = (one for one in samples if not SCENARIOS[one.cell.scenario].filled_by)
    return _wrong(one for one in empty if SCENARIOS[one.cell.scenario].family != "siblings")
