"""Pairs that differ in a property of an elementwise Op or of a reduction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ... import NotInThisRelease
from .draft import Draft, module
from .pair import Pair, differ


def _scalar(name: str) -> Any:
    """A scalar Op: since 2.0 those of special functions live in a module of their own."""
    try:
        return getattr(module("scalar"), name)
    except NotInThisRelease:
        return getattr(module("scalar.math"), name)


def _unary(d: Draft, name: str) -> Any:
    return d.op("Elemwise", _scalar(name))(d.input([0.75, 0.5, 0.25, 0.125, 0.9]))


def _negative(d: Draft, name: str) -> Any:
    return d.op("Elemwise", _scalar(name))(d.input([-0.75, -1.5, -0.25, -2.0]))


def _unsigned(d: Draft, name: str) -> Any:
    return d.op("Elemwise", _scalar(name))(d.input([0, 3, 7, 40], "uint8"))


def _complex(d: Draft, name: str) -> Any:
    return d.op("Elemwise", _scalar(name))(d.input([0.75 - 1.0j, 3.0j, -2.5], "complex128"))


def _binary(d: Draft, name: str) -> Any:
    operands = d.input([0.75, 1.5, 2.25]), d.input([3.0, 0.5, 1.25])
    return d.op("Elemwise", _scalar(name))(*operands)


def _of_integers(d: Draft, name: str) -> Any:
    return d.op("Elemwise", _scalar(name))(d.counts(), d.input([2, 3, 2, 1, 5], "int64"))


def _in_place(build: Callable[[Draft, Any], Any]) -> Any:
    """The builder of an Op that may overwrite its input, or may not: it is returned as well."""

    def built(d: Draft, in_place: bool) -> Any:
        sums = d.pt.cumsum(d.vector())
        found = build(d, sums)
        return found if in_place else [found, sums]

    return built


def _cast(d: Draft, dtype: str) -> Any:
    return d.input([0.75, -1.5, 300.25]).astype(dtype)


def _cast_positive(d: Draft, dtype: str) -> Any:
    """To types of the width that numba computes in, so that nothing is narrowed after the cast."""
    return d.input([0.75, 1.5, 300.25]).astype(dtype)


def _to_float(d: Draft, to_float: bool) -> Any:
    """A scalar Op says by itself which dtype its output has."""
    scalar = module("scalar")
    preference = scalar.upgrade_to_float if to_float else scalar.upcast_out
    op = d.op("Elemwise", scalar.Add(preference, name="plus"))
    return op(d.counts(), d.input([2, 3, 2, 1, 5], "int64"))


def _of_a_users_class(d: Draft, function: str) -> Any:
    """A user writes an Op into a notebook, and later another one with its name."""
    import numpy as np

    scalar = module("scalar")
    own = {
        "nfunc_spec": (function, 1, 1),
        "impl": lambda _, x: getattr(np, function)(x),
        "__module__": "__main__",
    }
    op = type("Mine", (scalar.UnaryScalarOp,), own)(scalar.upgrade_to_float, name="mine")
    return d.op("Elemwise", op)(d.input([0.75, 0.5, 0.25, 0.125, 0.9]))


def _clip(d: Draft, upper: bool) -> Any:
    x = d.vector()
    return d.pt.clip(x, -1.0, 1.0) if upper else d.pt.switch(x > -1.0, x, 1.0)


def _reduced(name: str, parameter: str, **others: Any) -> Any:
    """The builder of a reduction of a matrix, one of whose parameters differs."""

    def build(d: Draft, value: Any) -> Any:
        return d.op(name, **{"axis": None, **others, parameter: value})(d.matrix() / 2.0)

    return build


def _accumulated(name: str, numbers: list[float]) -> Any:
    """The builder of a reduction of numbers of 32 bits, which loses some unless it has 64."""

    def build(d: Draft, dtype: str) -> Any:
        op = d.op(name, axis=None, dtype="float32", acc_dtype=dtype)
        return op(d.input(numbers, "float32"))

    return build


def _of_booleans(name: str) -> Any:
    def build(d: Draft, axis: Any) -> Any:
        return d.op(name, axis)(d.input([[1, 1, 1], [1, 0, 0]], "bool"))

    return build


def _scalar_op(d: Draft, name: str) -> Any:
    return d.op("CAReduce", _scalar(name), axis=(0,))(d.input([[3, 5], [6, 7]], "int64"))


def _upcast(d: Draft, upcasts: bool) -> Any:
    """A sum that is no Sum but the Op of all reductions."""
    op = d.op("CAReduce", _scalar("add"), axis=(0,), upcast_discrete_output=upcasts)
    return op(d.input([[100, 90], [80, 70]], "int8"))


def _fused_dtype(d: Draft, dtype: str) -> Any:
    """A reduction of an elementwise Op: 3.3 fuses both into one function."""
    return d.op("Sum", axis=None, dtype=dtype, acc_dtype="float64")(d.pt.exp(d.vector()))


def _fused_precision(d: Draft, dtype: str) -> Any:
    """Numbers of 32 bits whose sum loses the small ones, unless it has 64."""
    summed = d.op("Sum", axis=None, dtype="float32", acc_dtype=dtype)
    return summed(d.input([1e8, 1.0, -1e8, 0.5], "float32") * d.input(2.0, "float32"))


def _fused_kind(d: Draft, name: str) -> Any:
    return getattr(d.pt, name)(d.pt.exp(d.matrix() / 64.0), axis=1)


def _fused_axis(d: Draft, axis: int) -> Any:
    return d.pt.exp(d.matrix() / 128.0).sum(axis=axis)


def _fused_index(d: Draft, position: int) -> Any:
    """An elementwise Op reads one operand through an index; 3.3 fuses both."""
    operands = [d.vector(), d.input([3.0, -4.0, 5.0, 6.0, 8.0])]
    index = d.counts()
    operands[position] = operands[position][index]
    return operands[0] - 2.0 * operands[1]


def _fused_write(d: Draft, adds: bool) -> Any:
    changed = d.pt.exp(d.vector())
    target = d.input([3.0, -4.0, 5.0, 6.0, 8.0])[d.counts()]
    return target.inc(changed) if adds else target.set(changed)


def _where(d: Draft, first: str) -> Any:
    cond, x, y = d.input([1, 0, 1], "bool"), d.input([1.0, 2.0, 3.0]), d.input([-1.0, -2.0, -3.0])
    return d.pt.switch(cond, x, y) if first == "x" else d.pt.switch(cond, y, x)


def _softmax(name: str) -> Any:
    def build(d: Draft, axis: Any) -> Any:
        return d.op(name, axis=axis)(d.matrix() / 64.0)

    return build


def _cumulative(parameter: str, **others: Any) -> Any:
    def build(d: Draft, value: Any) -> Any:
        return d.op("CumOp", **{"axis": 0, "mode": "add", **others, parameter: value})(d.matrix())

    return build


PAIRS: Mapping[str, Pair] = {
    "differ.props.Elemwise.scalar_op": differ(_unary, "sin", "cos"),
    "differ.props.Elemwise.scalar_op_binary": differ(_binary, "sub", "true_div"),
    "differ.props.Elemwise.scalar_op_compared": differ(_binary, "lt", "ge"),
    "differ.props.Elemwise.scalar_op_special": differ(_unary, "gammaln", "psi"),
    "differ.props.Elemwise.scalar_op_bessel": differ(_unary, "j0", "j1"),
    "differ.props.Elemwise.scalar_op_error": differ(_unary, "erf", "erfc"),
    "differ.props.Elemwise.scalar_op_logistic": differ(_unary, "sigmoid", "softplus"),
    "differ.props.Elemwise.scalar_op_negative": differ(_negative, "log1mexp", "reciprocal"),
    "differ.props.Elemwise.scalar_op_unsigned": differ(_unsigned, "sign", "sigmoid"),
    "differ.props.Elemwise.scalar_op_complex": differ(_complex, "sign", "conj"),
    "differ.props.Elemwise.scalar_op_integers": differ(_of_integers, "int_div", "mod"),
    "differ.props.Elemwise.scalar_op_bits": differ(_of_integers, "and_", "or_"),
    "differ.props.Elemwise.scalar_op_rounding": differ(_unary, "floor", "ceil"),
    "differ.props.Elemwise.scalar_op_dtype": differ(_to_float, True, False),
    "differ.props.ScalarOp.nfunc_spec": differ(_of_a_users_class, "sin", "cos"),
    "differ.props.Elemwise.inplace_pattern": differ(
        _in_place(lambda d, x: d.pt.exp(x)), True, False
    ),
    "differ.props.IncSubtensor.inplace": differ(
        _in_place(lambda d, x: x[1:4].set(d.input(9.0))), True, False
    ),
    "differ.props.Elemwise.inputs": differ(_where, "x", "y"),
    "differ.props.Elemwise.arity": differ(_clip, True, False),
    "differ.props.Cast.o_type": differ(_cast, "int64", "int32"),
    "differ.props.Cast.o_type_unsigned": differ(_cast, "int16", "float32"),
    "differ.props.Cast.o_type_wide": differ(_cast_positive, "int64", "uint64"),
    "differ.props.CAReduce.scalar_op": differ(_scalar_op, "and_", "or_"),
    "differ.props.CAReduce.upcast_discrete_output": differ(_upcast, False, True),
    "differ.props.CAReduce.axis": differ(_reduced("Sum", "axis"), (0,), (0, 1)),
    "differ.props.Sum.axis": differ(_reduced("Sum", "axis"), (0,), (1,)),
    "differ.props.Sum.dtype": differ(
        _reduced("Sum", "dtype", acc_dtype="float64"), "float64", "float32"
    ),
    "differ.props.Sum.acc_dtype": differ(
        _accumulated("Sum", [1e8, 1.0, -1e8, 0.5]), "float64", "float32"
    ),
    "differ.props.Prod.axis": differ(_reduced("Prod", "axis"), (0,), (1,)),
    "differ.props.Prod.dtype": differ(
        _reduced("Prod", "dtype", acc_dtype="float64"), "float64", "float32"
    ),
    "differ.props.Prod.acc_dtype": differ(
        _accumulated("Prod", [1e-30, 1e-30, 1e30, 1e30]), "float64", "float32"
    ),
    "differ.props.ProdWithoutZeros.axis": differ(_reduced("ProdWithoutZeros", "axis"), (0,), (1,)),
    "differ.props.ProdWithoutZeros.dtype": differ(
        _reduced("ProdWithoutZeros", "dtype", acc_dtype="float64"), "float64", "float32"
    ),
    "differ.props.Max.axis": differ(_reduced("Max", "axis"), (0,), (1,)),
    "differ.props.Min.axis": differ(_reduced("Min", "axis"), (0,), (1,)),
    "differ.props.All.axis": differ(_of_booleans("All"), (0,), (1,)),
    "differ.props.Any.axis": differ(_of_booleans("Any"), (0,), (1,)),
    "differ.props.Argmax.axis": differ(_reduced("Argmax", "axis"), (0,), (1,)),
    "differ.props.FusedElemwise.reduced_axis": differ(_fused_axis, 0, 1),
    "differ.props.FusedElemwise.reduced_op": differ(_fused_kind, "sum", "max"),
    "differ.props.FusedElemwise.reduced_dtype": differ(_fused_dtype, "float64", "float32"),
    "differ.props.FusedElemwise.reduced_acc_dtype": differ(_fused_precision, "float64", "float32"),
    "differ.props.FusedElemwise.inplace_pattern": differ(
        _in_place(lambda d, x: d.pt.exp(x / 8.0 + d.input([0.5, 1.5, 2.5, 3.5])[d.counts()])),
        True,
        False,
    ),
    "differ.props.FusedElemwise.indexed_inputs": differ(_fused_index, 0, 1),
    "differ.props.FusedElemwise.indexed_outputs": differ(_fused_write, True, False),
    "differ.props.Softmax.axis": differ(_softmax("Softmax"), 0, 1),
    "differ.props.LogSoftmax.axis": differ(_softmax("LogSoftmax"), 0, 1),
    "differ.props.LogSumExp.axis": differ(_softmax("LogSumExp"), (0,), (1,)),
    "differ.props.CumOp.axis": differ(_cumulative("axis"), 0, 1),
    "differ.props.CumOp.mode": differ(_cumulative("mode"), "add", "mul"),
}
