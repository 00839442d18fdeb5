"""Properties of Ops that no pair changes, each with the reason.

The names are those of pairs without their beginning; a star stands for every Op or property.
"""

from __future__ import annotations

from collections.abc import Mapping

_MEMORY = "it says which memory an Op may overwrite or share; values stay the same"
_ABSTRACT = "a base class: no graph holds it"
_REPLACED = "rewrites replace the Op by others before a key is made; other pairs hold those"
_GRADIENT = "only its gradient depends on it"
_DRAWS = "it changes which numbers are drawn, not what holds for every draw"
_SYMBOLIC = "it holds a graph of other Ops, and no property of its own reaches a key"
_PYTHON = "no backend compiles it: it runs in Python and has no key"

WITHOUT_PAIR: Mapping[str, str] = {
    # Memory
    "*.inplace": _MEMORY,
    "*.overwrite_a": _MEMORY,
    "*.overwrite_b": _MEMORY,
    "*.overwrite_c": _MEMORY,
    "*.overwrite_d": _MEMORY,
    "*.overwrite_dl": _MEMORY,
    "*.overwrite_du": _MEMORY,
    "*.destroy_map": _MEMORY,
    "IfElse.as_view": _MEMORY,
    "ExtractDiag.view": _MEMORY,
    "IncSubtensor.destroyhandler_tolerate_aliased": _MEMORY,
    # What is drawn, derived or computed on the way
    "Prod.no_zeros_in_input": _GRADIENT,
    "MvNormalRV.method": _DRAWS,
    "Eigh.driver": "another routine of LAPACK for the same eigenvalues and, but for signs, vectors",
    "Convolve2d.method": "another algorithm for the same values",
    "SortOp.kind": "equal numbers cannot be told apart after a sort; ArgSortOp.kind has a pair",
    "QZ.sort": "its factors are unique only up to signs, which differ between LAPACK's builds",
    "*.upcast_discrete_output": "the class of the reduction gives it; CAReduce's has a pair",
    "*.initial": "it matters for empty arrays only, on which 3.3's backends differ from Python",
    "Pad.reflect_type": "PyTensor implements one of its values",
    "ProdWithoutZeros.acc_dtype": "its Python code, the reference, ignores it",
    # Random variables
    "*RV.name": "the class of the Op gives it; normal.name is a pair of two classes",
    "*RV.signature": "the class of the Op gives it; multinomial.batch is a pair of two batches",
    "ChoiceWithoutReplacement.*": _DRAWS,
    "PermutationRV.*": "the pair permutation.ndim has two of its signatures",
    "DirichletRV.dtype": "the parameters give it; its sizes have pairs",
    "CategoricalRV.dtype": "an integer of one size; its sizes have pairs",
    "MultinomialRV.dtype": "an integer of one size; its batches have a pair",
    "MvNormalRV.dtype": "the parameters give it; its sizes have pairs",
    # No key
    "ScipyRandomVariable.*": _ABSTRACT,
    "RandomVariable.*": _ABSTRACT,
    "FixedOpCAReduce.*": _ABSTRACT,
    "MaxAndMinCAReduce.*": _ABSTRACT,
    "NonZeroDimsCAReduce.*": _ABSTRACT,
    "BaseBlockDiagonal.*": _ABSTRACT,
    "SolveBase.*": _ABSTRACT,
    "ScalarInnerGraphOp.*": _ABSTRACT,
    "Output.*": "the end of a graph, which is not compiled",
    "PdbBreakpoint.*": _PYTHON,
    "Print.*": _PYTHON,
    "JAXOp.*": "it calls JAX from Python",
    "TRSYL.*": "it has no other property than the memory that it overwrites",
    "Expm.*": _MEMORY,
    "LUFactor.*": _MEMORY,
    # Replaced
    "SpecifyAssumptions.*": "rewrites remove it; it changes no value",
    "Rename.new_dims": _REPLACED,
    "IndexUpdate.mode": _REPLACED,
    "Broadcast.exclude": _REPLACED,
    "ExpandDims.dim": _REPLACED,
    "Squeeze.dims": _REPLACED,
    "UnStack.*": _REPLACED,
    "Stack.new_dim_name": "a name, which no key may hold",
    "XCumReduce.binary_op": _REPLACED,
    "XElemwise.scalar_op": _REPLACED,
    "XBlockwise.*": _REPLACED,
    "XRV.*": _REPLACED,
    "CAReduce.dtype": "its own Python code ignores it; the subclasses have pairs",
    "CAReduce.acc_dtype": "its own Python code ignores it; the subclasses have pairs",
    "*.scalar_op": "the class of the reduction gives it; CAReduce.scalar_op is a pair",
    "All.*": "its result and what it accumulates are booleans",
    "Any.*": "its result and what it accumulates are booleans",
    "Max.dtype": "always that of the input",
    "Max.acc_dtype": "always that of the input",
    "Min.dtype": "always that of the input",
    "Min.acc_dtype": "always that of the input",
    "Grad2F1Loop.fgraph": "one fixed loop; inner.loop_constant is a pair of such loops",
    "SparseBlockDiagonal.format": "of its output, which the pair makes dense; CSM.format is a pair",
    "AddSparseDenseC.*": "rewrites insert it for the C backend, from types that pairs have",
    "Assert.*": "the same Op as CheckAndRaise with one exception; those have pairs",
    "DimShuffle.input_ndim": "its input gives it, and types.ndim is a pair",
}
