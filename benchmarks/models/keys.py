"""Pairs of graphs that share one cache: their keys must differ where they do, and only there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from . import Model
from .parts.absent import ABSENT
from .parts.pairs.described import pairs_of_file
from .parts.pairs.pair import Pairs
from .parts.pairs.registry import EQUAL, NOT_OF_NUMBA, PAIRS

NO_KEYS = (
    "differ.props.Choose.mode",
    "differ.props.Convolve2d.mode",
    "differ.props.PermuteRowElements.inverse",
    "differ.props.SparseBlockDiagonal.n_inputs",
    "differ.props.TensorInv.ind",
    "differ.props.TensorSolve.axes",
    "differ.props.betabinom.dtype",
    "differ.props.gengamma.dtype",
    "differ.props.halfcauchy.dtype",
    "differ.props.hypergeometric.dtype",
    "differ.props.truncexpon.dtype",
)
"""PyTensor 3.3.8 stores neither graph, so that there is no key that could be equal."""
SUSPECT = (
    "differ.broadcast.indexed",
    "differ.constant.scalar_sign_of_zero",
    "differ.props.Elemwise.scalar_op_dtype",
    "differ.props.FusedElemwise.reduced_dtype",
    "differ.props.ScalarOp.nfunc_spec",
)
"""Their keys are equal in 3.3.8 already. Rewrites make one graph of the first two, and the others
collide. To prove a suspect takes as long as the keys of about twenty pairs."""

QUICK = tuple(name for name in PAIRS if name not in {*NO_KEYS, *ABSENT, *NOT_OF_NUMBA, *SUSPECT})
"""The pairs whose keys are as they should be in PyTensor 3.3.8 with NUMBA, as a sample of the
scenario `pairs_keys` of this model says. A new pair belongs to them unless it is a suspect there,
or has no keys without being meant to have none (`differ.unkeyed`)."""


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
