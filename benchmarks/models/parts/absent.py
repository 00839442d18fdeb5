"""Graphs of the census that the newest release cannot make with NUMBA, each with the reason.

A graph that cannot be made counts as absent and is no failure, so that a misspelt name would be
absent in every release, and nobody would see it. `python -m benchmarks.absent` compares this list
with what a release makes.
"""

from __future__ import annotations

from collections.abc import Mapping

ABSENT: Mapping[str, str] = {
    "convolution.images": "3.3 has no convolution of images any more",
    "differ.props.SolveTriangular.trans": "3.3 has no such parameter any more",
}
