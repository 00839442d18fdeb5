"""What profiles attribute and what pins do, as rows, and the tables of the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from observatory.benchmarks.catalogue import METRICS
from observatory.text.units import seconds
from scripts.docs.markdown import code, codes, table, wrapped
from scripts.docs.rows import Row, blocks, measured, read

ATTRIBUTION, PINS = "attribution", "pins"
NO_PIN = "none"
"""In place of a pin: all are in force."""
_FLOOR = METRICS["instructions"].material or 0.0
SCENARIOS = ("cold", "warm_disk", "warm_process")


class Attributed(Row):
    """The builds of one cell of a subject."""

    subject: str
    scenario: str
    backend: str
    launch: str
    builds: int
    least: float
    """The share of its time that phases have, of the build that has least."""
    most: float
    """Seconds that belong to no phase, of the build that has most."""
    largest: str
    """The phase that takes longest, as a median."""


def attribution(rows: Sequence[Attributed]) -> Iterator[str]:
    """Yield the blocks of which share of the builds has a phase."""
    newest = {(one.subject, one.backend, one.scenario): one for one in rows}
    subjects = sorted({one.subject for one in rows})

    def shares(subject: str, backend: str) -> str:
        found = [newest.get((subject, backend, scenario)) for scenario in SCENARIOS]
        return ", ".join(f"{100 * one.least:.1f}" if one else "-" for one in found) + " %"

    yield table(
        ("", *(f"{subject}: {codes(SCENARIOS)}" for subject in subjects)),
        ((backend, *(shares(subject, backend) for subject in subjects))
         for backend in sorted({one.backend for one in rows})),
    )  # fmt: skip
    most = max(one.most for one in newest.values())
    builds = sorted({one.builds for one in newest.values()})
    if builds == [1]:
        number = "The share is that of one build of each cell."
    else:
        number = "Each share is the lowest among the builds of its cell."
    yield wrapped(
        f"At most {seconds(most)} of these builds belong to no phase. {number} "
        f"{measured(newest.values())}"
    )


class Pinned(Row):
    """The counts of several samples with one pin lifted."""

    subject: str
    pin: str
    scenario: str
    backend: str
    counts: tuple[int, ...]

    @property
    def range(self) -> float:
        """How far the samples lie apart, as a share of their median."""
        return (max(self.counts) - min(self.counts)) / median(self.counts)


def pins(rows: Sequence[Pinned]) -> Iterator[str]:
    """Yield the blocks of what each pin does.

    Rows of the last one's subject count. A row is compared with the row of `NO_PIN` before it,
    which had the same filled cache. Raises KeyError if there is none.
    """
    rows = [one for one in rows if one.subject == rows[-1].subject]
    pinned: dict[tuple[str, str], Pinned] = {}
    shown: dict[str, dict[tuple[str, str], tuple[str, str]]] = {}
    for one in rows:
        cell = one.scenario, one.backend
        if one.pin == NO_PIN:
            pinned[cell] = one
        shift = median(one.counts) / median(pinned[cell].counts) - 1
        text = f"{100 * shift:+.3f} %"
        if abs(shift) > _FLOOR:
            text = f"**{text}**"
        shown.setdefault(one.pin, {})[cell] = text, f"{100 * one.range:.3f} %"
    yield table(
        ("lifted", *(text for cell in pinned for text in (code(" ".join(cell)), "range"))),
        ((pin, *(text for cell in pinned for text in own.get(cell, ("", ""))))
         for pin, own in shown.items()),
    )  # fmt: skip
    samples = sorted({len(one.counts) for one in rows})
    number = str(samples[0]) if len(samples) == 1 else f"{samples[0]} to {samples[-1]}"
    yield wrapped(
        f"PyTensor {rows[0].subject}, {number} samples of each cell with each pin lifted alone: by "
        "how much their median moved from that with all pins, and how far they lie apart. In bold: "
        f"what exceeds the floor of {100 * _FLOOR:g} %, below which a comparison reports nothing. "
        f"{measured(rows)}"
    )


def parts() -> dict[str, dict[str, str]]:
    """From the path of a page to its parts: from name to content, which is empty without rows."""
    return {
        "docs/sample.md": {"attribution": blocks(attribution, read(Attributed, ATTRIBUTION))},
        "docs/explanation/counts-repeat.md": {"pins": blocks(pins, read(Pinned, PINS))},
    }
