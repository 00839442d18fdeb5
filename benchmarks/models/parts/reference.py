"""The radon model's logp and gradient in NumPy, with which those of every backend are compared.

The gradient is a complex-step derivative (Squire & Trapp 1998): it is exact to rounding, and shares
no derivation with the graph's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import TOLERANCE, Errors
from .radon_data import RadonData, Variant, layout

_STEP = 1e-30
_TOGETHER = 8
"""Entries of a gradient. All at once would take more memory than the build, whose peak is measured
in the same process."""
_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Reference:
    """The right values at one point."""

    logp: float
    gradient: NDArray[np.float64]
    """Shape (n,), in the order of the layout."""

    def errors(self, logp: Any, gradient: Any) -> Errors:
        """Return the errors of a logp and of a gradient in the order of the layout."""
        found = relative_error(np.reshape(logp, ()), self.logp)
        errors = found, relative_error(gradient, self.gradient)
        return Errors(*errors, wrong=any(e is None or e > TOLERANCE for e in errors))


def relative_error(value: Any, right: Any) -> float | None:
    """Return the largest relative error of an entry; None: not finite, or another shape."""
    value, right = np.asarray(value), np.asarray(right)
    number = complex if "c" in (value.dtype.kind, right.dtype.kind) else float
    value, right = value.astype(number), right.astype(number)
    if value.shape != right.shape or not np.all(np.isfinite(value)):
        return None
    if not value.size:
        return 0.0
    # Each entry by its own size; one that nearly cancels, by a ten-thousandth of the largest.
    size = np.maximum(np.abs(right), 1e-4 * np.max(np.abs(right)))
    return float(np.max(np.abs(value - right) / np.where(size > 0, size, 1.0)))


def evaluate(
    data: RadonData,
    variant: Variant,
    point: NDArray[np.float64],
    entries: NDArray[np.int64] | None = None,
) -> Reference:
    """Return logp and gradient at a point of shape (n,).

    ``entries``: those of the gradient that are computed; None: all.
    """
    at = np.arange(point.size) if entries is None else entries
    gradient = np.empty(at.size)
    for first in range(0, at.size, _TOGETHER):
        some = at[first : first + _TOGETHER]
        steps = np.tile(point.astype(complex), (some.size, 1))
        steps[np.arange(some.size), some] += 1j * _STEP
        gradient[first : first + _TOGETHER] = _logp(data, variant, steps).imag / _STEP
    logp = _logp(data, variant, point[np.newaxis].astype(complex)).real[0]
    return Reference(float(logp), gradient)


def _normal(value: Complex, sigma: Complex | float) -> Complex:
    density: Complex = -0.5 * (value / sigma) ** 2 - np.log(sigma) - _LOG_SQRT_2PI
    return density


def _positive(log_value: Complex, lognormal: bool) -> tuple[Complex, Complex]:
    """Return value and logp (with the Jacobian) of LogNormal(0, 1) or HalfNormal(1)."""
    value = np.exp(log_value)
    if lognormal:
        return value, _normal(log_value, 1.0)
    return value, np.log(2.0) + _normal(value, 1.0) + log_value


def _zero_sum(raw: Complex) -> Complex:
    """The county effects, shape (batch, n), that n - 1 free values stand for.

    Householder's reflection that PyMC's ZeroSumTransform uses: an isometry, so that the prior on
    the effects is the normal density in n - 1 dimensions with no Jacobian.
    """
    n = raw.shape[1] + 1
    total = raw.sum(axis=1, keepdims=True)
    norm = total / (np.sqrt(n) + n)
    effects: Complex = np.concatenate([raw, norm - total / np.sqrt(n)], axis=1) - norm
    return effects


def _logp(data: RadonData, variant: Variant, points: Complex) -> Complex:
    """Joint log density for a batch of points, shape (batch, n) -> (batch,)."""
    value = {p.name: points[:, p.slice] for p in layout(data.n_counties)}
    logp = np.zeros(len(points), dtype=complex)

    intercept = value["intercept"]
    logp += _normal(intercept, 10.0).sum(axis=1)
    if variant.lognormal_intercept:
        intercept = np.exp(intercept)

    effects = []
    for name in ("county", "county_floor"):
        sd, sd_logp = _positive(value[f"{name}_sd"], lognormal=False)
        raw = _zero_sum(value[f"{name}_raw"])
        scale: Complex | float = sd if variant.centered else 1.0
        # n effects on a plane of n - 1 dimensions: the normalisation counts one effect less.
        density = _normal(raw, scale)
        surplus = _normal(np.zeros_like(sd), scale)
        logp += (sd_logp + density.sum(axis=1, keepdims=True) - surplus).sum(axis=1)
        effects.append(raw if variant.centered else raw * sd)
    county, county_floor = (effect[:, data.county] for effect in effects)

    floor_effect = value["floor_effect"]
    logp += _normal(floor_effect, 2.0).sum(axis=1)
    sigma, sigma_logp = _positive(value["sigma"], variant.lognormal_sigma)
    logp += sigma_logp.sum(axis=1)

    mu = intercept + county + (floor_effect + county_floor) * data.floor
    logp += _normal(data.log_radon - mu, sigma).sum(axis=1)
    return logp
