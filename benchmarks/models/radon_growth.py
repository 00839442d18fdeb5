"""Radon with 10 to 10,000 counties: the same graph, and more data."""

from __future__ import annotations

from typing import Any

from . import Errors, Graph
from .parts.growing.family import Family, model_of
from .parts.radon_data import Variant, generated, point

_HOUSES = 11
"""Houses for each county, as in the model `radon`."""
_CHECKED = 16
"""Entries of the gradient that are checked: each takes the reference as long as the logp."""


def _graph(counties: int) -> Graph:
    import numpy as np

    from .parts import reference
    from .radon import build, compiled_in

    data = generated(houses=_HOUSES * counties, counties=counties)
    inputs, outputs = build(data, Variant.named(""))
    where = point(counties)
    entries = np.unique(np.linspace(0, where.size - 1, _CHECKED).astype(int))
    right = reference.evaluate(data, Variant.named(""), where, entries)

    def check(value: Any) -> Errors:
        errors = right.errors(value[0], np.asarray(value[1])[entries])
        shape = np.shape(value[1]) == where.shape
        return errors if shape else Errors(errors.logp_error, None, wrong=True)

    return Graph(where, compiled_in(inputs, outputs), check)


MODEL = model_of(
    "radon with 10 to 10,000 counties",
    (Family("radon", "counties", (10, 100, 1_000, 10_000), _graph, limit=40.0),),
    order=231,
)
