"""Scan: what is in a cache of numba's, read without running any of it."""
