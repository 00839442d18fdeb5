"""The record of a sample, put together from what its processes reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from . import pinning
from .catalogue import BACKENDS, OF_PAIRS, SAMPLE_SCHEMA, SCENARIOS, SYMBOLS, metrics_of
from .messages import (
    Check,
    Failure,
    OpCoverage,
    Overhead,
    Report,
    SampleRecord,
    Spent,
    Status,
    Step,
)
from .process import Ending
from .profiles import ImportedModule, Profile
from .request import Request

_UNREPORTED = Report("died")


@dataclass(frozen=True)
class Processes:
    """The processes of one sample: how each ended, and what preparing them took."""

    measured: Ending
    """Of the measured process; of the filler, if there was nothing to measure after it."""
    filler: Ending | None = None
    siblings: tuple[tuple[str, Ending], ...] = ()
    """Each with the member that it built."""
    prepare: float = 0.0
    """Seconds to copy the cache and to remove the sandbox; of siblings, only the latter."""
    fill: float = 0.0
    """Seconds of the process that filled the cache."""
    imports: tuple[ImportedModule, ...] = ()
    """What one more process imported."""
    coverage: OpCoverage | None = None
    """What one more process found on the Ops of the release."""
    filled: Mapping[str, int] | None = None
    """The size of each file of the cache that the measured process started from; None: of none."""
    stale: tuple[str, ...] | None = None
    """Graphs whose values differ from those of the filler; None: they were not compared."""

    @property
    def worst(self) -> tuple[Status, str | None, Ending]:
        """Status, message and process of the first thing that went wrong; "ok" if nothing did."""
        for member, sibling in self.siblings:
            if sibling.status != "ok":
                return sibling.status, f"sibling {member}: {sibling.message}", sibling
        status, message = self.measured.status, self.measured.message
        if status != "ok" and self.measured is self.filler:
            message = f"the process that fills the cache: {message}"
        return status, message, self.measured

    def checks(self) -> tuple[Check, ...]:
        """Return the checks of every process; those of a sibling say so in their names."""
        return tuple(
            replace(check, name=f"{of}{check.name}")
            for of, report in self._reports()
            for check in report.checks
        )

    def steps(self) -> tuple[Step, ...]:
        """Return the builds of every process, named like `checks`."""
        return tuple(
            replace(step, name=f"{of}{step.name}")
            for of, report in self._reports()
            for step in report.steps
        )

    def _reports(self) -> Iterator[tuple[str, Report]]:
        """Every report, with the prefix of its names."""
        for _, sibling in self.siblings:
            yield "sibling ", sibling.report or _UNREPORTED
        if self.filler is not None and self.filler is not self.measured:
            yield "", self.filler.report or _UNREPORTED
        yield "", self.measured.report or _UNREPORTED


def assemble(
    request: Request,
    processes: Processes,
    box_metrics: Mapping[str, float],
    *,
    leaked: Mapping[str, int],
    hash_seed: int,
    started_at: datetime,
    total: float,
) -> SampleRecord:
    """Return the record of a sample, in the form that docs/schemas/sample-1.json publishes.

    ``box_metrics``: the metrics of the counting pass that the sandbox knows, and ``leaked`` the
    names of the files that it counted. ``total``: the wall
    time of the sample in seconds.
    """
    report = processes.measured.report or _UNREPORTED
    status, message, process = processes.worst
    checks = processes.checks()
    metrics = _metrics(
        request, processes, status, sum(check.wrong for check in checks), box_metrics
    )
    failure = None
    if status != "ok":
        text = (message or "failed without a message")[:4000]
        failure = Failure(text, *process.failure, stderr=process.exit.stderr)
    return SampleRecord(
        schema=SAMPLE_SCHEMA,
        cell=request.cell,
        measure=request.measure,
        hash_seed=hash_seed,
        started_at=started_at.isoformat(),
        status=status,
        failure=failure,
        metrics=metrics,
        absent=_absent(request, metrics, status, message),
        steps=processes.steps(),
        checks=checks,
        stale=processes.stale or (),
        ledger=report.ledger,
        environment=report.environment,
        overhead=_overhead(processes, total),
        counted_by=_source(request, metrics),
        profile=_profile(report, processes) if status == "ok" else None,
        coverage=processes.coverage if status == "ok" else None,
        leaked=dict(leaked) if "files_leaked" in metrics else {},
        effects=report.effects if "side_effects" in metrics else (),
    )


def _source(request: Request, metrics: Mapping[str, float]) -> str | None:
    if "python_calls" in metrics:
        return request.cell.traced_by
    if "instructions" not in metrics:
        return None
    pins = pinning.find()
    steady = pins.counter is not None and pins.counter.steady
    return request.cell.counted_by(pins.source, steady=steady)


def _profile(report: Report, processes: Processes) -> Profile | None:
    if report.profile is None or not processes.imports:
        return report.profile
    return replace(report.profile, imports=processes.imports)


def _metrics(
    request: Request,
    processes: Processes,
    status: Status,
    wrong: int,
    box_metrics: Mapping[str, float],
) -> dict[str, float]:
    """The metrics that this pass gives to this cell. Wrong and crashed come from every pass."""
    if status == "unavailable":
        return {}
    metrics: dict[str, float] = {"wrong_results": wrong, "crashed": int(status != "ok")}
    if status != "ok":
        return metrics
    metrics.update((processes.measured.report or _UNREPORTED).metrics)
    if processes.stale is not None:
        metrics["stale_results"] = len(processes.stale)
    if request.measure == "counting":
        metrics.update(box_metrics)
    if "peak_rss" in metrics:
        metrics["peak_rss"] = max(metrics["peak_rss"], processes.measured.exit.descendants_rss)
    wanted = {metric.name for metric in metrics_of(request.cell.scenario, request.cell.launch)}
    return {name: value for name, value in metrics.items() if name in wanted}


def _absent(
    request: Request, metrics: dict[str, float], status: Status, message: str | None
) -> dict[str, str]:
    """Why each metric that this pass should have given is not there."""
    reasons = {"instructions": pinning.problem(request.cell)} if request.measure == "work" else {}
    reasons |= {"llvm_pass_runs": "numba does not compile the build, or is older than 0.66"}
    if BACKENDS[request.cell.backend].threaded:
        reasons["waiting_time"] = "the build waits for other threads, which compile"
    reasons |= dict.fromkeys(SYMBOLS, "only numba's cache has symbols, and the tool reads them")
    if "TMPDIR" in request.variables:
        reasons["files_leaked"] = "the temporary directory is not the sample's own"
    of_pair = SCENARIOS[request.cell.scenario].of_pair
    if of_pair in ("first", "second"):
        reasons["keys_missing"] = "only a comparison of keys looks for functions without one"
    if of_pair == "first":
        reasons |= dict.fromkeys(OF_PAIRS, "only the second graph of a pair can meet the first one")
    otherwise = "this platform or version does not give it"
    if status != "ok":
        reasons, otherwise = {}, f"{status}: {message}"[:2000]
    return {
        metric.name: reasons.get(metric.name, otherwise)
        for metric in metrics_of(request.cell.scenario, request.cell.launch)
        if metric.measure == request.measure and metric.name not in metrics
    }


def _overhead(processes: Processes, total: float) -> Overhead:
    """Where the wall time of the sample went, in seconds."""
    process = processes.measured.exit
    ended = process.started + process.seconds
    report = processes.measured.report or _UNREPORTED
    spent = report.spent or Spent(first_line=process.started, reported=ended)
    parts = {
        "prepare": processes.prepare,
        "fill": processes.fill,
        "start": spent.first_line - process.started,
        "imports": spent.imports,
        "build": spent.build,
        "warm_up": spent.warm_up,
        "measured": spent.measured,
        "exit": ended - spent.reported,
    }
    parts["rest"] = max(0.0, total - sum(parts.values()))
    return Overhead(**{name: round(value, 6) for name, value in {"total": total, **parts}.items()})
