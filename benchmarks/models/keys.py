"""Pairs of graphs that share one cache: their keys must differ where they do, and only there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.models import Model
from benchmarks.models.parts.pairs.described import pairs_of_file
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


def _of_file(model: Model, path: Path) -> Model:
    """The model whose pairs a file describes."""
    pairs = pairs_of_file(path)
    equal = tuple(name for name, pair in pairs.items() if pair.equal)
    return replace(model, members=tuple(pairs), equal=equal, quick=(), build=lambda _: Pairs(pairs))


MODEL = Model(
    meaning="pairs of graphs that differ in one thing, or in nothing",
    reference="the Python code of the Ops",
    build=lambda _: Pairs(PAIRS),
    of_file=_of_file,
    families=("pairs",),
    members=tuple(PAIRS),
    equal=EQUAL,
    quick=QUICK,
    without=("C",),
    because="C alone has no code for many Ops; C_VM leaves those to Python",
    order=210,
)
