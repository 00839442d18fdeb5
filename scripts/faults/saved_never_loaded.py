"""What is stored in the numba cache is never loaded, though the keys are right.

Stands for a stamp that is always newer than what was stored, as the date of a source file that
each process generates anew would be: numba then takes the entry for out of date.
"""

import time
from types import ModuleType

MODULE = "pytensor.link.numba.cache"


def put_into(module: ModuleType) -> None:
    """Date every function's source now."""

    def get_source_stamp(self: object) -> int:  # noqa: ARG001 - the method of a locator
        return time.time_ns()

    module.NumbaPyTensorCacheLocator.get_source_stamp = get_source_stamp
