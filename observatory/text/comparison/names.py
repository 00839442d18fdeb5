"""What the two sides of a comparison are called in its text.

Sentences are made of BASE and HEAD, as files and commands have them. At the end the names of the
two sides take their place: "`3.3.7` is slower", or "your branch is slower".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from observatory.store.records.comparison import Comparison
from observatory.text import document as doc
from observatory.text.comparison.origin import Origin
from observatory.text.comparison.phrases import name

_ROLE = re.compile(r"(?<![\w./^~-])(BASE|HEAD)(?![\w/^~-]|\.\w)")
_BEGINS = re.compile(r"(?:^|[.!?] )\Z")
_HASH = re.compile(r"[0-9a-f]{12}(?:[0-9a-f]{28})?")
_SHORT = 8


@dataclass(frozen=True)
class Names:
    """The two sides in words, and as a reader can look them up."""

    base: doc.Words
    head: doc.Words
    base_exactly: doc.Words
    head_exactly: doc.Words

    @classmethod
    def of(cls, comparison: Comparison, origin: Origin) -> Names:
        """The branch that a person or GitHub names, else the subject's own name."""
        labels = comparison.base.subject.label, comparison.head.subject.label
        pull = origin.pull
        if pull is not None and all(map(_HASH.fullmatch, labels)):
            target = name(pull.target)
            return cls(
                (target,), ("your branch",),
                (target, " (", _short(comparison.base.subject.commit), ")"),
                ("your branch (", _short(pull.commit), ")"),
            )  # fmt: skip
        refs = comparison.base_ref, comparison.head_ref
        base, head = map(_called, refs, labels)
        if base == head:
            base, head = ("the first ", *base), ("the second ", *head)
        return cls(base, head, *map(_exactly, (base, head), refs, labels))

    def put_into(self, story: doc.Story, docs: str = "") -> doc.Story:
        """The story with these names instead of BASE and HEAD.

        ``docs``: the address of the documentation, for links to its pages; empty: they are words.
        """
        sides = {"BASE": self.base, "HEAD": self.head}
        return doc.changed(story, lambda words: _placed(_renamed(words, sides), docs))


def _called(ref: str | None, label: str) -> doc.Words:
    if ref:
        return (name(ref),)
    return (_short(label) if _HASH.fullmatch(label) else name(label),)


def _exactly(called: doc.Words, ref: str | None, label: str) -> doc.Words:
    """The name of a branch with the commit that it was at."""
    return (*called, " (", _short(label), ")") if ref and _HASH.fullmatch(label) else called


def _short(commit: str) -> doc.Name:
    return name(commit[:_SHORT])


def _renamed(words: doc.Words, sides: Mapping[str, doc.Words]) -> doc.Words:
    made: list[doc.Piece] = []
    for piece in words:
        if not isinstance(piece, str | doc.Strong):
            made.append(piece)
            continue
        before = ""
        pieces: list[doc.Piece] = []
        for index, text in enumerate(_ROLE.split(piece if isinstance(piece, str) else piece.text)):
            if index % 2 == 0:
                pieces.append(text)
            else:
                begins = not made and bool(_BEGINS.search(before))
                pieces += capitalised(sides[text]) if begins else sides[text]
            before += text
        if isinstance(piece, doc.Strong):
            made.append(doc.Strong(doc.spoken(tuple(pieces))))
        else:
            made += [one for one in pieces if one != ""]
    return tuple(made)


def capitalised(words: doc.Words) -> doc.Words:
    """The words as a sentence begins with them."""
    first, *rest = words
    return (first[:1].upper() + first[1:], *rest) if isinstance(first, str) else words


def _placed(words: doc.Words, docs: str) -> doc.Words:
    """Links into the documentation with their addresses, or as mere words where it has none."""
    return tuple(
        one
        if not isinstance(one, doc.Link) or one.url.startswith("https://")
        else (doc.Link(one.text, docs + one.url) if docs else one.text)
        for one in words
    )
