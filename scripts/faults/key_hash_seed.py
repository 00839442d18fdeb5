"""Every key of the numba cache depends on the seed of string hashes.

Stands for a key that is made from `hash()` of a string, or from a set of strings in the order in
which it happens to be. Forked siblings share the seed, and so their keys.
"""

from types import ModuleType

MODULE = "pytensor.link.numba.cache"


def put_into(module: ModuleType) -> None:
    """Add the key's own hash to it."""
    locator = module.NumbaPyTensorCacheLocator
    stable = locator.get_disambiguator

    def get_disambiguator(self: object) -> str:
        key = stable(self)
        return f"{key}-{hash(key)}"

    locator.get_disambiguator = get_disambiguator
