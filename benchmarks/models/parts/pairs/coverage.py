"""Which properties of Ops have a pair: `python -m benchmarks.models.parts.pairs.coverage`.

It runs in an environment under test, and lists the properties of every Op of PyTensor that have
neither a pair nor a reason not to have one. The exit status is 1 if there are any.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..op_classes import op_classes
from .registry import PAIRS
from .unseen import WITHOUT_PAIR

_PREFIX = "differ.props."

OTHER_NAMES = {
    "Alloc.value_shape": (), "AllocEmpty.dtype": ("AllocEmpty.dtype",),
    "SparseCast.out_type": ("Cast.out_type",), "XTranspose.dims": ("Transpose.dims",),
    "XReduce.dims": ("XReduce.dims",), "XCumReduce.dims": ("XCumReduce.dims",),
    "XConcat.dim": ("Concat.dim",), "XStack.stacked_dims": ("Stack.stacked_dims",),
    "XDot.dims": ("Dot.dims",), "HStack.dtype": ("HStack.dtype", "Stack.dtype"),
    "HStack.format": ("HStack.format", "Stack.format"),
    "IfElse.branches": ("LazyIfElse.true_branch", "LazyIfElse.false_branch"),
    "IfElse.n_outs": ("IfElse.n_outs", "LazyIfElse.output_types"),
}  # fmt: skip
"""The properties that a pair stands for, where its name is not that of one."""
_INNER = ("Composite.fgraph", "ScalarLoop.fgraph")
"""Pairs of the topic `inner` have them."""


def properties() -> Iterator[str]:
    """Yield "Op.property" for every class of Ops that this PyTensor has."""
    for one in op_classes():
        for name in getattr(one, "__props__", None) or ():
            yield f"{one.__name__}.{name}"


def covered(name: str) -> bool:
    """Return whether a property has a pair, or a reason not to have one."""
    pairs = {one.removeprefix(_PREFIX) for one in PAIRS if one.startswith(_PREFIX)}
    named = {other for one in pairs for other in OTHER_NAMES.get(one, (one,))}
    op, _, parameter = name.partition(".")
    variable = op.removesuffix("RV").lower()
    of_variable = {f"{one.replace('_', '')}" for one in pairs}
    return (
        name in named
        or name in _INNER
        or f"{_VARIABLES.get(variable, variable)}.{parameter}" in of_variable
        or any(fnmatchcase(name, pattern) for pattern in WITHOUT_PAIR)
    )


_VARIABLES = {"studentt": "t", "truncexponential": "truncexpon", "negbinomial": "nbinom",
              "betabinomial": "betabinom"}  # fmt: skip
"""Names of functions that make a random variable, where its class has another."""


def main() -> None:
    """Print the properties that have nothing, and exit."""
    warnings.simplefilter("ignore")
    found = list(properties())
    left = [name for name in found if not covered(name)]
    print(f"{len(found)} properties, {len(left)} of them without a pair and without a reason")
    for name in left:
        print(f"  {name}")
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
