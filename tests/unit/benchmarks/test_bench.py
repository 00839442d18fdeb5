"""The bench: which errors are wrong."""

from __future__ import annotations

import math

import pytest

from observatory.benchmarks import bench as module
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
    [
        (SINGLE, 1e-4),
        (1e-4, SINGLE),
        (None, SINGLE),
        (SINGLE, None),
        (math.nan, SINGLE),
        (SINGLE, math.inf),
    ],
)
def test_what_single_precision_does_not_explain_is_wrong(
    logp: float | None, gradient: float | None
) -> None:
    assert wrong("MLX", logp, gradient)


@pytest.mark.parametrize("errors", [(math.inf, None), (0.0, -math.inf), (math.nan, 0.0)])
def test_an_error_that_is_no_number_is_a_wrong_value_whose_error_is_not_known(
    errors: tuple[float, float | None],
) -> None:
    found = Errors(*errors, wrong=False)
    assert found.wrong
    assert all(
        one is None or math.isfinite(one) for one in (found.logp_error, found.gradient_error)
    )


def test_the_reference_is_compared_after_what_the_build_retained_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []

    class Weighed:
        def built(self, _: object) -> None:
            done.append("built")

        def deleted(self) -> dict[str, float]:
            done.append("deleted")
            return {}

    def check(_: object) -> Errors:
        done.append("checked")
        return Errors(0.0, 0.0, wrong=False)

    class One:
        def graph(self, _: str) -> Graph:
            return Graph(point(), lambda _: lambda _: None, check)

        def explain(self, _: object) -> None:
            return None

    monkeypatch.setattr(module, "MemoryOfBuild", Weighed)
    bench = Bench(One(), "NUMBA", "spawn", None, "counting", probed=True)
    bench.measured_build("build")
    assert done == ["built", "deleted", "checked"]
