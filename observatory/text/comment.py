"""The comment on a pull request: a comparison as GitHub-flavoured Markdown, of bounded length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from observatory.store.records.comparison import Comparison
from observatory.text.comparison.origin import UNKNOWN, Origin
from observatory.text.comparison.story import tell
from observatory.text.document import Part, Story
from observatory.text.markdown import inline, markdown
from observatory.text.units import count
from observatory.text.words import listed

MARKER = "<!-- observatory: comparison -->"
"""First line of every comment, by which a later run finds the comment to update."""
LIMIT = 65_000
"""Characters; GitHub refuses comments of more than 65,536."""
_NOTE = 1_000
"""Characters kept for the sentence on what was left out."""


def comment(comparison: Comparison, origin: Origin = UNKNOWN) -> str:
    """The comment in Markdown, of at most LIMIT characters.

    ``origin``: what its publisher knows; the comparison may be a stranger's.
    """
    return written(tell(comparison, origin))


def written(story: Story) -> str:
    """A story in Markdown, of at most LIMIT characters.

    A longer one loses whole parts, the least important first, and its last sentence names them.
    """
    head = f"{MARKER}\n### {story.status}: {inline(story.verdict)}"
    texts = ["\n\n".join(map(markdown, part.blocks)) for part in story.parts]
    lengths = [len(text) + 2 for text in texts]
    spare = LIMIT - len(head) - _NOTE - sum(lengths)
    gone: set[int] = set()
    for index in sorted(range(len(texts)), key=lambda i: (-story.parts[i].rank, -i)):
        if spare >= 0:
            break
        gone.add(index)
        spare += lengths[index]
    kept = [text for index, text in enumerate(texts) if index not in gone]
    note = [_left_out([story.parts[index] for index in sorted(gone)])] if gone else []
    return "\n\n".join((head, *kept, *note)) + "\n"


def _left_out(parts: Sequence[Part]) -> str:
    nouns = Counter(part.noun for part in parts)
    names = [noun if number == 1 else f"{noun} ({count(number)} times)"
            for noun, number in nouns.items()]  # fmt: skip
    sentence = f"This comment was cut to {count(LIMIT)} characters and lacks {listed(names)}."
    return inline((f"{sentence} The comparison's JSON file is complete.",))
