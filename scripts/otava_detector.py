"""Apache Otava as a step detector for `observatory evaluate-detector --external`.

    uv run --no-project --with apache-otava==0.8.0 python scripts/otava_detector.py

Otava pins its own numpy and scipy, so it needs another environment than the tool's. Each input line
is a JSON list of values, each output line a JSON list of indices. It uses Otava's defaults (window
50, p 0.001).
"""

from __future__ import annotations

import json
import sys

from otava.analysis import compute_change_points


def main() -> int:
    """Answer every line of the input."""
    for line in sys.stdin:
        found, _ = compute_change_points(json.loads(line))
        print(json.dumps([int(point.index) for point in found]), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
