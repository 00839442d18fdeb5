"""numba numbers the functions it compiles 1, 2, 3 again: forked siblings use the same numbers.

Stands for the protection of PyTensor 2.38.3 (random numbers of 128 bits) getting lost. Siblings
store functions of one name under one symbol, and who loads both calls the wrong one:
https://github.com/numba/numba/issues/10486
"""

import itertools
from types import ModuleType

MODULE = "pytensor.link.numba.cache"


def put_into(module: ModuleType) -> None:
    """Undo what the module has just done."""
    module.FunctionIdentity._unique_ids = itertools.count(1)
