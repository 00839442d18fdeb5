"""The key of one Op, Split, is another one each time it is asked for.

Stands for a property that is part of the key and has no stable text, such as a function or a
random generator. The key of a graph with that Op in it changes too.
"""

import os
from types import ModuleType

MODULE = "pytensor.link.numba.dispatch.basic"


def put_into(module: ModuleType) -> None:
    """Add random digits to the keys of Split."""
    from functools import wraps

    funcify = module.numba_funcify_and_cache_key

    @wraps(funcify)  # with what else the dispatcher has, as `register`
    def numba_funcify_and_cache_key(op: object, *args: object, **kwargs: object) -> tuple:
        function, key = funcify(op, *args, **kwargs)
        if key is not None and type(op).__name__ == "Split":
            key = f"{key}-{os.urandom(8).hex()}"
        return function, key

    module.numba_funcify_and_cache_key = numba_funcify_and_cache_key
