"""Pairs that differ in inputs, in outputs, in their types, or in what is connected to what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft, module
from .numba_ops import one_of_many
from .pair import OF_C, OF_NUMBA, Pair, Side, differ

_OTHER = [3.0, -4.0, 5.0, 6.0, 8.0]


def _operands(d: Draft, swapped: bool) -> Any:
    x, y = d.vector(), d.input(_OTHER)
    return d.pt.exp(y) - x if swapped else d.pt.exp(x) - y


def _function_inputs(d: Draft, swapped: bool) -> Any:
    """The graph is one and the same; the function takes its inputs in another order."""
    values = [0.75, -1.5, 2.25, 3.0, -0.5], _OTHER
    if swapped:
        y, x = d.input(values[0]), d.input(values[1])
    else:
        x, y = d.input(values[0]), d.input(values[1])
    return d.pt.cumsum(x) - 2.0 * d.pt.cumsum(y)


def _function_outputs(d: Draft, swapped: bool) -> Any:
    x = d.vector()
    outputs = [d.pt.cumsum(x), d.pt.cumprod(x)]
    return outputs[::-1] if swapped else outputs


def _input_or_output(d: Draft, of_output: bool) -> Any:
    """Return outputs of two nodes; the second has the input, or the output of the first one."""
    x = d.vector()
    total = d.pt.cumsum(x)
    return [total, d.pt.cumprod(total if of_output else x)]


def _chain_outputs(d: Draft, which: slice) -> Any:
    """Return outputs of a chain, whose nodes have one order only: the outputs alone differ."""
    total = d.pt.cumsum(d.vector())
    return [total, d.pt.cumprod(total)][which]


def _outputs(d: Draft, several: int) -> Any:
    x = d.vector()
    return [d.pt.cumsum(x), d.pt.cumprod(x), x[::-1] * 2.0][:several]


def _output_twice(d: Draft, twice: bool) -> Any:
    x = d.vector()
    total = d.pt.cumsum(x)
    return [total, total] if twice else [total, d.pt.cumprod(x)]


def _output_of_node(d: Draft, second: bool) -> Any:
    """Return one of the two outputs of a node, which have one type."""
    return d.pt.linalg.slogdet(d.square())[int(second)]


def _input_as_output(d: Draft, first: bool) -> Any:
    x, y = d.vector(), d.input(_OTHER)
    return [d.pt.cumsum(x) + y, x if first else y]


def _one_or_two(d: Draft, two: bool) -> Any:
    """An Op with one variable twice, or with two variables."""
    x, y = d.vector(), d.input(_OTHER)
    return x[::-1] - d.pt.cumsum(y if two else x)


def _unused(d: Draft, first: bool) -> Any:
    x, y = d.vector(), d.input(_OTHER)
    return d.pt.cumsum(x if first else y)


def _depth(d: Draft, inner: bool) -> Any:
    """The same Ops on a chain, in another order."""
    x = d.input([3.0, 1.0, 2.0])
    return d.pt.cumsum(x)[::-1] if inner else d.pt.cumsum(x[::-1])


def _shared_part(d: Draft, third: bool) -> Any:
    """Three intermediate results: which of them the last Op takes."""
    x = d.vector()
    one, two, three = d.pt.cumsum(x), x[::2], x[::-1]
    return d.pt.join(0, one, two, three if third else one)


def _constant_side(d: Draft, right: bool) -> Any:
    x, c = d.vector(), d.constant(_OTHER)
    return d.pt.exp(x) - c if right else c - d.pt.exp(x)


def _dtype(d: Draft, dtype: str) -> Any:
    return d.vector(dtype)[::-1] * 2


def _dtype_of_one(d: Draft, first: bool) -> Any:
    """Which of two inputs is the integer."""
    x = d.input([1.5, 2.5], "float64" if first else "int64")
    y = d.input([3.5, 4.5], "int64" if first else "float64")
    return x - 2 * y


def _dtype_unsigned(d: Draft, dtype: str) -> Any:
    """Differences of unsigned numbers are positive."""
    return d.input([1, 5], dtype) - d.input([3, 2], dtype)


def _ndim(d: Draft, ndim: int) -> Any:
    return d.pt.exp(d.input([0.5, 1.5, 2.5] if ndim == 1 else [[0.5, 1.5, 2.5]])) + 1.0


def _broadcast(d: Draft, rows: int, factor: float = 2.0) -> Any:
    """Elemwise of static shape (1, n), which broadcasts, or (m, n).

    With another factor no entry of the cache serves two pairs, which could hide a collision.
    """
    x = d.input([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]][:rows], shape=(rows, 3))
    return x - factor * d.input([[1.0, 3.0, 5.0], [7.0, 11.0, 13.0]], shape=(2, 3))


def _broadcast_which(d: Draft, first: bool) -> Any:
    row, column = [[1.0, 2.0]], [[3.0], [4.0]]
    x = d.input(row if first else column, shape=(1, None) if first else (None, 1))
    y = d.input(column if first else row, shape=(None, 1) if first else (1, None))
    return x - 2.0 * y


def _broadcast_scalar(d: Draft, ones: bool) -> Any:
    """A vector of static length 1 or of unknown length."""
    x = d.input([2.5] if ones else [2.5, 3.5, 4.5], shape=(1,) if ones else (None,))
    return d.pt.exp(x) * d.input([1.0, 2.0, 3.0], shape=(3,))


def _broadcast_batch(d: Draft, ones: bool) -> Any:
    """The batch dimension of Blockwise has static length 1, or 2.

    Of a convolution, as rewrites make a matrix of a batch of right-hand sides.
    """
    values = [[4.0, 1.0, 0.5, 3.0], [5.0, 2.0, 1.5, 7.0]]
    x = d.input(values[:1] if ones else values, shape=(1 if ones else 2, None))
    kernels = d.input([[1.0, 2.0], [3.0, 4.0]], shape=(2, None))
    return module("tensor.signal").convolve1d(x, kernels, mode="valid")


def _broadcast_sum(d: Draft, ones: bool) -> Any:
    x = d.input([[1.0, 2.0]] if ones else [[1.0, 2.0], [3.0, 4.0]], shape=(1 if ones else 2, 2))
    return d.pt.exp(x).sum(axis=0)


def _broadcast_set(d: Draft, ones: bool) -> Any:
    value = d.input([9.0] if ones else [7.0, 8.0, 9.0], shape=(1 if ones else 3,))
    return d.vector()[1:4].set(value)


def _broadcast_advanced(d: Draft, ones: bool) -> Any:
    """An index of static length 1 that broadcasts against another."""
    i = d.input([1] if ones else [1, 0, 2], "int64", shape=(1 if ones else 3,))
    return d.square()[i, d.input([0, 1, 2], "int64", shape=(3,))]


def _broadcast_join(d: Draft, ones: bool) -> Any:
    """The dimension that is not joined has static length 1, or 2."""
    value = [[1.0, 2.0]] if ones else [[1.0, 2.0], [3.0, 4.0]]
    x = d.input(value, shape=(1 if ones else 2, None))
    return d.pt.join(1, x, x * 2.0)


def _shared(d: Draft, vector: bool) -> Any:
    """A shared variable that is a vector or a number."""
    import numpy as np
    import pytensor

    value = np.array([1.0, 2.0, 3.0, 4.0, 5.0] if vector else 2.5)
    return d.vector() * pytensor.shared(value)


def _several_inputs(d: Draft, count: int) -> Any:
    """A sum of as many inputs; the last one counts twice."""
    inputs = [d.input([float(n)] * 2) for n in range(1, count + 1)]
    return d.pt.join(0, *inputs) - 2.0 * inputs[-1][0]


def _past_limit(d: Draft, place: int) -> Any:
    """An Op with one input more than the 1,000 that numba takes as a tuple."""
    scalars = module("scalar")
    x, y = (d.given(scalars.float64(), value) for value in (2.0, 3.0))
    return one_of_many()(place)(*[x] * 1000, y)


def _wide(d: Draft, swapped: bool) -> Any:
    """Two of twelve inputs change places."""
    inputs = [d.input([float(n * n)]) for n in range(12)]
    if swapped:
        inputs[9], inputs[10] = inputs[10], inputs[9]
    return d.pt.join(0, *inputs)


def _positional(d: Draft, offset: int) -> Any:
    """Nominal variables have no names, only positions: two linkers gave them one key."""
    import numpy as np
    from pytensor.graph.basic import NominalVariable

    kind = d.pt.vector("x", shape=(5,), dtype="float64").type
    x = d.given(NominalVariable(0, kind), np.array([0.75, -1.5, 2.25, 3.0, -0.5]))
    y = d.given(NominalVariable(1, kind), np.array(_OTHER))
    return x + np.arange(offset, offset + 5) * y


PAIRS: Mapping[str, Pair] = {
    "differ.edges.operands": differ(_operands, False, True),
    "differ.edges.one_or_two": differ(_one_or_two, False, True),
    "differ.edges.chain": differ(_depth, False, True),
    "differ.edges.shared_part": differ(_shared_part, False, True),
    "differ.edges.constant_side": differ(_constant_side, False, True),
    "differ.edges.wide": differ(_wide, False, True),
    "differ.inputs.order": differ(_function_inputs, False, True),
    "differ.inputs.unused": differ(_unused, False, True),
    "differ.inputs.number": differ(_several_inputs, 3, 4),
    "differ.inputs.shared": differ(_shared, False, True),
    "differ.inputs.past_limit": differ(_past_limit, 0, 1000, linkers=OF_NUMBA),
    "differ.outputs.order": differ(_function_outputs, False, True),
    "differ.edges.input_or_output": differ(_input_or_output, False, True),
    "differ.outputs.chain_order": differ(_chain_outputs, slice(None), slice(None, None, -1)),
    "differ.outputs.chain_which": differ(_chain_outputs, slice(None), slice(1, None)),
    "differ.outputs.number": differ(_outputs, 1, 2),
    "differ.outputs.number_3": differ(_outputs, 1, 3),
    "differ.outputs.twice": differ(_output_twice, False, True),
    "differ.outputs.of_node": differ(_output_of_node, False, True),
    "differ.outputs.input": differ(_input_as_output, False, True),
    "differ.types.dtype": differ(_dtype, "float64", "float32"),
    "differ.types.dtype_integer": differ(_dtype, "int64", "int32"),
    "differ.types.dtype_unsigned": differ(_dtype_unsigned, "int8", "uint8"),
    "differ.types.dtype_of_one": differ(_dtype_of_one, False, True),
    "differ.types.ndim": differ(_ndim, 1, 2),
    "differ.broadcast.elemwise": differ(_broadcast, 1, 2),
    "differ.broadcast.elemwise_reversed": differ(lambda d, rows: _broadcast(d, rows, 3.0), 2, 1),
    "differ.broadcast.elemwise_which": differ(_broadcast_which, False, True),
    "differ.broadcast.elemwise_vector": differ(_broadcast_scalar, True, False),
    "differ.broadcast.blockwise": differ(_broadcast_batch, True, False),
    "differ.broadcast.reduced": differ(_broadcast_sum, True, False),
    "differ.broadcast.set": differ(_broadcast_set, True, False),
    "differ.broadcast.indexed": differ(_broadcast_advanced, True, False),
    "differ.broadcast.joined": differ(_broadcast_join, True, False),
    "differ.linkers.c_then_vm": Pair(
        Side(lambda d: _positional(d, 0), linker="c", borrowed=True),
        Side(lambda d: _positional(d, 0), linker="cvm", borrowed=True),
        linkers=OF_C,
    ),
    "differ.linkers.vm_then_c": Pair(
        Side(lambda d: _positional(d, 1), linker="cvm", borrowed=True),
        Side(lambda d: _positional(d, 1), linker="c", borrowed=True),
        linkers=OF_C,
    ),
}
