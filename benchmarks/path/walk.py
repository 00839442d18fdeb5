"""What a step of the path is measured with: its span, its counts, and the checks of its numbers."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..bench import Bench
from ..messages import ChainReport, Check
from ..models import Errors
from ..models.parts.pymc_model import Data, Point, Predicted, PymcModel, errors
from . import chains

MOST_STANDARD_ERRORS = 6.0
"""How far the moments of draws may be from theirs. Draws have fixed seeds, so that a right one
never is further away in one run and not in another."""


@dataclass
class Walk:
    """One step of the path in its own process: what it has measured and checked."""

    bench: Bench
    name: str
    model: PymcModel
    directory: Path
    """For the files of other processes."""
    compiled: tuple[str, ...] = ()
    """Who asked for each PyTensor function of the span."""
    metrics: dict[str, float] = field(default_factory=dict)
    _begin: float = 0.0

    @cached_property
    def data(self) -> Data:
        """The data of the path."""
        return self.model.data(0, 1)

    def new_model(self, data: Data | None = None) -> Any:
        """Return a new `pm.Model`, with other data if they are given."""
        import pymc as pm

        return self.model.make(pm, self.data if data is None else data)

    @contextlib.contextmanager
    def span(self) -> Iterator[None]:
        """Count, or time, what happens in the block: the step itself and not what precedes it."""
        gc.collect()
        ledger = self.bench.ledger
        ledger.step = self.name
        first = len(ledger.functions)
        chains.counted_in(self.directory)
        with self.bench.recording() if self.bench.probed else contextlib.nullcontext():
            self._begin = time.perf_counter()
            yield
            seconds = time.perf_counter() - self._begin
        ledger.step = None
        self.bench.measured_seconds += seconds
        self.compiled = tuple(ledger.functions[first:])
        for report in chains.told(self.directory):
            self.add(report)
        if self.bench.measure == "timing":
            self.metrics["step_time"] = seconds

    def add(self, report: ChainReport) -> None:
        """Add what another process compiled for this step."""
        ledger = self.bench.ledger
        ledger.entries += report.ledger
        ledger.compiler_runs += report.compiler_runs
        ledger.bootstrap_runs += report.bootstrap_runs
        self.compiled += report.functions

    def drawn(self) -> None:
        """Note that a sampler has drawn: the first time is when a user sees something happen.

        What is drawn before the span, in preparation of the step, does not count.
        """
        if self.bench.measure == "timing" and self._begin:
            self.metrics.setdefault("first_draw_time", time.perf_counter() - self._begin)

    def counts(self) -> dict[str, float]:
        """Return the metrics of the step: counts in the counting pass, seconds in the timing."""
        if self.bench.measure != "counting":
            return self.metrics
        counted = self.bench.ledger.counts(self.name)
        counted.pop("object_code_bytes")
        return {"graphs_compiled": len(self.compiled), **counted}

    def check(self, found: Errors, note: str | None = None) -> None:
        """Keep the errors of one result of the step. ``note``: what is said of a wrong one."""
        wrong = note if found.wrong else None
        self.bench.checks.append(
            Check(self.name, found.logp_error, found.gradient_error, found.wrong, wrong)
        )

    def check_logp(self, value: Any, at: Point, data: Data | None = None) -> None:
        """Compare a log density with that of NumPy."""
        data = self.data if data is None else data
        found = errors(value, self.model.logp(data, at))
        self.check(found, f"logp is {float(value):.6g}")

    def check_point(self, at: Point, data: Data | None = None) -> None:
        """Compare a point with the one where samplers start."""
        right = self.model.start(self.data if data is None else data)
        known = at.keys() == right.keys()
        off = [float(np.max(np.abs(np.asarray(at[n]) - right[n]))) for n in right if n in at]
        error = max(off, default=0.0)
        self.check(Errors(error, None, not known or not error <= 1e-12), f"it is {dict(at)}")

    def check_draws(self, trace: Any) -> None:
        """Compare the log density of every draw, as the sampler kept it, with that of NumPy.

        ``trace``: a MultiTrace of PyMC.
        """
        names = list(self.model.start(self.data))
        worst = Errors(0.0, None, wrong=False)
        for chain in trace.chains:
            kept = np.ravel(trace.get_sampler_stats("model_logp", chains=[chain]))
            for draw, logp in enumerate(kept):
                point = trace.point(draw, chain=chain)
                at = {name: np.asarray(point[name], dtype=float) for name in names}
                found = errors(logp, self.model.logp(self.data, at))
                if (found.wrong, found.logp_error or 0) > (worst.wrong, worst.logp_error or 0):
                    worst = found  # a wrong one without an error, such as nan, stays the worst
        self.check(worst, "the log density of a draw is not that of the model")

    def check_posterior(self, draws: Any, sds: float, narrowest: float = 0.4) -> None:
        """Compare the moments of draws of the model's quantity with its posterior.

        ``sds``: how many posterior standard deviations the mean may be off; the standard deviation
        may be ``narrowest`` to 2 times that of the posterior.
        """
        _, mean, sd = self.model.quantity
        found = np.ravel(np.asarray(draws, dtype=float))
        off, ratio = abs(found.mean() - mean) / sd, found.std() / sd
        wrong = not (off <= sds and narrowest <= ratio <= 2)
        note = f"mean {found.mean():.4g} and sd {found.std():.4g}, not {mean:.4g} and {sd:.4g}"
        self.check(Errors(float(off), None, wrong), note)

    def check_predicted(self, draws: Sequence[Any], expected: Predicted) -> None:
        """Compare the means of predicted observations with theirs, in standard errors."""
        found = np.asarray(draws, dtype=float)
        error = np.asarray(expected.sd) / np.sqrt(len(found))
        off = float(np.max(np.abs(found.mean(axis=0) - expected.mean) / error))
        spread = float(np.mean(found.var(axis=0)) / np.mean(np.square(expected.sd)))
        wrong = not (off <= MOST_STANDARD_ERRORS and 0.8 <= spread <= 1.25)
        note = f"means are {off:.3g} standard errors off, variances {spread:.3g} times theirs"
        self.check(Errors(off, None, wrong), note)
