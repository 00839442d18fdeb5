"""Where the wall time of a run went: measured spans against everything else.

    .venv/bin/python scripts/overhead.py RESULTS [--subject 3.3.7]

Speaks of the latest run of the subject. Counting samples run side by side, so that sums over them
exceed the wall time; timed samples run alone.
"""

from __future__ import annotations

import argparse
import time
from datetime import timedelta
from pathlib import Path

import benchmarks
from observatory.store.asv.files import project, write_benchmarks
from observatory.store.journal.reader import JournalContents, read_journal
from observatory.store.records import layout
from observatory.store.records.sample import Overhead, Sample

PARTS = ("prepare", "fill", "start", "imports", "build", "warm_up", "measured", "exit", "rest")


def latest_run(
    results: Path, subject: str | None, machine: str | None
) -> tuple[JournalContents, list[Sample]]:
    """The journal of the subject and machine (the first, if none is named) and its latest run."""
    for path in layout.journals(results):
        contents = read_journal(path)
        header = contents.header
        if header is None or subject not in (None, header.subject.label):
            continue
        if machine not in (None, header.machine.machine):
            continue
        run = max(entry.run for entry in contents.entries)
        return contents, [entry.sample for entry in contents.entries if entry.run == run]
    raise SystemExit(f"{results} holds no journal of {subject or 'any subject'}")


def report(title: str, samples: list[Sample]) -> None:
    """One line a part: seconds, and the share of the total."""
    overheads = [(s, s.overhead) for s in samples if s.overhead is not None]
    total = sum(overhead.total for _, overhead in overheads)
    begin = min(sample.started_at for sample, _ in overheads)
    end = max(s.started_at + timedelta(seconds=overhead.total) for s, overhead in overheads)
    wall = (end - begin).total_seconds()
    measured = sum(overhead.measured for _, overhead in overheads)
    print(
        f"{title}: {len(overheads)} samples, wall {wall:.1f} s, measured {measured:.1f} s: "
        f"wall is {wall / measured:.2f} times the measured spans"
    )
    for part in PARTS:
        seconds = sum(part_of(overhead, part) for _, overhead in overheads)
        print(f"  {part:9} {seconds:7.1f} s  {seconds / total:6.1%} of the samples' own time")


def part_of(overhead: Overhead, part: str) -> float:
    """One part, in seconds."""
    return float(getattr(overhead, part))


def main() -> int:
    """Read and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--subject")
    parser.add_argument("--machine")
    options = parser.parse_args()
    contents, samples = latest_run(options.results, options.subject, options.machine)
    report("all", samples)
    for measure in ("counting", "timing"):
        report(measure, [sample for sample in samples if sample.measure == measure])
    begin = time.perf_counter()
    project(options.results, contents)
    write_benchmarks(options.results, Path(benchmarks.__file__).parent)
    print(f"asv files made from the journal: {time.perf_counter() - begin:.1f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
