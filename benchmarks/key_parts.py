"""Take keys apart: `python -m benchmarks.key_parts --model radon --backend NUMBA --hash-seed 1`.

This runs in the environment under test and prints one `KeysRecord` as JSON: the functions that one
graph asks a cache for, and what their keys are made of. Nothing is compiled for that, and nothing
is stored outside of a sandbox.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import subprocess
import sys
from collections.abc import Sequence

from .catalogue import BACKENDS, MODELS
from .environment import versions
from .messages import KeyedFunction, KeysRecord
from .parent import end_with_parent
from .sandbox import ENDING, Sandbox, end_once
from .sweeping import sweep
from .typed_json import to_json

_INSIDE = "--inside"
"""Marks the process that imports PyTensor, which runs with the environment of a sandbox."""
_PACKAGES = ("pytensor", "numba", "llvmlite", "numpy", "scipy")


def main() -> int:
    """Run the command and return its exit status. Raises SystemExit for wrong usage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="radon", choices=MODELS)
    parser.add_argument("--graph", default="", help="a member of the model; default: its base")
    parser.add_argument("--backend", default="NUMBA", choices=BACKENDS)
    parser.add_argument("--hash-seed", type=int, required=True, metavar="N")
    parser.add_argument("--flags", default="", help="further PYTENSOR_FLAGS")
    parser.add_argument(_INSIDE, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--end-with-parent", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        end_with_parent(signal.SIGKILL)
        print(to_json(_record(options.model, options.graph, options.backend)))
        return 0
    # A terminated process removes its sandbox like an interrupted one.
    for number in ENDING:
        signal.signal(number, end_once)
    if options.end_with_parent:
        end_with_parent(signal.SIGTERM)
    sweep()
    with Sandbox.open() as box:
        backend = BACKENDS[options.backend]
        flags = ",".join(filter(None, (backend.flags, options.flags))) or None
        env = box.environment(options.hash_seed, flags, backend=backend)
        command = [sys.executable, "-m", "benchmarks.key_parts", *sys.argv[1:], _INSIDE]
        return subprocess.run(command, env=env, cwd=box.work, check=False).returncode


def _record(model: str, graph: str, backend: str) -> KeysRecord:
    import pytensor.tensor  # noqa: F401

    from . import backends
    from .probes import key_parts

    kind = BACKENDS[backend].cache
    why = key_parts.problem(kind) or backends.problem(backend)
    found: Sequence[KeyedFunction] = () if why else _functions(model, graph, backend, kind)
    return KeysRecord(versions(_PACKAGES), why, tuple(found))


def _functions(model: str, graph: str, backend: str, kind: str) -> list[KeyedFunction]:
    from . import backends
    from .probes import key_parts

    made = MODELS[model].build(None).graph(graph)
    mode = backends.mode(backend)
    with key_parts.taking_apart(kind) as found, contextlib.suppress(key_parts.OnlyLookedAtError):
        made.compile(mode)
    return found


if __name__ == "__main__":
    sys.exit(main())
