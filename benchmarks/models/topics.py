"""What users ask whether PyTensor does it: topics of its design, each a few graphs that answer."""

from __future__ import annotations

from dataclasses import dataclass

from . import Model
from .parts.ops.case import Cases
from .parts.small import SmallModel
from .parts.topics import (
    blockwise,
    branches,
    broadcasting,
    gradients,
    inner,
    masks,
    shared,
    stored,
    vectorized,
)


@dataclass(frozen=True)
class Topic:
    """One topic: a few graphs that answer what a user asks."""

    title: str
    why: str
    """What users ask, or why it is counted: one sentence."""
    cases: Cases


TOPICS = {
    "inner": Topic(
        "Equal inner graphs",
        "A model repeats layers, and each inner graph should be compiled once.",
        inner.CASES,
    ),
    "blockwise": Topic(
        "Blockwise",
        "A batch of matrices should cost less than a loop, and a batch of one nothing.",
        blockwise.CASES,
    ),
    "vectorize": Topic(
        "vectorize_graph",
        "A graph that is vectorised should be as small as one that was written for a batch.",
        vectorized.CASES,
    ),
    "shared": Topic(
        "Shared variables",
        "A new value must compile nothing, and what does not fit must be refused.",
        shared.CASES,
    ),
    "ifelse": Topic(
        "IfElse",
        "A condition is lazy: the branch that is not taken is not evaluated.",
        branches.CASES,
    ),
    "mask": Topic(
        "set_subtensor against switch",
        "Two ways to write a mask should not differ in what is compiled.",
        masks.CASES,
    ),
    "loop": Topic(
        "What a loop stores",
        "A loop of which only the last value is asked for should not keep the others.",
        stored.CASES,
    ),
    "broadcast": Topic(
        "Broadcasting at run time",
        "A length of 1 that no type knows is an error and no broadcast.",
        broadcasting.CASES,
    ),
    "gradient": Topic(
        "Value and gradient",
        "Value and gradient share work in one function, and rewrites before the gradient help it.",
        gradients.CASES,
    ),
}
"""The topics by the first part of the names of their graphs."""

GRAPHS = {f"{name}.{case}": one for name, t in TOPICS.items() for case, one in t.cases.items()}

MODEL = Model(
    meaning="topics of PyTensor's design, each in a few small graphs",
    reference="NumPy",
    build=lambda _: SmallModel(GRAPHS),
    families=("topics",),
    members=tuple(GRAPHS),
    quick=(
        "inner.op_from_graph.made_otherwise",
        "blockwise.cholesky.useless",
        "vectorize.elementwise",
        "shared.new_value",
        "ifelse.cheap_taken",
        "loop.while.last_two",
        "broadcast.alloc_known",
    ),
    without=("C",),
    because="C alone has no code for some of its operations; C_VM leaves those to Python",
    order=7,
)
