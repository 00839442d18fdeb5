"""Where a pyproject.toml pins numba, and the exchange of exactly these strings.

Nothing is dumped: the text of a file is kept, and only the tokens of requirements are exchanged.
Which tokens these are is not guessed from quotes and brackets but asked of the parser: a token
is put another word for, and where that word shows in what is parsed is what the token says. So a
"numba" in a comment, in a key or within another string is none, whatever stands around it. What
is written is parsed again, and must differ in these values only.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from packaging.utils import canonicalize_name

NAME = "numba"
_BOM = b"\xef\xbb\xbf"
MOST_BYTES = 256 << 10
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
"""Whatever may be a string that begins with numba; they may overlap, and most are proven wrong."""


class UnsafeError(ValueError):
    """Raised when a file cannot be understood or rewritten safely; the message says why."""


@dataclass(frozen=True)
class Pin:
    """A requirement of numba: where it stands, its token in the text, and what it says."""

    place: str
    line: int
    start: int
    end: int
    token: str
    text: str

    @property
    def name(self) -> str:
        """How people find it."""
        return f"{self.place}, line {self.line}"


@dataclass(frozen=True)
class Project:
    """A pyproject.toml: its text, its pins from top to bottom, and what bears on them."""

    text: str
    bom: bool
    pins: tuple[Pin, ...]
    elsewhere: tuple[str, ...]
    """Places that name numba as a dependency in a form that is not rewritten here."""
    dynamic: bool
    """Whether dependencies are declared elsewhere than in this file."""
    requires_python: str


def read(content: bytes) -> Project:
    """Find every pin; raise `UnsafeError` for a file in which that cannot be done for certain."""
    if len(content) > MOST_BYTES:
        raise UnsafeError(f"it has more than {MOST_BYTES} bytes, which no pyproject.toml needs")
    bom = content.startswith(_BOM)
    try:
        text = content.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise UnsafeError(f"byte {error.start} is not UTF-8, as TOML has to be") from error
    data = _parsed(text)
    wanted = {path: said for path, said in _requirements(data) if _is_numba(said)}
    pins = _located(text, wanted) if wanted else {}
    if missing := wanted.keys() - pins.keys():
        raise UnsafeError(
            f"the string of {_spoken(min(missing, key=str))} is written in a way that cannot be "
            'found in the file; write it as "numba..."'
        )
    return Project(
        text=text,
        bom=bom,
        pins=tuple(sorted(pins.values(), key=lambda pin: pin.start)),
        elsewhere=tuple(_elsewhere(data)),
        dynamic=bool({"dependencies", "optional-dependencies"} & _dynamic(data)),
        requires_python=_requires_python(data),
    )


def exchanged(project: Project, said: Mapping[Pin, str]) -> bytes:
    """The file with other requirements in the place of some; every other byte as it was.

    Raises `UnsafeError` if what came out does not say exactly that.
    """
    text = project.text
    for pin in sorted(said, key=lambda pin: pin.start, reverse=True):
        text = text[: pin.start] + quoted(said[pin]) + text[pin.end :]
    try:
        before, after = _parsed(project.text), _parsed(text)
    except UnsafeError as error:
        raise UnsafeError(f"with the new pins it could not be read: {error}") from error
    expected = {pin.place: said.get(pin, pin.text) for pin in project.pins}
    found = {
        _spoken(path): value for path, value in _requirements(after) if _spoken(path) in expected
    }
    if found != expected or _without_pins(before, expected) != _without_pins(after, expected):
        raise UnsafeError("with the new pins it would no longer say what it said")
    return _BOM * project.bom + text.encode()


def quoted(text: str) -> str:
    """A TOML string of one line: in double quotes unless there are some inside.

    >>> print(quoted("numba>=0.58"), quoted('numba; python_version < "3.13"'))
    "numba>=0.58" 'numba; python_version < "3.13"'
    """
    simple = text.isprintable() and "\\" not in text
    if simple and '"' not in text:
        return f'"{text}"'
    if simple and "'" not in text:
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False)


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnsafeError(f"it is not valid TOML: {error}") from error
    except (RecursionError, ValueError) as error:  # huge integers are a ValueError
        raise UnsafeError(f"it cannot be read as TOML: {error}") from error
    level: list[object] = [data]
    for _ in range(_DEEPEST):  # not by recursion: a header can nest as deep as it is long
        level = [child for node in level for _, child in _children(node)]
    if level:
        raise UnsafeError(f"it nests deeper than {_DEEPEST} levels")
    return data


def _located(text: str, wanted: Mapping[Path, str]) -> dict[Path, Pin]:
    """The tokens of the wanted requirements, each proven by an exchange."""
    tokens = [match.span(1) for match in _TOKEN.finditer(text)]
    if len(tokens) > _MOST_TOKENS:
        raise UnsafeError(f"it has more than {_MOST_TOKENS} strings that begin with {NAME}")
    word = NAME
    while word in text:
        word += "-x"
    found: dict[Path, Pin] = {}
    # The shorter first, so that the longer wins: the inner quotes of three, put another word
    # between, are a string in three quotes still.
    for start, end in sorted(tokens, key=lambda token: token[1] - token[0]):
        try:
            other = _parsed(f'{text[:start]}"{word}"{text[end:]}')
        except UnsafeError:
            continue  # not a string: quotes of two that stand side by side, for example
        places = [path for path, value in _requirements(other) if value == word]
        if len(places) == 1 and places[0] in wanted:
            (path,) = places
            line = text.count("\n", 0, start) + 1
            found[path] = Pin(_spoken(path), line, start, end, text[start:end], wanted[path])
    return found


def _requirements(data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for pattern in _LISTS:
        for path, found in _matching(data, pattern, ()):
            if isinstance(found, list):
                for index, value in enumerate(found):
                    if isinstance(value, str):
                        yield (*path, index), value


def _matching(node: object, pattern: tuple[str, ...], path: Path) -> Iterator[tuple[Path, object]]:
    if not pattern:
        yield path, node
    elif isinstance(node, dict):
        for key in node if pattern[0] == "*" else node.keys() & {pattern[0]}:
            yield from _matching(node[key], pattern[1:], (*path, key))


def _elsewhere(data: Mapping[str, Any]) -> Iterator[str]:
    """Dependencies on numba that are no requirement in one of the lists."""
    lists = {path for pattern in _LISTS for path, _ in _matching(data, pattern, ())}
    for path, value in _walked(data, ()):
        about = [part for part in path if _ABOUT_DEPENDENCIES.search(str(part))]
        if not about or any(path[:length] in lists for length in range(1, len(path) + 1)):
            continue
        words = value.split() if isinstance(value, str) else ()
        is_key = isinstance(path[-1], str) and path[-1] not in about and _is_numba(path[-1])
        if is_key or any(map(_is_numba, words)):
            yield _spoken(path)


def _walked(node: object, path: Path) -> Iterator[tuple[Path, object]]:
    for key, child in _children(node):
        yield (*path, key), child
        yield from _walked(child, (*path, key))


def _children(node: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(node, dict):
        yield from node.items()
    elif isinstance(node, list):
        yield from enumerate(node)


def _without_pins(data: dict[str, Any], places: Mapping[str, str]) -> object:
    """What is parsed, with the pins blanked and everything comparable (nan is not, by itself)."""

    def blanked(node: object, path: Path) -> object:
        if isinstance(node, dict):
            return [(key, blanked(child, (*path, key))) for key, child in node.items()]
        if isinstance(node, list):
            return [blanked(child, (*path, index)) for index, child in enumerate(node)]
        return NAME if path and _spoken(path) in places else repr(node)

    return blanked(data, ())


def _dynamic(data: Mapping[str, Any]) -> set[str]:
    project = data.get("project")
    listed = project.get("dynamic") if isinstance(project, dict) else None
    return {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()


def _requires_python(data: Mapping[str, Any]) -> str:
    project = data.get("project")
    said = project.get("requires-python", "") if isinstance(project, dict) else ""
    return said if isinstance(said, str) else ""


def _is_numba(requirement: str) -> bool:
    """Whether a requirement is numba's, whatever follows the name.

    >>> [_is_numba(text) for text in ("Numba >= 0.58", "numba-scipy", "numba[x]", "numba_stats")]
    [True, False, True, False]
    """
    found = re.match(r"\s*([A-Z0-9](?:[A-Z0-9._-]*[A-Z0-9])?)", requirement, re.IGNORECASE)
    return found is not None and canonicalize_name(found[1]) == NAME


def _spoken(path: Path) -> str:
    """``project.dependencies[3]``; names that TOML would have in quotes are in quotes."""
    said = ""
    for part in path:
        if isinstance(part, int):
            said += f"[{part}]"
        else:
            bare = re.fullmatch(r"[A-Za-z0-9_-]+", part)
            said += f".{part if bare else json.dumps(part)}"
    return said.removeprefix(".")
