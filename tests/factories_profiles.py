"""Profiles made by a formula, for graphs and exports of them. FOR TESTS ONLY."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from observatory.dashboard.pages.flame import SCRIPTS, graph
from observatory.dashboard.rendering import alone

HOSTILE = "</title><script>console.error(1)</script>\"'><img src=x onerror=alert(1)>"

Stack = tuple[tuple[str, ...], float]


def profiles(nodes: int = 2000) -> tuple[list[Stack], list[Stack]]:
    """BASE and HEAD, of so many nodes: in HEAD the function `grown` does four times the work."""
    chance = random.Random(nodes)
    chains: list[tuple[str, ...]] = [("(build)",)]
    while len(chains) < nodes:
        caller = chains[int(len(chains) * chance.random() ** 1.6)]
        name = f"pytensor.graph.rewriting.basic:Rewriter{len(chains) % 400}.transform"
        chains.append((*caller, name))
    base = [(chain, float(chance.randint(1, 2000))) for chain in chains]
    head = [(chain, weight * (1 + (number % 7 == 0) * 0.01)) for number, (chain, weight) in
            enumerate(base)]  # fmt: skip
    base += [(("(build)", "grown"), 20_000.0), (("(build)", "gone"), 9_000.0)]
    head += [(("(build)", "grown"), 80_000.0), (("(build)", HOSTILE), 50_000.0)]
    return base, head


def write_page(folder: Path, **changes: Any) -> Path:
    """Write the page of a flame graph, which stands alone; return its path."""
    values = {
        "title": "Calls of a warm build", "sentence": "", "labels": ("3.3.6", "3.3.7"),
        "compared": True, "graphs": [graph(*profiles(), "calls")],
    }  # fmt: skip
    path = folder / "flame.html"
    written = {"flame": values | changes, "version": "0"}
    path.write_bytes(alone("flame_alone.html", written, SCRIPTS))
    return path
