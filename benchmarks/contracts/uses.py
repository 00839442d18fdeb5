"""The names of numba in PyTensor's sources, and how they are called; nothing is imported."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PACKAGES = ("numba", "llvmlite")


@dataclass(frozen=True)
class Use:
    """One place in PyTensor's sources that uses a name of numba."""

    path: str
    """The full path: numba.core.cgutils.alloca_once."""
    place: str
    """File and line."""
    call: tuple[int, tuple[str, ...]] | None
    """The number of positional arguments and the names of the others; None: no call."""
    complete: bool
    """Whether these are all arguments: `f(*x)` and `f(**x)` hide some."""


def uses() -> list[Use]:
    """Return every use in the PyTensor of this environment, sorted by path and place."""
    found = importlib.util.find_spec("pytensor")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    all_uses: list[Use] = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text("utf-8", errors="replace")
        if any(name in text for name in _PACKAGES):
            place = str(path.relative_to(package.parent))
            all_uses += uses_in(text, place)
    return sorted(all_uses, key=lambda use: (use.path, use.place, str(use.call)))


def uses_in(text: str, place: str) -> Iterator[Use]:
    """Give the uses in one source file.

    ``place``: its name, for `Use.place`. Raises SyntaxError for a text that is not Python.
    """
    tree = ast.parse(text)
    bound = dict(_bindings(tree))
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _ours(node.module) and not node.level:
            for name in node.names:
                yield Use(f"{node.module}.{name.name}", f"{place}:{node.lineno}", None, True)
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            path = _path(node, bound)
            if path is not None:
                call = calls.get(id(node))
                yield Use(path, f"{place}:{node.lineno}", _arguments(call), _complete(call))


def _bindings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that imports bind, anywhere in the file, and what they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                if _ours(name.name):
                    whole = name.name if name.asname else name.name.partition(".")[0]
                    yield name.asname or whole, whole
        elif isinstance(node, ast.ImportFrom) and _ours(node.module) and not node.level:
            for name in node.names:
                yield name.asname or name.name, f"{node.module}.{name.name}"


def _ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _PACKAGES


def _path(node: ast.expr, bound: dict[str, str]) -> str | None:
    """What `a.b.c` stands for; None if it does not begin with something of numba."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in bound:
        return None
    return ".".join([bound[node.id], *reversed(names)])


def _arguments(call: ast.Call | None) -> tuple[int, tuple[str, ...]] | None:
    if call is None:
        return None
    positional = sum(not isinstance(one, ast.Starred) for one in call.args)
    return positional, tuple(one.arg for one in call.keywords if one.arg is not None)


def _complete(call: ast.Call | None) -> bool:
    if call is None:
        return True
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    return not starred and all(one.arg is not None for one in call.keywords)
