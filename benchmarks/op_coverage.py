"""Which Ops have a graph of their own: `python -m benchmarks.op_coverage`.

It runs in an environment under test. It rewrites every graph of the model `ops` for numba and lists
the Ops that no graph has, by backend. The exit status is 1 if numba implements one of them that has
no reason in `untried`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping

from .dispatch import coverage, implemented
from .messages import OpCoverage
from .models import NotInThisRelease
from .models.ops import GRAPHS, MODEL
from .probes.graphs import noting_graphs


def ops_of_graphs(names: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Return, by graph, the Ops that it has as it is made and after the rewrites for numba.

    Nothing is compiled. A graph that the release lacks has none.
    """
    found = {}
    for name in names:
        with noting_graphs() as noted:
            try:
                GRAPHS[name].compile("NUMBA")
            except NotInThisRelease:
                pass
            except Exception as error:  # what was seen before it counts all the same
                print(f"{name} raises {type(error).__name__}", file=sys.stderr)
        found[name] = frozenset(noted.ops)
    return found


def without_reason(covered: OpCoverage, backend: str) -> list[str]:
    """Return the Ops of a backend that have neither a graph nor a reason not to have one."""
    return [
        name
        for name, backends in covered.untried.items()
        if backend in backends and not MODEL.why_untried(name)
    ]


def main() -> None:
    """Print the Ops without a graph by backend, and exit."""
    warnings.simplefilter("ignore")
    tried = {op for ops in ops_of_graphs(GRAPHS).values() for op in ops}
    covered = coverage(implemented(), sorted(tried))
    for backend, count in sorted(covered.implemented.items()):
        left = [name for name, backends in covered.untried.items() if backend in backends]
        print(f"{backend}: {count} Ops, {len(left)} of them in no graph")
        for name in left:
            print(f"  {name}: {MODEL.why_untried(name) or 'nobody has written a graph yet'}")
    python = [name for name, backends in covered.untried.items() if not backends]
    print(f"no backend: {len(python)} Ops in no graph: {', '.join(python)}")
    sys.exit(bool(without_reason(covered, "numba")))


if __name__ == "__main__":
    main()
