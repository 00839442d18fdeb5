"""Put the C cache of a mutant under the faults of `observatory torture`."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from observatory.run.environments import Environment
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.records.torture import Torture

STEPS = 3
"""Of a fault, at most."""
_LIMIT = 60.0


def verdicts(
    environment: Environment, faults: Sequence[str], variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the verdict on each fault and on the process after it, what stays, and the warnings.

    Nothing if torture fails.

    ``variables``: further variables of the processes.
    """
    only = [word for name in faults for word in ("--only", name)]
    command = environment.command(
        "benchmarks.torture", "--cache", "c", "--steps", str(STEPS), "--limit", f"{_LIMIT:g}", *only
    )
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            command, env={**environment.variables(), **variables}, cwd=empty,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    try:
        record = read_json(Torture, done.stdout)
    except InvalidError:
        return {}
    return {
        one.name: f"{one.verdict}, then {one.after}, {one.left} left, {one.warned} warnings"
        for one in record.faults
    }
