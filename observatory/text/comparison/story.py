"""The whole text of a comparison, in reading order.

The status and one claim; the two sides; what changed, as a table; causes, with wrong results and
crashes first; times; what could not be judged; what got better; the changed workload; where to read
on and how to repeat it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from observatory.benchmarks.catalogue import METRICS
from observatory.store.records.comparison import Comparison, Side, Verdict
from observatory.text import document as doc
from observatory.text.comparison.breakdown import Breakdown, Labels
from observatory.text.comparison.cautions import cautions
from observatory.text.comparison.headline import headline, state_of, status_of
from observatory.text.comparison.names import Names
from observatory.text.comparison.origin import UNKNOWN, Origin, repeating
from observatory.text.comparison.overview import overview
from observatory.text.comparison.phrases import enumerated, name
from observatory.text.comparison.sections import (
    better,
    causes,
    remarks,
    slower,
    unexplained,
    workload,
)
from observatory.text.plain import shorten
from observatory.text.units import count, human, percent, seconds
from observatory.text.words import several

_LONGEST_COMMAND = 4000
_GUIDE = "how-to/read-a-comment.md"


def tell(comparison: Comparison, origin: Origin = UNKNOWN) -> doc.Story:
    """Everything about a comparison, for a renderer: GitHub or a terminal."""
    breakdown, labels = Breakdown(comparison), Labels.of(comparison)
    names = Names.of(comparison, origin)
    # What is wrong comes before what could not be judged: the overview counts both.
    parts = (
        *overview(breakdown, labels, names),
        *causes(breakdown, labels),
        *unexplained(breakdown, labels),
        *slower(breakdown, labels),
        *cautions(breakdown, labels),
        *remarks(breakdown, labels),
        *better(breakdown, labels),
        *workload(breakdown, labels),
        _how(breakdown),
        *_further(breakdown, labels, origin),
    )
    story = doc.Story(
        state_of(breakdown), status_of(breakdown, labels), headline(breakdown, labels), parts
    )
    return names.put_into(story, origin.source.docs if origin.source else "")


def _how(breakdown: Breakdown) -> doc.Part:
    measured = doc.Points(tuple(_circumstances(breakdown)))
    return doc.Part(9, "how it was measured", (doc.Folded("How it was measured", (measured,)),))


def _further(breakdown: Breakdown, labels: Labels, origin: Origin) -> Iterator[doc.Part]:
    """The command that repeats the comparison, and where to read on."""
    command = repeating(breakdown.comparison.reproduce, origin)
    if command:
        how = " from nothing" if origin.source else ""
        repeat = doc.Paragraph((f"To repeat this comparison{how}:",))
        blocks: tuple[doc.Block, ...] = (
            repeat, doc.Command(shorten(command, _LONGEST_COMMAND)),
            *_flame_graph(breakdown.comparison, labels),
        )  # fmt: skip
        yield doc.Part(2, "how to repeat it", blocks)
    links = [doc.Link("Dashboard", origin.dashboard)] if origin.dashboard else []
    if origin.source and breakdown.worse:
        links.append(doc.Link("Is this expected?", f"{_GUIDE}#is-this-expected"))
    if origin.source:
        links.append(doc.Link("How to read this", _GUIDE))
    if links:
        words = [piece for link in links for piece in (" · ", link)][1:]
        yield doc.Part(2, "where to read on", (doc.Paragraph(tuple(words)),))


def _flame_graph(comparison: Comparison, labels: Labels) -> Iterator[doc.Paragraph]:
    if comparison.profiled is not None:
        cell = labels.cell(comparison.profiled)
        yield doc.Paragraph(
            ("It also draws a flame graph of the work of ", cell, ": ",
             doc.Name("profile.html"), ", beside the samples.")
        )  # fmt: skip


def _circumstances(breakdown: Breakdown) -> Iterator[doc.Words]:
    comparison = breakdown.comparison
    how = "alternately, in one run" if comparison.interleaved else "in separate runs"
    processes = sorted(
        {n for v in comparison.verdicts if v.kind == "noisy" for n in (v.base.n, v.head.n)}
    )
    sentences = f"BASE and HEAD were measured {how}. "
    if processes:
        ends = " to ".join(dict.fromkeys((count(processes[0]), count(processes[-1]))))
        sentences += f"A time is the median of {ends} processes. "
    yield (f"{sentences}Counts are exact, and are compared without statistics",
           *_floors(comparison.verdicts), ".")  # fmt: skip
    took = f", in {seconds(comparison.seconds)}" if comparison.seconds > 0 else ""
    started = doc.Name(comparison.started_at.isoformat(timespec="minutes"))
    tool = name(comparison.observatory)
    yield ("Started at ", started, f"{took}, with observatory ", tool,
           f" and seed {count(comparison.seed)}.")  # fmt: skip
    for word, side in (("BASE", comparison.base), ("HEAD", comparison.head)):
        yield (f"{word}: ", *_side(side))


def _floors(verdicts: Iterable[Verdict]) -> doc.Words:
    """From which change on each near-exact metric is judged, and how its noise is known."""
    judged = defaultdict(list)
    for verdict in verdicts:
        if verdict.kind == "near_exact" and verdict.minimum_effect and not _of_all(verdict.metric):
            judged[verdict.metric].append(verdict)
    alike = defaultdict(list)
    for metric, own in sorted(judged.items()):
        alike[own[0].minimum_effect or 0.0, _noise(own), _finest(metric)].append(name(metric))
    found: doc.Words = ()
    for (floor, noise, finest), metrics in sorted(alike.items()):
        least = f" counts where it surely exceeds {percent(floor)}{noise}{finest}"
        found += ("; a change of ", *enumerated(metrics, 3, "metric"), least)
    for metric in sorted({one.metric for one in verdicts if _of_all(one.metric)}):
        known = METRICS[metric]
        by, finest = percent(known.least_ratio - 1), human(known.resolution, known.unit)
        rule = f" is worse where each value of HEAD is at least {by} above all of BASE, and values"
        found += ("; ", name(metric), f"{rule} below {finest} count as {finest}")
    return found


def _of_all(metric: str) -> bool:
    """Whether a change of a metric counts only where all values of a side have it."""
    return metric in METRICS and METRICS[metric].all_of > 1


def _finest(metric: str) -> str:
    """What small values of a metric count as; empty where every difference counts."""
    known = METRICS.get(metric)
    if known is None or not known.resolution:
        return ""
    finest = human(known.resolution, known.unit)
    return f", and values below {finest} count as {finest}"


def _noise(verdicts: Sequence[Verdict]) -> str:
    """The noise that a metric was judged with, and from how many samples it was learned."""
    known = [one.noise for one in verdicts if one.noise is not None]
    if not known:
        return ""  # older files do not say
    by = " to ".join(dict.fromkeys(map(percent, (min(known), max(known)))))
    samples = [one.learned_from for one in verdicts if one.learned_from]
    if not samples:
        return f" (noise {by}, the default)"
    cells = f" in {len(samples)} of {several(len(verdicts), 'cell')}"
    some = cells * (len(samples) < len(verdicts))
    return f" (noise {by}, learned{some} from {several(min(samples), 'sample')} or more)"


def _side(side: Side) -> doc.Words:
    numba = (", numba ", name(side.versions.numba)) if side.versions.numba else ()
    cpu = (" (", name(side.machine.cpu), ")") if side.machine.cpu else ()
    return (
        "pytensor ", name(side.versions.pytensor), *numba,
        ", Python ", name(side.versions.python), ", on ", name(side.machine.machine), *cpu,
    )  # fmt: skip
