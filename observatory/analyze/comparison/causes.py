"""From alarms to causes: which functions changed outcome, why, and in which cells. Pure.

The ledger of a warm cell is compared with that of the cold build that filled its cache. A function
that misses asks for a key. If the filling build stored that key, the stored code is not loaded; if
it stored the function under another key, keys differ between processes; if it stored nothing, the
cache refused it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from observatory.analyze.comparison import ledgers
from observatory.analyze.comparison.attributing import (
    costs_little,
    growth,
    slowdowns,
    with_causes,
)
from observatory.analyze.comparison.evidence import Evidence, failure_of
from observatory.analyze.comparison.findings import Finding, cause_of, united
from observatory.analyze.comparison.graphs import by_graph
from observatory.analyze.comparison.unexplained_times import CALM, why_longer
from observatory.analyze.profiles.modules import imported
from observatory.analyze.statements import FoundCause, JudgedVerdict
from observatory.benchmarks.catalogue import (
    BACKENDS,
    CACHES,
    CAUSES,
    COSTS,
    FIRST_CAUSES,
    FOLLOWS_FROM_A_CACHE,
    HEADLINE_TIMES,
    METRICS,
    OF_WORK,
    SCENARIOS,
    WARM_SCENARIOS,
    Cell,
    headline_time,
)
from observatory.store.records.comparison import (
    CauseKind,
    Conclusion,
    FunctionChange,
    GraphChange,
    Verdict,
)
from observatory.store.records.sample import LedgerEntry

_FOUND_BY = {one.found_by: name for name, one in CAUSES.items() if one.found_by}
_COMPILES = "more compiler runs"
_IMPORTED = 0.5
"""The share of the additional calls from which on they are those of imports."""

_Conclusions = Mapping[Cell, Conclusion]


def explained(
    verdicts: Sequence[JudgedVerdict], base: Evidence, head: Evidence
) -> tuple[list[FoundCause], list[JudgedVerdict]]:
    """Explain what got worse: the causes, and the verdicts with the id of their cause.

    ``verdicts``: of every kind. Returns the causes, those of `FIRST_CAUSES` first and then by the
    seconds lost, and the verdicts in their order. A verdict that is worse in a cell of a cause, in
    a metric that this kind of cause explains, gets the id of the cause and is no alarm of its own.
    """
    worse = [verdict for verdict in verdicts if verdict.conclusion == "worse"]
    work = {metric: _conclusions(verdicts, metric) for metric in OF_WORK}
    compiling = {one.cell for one in verdicts if _compiles_more(one)}
    findings = [one for verdict in worse for one in _findings(verdict, base, head, work, compiling)]
    slower = slowdowns(verdicts)
    own = [
        one
        for one in findings
        if not any(_follows(one, other, slower.get(one.cell, 0.0)) for other in findings)
    ]
    findings = united(own, verdicts)
    findings = [_of_its_keys(one, findings) for one in findings]
    groups: dict[tuple[CauseKind, tuple[str, ...]], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.kind, finding.family].append(finding)
    causes = [cause_of(kind, group, head) for (kind, _), group in groups.items()]
    first = {kind: place for place, kind in enumerate(FIRST_CAUSES)}
    causes.sort(key=lambda c: (first.get(c.kind, len(first)), -c.seconds_lost, c.kind))
    named = [replace(cause, id=f"cause-{n}") for n, cause in enumerate(causes, 1)]
    return named, with_causes(verdicts, named)


def wrong_results(graphs: Mapping[Cell, Sequence[GraphChange]], head: Evidence) -> FoundCause:
    """The cause of wrong values that need no earlier ones to be wrong.

    ``graphs``: the cells of one backend in which they are, each with the graphs that are wrong,
    where it builds many apart.
    """
    kind: CauseKind = "wrong results"
    found = [Finding(kind, (cell.backend,), cell, graphs=tuple(of)) for cell, of in graphs.items()]
    return cause_of(kind, found, head)


def _conclusions(verdicts: Sequence[Verdict], metric: str) -> _Conclusions:
    return {one.cell: one.conclusion for one in verdicts if one.metric == metric}


def _compiles_more(verdict: Verdict) -> bool:
    """Whether the compiler runs more often in a warm build, where that is an alarm."""
    return verdict.metric == "compiler_runs" and verdict.conclusion == "worse"


def _follows(finding: Finding, other: Finding, slower: float) -> bool:
    """Whether a finding is only a consequence of another one in its cell.

    More work, for example, follows from functions that are compiled again, unless their compiling
    takes next to nothing of the seconds by which the cell is ``slower``.
    """
    own, others = CAUSES[finding.kind], CAUSES[other.kind]
    if costs_little(other.seconds, slower) and not set(own.shows_in).isdisjoint(COSTS):
        return False
    return (
        own.a_consequence
        and finding.cell == other.cell
        and not set(own.shows_in).isdisjoint(others.explains)
        and set(others.shows_in).isdisjoint(own.explains)
    )


def _of_its_keys(finding: Finding, others: Sequence[Finding]) -> Finding:
    """A cache that grows while keys differ grows by them, also where a second build finds all.

    Another process stores everything under keys of its own.
    """
    if finding.kind not in ("cache grows", "stored files grow"):
        return finding
    for one in others:
        same = replace(finding.cell, scenario=one.cell.scenario) == one.cell
        if same and CAUSES[one.kind].of_keys:
            return replace(finding, kind=one.kind, family=one.family, more=0)
    return finding


def _findings(
    verdict: Verdict,
    base: Evidence,
    head: Evidence,
    work: Mapping[str, _Conclusions],
    compiling: Collection[Cell],
) -> Iterator[Finding]:
    """The causes of one verdict.

    ``work``: the conclusions on the metrics of work, by metric. ``compiling``: the warm cells in
    which HEAD runs the compiler more often.
    """
    cell = verdict.cell
    calls = work["python_calls"]
    if verdict.metric == "wrong_results":
        graphs = _graphs(cell, verdict.metric, base, head)
        yield Finding("wrong results", (cell.backend,), cell, graphs=graphs)
    elif verdict.metric == "crashed":
        yield Finding("crashed", (failure_of(head.failures(cell)),), cell)
    elif verdict.metric in FOLLOWS_FROM_A_CACHE and (defaults := _defaults(cell, base, head)):
        yield Finding("another default", defaults, cell)
    elif cell in compiling and verdict.metric in ("compiler_runs", "peak_rss"):
        before, after = (side.ledger(cell) or [] for side in (base, head))
        functions, sure = tuple(ledgers.unasked(before, after)), _finds_everything(cell, head)
        seconds = sum(change.seconds for change in functions) or None
        yield Finding(_COMPILES, (), cell, functions, seconds, sure=sure)
    elif verdict.metric == "instructions" and calls.get(cell) == "worse":
        return  # the calls have a cause, which explains the instructions as well
    elif verdict.metric in _FOUND_BY:
        yield _found_by(verdict, base, head)
    elif verdict.metric in HEADLINE_TIMES:
        counted = {name: found[cell] for name, found in work.items() if cell in found}
        if why := why_longer(verdict, base, head, counted):
            yield Finding(why[0], (), cell, sure=why[1])
    elif verdict.metric == "python_calls":
        # The same build in a process that has imported everything already.
        second_build = replace(cell, scenario="warm_process")
        moved = _imports_more(cell, base, head) and calls.get(second_build) in CALM
        yield Finding("imports moved" if moved else "more Python work", (), cell)
    elif verdict.metric == ledgers.REUSE_LOST:
        yield from _not_reused(cell, base, head)
    elif verdict.metric in ("cache_misses", "uncacheable"):
        yield from _by_function(cell, verdict.metric, base, head)


def _found_by(verdict: Verdict, base: Evidence, head: Evidence) -> Finding:
    """The cause that only means that this metric got worse."""
    cell, metric = verdict.cell, verdict.metric
    kind = _FOUND_BY[metric]
    more = int(max(verdict.head.values) - max(verdict.base.values)) if CAUSES[kind].counted else 0
    return Finding(
        kind, (), cell, graphs=_graphs(cell, metric, base, head), more=more,
        seconds=_idle(verdict, base, head),
        sure=metric != "instructions" or not _may_call_more(cell, base, head),
    )  # fmt: skip


def _idle(found: Verdict, base: Evidence, head: Evidence) -> float | None:
    """The seconds by which a build is longer as it waits or sleeps; None where none is known."""
    if found.metric == "waiting_time":
        return growth(found)
    return _asleep(found, base, head) if found.metric == "seconds_slept" else None


def _asleep(slept: Verdict, base: Evidence, head: Evidence) -> float | None:
    """The seconds by which a build is longer because it sleeps; None where nobody knows.

    Of calls, all of a process are counted together and one is timed: what it did not spend in work.
    """
    if headline_time(slept.cell.scenario) != "call_time":
        return growth(slept)
    times = [
        [side.values(slept.cell, METRICS[name]).values for name in ("call_time", "call_cpu_time")]
        for side in (base, head)
    ]
    if not all(map(all, times)):
        return None
    before, after = (median(whole) - median(worked) for whole, worked in times)
    return max(after - before, 0.0)


def _finds_everything(cell: Cell, side: Evidence) -> bool:
    """Whether a cache returned every function that a build asked for, in every sample."""
    counts = [side.values(cell, METRICS[name]).values for name in ("cache_misses", "uncacheable")]
    return all(counts) and not any(map(max, counts))


def _may_call_more(cell: Cell, base: Evidence, head: Evidence) -> bool:
    """Whether HEAD calls more Python functions, be it by as little as chance does."""
    before, after = (side.values(cell, METRICS["python_calls"]).values for side in (base, head))
    return bool(before and after) and median(after) > median(before)


def _graphs(cell: Cell, metric: str, base: Evidence, head: Evidence) -> tuple[GraphChange, ...]:
    """The graphs of a cell that got worse; none where it does not build many of them apart.

    Of leaked files those of which there are more, and of side effects the new ones, where their
    names are known.
    """
    if metric == "files_leaked" and (leaks := tuple(_leaks(cell, base, head))):
        return leaks
    if metric == "side_effects" and (effects := tuple(_effects(cell, base, head))):
        return effects
    found = by_graph(cell, METRICS[metric], base, head)
    return tuple(found.changes()) if found is not None else ()


def _leaks(cell: Cell, base: Evidence, head: Evidence) -> Iterator[GraphChange]:
    """The files of which HEAD leaves more, by name; all of them where BASE's have no names."""
    before, after = (
        next((one.leaked for one in side.taken(cell, "counting") if one.leaked), {})
        for side in (base, head)
    )
    for name, number in after.items():
        if number > before.get(name, 0):
            note = f"{before.get(name, 0)} → {number}" if before else f"{number}"
            yield GraphChange(name=name, note=note)


def _effects(cell: Cell, base: Evidence, head: Evidence) -> Iterator[GraphChange]:
    """What only builds of HEAD leave changed in the process."""
    before, after = (
        {name for one in side.taken(cell, "counting") for name in one.effects}
        for side in (base, head)
    )
    for name in sorted(after - before):
        yield GraphChange(name=name, note="")


def _defaults(cell: Cell, base: Evidence, head: Evidence) -> tuple[str, ...]:
    """The defaults of head and of base, if they differ; empty if not, or if one is not known.

    All counts of such a cell are of another backend: function by function they say nothing.
    """
    if cell.backend not in BACKENDS or not BACKENDS[cell.backend].chosen_by_subject:
        return ()
    filler = cell.filler
    kinds = [{entry.kind for entry in side.ledger(filler) or ()} for side in (base, head)]
    if not all(kinds):
        return ()
    before, after = (
        next((compiler for entry, compiler in CACHES.items() if entry in kind), min(kind))
        for kind in kinds
    )
    return (after, before) if before != after else ()


def _imports_more(cell: Cell, base: Evidence, head: Evidence) -> bool:
    """Whether HEAD imports more modules inside the clock, and calls more functions because of it.

    Timing samples count modules: every one of HEAD must have more than any of BASE. And new imports
    must make most of the additional calls, where both sides have profiles.
    """
    counted = METRICS["modules_imported"]
    before, after = (side.values(cell, counted).values for side in (base, head))
    known = bool(before and after)
    if known and min(after) <= max(before):
        return False
    profiles = [[s.profile for s in side.taken(cell, "tracing")] for side in (base, head)]
    old, new = ([one.tree for one in side if one and one.tree] for side in profiles)
    if not (old and new):
        return known
    made = sum(one.calls for one in imported(old, new))
    return made > _IMPORTED * (new[0].calls - old[0].calls)


def _by_function(cell: Cell, metric: str, base: Evidence, head: Evidence) -> Iterator[Finding]:
    outcome = "miss" if metric == "cache_misses" else "uncacheable"
    before, after = base.ledger(cell) or [], head.ledger(cell) or []
    filled = head.ledger(cell.filler) or []
    sides = [ledgers.of_graphs(one) for one in (before, after, filled)]
    of_kind: dict[tuple[CauseKind, str], list[FunctionChange]] = defaultdict(list)
    said: dict[tuple[CauseKind, str], dict[str, GraphChange]] = defaultdict(dict)
    graphs = by_graph(cell, METRICS[metric], base, head)
    for graph in sorted(graphs.worse) if graphs is not None else (None,):
        old, new, there = (side[graph] for side in sides)
        for change in ledgers.function_changes(old, new):
            if change.head != outcome:
                continue
            missed = [e for e in new if e.name == change.name and e.outcome == outcome]
            key = _why(cell, missed, there), missed[0].kind
            of_kind[key].append(change)
            if graph is not None:
                why = next((entry.why for entry in missed if entry.why), None)
                known = said[key].get(graph)
                if known is None or not known.note:
                    said[key][graph] = GraphChange(name=graph, note=why or "")
    if not of_kind:
        yield Finding("unexplained", (metric,), cell)
    costs = ledgers.costs_of(of_kind, before, after)
    for (kind, family), found in of_kind.items():
        concerned = tuple(said[kind, family].values())
        functions = tuple(ledgers.summed(found))
        seconds = costs[kind, family] or None
        yield Finding(kind, (family,), cell, functions, seconds, concerned)


def _why(cell: Cell, missed: Sequence[LedgerEntry], filled: Sequence[LedgerEntry]) -> CauseKind:
    """Why functions of one name are compiled in a cell whose cache was filled."""
    if missed[0].outcome == "uncacheable":
        return "refused"
    if cell.scenario not in WARM_SCENARIOS:
        return "unexplained"
    there = [e for e in filled if e.name == missed[0].name]
    stored = {e.key for e in there if e.outcome in ("miss", "hit")}
    if not there:
        return "unexplained"
    if not stored:
        return "not stored"
    if all(entry.key in stored for entry in missed):
        return "stored but not loaded"
    # The second build of a process asks again for what its first build has just stored.
    in_process = SCENARIOS[cell.scenario].warm_ups > 0
    return "keys are not repeatable" if in_process else "keys differ between processes"


def _not_reused(cell: Cell, base: Evidence, head: Evidence) -> Iterator[Finding]:
    before, after = base.ledger(cell) or [], head.ledger(cell) or []
    warm = cell.scenario in WARM_SCENARIOS
    kinds = {entry.name: entry.kind for entry in after}
    by_family: dict[str, list[FunctionChange]] = defaultdict(list)
    for name, number in ledgers.lost_by_name(cell, before, after).items():
        change = FunctionChange(
            name=name, count=number, base="hit", head="internal" if warm else "miss",
            seconds=ledgers.more_seconds(before, after, name),
        )  # fmt: skip
        by_family[kinds[name]].append(change)
    costs = ledgers.costs_of(by_family, before, after)
    for family, found in by_family.items():
        kind: CauseKind = "not asked" if warm else "not reused"
        yield Finding(kind, (family,), cell, tuple(found), costs[family] or None)
