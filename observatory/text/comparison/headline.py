"""The first line of a comparison: its status, and the one claim that matters most."""

from __future__ import annotations

from observatory.benchmarks.catalogue import METRICS, OF_WORK, WRONG_VALUES
from observatory.text.comparison.breakdown import CRASHED, Breakdown, Labels
from observatory.text.comparison.claims import alarms, improvements
from observatory.text.document import State, Status, Words
from observatory.text.units import count
from observatory.text.words import several

_BAD, _WARNING, _GOOD, _OPEN = "❌", "🔺", "✅", "❔"


def state_of(breakdown: Breakdown) -> State:
    """The verdict on the whole comparison."""
    if breakdown.worse:
        return "worse"
    if breakdown.unjudged or not breakdown.cells:
        return "undecided"
    return "better" if breakdown.better else "unaffected"


def status_of(breakdown: Breakdown, labels: Labels) -> Status:
    """The verdict as a mark and a word or two, which fits the claim of `headline`."""
    metrics = {verdict.metric for verdict in breakdown.comparison.worse}
    if not metrics.isdisjoint(WRONG_VALUES):
        return Status(_BAD, "Wrong results")
    if CRASHED in metrics:
        return Status(_BAD, "Crashes")
    state = state_of(breakdown)
    if state == "worse":
        slower = any(map(is_of_speed, alarms(breakdown, labels)[0].metrics))
        return Status(_WARNING, "Slower" if slower else "Worse")
    if state == "undecided":
        return Status(_OPEN, "Not judged" if _nothing_judged(breakdown) else "Partly judged")
    if breakdown.in_both:
        return Status(_WARNING, "No regression")
    if state == "better":
        faster = any(map(is_of_speed, improvements(breakdown.improved, labels)[0].metrics))
        return Status(_GOOD, "Faster" if faster else "Better")
    return Status(_GOOD, "No regression")


def headline(breakdown: Breakdown, labels: Labels) -> Words:
    """The claim after the status, without a full stop."""
    if breakdown.worse:
        return alarms(breakdown, labels)[0].words
    if _nothing_judged(breakdown):
        return ("no cell was measured well enough on both sides",)
    calm = _quiet(breakdown)
    if breakdown.improved:
        first = improvements(breakdown.improved, labels)[0]
        calm = (*first.words, "; nothing got worse", _rest(breakdown))
    if breakdown.in_both:
        where = labels.crowd({verdict.cell for verdict in breakdown.in_both})
        return (*calm, "; both BASE and HEAD crash or give wrong values in ", *where)
    return calm


def is_of_speed(metric: str) -> bool:
    """Whether a build or a call is slower where it is higher: a time, or work."""
    known = METRICS.get(metric)
    return known is not None and (metric in OF_WORK or known.unit == "seconds")


def _nothing_judged(breakdown: Breakdown) -> bool:
    return all(verdict.conclusion == "undecided" for verdict in breakdown.comparison.verdicts)


def _quiet(breakdown: Breakdown) -> Words:
    judged = len(breakdown.cells) - len(breakdown.unjudged)
    if breakdown.unjudged:
        where = several(judged, "cell") if judged else "what could be judged"
        return (f"nothing got worse in {where}", _rest(breakdown))
    all_are = "the only cell is" if judged == 1 else f"all {count(judged)} cells are"
    if breakdown.comparison.workload:
        return (f"HEAD compiles a different graph, and {all_are} unaffected",)
    counted = all(verdict.kind != "noisy" for verdict in breakdown.comparison.verdicts)
    where = f" in {'its' if judged == 1 else 'their'} counts" if counted else ""
    return (f"{all_are} unaffected{where}",)


def _rest(breakdown: Breakdown) -> str:
    """How many cells could not be judged, and whether only their times and memory."""
    if not breakdown.unjudged:
        return ""
    rest = f"{count(len(breakdown.unjudged))} of {several(len(breakdown.cells), 'cell')}"
    counted = all(verdict.kind == "noisy" for verdict in breakdown.comparison.undecided)
    if counted and not breakdown.comparison.missing:
        return f"; times or memory of {rest} could not be judged"
    return f"; {rest} could not be fully judged"
