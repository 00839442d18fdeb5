"""One cause in one cell, and what those of many cells are together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.statements import FoundCause
from observatory.benchmarks.catalogue import CAUSES, SHARING_A_SEED, Cell
from observatory.benchmarks.messages import OUTER_GRAPH
from observatory.store.records.comparison import CauseKind, FunctionChange, GraphChange, Verdict
from observatory.store.records.sample import Check


@dataclass(frozen=True)
class Finding:
    """One cause in one cell."""

    kind: CauseKind
    family: tuple[str, ...]
    """What distinguishes causes of one kind: the cache, the error's text, or two defaults."""
    cell: Cell
    functions: tuple[FunctionChange, ...] = ()
    seconds: float | None = None
    """What it costs; None: nobody measured it."""
    graphs: tuple[GraphChange, ...] = ()
    """Those that it concerns, where a cell builds many graphs apart."""
    more: int = 0
    """How many more there are of what it concerns, where its metric counts them."""
    sure: bool = True
    """Whether all that the sentence of its cause says is known."""


def united(findings: Sequence[Finding], verdicts: Sequence[Verdict]) -> list[Finding]:
    """Give one kind, and so one cause, to the effects of one defect of keys in many cells.

    Keys that differ only where hash seeds do have a kind of their own. Keys that are not repeatable
    within a process differ between processes as well. And what is never found again is not reused
    within a build either.
    """
    of_misses = [v for v in verdicts if v.metric == "cache_misses"]
    counted = {v.cell for v in of_misses}
    hits = {v.cell for v in of_misses if v.conclusion == "unaffected"}
    found = []
    for finding in findings:
        alike = [one for one in findings if one.family == finding.family and _alike(one, finding)]
        kinds = {other.kind for other in alike}
        kind = finding.kind
        if kind == "not reused":
            kind = next((k for k in CAUSES if CAUSES[k].loses_reuse and k in kinds), kind)
        elif kind == "keys differ between processes":
            if "keys are not repeatable" in kinds:
                kind = "keys are not repeatable"
            else:
                # Some cells are measured under spawn alone: they prove and deny nothing.
                cells = [other.cell for other in alike if other.kind == kind]
                sharing = {replace(o, launch=one) for o in cells for one in SHARING_A_SEED}
                proving = sharing & counted
                if proving and proving <= hits and sharing.isdisjoint(cells):
                    kind = "keys differ between hash seeds"
        found.append(replace(finding, kind=kind))
    return found


def _alike(one: Finding, other: Finding) -> bool:
    """Whether two findings may be of one defect: they have a function in common.

    The outer graph misses because of any function in it.
    """
    names, others = (
        {change.name for change in found.functions} - {OUTER_GRAPH} for found in (one, other)
    )
    return not (names and others) or not names.isdisjoint(others)


def cause_of(kind: CauseKind, group: Sequence[Finding], head: Evidence) -> FoundCause:
    """The cause that findings of one kind and family in several cells are; its id is empty."""
    merged: dict[tuple[str, str], FunctionChange] = {}
    for change in (change for finding in group for change in finding.functions):
        key = (change.name, change.head)
        known = merged.get(key)
        if known is None or (change.count, change.seconds) > (known.count, known.seconds):
            merged[key] = change
    functions = sorted(merged.values(), key=lambda c: (-c.seconds, c.name))
    cells = sorted({finding.cell for finding in group})
    wrong: list[Check] = []
    for cell in cells if kind == "wrong results" else ():
        # Only those of the worst sample: repeated samples are not counted twice.
        names = {g.name for one in group if one.cell == cell for g in one.graphs}
        found = [
            [check for check in one.checks if check.wrong and (not names or check.name in names)]
            for one in head.taken(cell)
        ]
        worst: list[Check] = max(found, key=len, default=[])
        wrong += worst
    costs: dict[Cell, float] = {}
    for finding in group:
        if finding.seconds is not None:
            costs[finding.cell] = max(costs.get(finding.cell, 0.0), finding.seconds)
    graphs: dict[str, GraphChange] = {}
    for graph in (graph for finding in group for graph in finding.graphs):
        if graph.name not in graphs or not graphs[graph.name].note:
            graphs[graph.name] = graph
    named = [graphs[name] for name in sorted(graphs)]
    more = max(finding.more for finding in group)
    sure = all(finding.sure for finding in group)
    family = group[0].family
    return FoundCause("", kind, cells, functions, costs, family, wrong, named, more, sure)
