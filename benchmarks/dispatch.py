"""Which backends implement each Op of a release: `python -m benchmarks.dispatch` prints it.

It runs in the environment under test, in a process that measures nothing, because it imports all of
PyTensor. An Op that no backend implements runs in Python.
"""

from __future__ import annotations

import ast
import contextlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import process
from .messages import OpCoverage
from .models.parts.op_classes import name_of, op_classes
from .sandbox import Sandbox

_FOUND = "implemented: "
"""The beginning of the line that `main` prints."""
Implemented = Mapping[str, Sequence[str]]
"""By Op, the backends that implement it."""


def take(
    box: Sandbox, env: Mapping[str, str], timeout: float, tried: Sequence[str]
) -> OpCoverage | None:
    """Return what no graph of a sample has, from a process of its own; None where it failed.

    ``tried``: the Ops that its graphs have. Raises OSError if the process cannot start.
    """
    output = box.out / "dispatch.txt"
    ended = process.supervise(
        ("benchmarks.dispatch",), box.work, env, output, timeout, role="dispatch"
    )
    if ended.code != 0 or ended.timed_out:
        return None
    # A library may write to the same file, before and after it.
    text = output.read_text(encoding="utf-8", errors="replace")
    for line in text.splitlines():
        if line.startswith(_FOUND):
            with contextlib.suppress(ValueError):
                return coverage(json.loads(line.removeprefix(_FOUND)), tried)
    return None


def coverage(implemented: Implemented, tried: Sequence[str]) -> OpCoverage:
    """Return how many Ops each backend implements, and the Ops that were not tried."""
    counts: dict[str, int] = {}
    for backends in implemented.values():
        for backend in backends:
            counts[backend] = counts.get(backend, 0) + 1
    untried = sorted(implemented.keys() - set(tried))
    return OpCoverage(counts, {name: tuple(implemented[name]) for name in untried})


def implemented() -> Implemented:
    """Return, by Op, the backends that implement it: `numba`, `c` and `jax`.

    numba and JAX implement what their dispatch has a function for. That an Op is there does not
    mean that every use of it is supported. Without numba, or in a release without a dispatch for
    JAX, the backend is left out.
    """
    classes = op_classes()
    has: dict[str, Callable[[type], bool]] = {"c": _has_c_code}
    if find_spec("numba") is not None:
        has["numba"] = _in_tables(*_numba_tables())
    if find_spec("pytensor.link.jax.dispatch") is not None:
        has["jax"] = _in_tables(*_jax_tables())
    return {name_of(one): tuple(sorted(b for b in has if has[b](one))) for one in classes}


def _has_c_code(op_class: type) -> bool:
    code = getattr(op_class, "c_code", None)
    return code is not None and not getattr(code, "__isabstractmethod__", False)


def _in_tables(ops: set[type], variables: set[type]) -> Callable[[type], bool]:
    """What says whether a class is in a table of Ops, or in that of random variables.

    The general function for scalar Ops calls the function that the attribute `nfunc_spec` names.
    """
    from pytensor.scalar.basic import ScalarOp
    from pytensor.tensor.random.op import RandomVariable

    def has(op_class: type) -> bool:
        table = variables if issubclass(op_class, RandomVariable) and variables else ops
        found = next((one for one in op_class.__mro__ if one in table), None)
        if found is ScalarOp:
            return getattr(op_class, "nfunc_spec", None) is not None
        return found is not None

    return has


def _numba_tables() -> tuple[set[type], set[type]]:
    """The classes that numba's dispatch knows, and the random variables among them."""
    from pytensor.graph.op import Op
    from pytensor.link.numba.dispatch import basic, random

    nothing = {object, Op}  # the functions that leave an Op to Python, or refuse it
    variables = getattr(random, "numba_core_rv_funcify", None)
    known = set() if variables is None else set(variables.registry)
    return set(basic.numba_funcify.registry) - nothing, known - nothing


def _jax_tables() -> tuple[set[type], set[type]]:
    """The same for JAX, from the source of its dispatch: most environments have no JAX."""
    tables: dict[str, set[type]] = {"jax_funcify": set(), "jax_sample_fn": set()}
    package = import_module("pytensor.link.jax")  # does not import JAX
    for path in sorted((Path(str(package.__file__)).parent / "dispatch").rglob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        known = dict(_imported(module))
        for node in ast.walk(module):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=table), attr="register"), args=[of, *_]
                ) if table in tables:
                    found = _class_named(of, known)
                    if found is not None:
                        tables[table].add(found)
    return tables["jax_funcify"], tables["jax_sample_fn"]


def _imported(module: ast.Module) -> Iterator[tuple[str, Any]]:
    """What a module imports from PyTensor, by the names that it uses."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pytensor."):
            if not set(str(node.module).split(".")) & {"jax"}:
                source = import_module(str(node.module))
                for each in node.names:
                    yield each.asname or each.name, getattr(source, each.name, None)
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.asname and each.name.startswith("pytensor."):
                    yield each.asname, import_module(each.name)


def _class_named(expression: ast.expr, known: Mapping[str, Any]) -> type | None:
    """The class that `Name` or `module.Name` stands for; None for anything else."""
    match expression:
        case ast.Name(id=name):
            found = known.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            found = getattr(known.get(name), attribute, None)
        case _:
            found = None
    return found if isinstance(found, type) else None


def main() -> None:
    """Print by Op the backends that implement it: one line of JSON behind a word."""
    warnings.simplefilter("ignore")
    print(f"\n{_FOUND}{json.dumps(implemented())}")


if __name__ == "__main__":
    main()
