"""The whole text of a comparison, in reading order.

The verdict; the two sides; what could not be judged; causes, with wrong results and crashes first;
times; what got better; the changed workload; how to repeat it.
"""

from __future__ import annotations

from collections.abc import Iterator

from observatory.store.records.comparison import Comparison, Side
from observatory.text.comparison.breakdown import Breakdown
from observatory.text.comparison.causes import causes, unexplained
from observatory.text.comparison.cautions import cautions
from observatory.text.comparison.cells import Labels
from observatory.text.comparison.changes import better, slower, workload
from observatory.text.comparison.headline import headline, state_of
from observatory.text.comparison.phrases import name
from observatory.text.document import Command, Folded, Name, Paragraph, Part, Points, Story, Words
from observatory.text.plain import shorten
from observatory.text.units import count, percent, seconds
from observatory.text.words import listed, several

_LONGEST_COMMAND = 4000


def tell(comparison: Comparison) -> Story:
    """Everything about a comparison, for a renderer: GitHub or a terminal."""
    breakdown, labels = Breakdown(comparison), Labels.of(comparison)
    careful = cautions(breakdown, labels)
    sides, counted = _sides(comparison, labels), _counted(breakdown)
    measured = Points(tuple(_circumstances(breakdown)))
    # What could not be judged comes before the numbers that depend on it.
    lines = [sides, counted] if careful else [(*sides, " ", *counted)]
    compared = [Part(2, "what was compared", (Paragraph(words),)) for words in lines if words]
    return Story(
        state_of(breakdown),
        headline(breakdown, labels),
        (
            *compared[:1],
            *careful,
            *compared[1:],
            *causes(breakdown, labels),
            *unexplained(breakdown, labels),
            *slower(breakdown, labels),
            *better(breakdown, labels),
            *workload(breakdown, labels),
            Part(9, "how it was measured", (Folded("How it was measured", (measured,)),)),
            *_reproduce(comparison),
        ),
    )


def _sides(comparison: Comparison, labels: Labels) -> Words:
    """What BASE and HEAD are."""
    base, head = (name(side.subject.label) for side in (comparison.base, comparison.head))
    words: Words = ("BASE is ", base, ", HEAD is ", head)
    if base == head:
        words = ("BASE and HEAD are both ", base)
    model = () if labels.model is None else (", the model is ", name(labels.model))
    return (*words, *model, ".")


def _counted(breakdown: Breakdown) -> Words:
    """The number of cells by verdict, and the change that the unaffected ones exclude."""
    numbers = (
        (len(breakdown.worse), "worse"),
        (len(breakdown.better), "better"),
        (len(breakdown.unjudged), "not fully judged"),
        (len(breakdown.unaffected), "unaffected"),
    )
    groups = [f"{count(number)} {word}" for number, word in numbers if number]
    sentences = []
    if len(groups) > 1:
        sentences.append(f"{several(len(breakdown.cells), 'cell')}: {', '.join(groups)}.")
    if not breakdown.worse and (excluded := _ruled_out(breakdown)):
        sentences.append(excluded)
    return (" ".join(sentences),) if sentences else ()


def _ruled_out(breakdown: Breakdown) -> str:
    """The largest change that the unaffected times may hide."""
    effects: dict[str, list[float]] = {"compile_time": [], "call_time": []}
    for verdict in breakdown.comparison.verdicts:
        if verdict.conclusion == "unaffected" and verdict.minimum_effect is not None:
            effects.get(verdict.metric, []).append(verdict.minimum_effect)
    verbs = {"compile_time": "compiling", "call_time": "calling"}
    changes = [
        f"{percent(max(found))} in {verbs[metric]}" for metric, found in effects.items() if found
    ]
    if not changes:
        return ""
    return f"Unaffected cells changed by at most {listed(changes)}."


def _circumstances(breakdown: Breakdown) -> Iterator[Words]:
    comparison = breakdown.comparison
    how = "alternately, in one run" if comparison.interleaved else "in separate runs"
    processes = sorted(
        {n for v in comparison.verdicts if v.kind == "noisy" for n in (v.base.n, v.head.n)}
    )
    sentences = f"BASE and HEAD were measured {how}. "
    if processes:
        ends = " to ".join(dict.fromkeys((count(processes[0]), count(processes[-1]))))
        sentences += f"A time is the median of {ends} processes. "
    yield (f"{sentences}Counts are exact, and are compared without statistics.",)
    took = f", in {seconds(comparison.seconds)}" if comparison.seconds > 0 else ""
    started = Name(comparison.started_at.isoformat(timespec="minutes"))
    tool = name(comparison.observatory)
    yield ("Started at ", started, f"{took}, with observatory ", tool,
           f" and seed {count(comparison.seed)}.")  # fmt: skip
    for word, side in (("BASE", comparison.base), ("HEAD", comparison.head)):
        yield (f"{word}: ", *_side(side))


def _side(side: Side) -> Words:
    numba = (", numba ", name(side.versions.numba)) if side.versions.numba else ()
    cpu = (" (", name(side.machine.cpu), ")") if side.machine.cpu else ()
    return (
        "pytensor ", name(side.versions.pytensor), *numba,
        ", Python ", name(side.versions.python), ", on ", name(side.machine.machine), *cpu,
    )  # fmt: skip


def _reproduce(comparison: Comparison) -> list[Part]:
    if not comparison.reproduce.strip():
        return []
    command = Command(shorten(comparison.reproduce, _LONGEST_COMMAND))
    return [Part(2, "how to repeat it", (Paragraph(("To repeat this comparison:",)), command))]
