"""Load a pickled function and call it: `python -m benchmarks.path.loading FILE STEP [BACKEND]`.

It prints a `benchmarks.messages.ChainReport` in one line: the value and, if a backend is given,
what loading and the first call compiled.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from .. import backends
from ..probes import functions
from ..probes.ledger import Ledger
from ..typed_json import to_json


def main(file: str, step: str, backend: str = "") -> None:
    """Do it. Raises OSError if the file cannot be read, and what loading and calling raise."""
    import pymc  # noqa: F401 - it registers what PyTensor needs to compile its graphs

    ledger = Ledger()
    if backend:
        backends.install_probes(backend, ledger)
        functions.install(ledger)
        ledger.step, ledger.recording = step, True
    function, at = pickle.loads(Path(file).read_bytes())  # noqa: S301 - this path wrote it
    value = float(function(**at))
    print(to_json(ledger.report(value)))


if __name__ == "__main__":
    main(*sys.argv[1:])
