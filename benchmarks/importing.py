"""Import what a user of PyTensor imports: `python -X importtime -m benchmarks.importing`."""

import importlib.util

if __name__ == "__main__":
    # Statements, because `importlib` leaves out who imported a module.
    import pytensor.tensor  # noqa: F401

    if importlib.util.find_spec("numba"):
        import numba  # noqa: F401
