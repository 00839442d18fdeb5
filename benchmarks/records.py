"""The record of a sample, put together from what its processes reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.catalogue import SYMBOLS, metrics_of
from benchmarks.process import Outcome


@dataclass(frozen=True)
class Found:
    """The processes of a sample, and what they took."""

    outcome: Outcome
    """Of the measured process; of the filler, if there was nothing to measure after it."""
    filler: Outcome | None = None
    siblings: tuple[tuple[str, Outcome], ...] = ()
    """Each with the variant that it built."""
    prepare: float = 0.0
    fill: float = 0.0
    stale: tuple[str, ...] | None = None
    """Graphs whose values differ from those of the filler; None: they were not compared."""

    @property
    def worst(self) -> tuple[str, str | None, Outcome]:
        """Status, message and process of the first thing that went wrong; "ok" if nothing did."""
        for variant, sibling in self.siblings:
            if sibling.status != "ok":
                return sibling.status, f"sibling {variant}: {sibling.message}", sibling
        status, message = self.outcome.status, self.outcome.message
        if status != "ok" and self.outcome is self.filler:
            message = f"the process that fills the cache: {message}"
        return status, message, self.outcome

    def gathered(self, name: str) -> list[dict[str, Any]]:
        """The entries of a list in every report; those of helpers say whose they are."""
        entries = [
            {**entry, "name": f"sibling {entry['name']}"}
            for _, sibling in self.siblings
            for entry in (sibling.report or {}).get(name, [])
        ]
        if self.filler is not None and self.filler is not self.outcome:
            entries += (self.filler.report or {}).get(name, [])
        return entries + list((self.outcome.report or {}).get(name, []))


def assemble(
    header: dict[str, Any], found: Found, box_facts: dict[str, int], total: float
) -> dict[str, Any]:
    """The sample record, as docs/schemas/ publishes it.

    ``header``: schema, cell, measure, hash_seed, started_at. ``box_facts``: metrics that the
    sandbox knows. ``total``: wall time of the sample in seconds.
    """
    report = found.outcome.report or {}
    status, message, process = found.worst
    checks = found.gathered("checks")
    wrong = sum(check["wrong"] for check in checks)
    metrics = _metrics(header, found, status, wrong, box_facts)
    failure = None
    if status != "ok":
        failure = {
            "message": (message or "failed without a message")[:4000],
            "signal": process.signal,
            "exit_code": process.exit_code,
            "stderr": process.stderr,
        }
    return {
        **header,
        "status": status,
        "failure": failure,
        "metrics": metrics,
        "absent": _absent(header, metrics, status, message),
        "steps": found.gathered("steps"),
        "checks": checks,
        "stale": list(found.stale or ()),
        "ledger": report.get("ledger"),
        "environment": report.get("environment", {}),
        "overhead": _overhead(found, total),
    }


def _metrics(
    header: dict[str, Any], found: Found, status: str, wrong: int, box_facts: dict[str, int]
) -> dict[str, float]:
    """The metrics that this pass gives to this cell. Wrong and crashed come from every pass."""
    if status == "unavailable":
        return {}
    metrics: dict[str, float] = {"wrong_results": wrong, "crashed": int(status != "ok")}
    if status != "ok":
        return metrics
    metrics.update((found.outcome.report or {})["metrics"])
    if found.stale is not None:
        metrics["stale_results"] = len(found.stale)
    if header["measure"] == "counting":
        metrics.update(box_facts)
    if "peak_rss" in metrics:
        metrics["peak_rss"] = max(metrics["peak_rss"], found.outcome.descendants_rss)
    cell = header["cell"]
    wanted = {metric.name for metric in metrics_of(cell["scenario"], cell["launch"])}
    return {name: value for name, value in metrics.items() if name in wanted}


def _absent(
    header: dict[str, Any], metrics: dict[str, float], status: str, message: str | None
) -> dict[str, str]:
    """Why each metric that this pass should have given is not there."""
    reason = "this platform or version does not tell"
    untold = dict.fromkeys(SYMBOLS, "only numba's cache has symbols, and the tool reads them")
    if status != "ok":
        reason = f"{status}: {message}"[:2000]
    cell = header["cell"]
    return {
        metric.name: untold.get(metric.name, reason) if status == "ok" else reason
        for metric in metrics_of(cell["scenario"], cell["launch"])
        if metric.measure == header["measure"] and metric.name not in metrics
    }


def _overhead(found: Found, total: float) -> dict[str, float]:
    """Where the wall time of the sample went, in seconds."""
    outcome = found.outcome
    seconds = (outcome.report or {}).get("seconds", {})
    ended = outcome.started + outcome.seconds
    parts = {
        "prepare": found.prepare,
        "fill": found.fill,
        "start": seconds.get("first_line", outcome.started) - outcome.started,
        "imports": seconds.get("imports", 0.0),
        "build": seconds.get("build", 0.0),
        "warm_up": seconds.get("warm_up", 0.0),
        "measured": seconds.get("measured", 0.0),
        "exit": ended - seconds.get("reported", ended),
    }
    parts["rest"] = max(0.0, total - sum(parts.values()))
    return {name: round(value, 6) for name, value in {"total": total, **parts}.items()}
