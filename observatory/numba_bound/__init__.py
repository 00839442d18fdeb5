"""Raises, judges and proposes the upper bound of numba in a pyproject.toml."""
