"""One in twelve calls of a compiled function evaluates its graph twice.

Stands for a self-check that was left on. As the work is that of the call itself, every backend
slows down by about the same share; the rest is the question whether it is time for the check.
"""

from types import ModuleType

MODULE = "pytensor.compile.executor"
EVERY = 12


def put_into(module: ModuleType) -> None:
    """Evaluate again."""
    from itertools import cycle

    function = module.Function
    evaluate = function.__call__
    its_turn = cycle([False] * (EVERY - 1) + [True]).__next__

    def __call__(self: object, *args: object, **kwargs: object) -> object:  # noqa: N807
        # Never where a call changes something: a shared variable would be updated twice.
        if its_turn() and all(each.update is None for each in self.maker.inputs):
            evaluate(self, *args, **kwargs)
        return evaluate(self, *args, **kwargs) if kwargs else evaluate(self, *args)

    function.__call__ = __call__
