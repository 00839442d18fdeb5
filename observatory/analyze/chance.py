"""What all rules agree on that tell a change from chance."""

from __future__ import annotations

FALSE_DISCOVERY_RATE = 0.05
"""The share of what is found that may be chance alone."""
FEWEST = 7
"""Processes a side below which a noisy metric is not judged: 7 against 7 can be split in 3,432
ways, so that the smallest two-sided p is 0.0006; with 5 a side it would be 0.008."""
NORMAL = 1.4826
"""A normal distribution's standard deviation in units of its median absolute deviation."""
