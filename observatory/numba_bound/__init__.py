"""Raise the upper bound of numba in a pyproject.toml, judge the numba, and propose the change."""
