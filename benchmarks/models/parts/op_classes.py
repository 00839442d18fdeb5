"""The Ops of a release, and those of a graph. PyTensor is imported inside functions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

_OTHER_BACKENDS = ("jax", "pytorch", "mlx", "tests", "d3viz", "__main__")
_WRAPPED = ("scalar_op", "core_op")
"""The attributes in which an Op holds one that it applies to each element or block."""


def nodes_in(outputs: Iterable[Any]) -> Iterator[Any]:
    """Yield every node above some variables once, and after it the nodes of its inner graphs."""
    variables = list(outputs)
    seen = set()
    while variables:
        node = variables.pop().owner
        if node is None or node in seen:
            continue
        seen.add(node)
        variables += node.inputs
        yield node
        for op in _with_wrapped(node.op):
            inner = getattr(op, "fgraph", None)
            if inner is not None:
                yield from nodes_in(inner.outputs)


def ops_in(outputs: Iterable[Any]) -> Iterator[Any]:
    """Yield the Op of every node above some variables, also of inner graphs, once a node.

    The Ops that others wrap follow.
    """
    for node in nodes_in(outputs):
        yield from _with_wrapped(node.op)


def _with_wrapped(op: Any) -> Iterator[Any]:
    """An Op, and the Ops that it applies to each element or block."""
    yield op
    for name in _WRAPPED:
        if (one := getattr(op, name, None)) is not None:
            yield from _with_wrapped(one)


def name_of(op_class: type) -> str:
    """Return the name of a class of Ops with its module, because several share one name."""
    return f"{op_class.__module__}.{op_class.__qualname__}".removeprefix("pytensor.")


def op_classes() -> list[type]:
    """Return every class of Ops that this PyTensor has, by module and name. Imports all of it.

    A module that cannot be imported is named on stderr.
    """
    import pytensor
    from pytensor.graph.op import Op

    for found in walk_packages(pytensor.__path__, "pytensor."):
        if not set(found.name.split(".")) & set(_OTHER_BACKENDS):
            try:
                import_module(found.name)
            except Exception as error:  # a module of something that is not installed
                print(f"{found.name} is not read: {type(error).__name__}", file=sys.stderr)
    left, seen = [Op], {Op}
    while left:
        new = [one for one in left.pop().__subclasses__() if one not in seen]
        left += new
        seen.update(new)
    return sorted(seen, key=lambda one: (one.__module__, one.__qualname__))
