"""Blocks as GitHub-flavoured Markdown in which no untrusted text acts as markup.

GitHub makes links and pictures of `@user`, `#12`, `owner/name#12`, `GH-12`, commits, `www.`
addresses and `:emoji:`, even if they are escaped, but not in code. So words of letters and numbers
are written as they are, and everything else becomes a code span. The only raw HTML is `<details>`,
`<summary>` and, in a summary, `<code>`. A link is made only of a `Link` with an address of plain
characters.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import groupby

from observatory.text import document as doc
from observatory.text.plain import clean

_WORD = r"[^\W\d_]+(?:['-][^\W\d_]+)*"
_SHORT = r"e\.g|i\.e"
_NUMBER = r"[+\-−×÷]?\d+(?:[.,]\d+)*%?"
_PLAIN = re.compile(rf"[(\"“]*(?:{_WORD}|{_SHORT}|{_NUMBER}|[→·%])?[)\"”.,:;!?…]*")
_LINKED = re.compile(r"[0-9a-f]{7}|www\.", re.IGNORECASE)
"""In plain words: what GitHub takes for a commit or for an address."""
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[nµm]?s|[kMGT]?B|min|h)(?:\W|$))")
_LIST_MARK = re.compile(r"^(\d+)([.)])(?=\s|$)")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?(?:/[A-Za-z0-9._~/?=&#%+-]*)?")
"""Without parentheses, quotes and everything else that could end a link early."""
_TRAILING = re.compile(r"[.,;:!?]*$")


def markdown(block: doc.Block) -> str:
    """One block, without the empty lines around it."""
    match block:
        case doc.Heading(words):
            return f"#### {inline(words)}"
        case doc.Paragraph(words):
            return inline(words)
        case doc.Points(items):
            return "\n".join(f"- {inline(item)}" for item in items)
        case doc.Table(header, rows):
            return _table(header, rows)
        case doc.Command(text):
            cleaned = clean(text)
            fence = _fence(cleaned, 3)
            return f"{fence}\n{cleaned}\n{fence}"
        case doc.Folded(summary, content):
            inner = "\n\n".join(markdown(part) for part in content)
            return f"<details><summary>{_summary(summary)}</summary>\n\n{inner}\n\n</details>"


def inline(words: doc.Words) -> str:
    """A sentence on one line, because GitHub breaks comments at every line end."""
    made = ""
    for part in words:
        match part:
            case doc.Name(text):
                piece = code(text)
            case doc.Strong(text):
                piece = f"**{prose(text).strip()}**" if text.strip() else ""
            case doc.Link(text, url):
                piece = _link(text, url)
            case text:
                piece = prose(text)
        # Two code spans that touch would be read as one with a longer fence.
        made += f" {piece}" if made.endswith("`") and piece.startswith("`") else piece
    return _LIST_MARK.sub(r"\1\\\2", made.strip())


def _link(text: str, url: str) -> str:
    written = prose(text).strip()
    # A bracket in plain words would end the text of the link; in code it would not.
    safe = _ADDRESS.fullmatch(url) and written and not re.search(r"[\[\]<>]", written)
    return f"[{written}]({url})" if safe else written


def prose(text: str) -> str:
    """Plain words as they are, everything else as code, with a leading and a trailing space.

    A no-break space keeps a number and its unit on one line.
    """
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    pieces = (f"{code(bare) if bare else ''}{plain}" for bare, plain in _pieces(text))
    joined = _UNIT.sub("\N{NO-BREAK SPACE}", " ".join(pieces))
    return f"{before}{joined}{after}" if text.strip() else before


def code(text: str) -> str:
    """A code span of the cleaned text; its fence is longer than any backticks inside."""
    cleaned = clean(text) or "?"
    fence = _fence(cleaned, 1)
    pad = " " if "`" in (cleaned[0], cleaned[-1]) else ""
    return f"{fence}{pad}{cleaned}{pad}{fence}"


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Runs of plain words, and of others without the punctuation that ends them: (code, plain)."""
    for plain, tokens in groupby(clean(text).split(" "), key=_is_plain):
        joined = " ".join(tokens)
        if plain:
            yield "", joined
        else:
            bare = _TRAILING.sub("", joined)
            yield bare, joined[len(bare) :]


def _is_plain(token: str) -> bool:
    return bool(_PLAIN.fullmatch(token)) and not _LINKED.search(token)


def _fence(text: str, least: int) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _table(header: tuple[str, ...], rows: tuple[tuple[doc.Words, ...], ...]) -> str:
    # The cells are split before anything else is read: a pipe counts even within a code span,
    # and a backslash in front escapes it, whatever comes before that.
    named = tuple((name,) for name in header)
    written = [[inline(cell).replace("|", "\\|") for cell in row] for row in (named, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in written]
    return "\n".join((lines[0], f"|{'---|' * len(header)}", *lines[1:]))


def _summary(text: str) -> str:
    """Text of an HTML block, which Markdown ignores and in which GitHub still makes links."""
    return " ".join(
        (f"<code>{html.escape(bare)}</code>" if bare else "") + html.escape(plain)
        for bare, plain in _pieces(text)
    )
