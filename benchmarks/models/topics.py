"""What users ask whether PyTensor does it: topics of its design, each a few graphs that answer."""

from __future__ import annotations

from benchmarks.models import Model
from benchmarks.models.parts.ops.case import Cases
from benchmarks.models.parts.small import SmallModel
from benchmarks.models.parts.topics import (
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

GROUPS: dict[str, Cases] = {
    "inner": inner.CASES,
    "blockwise": blockwise.CASES,
    "vectorize": vectorized.CASES,
    "shared": shared.CASES,
    "ifelse": branches.CASES,
    "mask": masks.CASES,
    "loop": stored.CASES,
    "broadcast": broadcasting.CASES,
    "gradient": gradients.CASES,
}

GRAPHS = {f"{group}.{name}": one for group, cases in GROUPS.items() for name, one in cases.items()}

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
