"""One Op a graph: what of PyTensor can be cached, one name at a time."""

from __future__ import annotations

from . import Model
from .parts.ops import (
    blas,
    constants,
    convolution,
    draws,
    elementwise,
    indexing,
    joining,
    linalg,
    loops,
    named,
    nested,
    reductions,
    shapes,
    sorting,
    sparse,
    special,
    views,
    wide,
)
from .parts.ops.case import Cases
from .parts.ops.untried import WITHOUT_GRAPH
from .parts.small import SmallModel

GROUPS: dict[str, Cases] = {
    "elementwise": elementwise.CASES,
    "special": special.CASES,
    "reduction": reductions.CASES,
    "indexing": indexing.CASES,
    "shape": shapes.CASES,
    "join": joining.CASES,
    "sort": sorting.CASES,
    "linalg": linalg.CASES,
    "blas": blas.CASES,
    "convolution": convolution.CASES,
    "sparse": sparse.CASES,
    "random": draws.CASES,
    "scan": loops.CASES,
    "nested": nested.CASES,
    "view": views.CASES,
    "named": named.CASES,
    "wide": wide.CASES,
    "constant": constants.CASES,
}

GRAPHS = {f"{group}.{name}": one for group, cases in GROUPS.items() for name, one in cases.items()}

QUICK = (
    "elementwise.composite",
    "special.gammaln",
    "reduction.sum_axis",
    "reduction.cumsum_two_layouts",
    "indexing.integers_outer",
    "indexing.set_boolean",
    "join.columns",
    "sort.searchsorted",
    "linalg.cholesky",
    "linalg.solve_triangular",
    "blas.dot_matrix_vector",
    "random.normal.symbolic_size",
    "scan.recurrence",
    "nested.op_from_graph",
    "wide.add_31",
    "wide.chain_120",
)
"""One of every kind that was lost in a release, or that has an implementation of its own kind."""

MODEL = Model(
    meaning="one Op a graph",
    reference="NumPy and SciPy",
    build=lambda _: SmallModel(GRAPHS),
    families=("census",),
    members=tuple(GRAPHS),
    quick=QUICK,
    untried=WITHOUT_GRAPH,
    without=("C",),
    because="C alone has no code for some of its operations; C_VM leaves those to Python",
    order=6,
)
