"""Whose code changed and whose version did not: `python -m benchmarks.implementations OLD NEW`.

OLD and NEW are directories that contain the package `pytensor`, of two releases. The cache of the
older one serves the newer one wherever a key is the same, and keys contain the version of an
implementation, not its code. That holds for numba, whose implementations are functions that
`pytensor.link.numba.dispatch` registers, and for C, whose implementations are the methods `c_*` of
a class. The sources are read and nothing is imported, by a Python that can parse both. The exit
status is 1 if an implementation is named, and 2 if they cannot be compared. With `--json`, a record
says all this.

What an implementation calls or inherits is not looked at, nor which of several versions in one
function changed; and a change need not change any value.
"""

from __future__ import annotations

import argparse
import ast
import json
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .parent import end_with_parent

_PACKAGE = "pytensor"
_DISPATCH = Path(_PACKAGE, "link", "numba", "dispatch")
_C_VERSIONS = ("c_code_cache_version", "c_code_cache_version_apply")


@dataclass(frozen=True)
class Implementation:
    """A function that is registered for Ops, or the methods of a class that make C code."""

    name: str
    module: str
    code: str
    """Without versions, texts of its own, annotations, comments and layout."""
    versions: tuple[int, ...]
    version_code: str = ""
    """The methods of a class that return its version."""

    def raises(self, before: Implementation) -> bool:
        """Whether it has another version than one of an older release."""
        numbers = set(self.versions) - set(before.versions)
        return bool(numbers) or self.version_code != before.version_code


class _Code(ast.NodeTransformer):
    """Takes texts of its own and annotations out of a function."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if ast.get_docstring(node) is not None:
            del node.body[0]
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.generic_visit(ast.Assign([node.target], node.value, lineno=node.lineno))


class _Versions(ast.NodeTransformer):
    """Takes versions out of a function: `cache_version = 2`, `cache_version=2`, `return fn, 2`."""

    def __init__(self) -> None:
        self.found: list[int] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """What is inside of the implementation returns values, not versions."""
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if _names_version(ast.unparse(node.targets[0])):
            node.value = self._without(node.value)
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if _names_version(node.arg or ""):
            node.value = self._without(node.value)
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
            node.value.elts[1] = self._without(node.value.elts[1])
        return self.generic_visit(node)

    def _without(self, value: ast.expr) -> ast.expr:
        if not (isinstance(value, ast.Constant) and isinstance(value.value, int)):
            return value
        self.found.append(value.value)
        return ast.Constant(0)


def _names_version(name: str) -> bool:
    return name == "version" or name.endswith("_version")


def implementations(packages: Path) -> Mapping[str, Implementation]:
    """Return the implementations of the PyTensor in a directory, by what makes them unique.

    Raises SyntaxError for sources that need a newer Python.
    """
    found = {}
    for path in sorted((packages / _PACKAGE).rglob("*.py")):
        module, text = path.relative_to(packages), path.read_text(encoding="utf-8")
        of_numba = module.is_relative_to(_DISPATCH)
        if not (of_numba or "def c_" in text):
            continue
        for node in ast.parse(text, str(path)).body:
            if of_numba and isinstance(node, ast.FunctionDef):
                registered = sorted(map(ast.unparse, node.decorator_list))
                if any("register" in one for one in registered):
                    found["\n".join(registered)] = _of_numba(node, str(module))
            elif isinstance(node, ast.ClassDef) and (one := _of_c(node, str(module))):
                found[f"{module} {node.name}"] = one
    return found


def same_version(
    old: Mapping[str, Implementation], new: Mapping[str, Implementation]
) -> list[tuple[str, tuple[int, ...]]]:
    """Return the names and versions of the implementations that changed under the same version.

    Those whose key lost its version are among them. One that has no version and whose module raised
    another one is not: it may be a part of that one, as the steps of reductions are.
    """
    both = [(old[one], new[one]) for one in sorted(old.keys() & new.keys())]
    raised = {after.module for before, after in both if after.raises(before)}
    return [
        (after.name, after.versions)
        for before, after in both
        if before.code != after.code
        and not after.raises(before)
        and (before.versions or before.version_code or after.module not in raised)
    ]


def _of_numba(node: ast.FunctionDef, module: str) -> Implementation:
    _Code().visit(node)
    versions = _Versions()
    versions.generic_visit(node)
    return Implementation(node.name, module, ast.unparse(node), tuple(versions.found))


def _of_c(node: ast.ClassDef, module: str) -> Implementation | None:
    """The methods of a class that make C code; None if it has none."""
    methods = {
        one.name: ast.unparse(_Code().visit(one))
        for one in node.body
        if isinstance(one, ast.FunctionDef) and one.name.startswith("c_")
    }
    code = [text for name, text in methods.items() if name not in _C_VERSIONS]
    version_code = "\n".join(methods[name] for name in _C_VERSIONS if name in methods)
    versions = (
        one.value
        for one in ast.walk(ast.parse(version_code))
        if isinstance(one, ast.Constant) and type(one.value) is int
    )
    if not code:
        return None
    name = f"{node.name} (C)"  # types have no `c_code`, but other methods that make code
    return Implementation(name, module, "\n".join(code), tuple(versions), version_code)


def main() -> None:
    """Print a line for each implementation, and exit: with 2 if it cannot compare them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.implementations", description=(__doc__ or "").partition(":")[0]
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--json", action="store_true", help="print a record")
    parser.add_argument("--end-with-parent", action="store_true", help="end when the parent dies")
    given = parser.parse_args()
    if given.end_with_parent:
        end_with_parent(signal.SIGTERM)
    try:
        old, new = (implementations(one) for one in (given.old, given.new))
    except SyntaxError as error:
        _cannot(f"{error.filename} needs a newer Python than this one: {error.msg}")
    for packages, found in ((given.old, old), (given.new, new)):
        if not found and not given.json:
            _cannot(f"there are no implementations in {packages / _PACKAGE}")
    named = same_version(old, new)
    both = len(old.keys() & new.keys())
    if given.json:
        changed = [{"name": name, "versions": versions} for name, versions in named]
        print(json.dumps({"compared": both, "changed": changed}))
        sys.exit(bool(named))
    for name, versions in named:
        print(f"{name}: version {', '.join(map(str, versions)) or 'none'}")
    print(f"{len(named)} of {both} changed under the same version")
    if alone := len(old.keys() ^ new.keys()):
        print(f"{alone} are new, gone or registered in another way, and were not compared")
    sys.exit(bool(named))


def _cannot(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
