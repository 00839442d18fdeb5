"""Untrusted texts made safe to show: one line, without control or reordering characters."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

REPLACED = "\N{REPLACEMENT CHARACTER}"
"""Replaces a character that may not be shown, so that two names never look alike without it."""

_NOT_PLAIN = re.compile(r"[^ -~\n\t]")
_SHOWN = "LNPS"  # letters, numbers, punctuation, symbols; marks could cover other lines
_RIGHT_TO_LEFT = ("R", "AL", "AN")


def clean(text: str) -> str:
    r"""One line of visible left-to-right characters, with single spaces.

    Control, format and private characters, combining marks and right-to-left letters become
    REPLACED: they could hide a part, or show "0 to 35" as "35 to 0".

    >>> clean("radon\x1b[31m\n  warm\u202e")
    'radon\ufffd[31m warm\ufffd'
    """
    if text.isascii() and text.isprintable():
        single = " ".join(text.split())
        return text if single == text else single  # the same object: there may be many of it
    composed = unicodedata.normalize("NFC", text)
    return " ".join("".join(_shown(character) for character in composed).split())


def shorten(text: str, most: int) -> str:
    """The text cleaned, of at most ``most`` characters; the middle is left out.

    >>> shorten("Composite{a + b * c}", 12)
    'Composi…* c}'
    """
    cleaned = clean(text[: 4 * most + 100])  # marks and spaces may still go: take more than needed
    if len(text) > 4 * most + 100:
        cleaned += clean(text[-most:])
    if len(cleaned) <= most:
        return cleaned
    tail = most // 3
    return f"{cleaned[: most - tail - 1].rstrip()}…{cleaned[len(cleaned) - tail :].lstrip()}"


def ending(name: str, most: int) -> str:
    """The end of a dotted name, which says most: what is in front of a dot may be left out.

    >>> ending("forms.validate.Validate.time_invalid('a.b')", 30)
    "…Validate.time_invalid('a.b')"
    """
    dotted, bracket, parameters = clean(name).partition("(")
    parts = dotted.split(".")
    kept = parts
    while len(kept) > 1 and len(".".join(kept) + bracket + parameters) > most:
        kept = kept[1:]
    return "…" * (len(kept) < len(parts)) + ".".join(kept) + bracket + parameters


def begun(text: str, most: int) -> str:
    """The sentence cleaned, of at most ``most`` characters; its end is left out.

    >>> begun("3.3.4 leaves more files: 248 to 256 (radon)", 38)
    '3.3.4 leaves more files: 248 to 256…'
    """
    cleaned = clean(text[: 4 * most + 100])
    if len(cleaned) <= most:
        return cleaned
    return f"{cleaned[: most - 1].rpartition(' ')[0] or cleaned[: most - 1]}…"


def for_log(text: str, begun: str = "", kept: str = "") -> str:
    r"""The text for a log, in which it can be no command and hides nothing; its line ends stay.

    The runner of a GitHub workflow obeys a line that begins with two colons, and "##[" anywhere.
    Control characters become REPLACED; a log would obey them, or show a line as another one.
    ``begun``: what the line has so far that the text continues. ``kept``: control characters that
    are left, for streams that have colours.

    >>> for_log("one\n ::error::two ##[debug]\r\x1b[2K")
    'one\n : :error::two ## [debug]\ufffd\ufffd[2K'
    """
    shown = _NOT_PLAIN.sub(lambda found: _in_log(found[0], kept), text)
    lines = (begun + shown).split("\n")
    return "\n".join(map(_obeyed_by_nobody, lines))[len(begun) :]


def _in_log(character: str, kept: str) -> str:
    if character.isprintable() or character in kept:
        return character
    return " " if unicodedata.category(character) == "Zs" else REPLACED


def _obeyed_by_nobody(line: str) -> str:
    line = line.replace("##[", "## [")
    words = line.lstrip()
    return f"{line[: len(line) - len(words)]}: {words[1:]}" if words.startswith("::") else line


@lru_cache(maxsize=2**16)
def _shown(character: str) -> str:
    if character.isspace():
        return " "
    visible = unicodedata.category(character)[0] in _SHOWN
    if visible and unicodedata.bidirectional(character) not in _RIGHT_TO_LEFT:
        return character
    return REPLACED
