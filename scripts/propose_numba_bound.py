"""Raise the upper bound of numba and keep one pull request; docs/numba-bound.md says how."""

import sys

from observatory.cli.guarded import guarded
from observatory.numba_bound.propose import main

if __name__ == "__main__":
    with guarded():
        sys.exit(main())
