"""Ops that no graph of the model `ops` has on purpose, each with the reason.

A name is that of the class, alone or with its module; a star stands for every class of a module.
"""

from __future__ import annotations

from collections.abc import Mapping

_ABSTRACT = "a base class: no graph has it"
_OTHER_BACKEND = "a rewrite makes it for another backend than numba"
_PYTHON = "no backend implements it: it runs in Python, and no cache has it"

WITHOUT_GRAPH: Mapping[str, str] = {
    # Base classes
    "AbstractRNGConstructor": _ABSTRACT,
    "BaseBLAS": _ABSTRACT,
    "BaseBlockDiagonal": _ABSTRACT,
    "BinaryBitOp": _ABSTRACT,
    "BinaryScalarOp": _ABSTRACT,
    "CAReduce": _ABSTRACT,
    "COp": _ABSTRACT,
    "ExternalCOp": _ABSTRACT,
    "FinalizedOpFromGraph": _ABSTRACT,
    "FixedLogicalComparison": _ABSTRACT,
    "FixedOpCAReduce": _ABSTRACT,
    "FusibleSymbolicOp": _ABSTRACT,
    "GemmRelated": _ABSTRACT,
    "LogicalComparison": _ABSTRACT,
    "MaxAndMinCAReduce": _ABSTRACT,
    "NonZeroDimsCAReduce": _ABSTRACT,
    "Op": _ABSTRACT,
    "OpWithCoreShape": _ABSTRACT,
    "OpenMPOp": _ABSTRACT,
    "RNGConsumerOp": _ABSTRACT,
    "RandomVariable": _ABSTRACT,
    "ScalarInnerGraphOp": _ABSTRACT,
    "ScalarOp": _ABSTRACT,
    "ScipyRandomVariable": _ABSTRACT,
    "ScipyScalarWrapperOp": _ABSTRACT,
    "ScipyVectorWrapperOp": _ABSTRACT,
    "ScipyWrapperOp": _ABSTRACT,
    "SolveBase": _ABSTRACT,
    "SymbolicOp": _ABSTRACT,
    "TensorSymbolicOp": _ABSTRACT,
    "TypeCastingOp": _ABSTRACT,
    "UnaryBitOp": _ABSTRACT,
    "UnaryScalarOp": _ABSTRACT,
    "XOp": _ABSTRACT,
    "XTypeCastOp": _ABSTRACT,
    "_NoPythonCOp": _ABSTRACT,
    "_NoPythonExternalCOp": _ABSTRACT,
    "_NoPythonOp": _ABSTRACT,
    # What a rewrite removes or inserts
    "SpecifyAssumptions": "rewrites remove it; it changes no value",
    "RNGToXRNG": "it only renames the type of a generator, and rewrites remove it",
    "XRNGToRNG": "it only renames the type of a generator, and rewrites remove it",
    "OutputGuard": "only DebugMode inserts it",
    "Output": "the end of a graph, which is not compiled",
    "sparse.rewriting.*": _OTHER_BACKEND,
    "CGemv": _OTHER_BACKEND,
    "CGer": _OTHER_BACKEND,
    "Dot22": _OTHER_BACKEND,
    "Dot22Scalar": _OTHER_BACKEND,
    "Gemm": _OTHER_BACKEND,
    "Gemv": _OTHER_BACKEND,
    "Ger": _OTHER_BACKEND,
    "CpuContiguous": "no function of the public interface makes it",
    # What runs in Python
    "FromFunctionOp": _PYTHON,
    "JAXOp": _PYTHON,
    "MinimizeOp": _PYTHON,
    "MinimizeScalarOp": _PYTHON,
    "PdbBreakpoint": _PYTHON,
    "Print": _PYTHON,
    "RootOp": _PYTHON,
    "RootScalarOp": _PYTHON,
}
