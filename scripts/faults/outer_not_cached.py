"""The outer graph is never cached, the functions of its Ops are.

Stands for one Op or constant for which PyTensor has no key: then the graph around it has none
either, and numba is told not to store it.
"""

from types import ModuleType

MODULE = "pytensor.link.numba.dispatch.basic"


def put_into(module: ModuleType) -> None:
    """Withhold the key of graphs that stand in no other graph."""
    from functools import wraps

    funcify = module.numba_funcify_and_cache_key

    @wraps(funcify)  # with what else the dispatcher has, as `register`
    def numba_funcify_and_cache_key(op: object, *args: object, **kwargs: object) -> tuple:
        function, key = funcify(op, *args, **kwargs)
        # A graph hands what names its variables down to everything in it.
        outer = isinstance(op, module.AbstractFunctionGraph) and "unique_name" not in kwargs
        return function, None if outer else key

    module.numba_funcify_and_cache_key = numba_funcify_and_cache_key
