"""Raise the upper bound of numba in a pyproject.toml; docs/numba-bound.md says how."""

import sys

from observatory.cli.guarded import guarded
from observatory.numba_bound.command import main

if __name__ == "__main__":
    with guarded():
        sys.exit(main())
