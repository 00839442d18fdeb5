"""Every key of the numba cache differs between processes.

Stands for a key that is made from something of the process: the default `repr` of an object,
which holds its address, or the name of a temporary file.
"""

import os
from types import ModuleType

MODULE = "pytensor.link.numba.cache"


def put_into(module: ModuleType) -> None:
    """Add the process's number to the key under which numba stores a function."""
    locator = module.NumbaPyTensorCacheLocator
    stable = locator.get_disambiguator

    def get_disambiguator(self: object) -> str:
        return f"{stable(self)}-{os.getpid()}"

    locator.get_disambiguator = get_disambiguator
