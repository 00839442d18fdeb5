"""Apache Otava as a detector of steps for `observatory evaluate-detector --external`.

    uv run --no-project --with apache-otava==0.8.0 python scripts/otava_detector.py

Otava pins its own numpy and scipy, so that it cannot live in the tool's environment. One JSON list
of values a line in, one JSON list of indices out; Otava's own defaults (window 50, p 0.001).
"""

from __future__ import annotations

import json
import sys

from otava.analysis import compute_change_points


def main() -> int:
    """Answer until the input ends."""
    for line in sys.stdin:
        found, _ = compute_change_points(json.loads(line))
        print(json.dumps([int(point.index) for point in found]), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
