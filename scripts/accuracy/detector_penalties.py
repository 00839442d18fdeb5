"""Compute the penalties of the step detector, from random permutations of n ranks.

    .venv/bin/python -m scripts.accuracy.detector_penalties [--rate 0.0014] [--draws 20000] [N ...]

Ranks of independent values are a random permutation for any distribution. So the penalty for a rate
of false alarms depends on n alone, and drawing permutations finds it. The output belongs into
PENALTIES of observatory/analyze/history/steps.py.
"""

from __future__ import annotations

import argparse

import numpy as np

from observatory.analyze.history.steps import segmentation

SIZES = (10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 50, 60, 80, 100, 120, 150, 200, 300, 500, 1000)
_SCREEN = 0.9
"""Share of the expected penalty at which the search begins: most draws then need one run."""
_HALVINGS = 10


def main() -> int:
    """Print a line of the table for each n."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, metavar="N", default=SIZES)
    parser.add_argument("--rate", type=float, default=0.0014, help="series with a false alarm")
    parser.add_argument("--draws", type=int, default=20_000)
    options = parser.parse_args()
    for n in options.sizes:
        print(f"    ({n}, {penalty(n, options.rate, options.draws):.3f}),", flush=True)
    return 0


def penalty(n: int, rate: float, draws: int) -> float:
    """The penalty that a share ``rate`` of permutations of n ranks exceeds."""
    rng = np.random.default_rng(n)
    few = [largest(rng.permutation(n) + 1.0, 0.0) for _ in range(200)]
    screen = _SCREEN * float(np.quantile(few, min(0.97, max(0.0, 1 - 3 * rate))))
    found = [largest(rng.permutation(n) + 1.0, screen) for _ in range(draws)]
    return float(np.quantile(found, 1 - rate, method="higher"))


def largest(values: np.ndarray, low: float) -> float:
    """The largest penalty with which a step is found; ``low`` if it is not above that."""
    high = 4.0
    if low and not segmentation(values, low):
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if segmentation(values, middle) else (low, middle)
    return low


if __name__ == "__main__":
    raise SystemExit(main())
