"""What the processes of `pm.sample`, and of SMC before PyMC 6, compile.

PyMC starts a chain in a process of its own, by the start method of the step. A forked chain has
inherited the compiled functions; any other one unpickles its step method, and compiles them again.
A process of SMC is forked, and compiles what it needs.
"""

from __future__ import annotations

import os
from functools import wraps
from pathlib import Path
from typing import Any

from .. import backends
from ..messages import ChainReport
from ..probes import functions
from ..probes.ledger import Ledger
from ..typed_json import from_json, to_json

_VARIABLE = "OBSERVATORY_CHAINS"
"""Environment variable that names the directory of the chains' files."""


def watch(ledger: Ledger, backend: str) -> None:
    """Make the step methods of PyMC count in other processes. Call it once in a process.

    After its first step in another process, a chain writes what it has compiled to a file of the
    directory that `counted_in` named; a chain of SMC, when it has ended. Imports PyMC.
    """
    from pymc.step_methods.hmc.base_hmc import BaseHMC

    os.register_at_fork(after_in_child=ledger.forget)
    _tell_at_second_step(BaseHMC, ledger, home=os.getpid())
    _tell_after_smc(ledger, home=os.getpid())
    reduce = BaseHMC.__reduce_ex__

    def reduce_ex(self: Any, protocol: Any) -> Any:
        import cloudpickle

        BaseHMC.__reduce_ex__ = reduce
        try:
            return load, (cloudpickle.dumps(self, protocol), backend, ledger.step)
        finally:
            BaseHMC.__reduce_ex__ = reduce_ex

    BaseHMC.__reduce_ex__ = reduce_ex


def load(pickled: bytes, backend: str, name: str | None) -> Any:
    """Unpickle a step method in the process of a chain, which `watch` pickled elsewhere."""
    import cloudpickle
    from pymc.step_methods.hmc.base_hmc import BaseHMC

    ledger = Ledger()
    backends.install_probes(backend, ledger)
    functions.install(ledger)
    _tell_at_second_step(BaseHMC, ledger)
    ledger.step, ledger.recording = name, True
    return cloudpickle.loads(pickled)


def counted_in(directory: Path) -> None:
    """Name the directory to which the chains write. Raises OSError if it cannot be made."""
    directory.mkdir(exist_ok=True)
    os.environ[_VARIABLE] = str(directory)


def told(directory: Path) -> list[ChainReport]:
    """Return what the chains wrote, and remove it. Raises OSError and MessageError."""
    found = []
    for path in sorted(directory.iterdir()):
        found.append(from_json(ChainReport, path.read_text(encoding="utf-8")))
        path.unlink()
    return found


def _tell(ledger: Ledger) -> None:
    """Write what this process has compiled, once."""
    directory = os.environ.get(_VARIABLE)
    if directory and ledger.recording:
        path = Path(directory, f"{os.getpid()}.json")
        path.write_text(to_json(ledger.report()), encoding="utf-8")
    ledger.recording = False


def _tell_at_second_step(steps: Any, ledger: Ledger, home: int | None = None) -> None:
    """Tell before the second step, as the first one compiles. The process ``home`` never tells."""
    original = steps.astep
    taken = 0

    def astep(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal taken
        if os.getpid() != home:
            taken += 1
            if taken == 2:
                _tell(ledger)
        return original(self, *args, **kwargs)

    steps.astep = astep


def _tell_after_smc(ledger: Ledger, home: int) -> None:
    """Tell when a chain of SMC has ended in another process: before PyMC 6, each chain has one."""
    from pymc.smc import sampling

    original = getattr(sampling, "_sample_smc_int", None)
    if original is None:
        return

    @wraps(original)  # it is pickled by its name
    def sample_smc_int(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        finally:
            if os.getpid() != home:
                _tell(ledger)

    sampling._sample_smc_int = sample_smc_int
