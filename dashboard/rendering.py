"""Templates and assets of the pages; a page alone holds its own style and scripts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from jinja2 import (
    Environment,
    FileSystemBytecodeCache,
    PackageLoader,
    StrictUndefined,
    pass_context,
)
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from markupsafe import Markup

from observatory.dashboard.colours import stylesheet
from observatory.dashboard.packing import bundled, lean
from observatory.store.base.files import cache_directory
from observatory.text.plain import shorten
from observatory.text.units import COUNTED
from observatory.text.words import meanings


def rendered(template: str, values: dict[str, Any]) -> bytes:
    """A page from the template of this name. Raises jinja2.UndefinedError if a value is missing."""
    return _environment().get_template(f"{template}.j2").render(values).encode()


def macro(template: str, name: str, values: dict[str, Any]) -> Callable[..., Markup]:
    """A macro of a template, which sees these values: for what is rendered thousands of times."""
    module = _environment().get_template(f"{template}.j2").make_module(values)
    found: Callable[..., Markup] = getattr(module, name)
    return found


def alone(template: str, values: dict[str, Any], scripts: tuple[str, ...]) -> bytes:
    """A page as one file: ``scripts`` and the style are in it, and its policy allows only these."""
    written = [_asset(name).decode() for name in scripts]
    style = (_asset("style.css") + _asset("flame.css")).decode()
    inline = {
        "style": style, "style_hash": _hash(style), "scripts": written,
        "script_hashes": [_hash(one) for one in written],
    }  # fmt: skip
    return rendered(template, inline | values)


def assets() -> Iterator[tuple[str, bytes]]:
    """Stylesheets and scripts, and those of others under ``assets/vendor`` with their licences."""
    found = dict(_files_of(files("observatory.dashboard") / "assets", "assets"))
    found |= {f"assets/{name}": _asset(name) for name in _OF_CATALOGUE}
    own = {path: lean(path, one) for path, one in found.items() if "/vendor/" not in path}
    yield from ((path, one) for path, one in found.items() if path not in own)
    yield from bundled(own).items()


def _files_of(directory: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for each in sorted(directory.iterdir(), key=lambda one: one.name):
        if each.is_dir():
            yield from _files_of(each, f"{path}/{each.name}")
        else:
            yield f"{path}/{each.name}", each.read_bytes()


def _asset(name: str) -> bytes:
    content = (files("observatory.dashboard") / "assets" / name).read_bytes()
    return content + _OF_CATALOGUE[name]().encode() if name in _OF_CATALOGUE else content


def _counted() -> str:
    """The script that tells `units.js` which units are not written."""
    units = json.dumps(sorted(COUNTED), separators=(",", ":"))
    return f"for (const unit of {units}) observatory.units.COUNTED.add(unit);\n"


_OF_CATALOGUE = {"style.css": stylesheet, "units.js": _counted}
"""What assets have beside what lies in their files, because it follows from the catalogue."""


def _hash(text: str) -> str:
    """The text's hash as a Content Security Policy writes it."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class _Compiled(FileSystemBytecodeCache):
    """Templates as they were compiled before: to compile them takes longer than most pages."""

    def __init__(self, directory: Path) -> None:
        with contextlib.suppress(OSError):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().__init__(str(directory))

    def dump_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError):  # it saves time and nothing else
            super().dump_bytecode(bucket)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    base = cache_directory()
    found = Environment(
        loader=PackageLoader("observatory.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        bytecode_cache=None if base is None else _Compiled(base / "templates"),
    )
    found.filters["shown"] = shorten
    found.filters["coded"] = _coded
    found.filters["termed"] = _termed
    found.filters["breakable"] = _breakable
    found.filters["ended"] = _ended
    found.filters["sentence"] = _sentence
    return found


def _ended(sentence: str) -> str:
    """A sentence with its full stop; the analysis and the records give it without one."""
    return f"{sentence}{'' if sentence[-1:] in '.!?…' else '.'}"


def _sentence(words: str) -> str:
    """The words with a capital and a full stop: a sentence that begins with no name of a metric."""
    return _ended(f"{words[:1].upper()}{words[1:]}")


def _breakable(name: str) -> Markup:
    """A name that may be broken after a dot or an underscore, and not in the middle of a word."""
    return Markup("{}").format(name).replace(".", Markup(".<wbr>")).replace("_", Markup("_<wbr>"))


@pass_context
def _coded(context: Context, text: str) -> Markup:
    """A sentence with the names in backticks as code, and with links from words to what they mean.

    Only words that nobody takes for plain English are linked: `warm_disk` and `NUMBA`, not "call".
    """
    pieces = enumerate(text.split("`"))
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else _explained(context, piece)
        for place, piece in pieces
    )


@pass_context
def _termed(context: Context, word: str) -> Markup | str:
    return termed(word, context.get("root"), context.get("of_caches"))


def termed(word: str, root: str | None, of_caches: bool | None) -> Markup | str:
    """A word with what it means, for those who point at it, and a link to the glossary.

    ``root``: the way from the page to the first page, where there is one.
    """
    meaning = _meanings().get(word)
    if root is None or not meaning or not of_caches:
        return word
    link = Markup('<a class="term" href="{}words.html#{}" title="{}">{}</a>')
    return link.format(root, word, meaning.replace("`", ""), word)


_meanings = lru_cache(maxsize=1)(meanings)
_WORD = re.compile(r"(?<![\w.])([a-z]+(?:_[a-z0-9]+)+|[A-Z]{4,}(?:_[A-Z]+)*|C_VM)(?![\w.(])")


def _explained(context: Context, text: str) -> Markup:
    pieces = enumerate(_WORD.split(text))
    return Markup("").join(
        _termed(context, piece) if place % 2 else piece for place, piece in pieces
    )
