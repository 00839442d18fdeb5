"""Expressions of GitHub's workflows, as far as ours use them. For tests only."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>\d+)|(?P<op>==|!=|&&|\|\||[!().,])"
    r"|(?P<name>[A-Za-z_][\w-]*|\*))"
)
_INSIDE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_CONSTANTS = {"true": True, "false": False, "null": None}

Functions = Mapping[str, Callable[..., Any]]


def is_true(value: Any) -> bool:
    """What `if` makes of a value."""
    return value not in (None, False, 0, "")


def evaluated(text: str, context: Mapping[str, Any], functions: Functions) -> Any:
    """The value of an expression without `${{ }}`."""
    parser = _Parser(text, context, functions)
    value = parser.either()
    assert parser.next is None, f"{text!r} is not understood at {parser.next!r}"
    return value


def filled(text: Any, context: Mapping[str, Any], functions: Functions) -> Any:
    """A value of YAML with its expressions replaced; one that is nothing else keeps its type."""
    if not isinstance(text, str):
        return text
    if (whole := _INSIDE.fullmatch(text.strip())) and text.count("${{") == 1:
        return evaluated(whole[1], context, functions)
    return _INSIDE.sub(lambda found: shown(evaluated(found[1], context, functions)), text)


def shown(value: Any) -> str:
    """A value as it is written into a text."""
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: ""}[value]
    return str(value)


class _Parser:
    def __init__(self, text: str, context: Mapping[str, Any], functions: Functions) -> None:
        self.tokens = []
        place = 0
        text = text.strip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            assert found, f"{text!r} is not understood at {text[place:]!r}"
            self.tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            place = found.end()
        self.context, self.functions = context, functions

    @property
    def next(self) -> str | None:
        return self.tokens[0][1] if self.tokens and self.tokens[0][0] in ("op", "name") else (
            "a value" if self.tokens else None)  # fmt: skip

    def take(self, word: str) -> bool:
        if self.next == word:
            self.tokens.pop(0)
            return True
        return False

    def either(self) -> Any:
        value = self.both()
        while self.take("||"):
            other = self.both()
            value = value if is_true(value) else other
        return value

    def both(self) -> Any:
        value = self.equal()
        while self.take("&&"):
            other = self.equal()
            value = other if is_true(value) else value
        return value

    def equal(self) -> Any:
        value = self.single()
        for word in ("==", "!="):
            if self.take(word):
                other = self.single()
                # A number that is compared with a text is compared as a number.
                same = str(value or "").lower() == str(other or "").lower()
                return same == (word == "==")
        return value

    def single(self) -> Any:
        if self.take("!"):
            return not is_true(self.single())
        if self.take("("):
            value = self.either()
            assert self.take(")")
            return value
        kind, word = self.tokens.pop(0)
        if kind == "text":
            return word[1:-1].replace("''", "'")
        if kind == "number":
            return int(word)
        if self.take("("):
            return self._called(word)
        value = _CONSTANTS[word] if word in _CONSTANTS else self.context[word]
        while self.take("."):
            name = self.tokens.pop(0)[1]
            if name == "*":
                continue
            value = ([one.get(name) for one in value] if isinstance(value, list)
                     else (value or {}).get(name))  # fmt: skip
        return value

    def _called(self, name: str) -> Any:
        arguments = []
        while not self.take(")"):
            arguments.append(self.either())
            self.take(",")
        return self.functions[name](*arguments)
