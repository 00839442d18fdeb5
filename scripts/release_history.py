"""Build .observatory/releases.git, the history for asv.releases.conf.json."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from observatory.run.history import History, HistoryError
from observatory.run.releases import ReleasesError, load

STATE = Path(__file__).resolve().parents[1] / ".observatory"


def main() -> int:
    """Build the history and print its path. Exit status 1: git failed."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    try:
        history = History(load(), STATE)
        where = history.build()
    except (HistoryError, ReleasesError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    newest = history.table.newest.version
    print(
        f"{where}: {len(history.commits)} releases, the newest {newest} is "
        f"{history.commit_of(newest)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
