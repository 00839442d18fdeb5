"""Pairs whose graphs differ inside an Op that holds a graph of its own, or branches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft, module
from .pair import Pair, differ


def outputs_of(scanned: Any) -> Any:
    """Return what a Scan returned without its updates, which newer releases leave out."""
    return scanned[0] if isinstance(scanned, tuple | list) else scanned


def scanned(step: Any, **more: Any) -> Any:
    """Return the outputs of a Scan."""
    import pytensor

    return outputs_of(pytensor.scan(step, **more))


def _scan_constant(d: Draft, factor: float) -> Any:
    start = d.constant(1.0)
    return scanned(
        lambda x, sofar: sofar * factor + x, sequences=[d.vector()], outputs_info=[start]
    )


def _scan_op(d: Draft, multiplies: bool) -> Any:
    def step(x: Any, sofar: Any) -> Any:
        return sofar * x if multiplies else sofar + x

    return scanned(step, sequences=[d.vector()], outputs_info=[d.constant(1.0)])


def _scan_edges(d: Draft, swapped: bool) -> Any:
    """Two sequences that the step takes in one order or in the other."""
    x, y = d.vector(), d.input([3.0, -4.0, 5.0, 6.0, 8.0])
    return scanned(lambda a, b: a - 2.0 * b, sequences=[y, x] if swapped else [x, y])


def _scan_taps(d: Draft, taps: tuple[int, ...]) -> Any:
    start = d.input([1.0, 2.0, 3.0])
    info = {"initial": start, "taps": list(taps)}
    return scanned(lambda first, last: first - 2.0 * last, outputs_info=[info], n_steps=4)


def _scan_steps(d: Draft, steps: int) -> Any:
    return scanned(lambda sofar: sofar * 2.0, outputs_info=[d.input(1.5)], n_steps=steps)


def _scan_backwards(d: Draft, backwards: bool) -> Any:
    return scanned(
        lambda x, sofar: sofar * 0.5 + x,
        sequences=[d.vector()],
        outputs_info=[d.constant(1.0)],
        go_backwards=backwards,
    )


def _scan_until(d: Draft, limit: float) -> Any:
    until = module("scan.utils").until

    def step(sofar: Any) -> Any:
        return sofar * 2.0, until(sofar > limit)

    return scanned(step, outputs_info=[d.input(1.5)], n_steps=9)


def _scan_while(d: Draft, stops: bool) -> Any:
    until = module("scan.utils").until

    def step(sofar: Any) -> Any:
        following = sofar * 2.0
        return (following, until(following > 10.0)) if stops else following

    return scanned(step, outputs_info=[d.input(1.5)], n_steps=9)


def _scan_non_sequences(d: Draft, swapped: bool) -> Any:
    x, a, b = d.vector(), d.input(3.0), d.input(-0.5)
    given = [b, a] if swapped else [a, b]
    return scanned(lambda each, p, q: each * p + q, sequences=[x], non_sequences=given)


def _from_graph(d: Draft, factor: float) -> Any:
    x = d.pt.vector("x", dtype="float64")
    return d.op("OpFromGraph", [x], [d.pt.exp(x) * factor])(d.vector())


def _from_graph_op(d: Draft, name: str) -> Any:
    x = d.pt.vector("x", dtype="float64")
    return d.op("OpFromGraph", [x], [getattr(d.pt, name)(x)])(d.vector())


def _from_graph_edges(d: Draft, swapped: bool) -> Any:
    x, y = d.pt.vector("x", dtype="float64"), d.pt.vector("y", dtype="float64")
    op = d.op("OpFromGraph", [y, x] if swapped else [x, y], [x - 2.0 * y])
    return op(d.vector(), d.input([3.0, -4.0, 5.0, 6.0, 8.0]))


def _from_graph_outputs(d: Draft, swapped: bool) -> Any:
    x = d.pt.vector("x", dtype="float64")
    outputs = [d.pt.exp(x), d.pt.sin(x)]
    return d.op("OpFromGraph", [x], outputs[::-1] if swapped else outputs)(d.vector())[0]


def _from_graph_single(d: Draft, several: bool) -> Any:
    """An inner graph with one output returns the array itself, with two a tuple."""
    x = d.pt.vector("x", dtype="float64")
    outputs = [d.pt.exp(x), d.pt.sin(x)] if several else [d.pt.exp(x)]
    found = d.op("OpFromGraph", [x], outputs)(d.vector())
    return list(found) if several else found


def _nested(d: Draft, factor: float) -> Any:
    """The constant lies two graphs deep."""
    x, y = d.pt.vector("x", dtype="float64"), d.pt.vector("y", dtype="float64")
    inner = d.op("OpFromGraph", [x], [d.pt.exp(x) * factor])
    return d.op("OpFromGraph", [y], [inner(y) + 1.0])(d.vector())


def _two_from_graph(d: Draft, factor: float) -> Any:
    """Of two inner graphs in one function only the second differs."""
    outputs = []
    for inner in (3.0, factor):
        x = d.pt.vector("x", dtype="float64")
        outputs.append(d.op("OpFromGraph", [x], [d.pt.exp(x) * inner])(d.vector()))
    return outputs


def _composite(d: Draft, factor: float) -> Any:
    """Fused into one Composite by every backend."""
    return d.pt.exp(d.vector() * factor) + 1.0


def _composite_edges(d: Draft, swapped: bool) -> Any:
    x, y = d.vector(), d.input([3.0, -4.0, 5.0, 6.0, 8.0])
    one, other = (y, x) if swapped else (x, y)
    return d.pt.exp(one / 4.0) - 2.0 * d.pt.sin(other)


def _composite_shape(d: Draft, grouped: bool) -> Any:
    """The same Ops and constants; only the edges inside differ."""
    x, y = d.vector(), d.input([3.0, -4.0, 5.0, 6.0, 8.0])
    return d.pt.exp(x / y - x) if grouped else d.pt.exp(x / (y - x))


def _branches(d: Draft, swapped: bool) -> Any:
    ifelse = module("ifelse").ifelse
    condition, x = d.input(1, "int8"), d.vector()
    one, other = d.pt.exp(x), d.pt.sin(x)
    return ifelse(condition, other, one) if swapped else ifelse(condition, one, other)


def _branch_constant(d: Draft, factor: float) -> Any:
    ifelse = module("ifelse").ifelse
    condition, x = d.input(0, "int8"), d.vector()
    return ifelse(condition, d.pt.exp(x), d.pt.sin(x) * factor)


def _branch_outputs(d: Draft, several: bool) -> Any:
    """IfElse of one or of two outputs."""
    ifelse = module("ifelse").ifelse
    condition, x = d.input(1, "int8"), d.vector()
    if not several:
        return ifelse(condition, d.pt.exp(x), d.pt.sin(x))
    return list(ifelse(condition, [d.pt.exp(x), x], [d.pt.sin(x), x + 1.0]))


def _checked(parameter: str) -> Any:
    def build(d: Draft, value: Any) -> Any:
        named = {"exc_type": ValueError, "msg": "less than it should be", parameter: value}
        x = d.input(-1.0)
        return d.op("CheckAndRaise", **named)(x, x > 0) * 2.0

    return build


def _loop(d: Draft, factor: float) -> Any:
    """A loop over scalars, of which the special functions' derivatives are made."""
    scalar = module("scalar")
    basic, loop = scalar.float64("x"), module("scalar.loop").ScalarLoop
    op = loop(init=[basic], update=[basic * factor + 1.0], constant=[])
    return d.op("Elemwise", op)(d.input(4, "int64"), d.vector())


def _loop_until(d: Draft, limit: float) -> Any:
    """The same with an end that the values decide."""
    scalar = module("scalar")
    state, loop = scalar.float64("x"), module("scalar.loop").ScalarLoop
    following = state * 2.0 + 1.0
    op = loop(init=[state], update=[following], constant=[], until=scalar.gt(following, limit))
    return d.op("Elemwise", op)(d.input(9, "int64"), d.vector())[0]


PAIRS: Mapping[str, Pair] = {
    "differ.inner.scan_constant": differ(_scan_constant, 0.5, 0.25),
    "differ.inner.scan_op": differ(_scan_op, False, True),
    "differ.inner.scan_sequences": differ(_scan_edges, False, True),
    "differ.inner.scan_non_sequences": differ(_scan_non_sequences, False, True),
    "differ.props.Scan.taps": differ(_scan_taps, (-3, -1), (-3, -2)),
    "differ.props.Scan.n_steps": differ(_scan_steps, 3, 4),
    "differ.props.Scan.go_backwards": differ(_scan_backwards, False, True),
    "differ.props.Scan.until": differ(_scan_until, 5.0, 40.0),
    "differ.props.Scan.as_while": differ(_scan_while, False, True),
    "differ.inner.from_graph_constant": differ(_from_graph, 3.0, 5.0),
    "differ.inner.from_graph_op": differ(_from_graph_op, "sin", "cos"),
    "differ.inner.from_graph_inputs": differ(_from_graph_edges, False, True),
    "differ.inner.from_graph_outputs": differ(_from_graph_outputs, False, True),
    "differ.inner.from_graph_single": differ(_from_graph_single, True, False),
    "differ.inner.from_graph_nested": differ(_nested, 3.0, 5.0),
    "differ.inner.from_graph_second": differ(_two_from_graph, 3.0, 5.0),
    "differ.inner.composite_constant": differ(_composite, 0.5, 0.25),
    "differ.inner.composite_inputs": differ(_composite_edges, False, True),
    "differ.inner.composite_edges": differ(_composite_shape, False, True),
    "differ.inner.loop_constant": differ(_loop, 0.5, 0.25),
    "differ.inner.loop_until": differ(_loop_until, 20.0, 200.0),
    "differ.props.IfElse.branches": differ(_branches, False, True),
    "differ.props.IfElse.constant": differ(_branch_constant, 3.0, 5.0),
    "differ.props.IfElse.n_outs": differ(_branch_outputs, True, False),
    "differ.props.CheckAndRaise.msg": differ(
        _checked("msg"), "it is too small", "it is not positive", compared="messages"
    ),
    "differ.props.CheckAndRaise.exc_type": differ(
        _checked("exc_type"), ValueError, TypeError, compared="messages"
    ),
}
