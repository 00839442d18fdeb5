"""Reading the functions in a cache of numba's without running any of them."""
