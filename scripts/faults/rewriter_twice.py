"""One rewriter tries each node twice; the graph comes out the same.

Stands for a change in one rewriter that makes it search more: about 3 % of the Python calls of a
warm build, all of them in this rewriter.
"""

from types import ModuleType

MODULE = "pytensor.tensor.rewriting.math"


def put_into(module: ModuleType) -> None:
    """Try, forget what was found, and try again."""
    rewriter = module.local_greedy_distributor
    once = rewriter.transform

    def transform(*args: object, **kwargs: object) -> object:
        once(*args, **kwargs)
        return once(*args, **kwargs)

    rewriter.transform = transform
