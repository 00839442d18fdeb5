"""Small changes of a Python source, one at a time: a line left out, a comparison turned round.

Tools such as cosmic-ray change operators and numbers. What a key loses is mostly something else: a
part of a formatted text, an element of a tuple, an argument. So these changes are made here.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_COMPARED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_SAID_ONLY = ("print", "warn", "_logger", "debug", "info", "warning")
"""Calls that only say something: leaving them out changes nothing that is measured."""


@dataclass(frozen=True)
class Mutation:
    """One change of a source."""

    function: str
    """The qualified name of the function that it is in; "module" outside of all."""
    line: int
    lines: tuple[int, int]
    """First and last line of the statement that it is in."""
    what: str
    source: str
    """The whole changed source."""

    @property
    def name(self) -> str:
        """A name that stays the same as long as the source does."""
        return f"{self.function}:{self.line}: {self.what}"


def mutations(
    source: str, wanted: Callable[[str], bool], keys_only: bool = False
) -> Iterator[Mutation]:
    """Yield every change of the functions whose qualified name is wanted, in their order.

    ``keys_only``: of these functions, only the statements that make or return a key.
    """
    tree = ast.parse(source)
    original = ast.unparse(tree)
    seen = {original}
    for path, function in _nodes(tree):
        if not wanted(function) or (keys_only and not _is_of_key(tree, path, function)):
            continue
        for what, change in _changes(_at(tree, path)):
            changed = copy.deepcopy(tree)
            if not change(changed, path):
                continue
            ast.fix_missing_locations(changed)
            text = ast.unparse(changed)
            if text not in seen:
                seen.add(text)
                line = getattr(_at(tree, path), "lineno", 0)
                yield Mutation(function, line, _lines(tree, path), what, text)


_KEY = re.compile("key|cache_version|sha256")
"""What PyTensor's names of keys and of their parts contain."""


def _is_of_key(tree: ast.AST, path: _Path, function: str) -> bool:
    """Whether a node is in a function that is named after keys, or in a statement that names one.

    The number of a key's version is not: another number is another version, as is meant.
    """
    node = _at(tree, path)
    if function == "module" or (isinstance(node, ast.Constant) and type(node.value) is int):
        return False
    if _KEY.search(function.rpartition(".")[2]):
        return True
    statement = _statement(tree, path)
    own = [one for one in ast.iter_child_nodes(statement) if not isinstance(one, ast.stmt)]
    names = (
        getattr(each, field, None)
        for one in own for each in ast.walk(one) for field in ("id", "attr", "arg")
    )  # fmt: skip
    return not isinstance(statement, ast.FunctionDef) and any(
        isinstance(name, str) and _KEY.search(name) for name in names
    )


_Path = tuple[tuple[str, int | None], ...]
_Change = Callable[[ast.AST, _Path], bool]


def _nodes(tree: ast.AST) -> Iterator[tuple[_Path, str]]:
    def walk(node: ast.AST, path: _Path, names: tuple[str, ...]) -> Iterator[tuple[_Path, str]]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = (*names, node.name)
        if path and _has_text_only(node):
            return
        if path:
            yield path, ".".join(names) or "module"
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            if isinstance(value, ast.AST):
                yield from walk(value, (*path, (field, None)), names)
            elif isinstance(value, list):
                for place, one in enumerate(value):
                    if isinstance(one, ast.AST):
                        yield from walk(one, (*path, (field, place)), names)

    yield from walk(tree, (), ())


def _has_text_only(node: ast.AST) -> bool:
    """Whether it is a docstring, an import, an exception's text or a call that only says."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.Assert):
        return True
    if not isinstance(node, ast.Expr):
        return False
    if isinstance(node.value, ast.Constant):
        return True
    call = node.value.func if isinstance(node.value, ast.Call) else None
    names = {getattr(call, "id", ""), getattr(call, "attr", "")}
    owner = getattr(getattr(call, "value", None), "id", "")
    return bool({*names, owner} & {*_SAID_ONLY})


def _at(tree: Any, path: _Path) -> Any:
    for field, place in path:
        tree = getattr(tree, field) if place is None else getattr(tree, field)[place]
    return tree


def _lines(tree: ast.AST, path: _Path) -> tuple[int, int]:
    """First and last line of the innermost statement around a node."""
    statement = _statement(tree, path)
    return statement.lineno, statement.end_lineno or statement.lineno


def _statement(tree: ast.AST, path: _Path) -> ast.stmt:
    """The innermost statement around a node."""
    around = (_at(tree, path[:length]) for length in range(len(path), 0, -1))
    return next(node for node in around if isinstance(node, ast.stmt))


def _replaced(make: Callable[[Any], ast.AST | None]) -> _Change:
    """A change that puts another node in the place of one."""

    def change(tree: ast.AST, path: _Path) -> bool:
        new = make(_at(tree, path))
        if new is None:
            return False
        owner, (field, place) = _at(tree, path[:-1]), path[-1]
        if place is None:
            setattr(owner, field, new)
        else:
            getattr(owner, field)[place] = new
        return True

    return change


def _without(field: str, place: int) -> _Change:
    """A change that leaves out an element of a list of a node."""

    def change(tree: ast.AST, path: _Path) -> bool:
        del getattr(_at(tree, path), field)[place]
        return True

    return change


def _changes(node: ast.AST) -> Iterator[tuple[str, _Change]]:
    """The changes of one node, each with what it does."""
    for kinds, changes in _OF.items():
        if isinstance(node, kinds):
            yield from changes(node)


def _of_statement(node: Any) -> Iterator[tuple[str, _Change]]:
    yield f"left out: {_short(node)}", _replaced(lambda _: ast.Pass())


def _of_return(node: Any) -> Iterator[tuple[str, _Change]]:
    if node.value is not None:
        yield f"returns None: {_short(node)}", _replaced(lambda _: ast.Return(ast.Constant(None)))


def _of_comparison(node: Any) -> Iterator[tuple[str, _Change]]:
    if len(node.ops) == 1:
        yield f"turned round: {_short(node)}", _replaced(_turned)


def _of_bool(node: Any) -> Iterator[tuple[str, _Change]]:
    yield f"and for or: {_short(node)}", _replaced(_other_bool)


def _of_not(node: Any) -> Iterator[tuple[str, _Change]]:
    if isinstance(node.op, ast.Not):
        yield f"without not: {_short(node)}", _replaced(lambda one: one.operand)


def _of_test(node: Any) -> Iterator[tuple[str, _Change]]:
    for value in (True, False):
        yield f"if {value}: {_short(node.test)}", _tested(value)


def _of_text(node: Any) -> Iterator[tuple[str, _Change]]:
    for place, part in enumerate(node.values):
        if isinstance(part, ast.FormattedValue):
            yield f"text without {_short(part.value)}", _without("values", place)


def _of_tuple(node: Any) -> Iterator[tuple[str, _Change]]:
    if len(node.elts) > 1 and isinstance(node.ctx, ast.Load):
        for place, part in enumerate(node.elts):
            yield f"tuple without {_short(part)}", _without("elts", place)


def _of_call(node: Any) -> Iterator[tuple[str, _Change]]:
    for place, part in enumerate(node.keywords):
        yield f"call without {part.arg}={_short(part.value)}", _without("keywords", place)


def _of_sum(node: Any) -> Iterator[tuple[str, _Change]]:
    if isinstance(node.op, ast.Add):
        yield f"without the second part: {_short(node)}", _replaced(lambda one: one.left)
        yield f"without the first part: {_short(node)}", _replaced(lambda one: one.right)


def _of_loop(node: Any) -> Iterator[tuple[str, _Change]]:
    yield f"no repetition: {_short(node.iter)}", _looped


def _of_with(node: Any) -> Iterator[tuple[str, _Change]]:
    yield f"without `with`: {_short(node.items[0])}", _replaced(_unwrapped)


def _of_constant(node: Any) -> Iterator[tuple[str, _Change]]:
    """Of numbers and truth values; other texts would only be other keys."""
    value = node.value
    if isinstance(value, bool):
        yield f"{not value} for {value}", _replaced(lambda _: ast.Constant(not value))
    elif isinstance(value, int):
        yield f"{value + 1} for {value}", _replaced(lambda _: ast.Constant(value + 1))


def _turned(node: ast.Compare) -> ast.AST | None:
    node.ops[0] = _COMPARED[type(node.ops[0])]()
    return node


def _other_bool(node: ast.BoolOp) -> ast.AST:
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return node


def _unwrapped(node: ast.With) -> ast.AST | None:
    named = any(item.optional_vars is not None for item in node.items)
    return None if named else ast.If(ast.Constant(True), node.body, [])


def _tested(value: bool) -> _Change:
    def change(tree: ast.AST, path: _Path) -> bool:
        _at(tree, path).test = ast.Constant(value)
        return True

    return change


def _looped(tree: ast.AST, path: _Path) -> bool:
    _at(tree, path).iter = ast.Tuple([], ast.Load())
    return True


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:59]}…"


_OF: Mapping[Any, Callable[[Any], Iterator[tuple[str, _Change]]]] = {
    (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete): _of_statement,
    ast.Return: _of_return, ast.Compare: _of_comparison, ast.BoolOp: _of_bool,
    ast.UnaryOp: _of_not, (ast.If, ast.IfExp): _of_test, ast.JoinedStr: _of_text,
    ast.Tuple: _of_tuple, ast.Call: _of_call, ast.BinOp: _of_sum, ast.Constant: _of_constant,
    ast.For: _of_loop, ast.With: _of_with,
}  # fmt: skip
