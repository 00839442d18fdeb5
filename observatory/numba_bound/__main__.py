"""``python -m observatory.numba_bound``: raise the upper bound of numba."""

import sys

from observatory.cli.guarded import guarded
from observatory.numba_bound.command import main

if __name__ == "__main__":
    with guarded():
        sys.exit(main())
