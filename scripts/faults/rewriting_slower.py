"""Some rewrites that changed nothing are tried a second time on the same node.

Stands for a rewriter that forgets what it has tried. The graph comes out the same; the work is
that of the rewrites themselves, so that it grows with the graph as theirs does.
"""

from types import ModuleType

MODULE = "pytensor.graph.rewriting.basic"
EVERY = 10
"""One fruitless try in so many is made again: 5 to 8 % more functions entered in a warm build."""


def put_into(module: ModuleType) -> None:
    """Try again."""
    rewriter = module.NodeProcessingGraphRewriter
    once = rewriter.process_node
    fruitless = 0

    def process_node(self: object, *args: object, **kwargs: object) -> bool:
        nonlocal fruitless
        changed = once(self, *args, **kwargs)
        if not changed:
            fruitless += 1
            if fruitless % EVERY == 0:
                return once(self, *args, **kwargs)
        return changed

    rewriter.process_node = process_node
