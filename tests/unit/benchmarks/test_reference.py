"""The reference against scipy's distributions and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import approx_fprime

from observatory.benchmarks.models.parts import radon_data
from observatory.benchmarks.models.parts.radon_data import (
    VARIANTS,
    RadonData,
    Variant,
    layout,
    point,
)
from observatory.benchmarks.models.parts.reference import Reference, evaluate, relative_error


@pytest.fixture(scope="module")
def small() -> RadonData:
    rng = np.random.RandomState(3)
    county = np.sort(np.append(np.arange(4), rng.randint(0, 4, size=11)))
    return RadonData(county, rng.randint(0, 2, size=15).astype(float), rng.normal(size=15))


def logp_of_scipy(data: RadonData, variant: Variant, x: np.ndarray) -> float:
    """The same density from scipy's distributions, on the constrained scale with Jacobians."""
    value = {p.name: x[p.slice] for p in layout(data.n_counties)}
    n = data.n_counties
    # An orthonormal basis of the zero-sum plane, by the reflection that maps e_n to 1/sqrt(n).
    reflector = np.append(np.ones(n - 1), 1.0) / np.sqrt(n)
    u = np.eye(n)[-1] + reflector
    basis = (np.eye(n) - 2 * np.outer(u, u) / (u @ u))[:, :-1]

    logp = stats.norm.logpdf(value["intercept"][0], 0, 10)
    intercept = value["intercept"][0]
    if variant.lognormal_intercept:
        intercept = np.exp(intercept)
    effects = []
    for name in ("county", "county_floor"):
        log_sd = value[f"{name}_sd"][0]
        sd = np.exp(log_sd)
        logp += stats.halfnorm.logpdf(sd) + log_sd
        raw = value[f"{name}_raw"]
        scale = sd if variant.centered else 1.0
        logp += stats.norm.logpdf(raw, 0, scale).sum()
        effects.append((basis @ raw) * (1.0 if variant.centered else sd))
    floor_effect = value["floor_effect"][0]
    logp += stats.norm.logpdf(floor_effect, 0, 2)
    log_sigma = value["sigma"][0]
    sigma = np.exp(log_sigma)
    prior = stats.lognorm(1.0) if variant.lognormal_sigma else stats.halfnorm()
    logp += prior.logpdf(sigma) + log_sigma
    county, county_floor = (e[data.county] for e in effects)
    mu = intercept + county + (floor_effect + county_floor) * data.floor
    return float(logp + stats.norm.logpdf(data.log_radon, mu, sigma).sum())


@pytest.mark.parametrize("name", VARIANTS)
def test_the_density_is_that_of_scipys_distributions(small: RadonData, name: str) -> None:
    x = point(small.n_counties)
    # The zero-sum transform is an isometry of the free values onto the plane: any orthonormal
    # basis gives the same density, but not the same effects; so compare where it does not matter.
    x[layout(small.n_counties)[2].slice] = 0.0
    x[layout(small.n_counties)[5].slice] = 0.0
    variant = Variant.named(name)
    assert evaluate(small, variant, x).logp == pytest.approx(
        logp_of_scipy(small, variant, x), rel=1e-13
    )


@pytest.mark.parametrize("name", VARIANTS)
def test_the_prior_of_zero_sum_effects_is_a_normal_in_one_dimension_less(
    small: RadonData, name: str
) -> None:
    variant = Variant.named(name)
    nobody = RadonData(small.county, small.floor * 0, small.log_radon)
    x = point(small.n_counties)
    raw = layout(small.n_counties)[5]  # without a first floor nothing but the prior sees it
    moved = x.copy()
    moved[raw.slice] += np.array([0.4, -0.2, 0.1])
    scale = np.exp(x[layout(small.n_counties)[4].slice][0]) if variant.centered else 1.0
    expected = (
        stats.norm.logpdf(moved[raw.slice], 0, scale).sum()
        - stats.norm.logpdf(x[raw.slice], 0, scale).sum()
    )
    found = evaluate(nobody, variant, moved).logp - evaluate(nobody, variant, x).logp
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_gradient_is_that_of_finite_differences(small: RadonData, name: str) -> None:
    variant = Variant.named(name)
    x = point(small.n_counties)
    numeric = approx_fprime(x, lambda y: evaluate(small, variant, y).logp, 1e-7)
    np.testing.assert_allclose(evaluate(small, variant, x).gradient, numeric, rtol=2e-5, atol=2e-5)


def test_no_two_variants_have_the_same_value() -> None:
    data = radon_data.generated()
    x = point(data.n_counties)
    values = [evaluate(data, Variant.named(name), x).logp for name in VARIANTS]
    gaps = np.abs(np.subtract.outer(values, values))[np.triu_indices(8, 1)]
    assert gaps.min() > 1e-3


RIGHT = Reference(-100.0, np.array([1.0, -4.0]))


def test_a_value_off_by_more_than_the_tolerance_is_wrong() -> None:
    assert not RIGHT.errors(-100.0 * (1 + 1e-12), [1.0, -4.0]).wrong
    assert RIGHT.errors(-100.0 * (1 + 1e-7), [1.0, -4.0]).wrong
    assert RIGHT.errors(-100.0, [1.0 + 1e-6, -4.0]).wrong


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_wrong(value: float) -> None:
    found = RIGHT.errors(value, [1.0, -4.0])
    assert (found.logp_error, found.wrong) == (None, True)
    assert RIGHT.errors(-100.0, [value, -4.0]).wrong


def test_a_gradient_of_another_shape_is_wrong() -> None:
    assert RIGHT.errors(-100.0, [1.0]).wrong


def test_imaginary_parts_are_compared() -> None:
    assert relative_error([1 + 2j, 3 - 1j], [1 + 2j, 3 - 1j]) == 0
    assert relative_error([1 + 99j, 3 - 1j], [1 + 2j, 3 - 1j]) == pytest.approx(97 / 5**0.5)
    assert relative_error([1.0], [1 + 1j]) == pytest.approx(2**-0.5)


def test_an_array_without_entries_is_right() -> None:
    assert relative_error(np.zeros((0, 3)), np.zeros((0, 3))) == 0
    assert relative_error(np.zeros((0, 3)), np.zeros((3, 0))) is None
