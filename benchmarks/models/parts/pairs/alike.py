"""Pairs of equal graphs: what differs may not be part of any key."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from typing import Any

from ... import NotInThisRelease
from .draft import Draft
from .inner import scanned
from .pair import Build, Pair, equal
from .shapes import alloc_of_rows

_OTHER = [3.0, -4.0, 5.0, 6.0, 8.0]


def _graph(d: Draft) -> Any:
    """A graph of several Ops, with constants."""
    x, y = d.vector(), d.input(_OTHER)
    return d.pt.cumsum(d.pt.exp(x / 4.0) * y)[1:] - d.constant([1.0, 2.0, 3.0, 4.0])


def _recurrence(d: Draft) -> Any:
    start = d.constant(1.0)
    return scanned(lambda x, sofar: sofar * 0.5 + x, sequences=[d.vector()], outputs_info=[start])


def _from_graph(d: Draft) -> Any:
    x = d.pt.vector("x", dtype="float64")
    return d.op("OpFromGraph", [x], [d.pt.exp(x) * 3.0])(d.vector()) + 1.0


def _nested(d: Draft) -> Any:
    x, y = d.pt.vector("x", dtype="float64"), d.pt.vector("y", dtype="float64")
    inner = d.op("OpFromGraph", [x], [d.pt.exp(x) * 3.0])
    return d.op("OpFromGraph", [y], [inner(y) + 1.0])(d.vector())


def _draws(d: Draft) -> Any:
    import numpy as np
    import pytensor

    rng = pytensor.shared(np.random.default_rng(85))
    return d.pt.random.normal(d.input(1.0), d.input(2.0), size=(3,), rng=rng)


def _solved(d: Draft) -> Any:
    return d.op("Solve", b_ndim=1)(d.square(), d.input([1.0, -2.0, 3.0]))


def _reduced(d: Draft) -> Any:
    return d.matrix().sum(axis=0) + d.matrix().max(axis=0)


def _indexed(d: Draft) -> Any:
    return d.square()[d.input([2, 0], "int64")][:, 1:].set(d.input(7.5))


def _of_rows(rows: int) -> Build:
    """An Alloc of a matrix whose number of rows is known, and is part of no code."""
    return lambda d: alloc_of_rows(d, rows, rows)


def copied(build: Build, copier: Callable[[list[Any], list[Any]], Any]) -> Build:
    """Return the builder of a graph that is copied; ``copier`` returns new inputs and outputs."""

    def through(d: Draft) -> Any:
        outputs = build(d)
        found = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
        d.inputs, found = copier(d.inputs, found)
        return found

    return through


def pickled(inputs: list[Any], outputs: list[Any]) -> Any:
    """Return the inputs and outputs of the same graph, by way of pickle."""
    return pickle.loads(pickle.dumps((inputs, outputs)))  # noqa: S301 - it was made one line ago


def _deep_copied(inputs: list[Any], outputs: list[Any]) -> Any:
    return copy.deepcopy((inputs, outputs))


def cloned(inputs: list[Any], outputs: list[Any]) -> Any:
    """Return the inputs and outputs of a clone of the graph."""
    from pytensor.graph.basic import clone

    return clone(inputs, outputs)


def _renamed(inputs: list[Any], outputs: list[Any]) -> Any:
    for number, variable in enumerate([*inputs, *outputs]):
        variable.name = f"another_name_{number}"
    return inputs, outputs


def all_renamed(inputs: list[Any], outputs: list[Any]) -> Any:
    """Return the same, with other names; those of constants and of all between them too."""
    try:
        from pytensor.graph.traversal import ancestors
    except ImportError:  # its place before 2.36
        from pytensor.graph.basic import ancestors

    for number, variable in enumerate(ancestors(outputs)):
        variable.name = f"name_{number}"
    return inputs, outputs


def _tagged(inputs: list[Any], outputs: list[Any]) -> Any:
    for number, variable in enumerate([*inputs, *outputs]):
        variable.tag.note = f"note {number}"
    return inputs, outputs


def _after_others(build: Build) -> Build:
    """The builder of a graph before which many others were made: counters have other values."""

    def late(d: Draft) -> Any:
        for other in (_graph, _recurrence, _from_graph, _draws):
            other(Draft())
            other(Draft())
        return build(d)

    return late


_ALIVE: list[Any] = []
"""Variables that stay where they are in memory until the process ends."""


def _shapes(d: Draft, *, apart: bool) -> Any:
    """Broadcast several pairs of vectors; ``apart``: others lie between them in memory.

    A set of variables is in the order of their addresses: up to 3.0.2 such a set decides which
    length of a pair comes first in the graph. The length of each pair is computed in another way,
    so that no pair finds the C module of another one.
    """
    found = []
    for number in range(6):
        x = d.vector()
        if apart:
            _ALIVE.extend(d.pt.vector() for _ in range(number + 1))
        y = d.input(range(10 + number))
        found.append(d.pt.alloc(0.5, *d.pt.broadcast_shape(x, y[number::2])))
    return found


def _parts(d: Draft, *, reverse: bool) -> Any:
    """Two parts that do not depend on each other, made in one order or in the other."""
    x, y = d.vector(), d.input(_OTHER)
    makers: dict[str, Callable[[], Any]] = {
        "one": lambda: d.pt.cumsum(d.pt.exp(x)),
        "other": lambda: d.pt.cumprod(d.pt.sin(y)),
    }
    found = {name: makers[name]() for name in (reversed(makers) if reverse else makers)}
    return [found["one"], found["other"]]


def _of_text(d: Draft) -> Any:
    """The graph comes from a function that is compiled from its text each time."""
    text = "def step(x, sofar):\n    return sofar * 0.25 + x\n"
    names: dict[str, Any] = {}
    exec(compile(text, "<text>", "exec"), names)  # noqa: S102 - the text stands above
    start = d.constant(1.0)
    return scanned(names["step"], sequences=[d.vector()], outputs_info=[start])


def _shared(value: float) -> Build:
    """The builder of a graph with a shared variable; its value is none of the graph's."""

    def build(d: Draft) -> Any:
        import numpy as np
        import pytensor

        weights = pytensor.shared(np.array([value, 2.0, 3.0, 4.0, 5.0]))
        return d.pt.cumsum(d.vector() * weights)

    return build


def _constant(make: Callable[[Any], Any]) -> Build:
    """The builder of a graph with a constant; ``make`` takes numpy."""

    def build(d: Draft) -> Any:
        import numpy as np

        return d.pt.cumsum(d.input([1.5, 2.5, 3.5]) * d.pt.constant(make(np)))

    return build


def _of_part(np: Any) -> Any:
    """A view of part of another array."""
    return np.array([9.0, 1.0, 2.0, 3.0, 9.0])[1:4]


def _read_only(np: Any) -> Any:
    array = np.array([1.0, 2.0, 3.0])
    array.flags.writeable = False
    return array


def _one_constant_twice(d: Draft, *, once: bool) -> Any:
    """Two constants of one value are one object or two."""
    one = d.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    other = one if once else d.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    return d.pt.cumsum(d.vector() * one) - d.pt.cumprod(d.input(_OTHER) / other)


def _axis(number: Callable[[Any], Any], name: str) -> Build:
    """The builder of an Op along an axis that is a number of some type."""

    def build(d: Draft) -> Any:
        import numpy as np

        axis, pt = number(np), d.pt
        if name == "join":
            return pt.join(axis, d.square(), d.positive())
        try:
            return getattr(pt, name)(d.matrix(), axis=axis)
        except TypeError as error:
            raise NotInThisRelease(f"{name} refuses an axis of NumPy: {error}") from None

    return build


def _dtype(given: Callable[[Any], Any], name: str) -> Build:
    """The builder of an Op with a dtype that is given as a string, as a type, or as a dtype."""

    def build(d: Draft) -> Any:
        import numpy as np

        size = d.input(3, "int64")
        dtype = given(np)
        if name == "sum":
            return d.matrix().sum(axis=0, dtype=dtype)
        if name == "astype":
            return d.matrix().astype(dtype)
        return getattr(d.pt, name)(size, dtype=dtype)

    return build


def _slice(number: Callable[[Any], Any]) -> Build:
    def build(d: Draft) -> Any:
        import numpy as np

        return d.vector()[number(np) : number(np) + 2] * 2.0

    return build


def _order(several: Callable[[list[int]], Any]) -> Build:
    """The builder of a transposition whose order is a tuple, a list or an array."""

    def build(d: Draft) -> Any:
        return d.cube().transpose(*several([2, 0, 1]))

    return build


def _number(one: Any) -> Build:
    """The builder of a sum with a number of some type."""

    def build(d: Draft) -> Any:
        return d.pt.exp(d.vector()) + d.pt.as_tensor(one())

    return build


def _float_number() -> Any:
    import numpy as np

    return np.float64(0.1)


def _float_array() -> Any:
    import numpy as np

    return np.array(0.1)


_AXES = ("cumsum", "argmax", "join", "sum", "max")


def _numpy_axis(name: str) -> Pair:
    return equal(_axis(lambda _: 0, name), _axis(lambda np: np.int64(0), name))


def _dtypes(name: str) -> Pair:
    return equal(_dtype(lambda _: "float32", name), _dtype(lambda np: np.dtype("float32"), name))


PAIRS: Mapping[str, Pair] = {
    "equal.again": equal(_graph),
    "equal.again_scan": equal(_recurrence),
    "equal.again_from_graph": equal(_from_graph),
    "equal.again_nested": equal(_nested),
    "equal.again_draws": equal(_draws, compared="types"),
    "equal.again_solve": equal(_solved),
    "equal.again_reduced": equal(_reduced),
    "equal.again_indexed": equal(_indexed),
    "equal.again_text": equal(_of_text),
    "equal.after_others": equal(_graph, _after_others(_graph)),
    "equal.after_others_scan": equal(_recurrence, _after_others(_recurrence)),
    "equal.after_others_from_graph": equal(_from_graph, _after_others(_from_graph)),
    "equal.names": equal(_graph, copied(_graph, _renamed)),
    "equal.names_inside": equal(_graph, copied(_graph, all_renamed)),
    "equal.names_scan": equal(_recurrence, copied(_recurrence, all_renamed)),
    "equal.tags": equal(_graph, copied(_graph, _tagged)),
    "equal.order_of_construction": equal(
        lambda d: _parts(d, reverse=False), lambda d: _parts(d, reverse=True)
    ),
    "equal.elsewhere_in_memory": equal(
        lambda d: _shapes(d, apart=False), lambda d: _shapes(d, apart=True)
    ),
    "equal.pickled": equal(_graph, copied(_graph, pickled)),
    "equal.pickled_scan": equal(_recurrence, copied(_recurrence, pickled)),
    "equal.pickled_from_graph": equal(_from_graph, copied(_from_graph, pickled)),
    "equal.pickled_solve": equal(_solved, copied(_solved, pickled)),
    "equal.deep_copied": equal(_graph, copied(_graph, _deep_copied)),
    "equal.deep_copied_scan": equal(_recurrence, copied(_recurrence, _deep_copied)),
    "equal.deep_copied_from_graph": equal(_from_graph, copied(_from_graph, _deep_copied)),
    "equal.cloned": equal(_graph, copied(_graph, cloned)),
    "equal.cloned_scan": equal(_recurrence, copied(_recurrence, cloned)),
    "equal.cloned_from_graph": equal(_from_graph, copied(_from_graph, cloned)),
    "equal.shared": equal(_shared(1.0)),
    "equal.shared_value": equal(_shared(1.0), _shared(-7.0)),
    "equal.constant": equal(_constant(lambda np: np.array([1.0, 2.0, 3.0]))),
    "equal.constant_of_part": equal(
        _constant(lambda np: np.array([1.0, 2.0, 3.0])), _constant(_of_part)
    ),
    "equal.constant_read_only": equal(
        _constant(lambda np: np.array([1.0, 2.0, 3.0])), _constant(_read_only)
    ),
    "equal.constant_twice": equal(
        lambda d: _one_constant_twice(d, once=True), lambda d: _one_constant_twice(d, once=False)
    ),
    "equal.number": equal(_number(_float_number), _number(_float_array)),
    "equal.alloc_of_lengths": equal(_of_rows(2), _of_rows(3)),
    "equal.slice_of_numpy": equal(_slice(lambda _: 1), _slice(lambda np: np.int64(1))),
    "equal.order_of_numpy": equal(_order(tuple), _order(list)),
    **{f"equal.axis_of_numpy.{name}": _numpy_axis(name) for name in _AXES},
    **{
        f"equal.dtype_of_numpy.{name}": _dtypes(name) for name in ("arange", "eye", "sum", "astype")
    },
}
