"""Compile one small function with numba, as often with LLVM's reports as without them.

It runs in the environment under test and prints how many Python functions each build enters, and
the LLVM passes of those with reports, and how often all of them ran.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict

import numba
import numpy as np

from benchmarks.probes.profile import Tracer


def compile_one(tracer: Tracer) -> int:
    def squares(values: np.ndarray) -> float:
        total = 0.0
        for value in values:
            total += value * value
        return total

    calls: list[int] = []
    with tracer.counting_calls(calls):
        assert numba.njit(squares)(np.ones(3)) == 3.0
    return calls[0]


compile_one(Tracer())  # what is imported and compiled once in a process
calls: dict[str, list[int]] = {"silent": [], "asking": []}
passes, runs = [], []
for _ in range(2):
    silent, asking = Tracer(), Tracer()
    silent.llvm.running = nullcontext  # type: ignore[method-assign,assignment]
    calls["silent"].append(compile_one(silent))
    calls["asking"].append(compile_one(asking))
    passes.append([asdict(one) for one in asking.profile().llvm_passes or ()])
    runs.append(asking.llvm_pass_runs)
print(json.dumps({"calls": calls, "passes": passes, "runs": runs}))
