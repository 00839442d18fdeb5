"""Add the newer releases of the package index to observatory/run/releases.json."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from observatory.run.releases import ReleasesError, ReleaseTable, extended, load
from observatory.run.uv import Index, UvError

TABLE = Path(__file__).resolve().parents[1] / "observatory" / "run" / "releases.json"


def main() -> int:
    """Write the table if there are new releases. Exit status 1: the index did not answer."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    try:
        before = load(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else ReleaseTable(())
        after = extended(before, Index())
    except (UvError, ReleasesError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    added = after.releases[len(before.releases) :]
    if added:
        TABLE.write_text(after.to_json(), encoding="utf-8")
    names = ", ".join(release.version for release in added) or "nothing"
    print(f"{TABLE.name}: {len(after.releases)} releases, added {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
