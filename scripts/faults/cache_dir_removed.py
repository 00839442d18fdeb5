"""The directory of the numba cache is removed after PyTensor was imported.

Stands for a clean-up at start, or for a temporary directory that somebody else empties: PyTensor
makes the directory when it is imported and never looks again.
"""

from types import ModuleType

MODULE = "pytensor.link.numba.cache"


def put_into(module: ModuleType) -> None:
    """Remove the directory that the module has just made, or found."""
    import shutil

    shutil.rmtree(module.NUMBA_CACHE_PATH)
