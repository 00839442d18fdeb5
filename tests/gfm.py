"""A comment as GitHub would render it, and what must never be found in it. For tests only.

The renderer is markdown-it with GitHub's tables and line breaks. What GitHub does after rendering
(mentions, references, commits, addresses, emoji, formulas) is looked for in the plain texts.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from textwrap import wrap

from markdown_it import MarkdownIt
from markdown_it.token import Token

from observatory.text.comment import MARKER

_ALLOWED = {
    "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence",
    "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "html_block",
    "table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close",
    "tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close",
}  # fmt: skip
_INLINE = {"text", "text_special", "code_inline", "strong_open", "strong_close"}
_HTML = re.compile(
    re.escape(MARKER) + r"|</details>|<details><summary>((?:[^<>]|<code>[^<>]*</code>)*)</summary>"
)
_LINKED = (
    r"@\w", r"#\d", r"\bGH-\d", r"\b[0-9a-f]{7,40}\b", r"://", r"\bwww\.", r":\w+:", r"[\w.]@[\w.]",
    r"\$", r"\[\^",
)  # fmt: skip
_HIDDEN = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp", "Mn", "Mc", "Me"}


def parse(text: str) -> list[Token]:
    """The block tokens; those within a line are children of `inline`."""
    rules = MarkdownIt("commonmark", {"html": True, "breaks": True})
    return rules.enable(["table", "strikethrough"]).parse(text)


def problems(text: str, trusted: tuple[str, ...] = ()) -> list[str]:
    """Whatever a comment must not hold; links may begin with one of the trusted addresses."""
    found = [f"character {c!r}" for c in text if c != "\n" and _is_hidden(c)]
    depth = 0
    for token in parse(text):
        if token.type not in _ALLOWED:
            found.append(f"{token.type}: {token.content!r}")
        elif token.type == "html_block":
            found += _html_problems(token.content.strip())
            depth += token.content.count("<details>") - token.content.count("</details>")
        for child in token.children or ():
            if child.type == "link_open" and trusted:
                target = str(child.attrs["href"])
                found += [] if target.startswith(trusted) else [f"a link to {target}"]
            elif child.type not in _INLINE and not (trusted and child.type == "link_close"):
                found.append(f"{child.type}: {child.content!r}")
        found += [f"GitHub links {text!r}" for text in _plain(token) if _is_linked(text)]
    return found + ([f"{depth} folds stay open"] if depth else [])


def codes(text: str) -> list[str]:
    """The contents of all code spans."""
    return [
        child.content
        for token in parse(text)
        for child in token.children or ()
        if child.type == "code_inline"
    ]


def visible_lines(text: str, width: int = 105) -> int:
    """About how many lines a reader sees before unfolding anything."""
    lines = depth = 0
    for token in parse(text):
        if token.type == "html_block":
            lines += "<summary>" in token.content and depth == 0
            depth += token.content.count("<details>") - token.content.count("</details>")
        elif depth == 0 and token.type == "tr_open":
            lines += 1
        elif depth == 0 and token.type == "fence":
            lines += 3
        elif depth == 0 and token.type == "inline" and token.level < 4:
            lines += len(wrap(token.content, width))
    return lines


def _html_problems(content: str) -> list[str]:
    matched = _HTML.fullmatch(content)
    if matched is None:
        return [f"raw HTML: {content!r}"]
    told = html.unescape(re.sub("<code>.*?</code>", " ", matched[1] or ""))
    return [f"GitHub links {told!r}"] if _is_linked(told) else []


def _plain(token: Token) -> Iterator[str]:
    """The runs of text of a line that are not code: a tag ends a run, as in GitHub's filters."""
    run = ""
    for child in token.children or ():
        if child.type in ("text", "text_special"):
            run += child.content
        else:
            yield run
            run = ""
    yield run


def _is_linked(text: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in _LINKED)


def _is_hidden(character: str) -> bool:
    rightwards = unicodedata.bidirectional(character) in ("R", "AL", "AN")
    return rightwards or unicodedata.category(character) in _HIDDEN
