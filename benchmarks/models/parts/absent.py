"""Graphs of the census that the newest release cannot make with NUMBA, each with the reason.

A graph that cannot be made counts as absent and is no failure, so that a misspelt name would be
absent in every release, and nobody would see it. `python -m benchmarks.absent` compares this list
with what a release makes.
"""

from __future__ import annotations

from collections.abc import Mapping

_OF_C = "it is for the linkers of C and of the virtual machine"

ABSENT: Mapping[str, str] = {
    "convolution.images": "3.3 has no convolution of images any more",
    "differ.flags.cxxflags": _OF_C,
    "differ.linkers.c_then_vm": _OF_C,
    "differ.linkers.vm_then_c": _OF_C,
    "differ.modules.arguments": _OF_C,
    "differ.modules.unversioned": _OF_C,
    "differ.modules.version": _OF_C,
    "differ.props.SolveTriangular.trans": "3.3 has no such parameter any more",
    "equal.modules.one_code": _OF_C,
}
