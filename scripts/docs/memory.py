"""What builds need of memory, as the tables of docs/sample.md: from the committed samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from packaging.version import InvalidVersion, Version

from observatory.analyze.profiles.samples import raised
from observatory.benchmarks.catalogue import Cell
from observatory.store.journal.reader import read_header, read_journal
from observatory.store.records.layout import journals
from observatory.store.records.sample import Sample
from observatory.text.units import percent, size
from observatory.text.words import listed
from scripts.docs.markdown import code, table, wrapped

RESULTS = Path(__file__).parents[2] / "results"
BACKENDS, SCENARIOS = ("NUMBA", "C", "C_VM"), ("cold", "warm_disk", "warm_process")
_METRICS = ("retained_bytes", "bytes_per_node")
_BEFORE = "before the build"
_LEAST = 1_000_000
"""Bytes that a phase must add to be named: the allocator decides about less."""


def memory_tables(results: Path = RESULTS) -> dict[str, str]:
    """The parts of the page on samples, by name; empty without a release that counted it.

    The newest release counts of which each cell has samples, of one machine and one Python.
    """
    for label, path in _releases(results):
        entries = (one.sample for one in read_journal(path).current())
        samples = [one for one in entries if one.status == "ok" and _counts(one)]
        by_cell = {cell: [one for one in samples if one.cell == cell] for cell in _cells()}
        if all(by_cell.values()):
            return {
                "peaks": "\n\n".join(_peaks(label, samples)),
                "retained": "\n\n".join(_retained(label, by_cell)),
            }
    return {"peaks": "", "retained": ""}


def _cells() -> list[Cell]:
    return [Cell("radon", s, b, "spawn") for b in BACKENDS for s in SCENARIOS]


def _counts(sample: Sample) -> bool:
    return sample.measure == "counting" and all(name in sample.metrics for name in _METRICS)


def _releases(results: Path) -> Iterator[tuple[str, Path]]:
    """The journals of releases that nothing was added to, the newest release first."""
    found = []
    for path in journals(results):
        header = read_header(path)
        if header is not None and not header.subject.extras:
            try:
                found.append((Version(header.subject.label), path))
            except InvalidVersion:
                continue  # a commit
    for version, path in sorted(found, reverse=True):
        yield str(version), path


def _peaks(label: str, samples: Sequence[Sample]) -> Iterator[str]:
    by_cell = raised(samples)
    lines = []
    for cell in _cells():
        phases = {
            name: median(one.taken.get(name, 0.0) for one in by_cell[cell])
            for name in dict.fromkeys(name for one in by_cell[cell] for name in one.taken)
        }
        before = phases.pop(_BEFORE)
        large = sorted((n for n in phases if phases[n] >= _LEAST), key=phases.__getitem__)
        parts = ", ".join(f"{name} {phases[name] / 1e6:.0f}" for name in reversed(large))
        total = sum(phases.values())
        added = f"{total / 1e6:.0f}: {parts}" if parts else "nothing"
        lines.append((f"{cell.backend} {code(cell.scenario)}", f"{before / 1e6:.0f} MB", added))
    yield table((f"{label}, radon", _BEFORE, "added by the build, in MB"), lines)


def _retained(label: str, by_cell: dict[Cell, list[Sample]]) -> Iterator[str]:
    header = [f"{label}, radon", "samples"]
    header += [word for name in _METRICS for word in (code(name), "range")]
    lines = []
    for cell, samples in by_cell.items():
        line = [f"{cell.backend} {code(cell.scenario)}", str(len(samples))]
        for name in _METRICS:
            values = [one.metrics[name] for one in samples]
            middle = median(values)
            line += [size(middle), percent((max(values) - min(values)) / middle)]
        lines.append(line)
    yield table(header, lines)
    every = sorted((one for each in by_cell.values() for one in each), key=lambda s: s.started_at)
    days = dict.fromkeys(f"{one.started_at:%-d %B %Y}" for one in every)
    cpus = dict.fromkeys(str(one.environment.get("cpu")) for one in every)
    yield wrapped(
        f"Medians of the committed samples with spawn, taken on {listed([*days])} "
        f"({listed([*cpus])})."
    )
