"""The bench: which errors are wrong."""

from __future__ import annotations

import pytest

from observatory.benchmarks.bench import Bench
from observatory.benchmarks.catalogue import BACKENDS, TOLERANCE
from observatory.benchmarks.models import Errors, Graph
from observatory.benchmarks.models.parts.small import SmallModel, point

SINGLE = 3.2e-7
"""What single precision is off by."""


def wrong(backend: str, logp: float | None, gradient: float | None) -> bool:
    bench = Bench(SmallModel({}), backend, "spawn", None, "counting", probed=False)
    found = Errors(logp, gradient, wrong=True)
    bench.check("build", Graph(point(), lambda _: lambda _: None, lambda _: found), None)
    return bench.checks[0].wrong


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_error_of_single_precision_is_wrong_of_a_backend_that_computes_in_double(
    backend: str,
) -> None:
    assert wrong(backend, 0.0, SINGLE) == (BACKENDS[backend].tolerance == TOLERANCE)


def test_only_mlx_computes_in_single_precision() -> None:
    assert {n for n, one in BACKENDS.items() if one.tolerance != TOLERANCE} == {"MLX"}


@pytest.mark.parametrize(
    ("logp", "gradient"),
    [(SINGLE, 1e-4), (1e-4, SINGLE), (None, SINGLE), (SINGLE, None), (float("nan"), SINGLE)],
)
def test_what_single_precision_does_not_explain_is_wrong(
    logp: float | None, gradient: float | None
) -> None:
    assert wrong("MLX", logp, gradient)
