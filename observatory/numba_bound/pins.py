"""The pins of numba in a pyproject.toml, and the replacement of exactly these strings.

The file is never generated anew: its text is kept, and only the tokens of requirements change. The
parser locates them: a candidate token is replaced by a placeholder, and the place of the
placeholder in the parsed file shows what the token stands for. So "numba" in a comment, in a key
or inside another string is never a pin. The new text is parsed again, and must differ in the
pins only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from packaging.utils import canonicalize_name

from observatory.numba_bound.status import UnsafeError
from observatory.store.base.decode import MOST_TOML, NotTomlError, decoded_toml

NAME = "numba"
_BOM = b"\xef\xbb\xbf"
_MOST_TOKENS = 100
"""Each costs a parse; a real pyproject.toml has two or three."""
_DEEPEST = 50

Path: TypeAlias = tuple[str | int, ...]

_LISTS: tuple[tuple[str, ...], ...] = (
    ("project", "dependencies"),
    ("project", "optional-dependencies", "*"),
    ("dependency-groups", "*"),
    ("build-system", "requires"),
    ("tool", "uv", "dev-dependencies"),
    ("tool", "pdm", "dev-dependencies", "*"),
    ("tool", "hatch", "envs", "*", "dependencies"),
    ("tool", "hatch", "envs", "*", "extra-dependencies"),
)
"""Lists of requirements as pip reads them; ``*`` is any name."""

_ABOUT_DEPENDENCIES = re.compile(r"dep(s$|end)|requir|constraint", re.IGNORECASE)
_TOKEN = re.compile(
    r"""(?=(
        \"{3}(?:\s|\\\s)*numba(?:[^\\]|\\.)*?\"{3}
      | '{3}\s*numba.*?'{3}
      | "[ \t]*numba(?:[^"\\\n]|\\[^\n])*"
      | '[ \t]*numba[^'\n]*'
    ))""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""Candidates for strings that begin with numba; they may overlap, and most are proven wrong."""


@dataclass(frozen=True)
class Pin:
    """A requirement of numba: its place, its token in the text, and the requirement."""

    place: str
    line: int
    start: int
    end: int
    token: str
    text: str

    @property
    def name(self) -> str:
        """The place, for people."""
        return f"{self.place}, line {self.line}"


@dataclass(frozen=True)
class Project:
    """A pyproject.toml: its text, and its pins from top to bottom."""

    text: str
    bom: bool
    pins: tuple[Pin, ...]
    elsewhere: tuple[str, ...]
    """Places that name numba as a dependency in a form that is not rewritten."""
    dynamic: bool
    """Whether dependencies are declared in another file."""
    requires_python: str


def read(content: bytes) -> Project:
    """Find every pin. Raises UnsafeError for a file in which that is not certain."""
    if len(content) > MOST_TOML:
        raise UnsafeError(f"it has more than {MOST_TOML} bytes, which no pyproject.toml needs")
    try:
        text = content.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise UnsafeError(f"byte {error.start} is not UTF-8, which TOML requires") from error
    data = _parsed(text)
    wanted = {path: value for path, value in _requirements(data) if _is_numba(value)}
    pins = _located(text, wanted) if wanted else {}
    if missing := wanted.keys() - pins.keys():
        raise UnsafeError(
            f"the string of {_dotted(min(missing, key=str))} is written in a way that cannot be "
            'found in the file; write it as "numba..."'
        )
    project = data.get("project")
    table = project if isinstance(project, dict) else {}
    dynamic, python = table.get("dynamic"), table.get("requires-python")
    return Project(
        text=text,
        bom=content.startswith(_BOM),
        pins=tuple(sorted(pins.values(), key=lambda pin: pin.start)),
        elsewhere=tuple(_elsewhere(data)),
        dynamic=isinstance(dynamic, list)
        and ("dependencies" in dynamic or "optional-dependencies" in dynamic),
        requires_python=python if isinstance(python, str) else "",
    )


def exchanged(project: Project, texts: Mapping[Pin, str]) -> bytes:
    """The file with new requirements for some pins; every other byte stays.

    Raises UnsafeError if the result does not mean exactly that.
    """
    text = project.text
    for pin in sorted(texts, key=lambda pin: pin.start, reverse=True):
        text = text[: pin.start] + quoted(texts[pin]) + text[pin.end :]
    try:
        before, after = _parsed(project.text), _parsed(text)
    except UnsafeError as error:
        raise UnsafeError(f"with the new pins it could not be read: {error}") from error
    expected = {pin.place: texts.get(pin, pin.text) for pin in project.pins}
    found = {
        _dotted(path): value for path, value in _requirements(after) if _dotted(path) in expected
    }
    if found != expected or _blanked(before, expected) != _blanked(after, expected):
        raise UnsafeError("with the new pins, more than the pins would change")
    return _BOM * project.bom + text.encode()


def quoted(text: str) -> str:
    """A TOML string of one line: in double quotes unless it contains some.

    >>> print(quoted("numba>=0.58"), quoted('numba; python_version < "3.13"'))
    "numba>=0.58" 'numba; python_version < "3.13"'
    """
    if text.isprintable() and "\\" not in text:
        for quote in "\"'":
            if quote not in text:
                return f"{quote}{text}{quote}"
    return json.dumps(text, ensure_ascii=False)


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = decoded_toml(text.encode())
    except NotTomlError as error:
        raise UnsafeError(f"it is not valid TOML: {error}") from error
    level: list[object] = [data]
    for _ in range(_DEEPEST):  # not by recursion: a header can nest as deep as it is long
        level = [child for node in level for _, child in _children(node)]
    if level:
        raise UnsafeError(f"it nests deeper than {_DEEPEST} levels")
    return data


def _located(text: str, wanted: Mapping[Path, str]) -> dict[Path, Pin]:
    """The tokens of the wanted requirements, each proven by a replacement."""
    tokens = [match.span(1) for match in _TOKEN.finditer(text)]
    if len(tokens) > _MOST_TOKENS:
        raise UnsafeError(f"it has more than {_MOST_TOKENS} strings that begin with {NAME}")
    placeholder = NAME
    while placeholder in text:
        placeholder += "-x"
    found: dict[Path, Pin] = {}
    # The shorter first, so that the longer wins: between triple quotes, the inner pair of quotes
    # looks like a string of its own.
    for start, end in sorted(tokens, key=lambda token: token[1] - token[0]):
        try:
            trial = _parsed(f'{text[:start]}"{placeholder}"{text[end:]}')
        except UnsafeError:
            continue  # not a string: the quotes belong to its neighbours, for example
        places = [path for path, value in _requirements(trial) if value == placeholder]
        if len(places) == 1 and places[0] in wanted:
            (path,) = places
            line = text.count("\n", 0, start) + 1
            found[path] = Pin(_dotted(path), line, start, end, text[start:end], wanted[path])
    return found


def _requirements(data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for pattern in _LISTS:
        for path, found in _matching(data, pattern, ()):
            for index, value in enumerate(found if isinstance(found, list) else ()):
                if isinstance(value, str):
                    yield (*path, index), value


def _matching(node: object, pattern: tuple[str, ...], path: Path) -> Iterator[tuple[Path, object]]:
    if not pattern:
        yield path, node
    elif isinstance(node, dict):
        for key in node if pattern[0] == "*" else node.keys() & {pattern[0]}:
            yield from _matching(node[key], pattern[1:], (*path, key))


def _elsewhere(data: Mapping[str, Any]) -> Iterator[str]:
    """Places that depend on numba outside the lists of requirements."""
    lists = {path for pattern in _LISTS for path, _ in _matching(data, pattern, ())}
    for path, value in _walked(data, ()):
        about = [part for part in path if _ABOUT_DEPENDENCIES.search(str(part))]
        if not about or any(path[:length] in lists for length in range(1, len(path) + 1)):
            continue
        words = value.split() if isinstance(value, str) else ()
        is_key = isinstance(path[-1], str) and path[-1] not in about and _is_numba(path[-1])
        if is_key or any(map(_is_numba, words)):
            yield _dotted(path)


def _walked(node: object, path: Path) -> Iterator[tuple[Path, object]]:
    for key, child in _children(node):
        yield (*path, key), child
        yield from _walked(child, (*path, key))


def _children(node: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(node, dict):
        yield from node.items()
    elif isinstance(node, list):
        yield from enumerate(node)


def _blanked(node: object, places: Mapping[str, str], path: Path = ()) -> object:
    """The parsed file without its pins; every value is comparable (nan is not equal to itself)."""
    if isinstance(node, dict | list):
        children = [(key, _blanked(child, places, (*path, key))) for key, child in _children(node)]
        return type(node), children
    return NAME if _dotted(path) in places else repr(node)


def _is_numba(requirement: str) -> bool:
    """Whether a requirement is for numba, whatever follows the name.

    >>> [_is_numba(text) for text in ("Numba >= 0.58", "numba-scipy", "numba[x]", "numba_stats")]
    [True, False, True, False]
    """
    found = re.match(r"\s*([A-Z0-9](?:[A-Z0-9._-]*[A-Z0-9])?)", requirement, re.IGNORECASE)
    return found is not None and canonicalize_name(found[1]) == NAME


def _dotted(path: Path) -> str:
    """``project.dependencies[3]``; names are quoted where TOML would quote them."""
    dotted = (
        f"[{part}]" if isinstance(part, int)
        else f".{part if re.fullmatch(r'[A-Za-z0-9_-]+', part) else json.dumps(part)}"
        for part in path
    )  # fmt: skip
    return "".join(dotted).removeprefix(".")
