"""Pairs whose graphs are described as data: those of a file, and the counterexamples that are kept.

The operations are a grammar of few words, which `observatory.grow` knows too: it says to
which operands each can be applied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ....described import (
    DescribedGraph,
    DescribedPair,
    Source,
    read_kept,
    read_pairs,
)
from ... import NotInThisRelease
from .alike import all_renamed, cloned, copied, pickled
from .draft import Draft
from .inner import scanned
from .pair import Build, Pair, Side

KEPT = Path(__file__).with_name("kept")
"""The directory of the counterexamples that are kept for ever."""

Settings = Mapping[str, str]
Maker = Callable[[Draft, list[Any], Settings], Any]


def _numbers(text: str) -> tuple[int, ...]:
    """The integers of a text such as "1,0"; none of an empty one."""
    return tuple(int(word) for word in text.split(",") if word)


def _axis(settings: Settings) -> Any:
    """The axes of a reduction; an empty text stands for all of them."""
    axes = _numbers(settings["axis"])
    return axes[0] if len(axes) == 1 else axes or None


def _index(settings: Settings) -> Any:
    """The index of a text such as "1:,::-1", or rows such as "[2,0]"."""
    text = settings["index"]
    if text.startswith("["):
        return list(_numbers(text[1:-1]))

    def one(word: str) -> Any:
        parts = [int(part) if part else None for part in word.split(":")]
        return slice(*parts) if ":" in word else parts[0]

    return tuple(map(one, text.split(",")))


def _by_name(name: str) -> Maker:
    return lambda d, operands, _: getattr(d.pt, name)(*operands)


def _reduction(name: str) -> Maker:
    def made(d: Draft, operands: list[Any], settings: Settings) -> Any:
        more = {"dtype": settings["dtype"]} if settings.get("dtype") else {}
        keep = settings.get("keepdims") == "yes"
        return getattr(d.pt, name)(operands[0], axis=_axis(settings), keepdims=keep, **more)

    return made


def _along(name: str) -> Maker:
    return lambda d, operands, settings: getattr(d.pt, name)(
        operands[0], axis=int(settings["axis"])
    )


def _dimshuffle(_: Draft, operands: list[Any], settings: Settings) -> Any:
    order = ["x" if word == "x" else int(word) for word in settings["order"].split(",")]
    return operands[0].dimshuffle(*order)


def _true_div(d: Draft, operands: list[Any], _: Settings) -> Any:
    # Rewrites make 1 of x / x, also where x is 0: no divisor is 0.
    one, other = operands
    return d.pt.true_div(one, d.pt.abs(other) + 1)


def _assigned(_: Draft, operands: list[Any], settings: Settings) -> Any:
    part = operands[0][_index(settings)]
    return part.set(operands[1]) if settings["how"] == "set" else part.inc(operands[1])


def _scan(d: Draft, operands: list[Any], settings: Settings) -> Any:
    factor = float(settings["factor"])
    return scanned(
        lambda x, sofar: sofar * factor + x, sequences=[operands[0]], outputs_info=[d.constant(1.0)]
    )


def _from_graph(d: Draft, operands: list[Any], settings: Settings) -> Any:
    inner = operands[0].type()
    op = d.op("OpFromGraph", [inner], [d.pt.tanh(inner) * float(settings["factor"])])
    return op(operands[0])


MAKERS: Mapping[str, Maker] = {
    **{name: _by_name(name) for name in (
        "tanh", "arctan", "sigmoid", "neg", "abs", "sqr",
        "add", "sub", "mul", "maximum", "minimum", "arctan2", "gt", "le", "switch",
        "dot",
    )},
    "true_div": _true_div,
    **{name: _reduction(name) for name in (
        "sum", "prod", "max", "min", "mean", "any", "all", "argmax",
    )},
    "cumsum": _along("cumsum"),
    "sort": _along("sort"),
    "dimshuffle": _dimshuffle,
    "join": lambda d, operands, settings: d.pt.join(int(settings["axis"]), *operands),
    "part": lambda _, operands, settings: operands[0][_index(settings)],
    "assign": _assigned,
    "cast": lambda _, operands, settings: operands[0].astype(settings["dtype"]),
    "reshape": lambda _, operands, settings: operands[0].reshape(_numbers(settings["shape"])),
    "alloc": lambda d, operands, settings: d.pt.alloc(operands[0], *_numbers(settings["shape"])),
    "diagonal": lambda d, operands, settings: d.pt.diagonal(
        operands[0], offset=int(settings["offset"])
    ),
    "repeat": lambda d, operands, settings: d.pt.repeat(
        operands[0], int(settings["times"]), axis=int(settings["axis"])
    ),
    "scan": _scan,
    "from_graph": _from_graph,
}  # fmt: skip
"""The operations by name: each takes the draft, the operands and the settings."""

_TREATED: Mapping[str, Callable[[Build], Build]] = {
    "names": lambda build: copied(build, all_renamed),
    "pickled": lambda build: copied(build, pickled),
    "cloned": lambda build: copied(build, cloned),
}


def built(graph: DescribedGraph, *, backwards: bool = False) -> Build:
    """Return the builder of a described graph.

    It raises NotInThisRelease where the release does not have an operation, or refuses it.
    ``backwards``: of independent nodes, make the last ones first.
    """

    def build(d: Draft) -> Any:
        made: dict[int, Any] = {}
        for number, source in enumerate(graph.sources):
            made[number] = _source(d, source)

        def variable(number: int) -> Any:
            if number not in made:
                node = graph.nodes[number - len(graph.sources)]
                order = node.operands[::-1] if backwards else node.operands
                for operand in order:
                    variable(operand)
                operands = [made[operand] for operand in node.operands]
                made[number] = _made(d, node.op, operands, node.settings)
            return made[number]

        for number in reversed(graph.outputs) if backwards else graph.outputs:
            variable(number)
        return [made[number] for number in graph.outputs]

    return build


def pair_of(described: DescribedPair) -> Pair:
    """Return the pair that a description is of."""
    second = built(described.second, backwards=described.treatment == "order")
    if treated := _TREATED.get(described.treatment):
        second = treated(second)
    return Pair(Side(built(described.first)), Side(second), equal=described.equal, generated=True)


def pairs_of_file(path: Path) -> dict[str, Pair]:
    """Return the pairs of a file by name. Raises OSError, and MessageError for other contents."""
    return {name: pair_of(described) for name, described in read_pairs(path).items()}


def kept(directory: Path = KEPT) -> dict[str, Pair]:
    """Return the kept counterexamples by name.

    Raises OSError, and MessageError for a file that holds none.
    """
    found = {path.stem: read_kept(path).pair for path in sorted(directory.glob("*.json"))}
    return {name_of(described, name): pair_of(described) for name, described in found.items()}


def name_of(described: DescribedPair, name: str) -> str:
    """Return the name of a kept pair in the model `keys`."""
    return f"{'equal' if described.equal else 'differ'}.grown.{name}"


def _made(d: Draft, op: str, operands: list[Any], settings: Settings) -> Any:
    if op not in MAKERS:
        raise NotInThisRelease(f"the grammar has no operation {op}")
    try:
        return MAKERS[op](d, operands, settings)
    except NotInThisRelease:
        raise
    except Exception as error:  # a mutation may ask for what PyTensor refuses
        raise NotInThisRelease(f"PyTensor does not make {op}: {error}"[:300]) from error


def _source(d: Draft, source: Source) -> Any:
    import numpy as np

    numbers = [number == "True" if source.dtype == "bool" else float(number)
               for number in source.numbers]  # fmt: skip
    value = np.array(numbers).astype(source.dtype).reshape(source.shape)
    if source.constant:
        return d.constant(value, source.dtype)
    return d.input(value, source.dtype, shape=source.known)
