"""Pairs of graphs that share one cache: their keys must differ where they do, and only there."""

from __future__ import annotations

from benchmarks.models import Model
from benchmarks.models.parts.pairs.pair import Pairs
from benchmarks.models.parts.pairs.registry import EQUAL, PAIRS

QUICK = (
    "differ.edges.operands",
    "differ.inputs.order",
    "differ.types.dtype",
    "differ.broadcast.elemwise",
    "differ.constant.last_bit",
    "differ.constant.sign_of_zero",
    "differ.inner.scan_constant",
    "differ.inner.from_graph_constant",
    "differ.inner.composite_constant",
    "differ.flags.fastmath",
    "differ.props.Elemwise.scalar_op",
    "differ.props.CAReduce.axis",
    "differ.props.Sum.axis",
    "differ.props.Sum.dtype",
    "differ.props.All.axis",
    "differ.props.CumOp.axis",
    "differ.props.ARange.dtype",
    "differ.props.Eye.dtype",
    "differ.props.ExtractDiag.offset",
    "differ.props.IncSubtensor.set_instead_of_inc",
    "differ.props.DimShuffle.new_order",
    "differ.props.Join.axis",
    "differ.props.Subtensor.idx_list",
    "differ.props.AdvancedIncSubtensor1.set_instead_of_inc",
    "differ.props.SolveTriangular.lower",
    "differ.size.dirichlet",
    "equal.again",
    "equal.names",
    "equal.pickled",
)
"""Pairs of each kind, and of the properties that are cheap to build; the night builds all."""

MODEL = Model(
    meaning="pairs of graphs that differ in one thing, or in nothing",
    reference="the Python code of the Ops",
    build=lambda _: Pairs(PAIRS),
    families=("pairs",),
    members=tuple(PAIRS),
    equal=EQUAL,
    quick=QUICK,
    without=("C",),
    because="C alone has no code for many Ops; C_VM leaves those to Python",
    order=210,
)
