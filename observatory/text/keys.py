"""Why keys differ, in words: for a terminal and an issue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from observatory.analyze.keys import Difference, KeyChange
from observatory.text import document as doc
from observatory.text.plain import clean, shorten
from observatory.text.words import several

_FUNCTIONS = 8
_GROUPS = 10
_DIFFERENCES = 12
_VALUE = 160
_NAME = 80
_NOTHING = "(nothing)"


def told(
    base: str,
    head: str | None,
    between: Sequence[KeyChange],
    within: dict[str, Sequence[KeyChange]],
) -> Iterator[doc.Flat]:
    """What differs between two subjects, and between two processes of each.

    ``base`` and ``head``: their labels. ``within``: by label.
    """
    yield from _keyless(within[base] if head is None else between, base, head)
    asked, between = between, [one for one in between if one.stored]
    stored = {label: [one for one in own if one.stored] for label, own in within.items()}
    for label, found in stored.items():
        unstable = [one for one in found if not one.same]
        if unstable:
            number = several(len(unstable), "function")
            yield doc.Paragraph((
                "In ", doc.Name(label), ", two processes give different keys to ",
                f"{number} of {len(found)}. ",
                "What one process stores, the other does not find.",
            ))  # fmt: skip
            yield from _groups(unstable, "one process", "another process", by_value=False)
    if head is None:
        steady = stored[base]
        if steady and all(one.same for one in steady):
            yield doc.Paragraph((_stable(steady), " in two processes of ", doc.Name(base), "."))
        return
    # Keys that differ from process to process differ between the subjects as well.
    restless = {
        (one.name, key)
        for found in stored.values() for one in found if not one.same
        for key in (one.base, one.head)
    }  # fmt: skip
    steady = [one for one in between if not {(one.name, one.base), (one.name, one.head)} & restless]
    changed = [one for one in steady if not one.same]
    if not asked:
        yield doc.Paragraph(("No function with this name is asked for by both.",))
    elif changed:
        yield doc.Paragraph((
            f"{several(len(changed), 'function')} of {len(steady)} ",
            "has" if len(changed) == 1 else "have", " a different key in ",
            doc.Name(head), " than in ", doc.Name(base), ".",
        ))  # fmt: skip
        yield from _groups(changed, base, head, by_value=True)
    elif steady:
        yield doc.Paragraph((
            _stable(steady), " in ", doc.Name(base), " and in ", doc.Name(head), ".",
        ))  # fmt: skip


def _keyless(found: Sequence[KeyChange], base: str, head: str | None) -> Iterator[doc.Flat]:
    """Which functions have no key: there is nothing to compare, and nothing that is reused."""
    names = dict.fromkeys(shorten(clean(one.name), _NAME) for one in found if not one.stored)
    if names:
        one = len(names) == 1
        sides = (doc.Name(base), *((" and in ", doc.Name(head)) if head else ()))
        yield doc.Paragraph((
            f"{several(len(names), 'function')} {'has' if one else 'have'} no key in ", *sides,
            f": no cache stores {'it' if one else 'them'}, and each process compiles ",
            "it again." if one else "them again.",
        ))  # fmt: skip
        yield _listed(list(names))


def _listed(names: Sequence[str]) -> doc.Points:
    rest = len(names) - _FUNCTIONS
    return doc.Points((
        *((doc.Name(name),) for name in names[:_FUNCTIONS]),
        *([(f"and {several(rest, 'more function')}",)] if rest > 0 else ()),
    ))  # fmt: skip


def _stable(found: Sequence[KeyChange]) -> str:
    if len(found) == 1:
        return "The key is the same"
    return f"The keys of all {len(found)} functions are the same"


def _groups(found: Sequence[KeyChange], base: str, head: str, by_value: bool) -> Iterator[doc.Flat]:
    """The functions that differ in the same parts, with a table of these.

    ``by_value``: whether the parts have the same values as well; otherwise the table has those of
    the first function.
    """
    groups: dict[object, list[KeyChange]] = defaultdict(list)
    for one in found:
        groups[tuple((_path(each), (each.base, each.head) if by_value else ())
                     for each in one.differences)].append(one)  # fmt: skip
    # A part that few functions have says more than a version that all of them have.
    ordered = sorted(groups.values(), key=len)
    for functions in ordered[:_GROUPS]:
        differences = functions[0].differences
        if not by_value and len(functions) > 1:
            yield doc.Paragraph((f"The values are those of the first of {len(functions)}:",))
        yield _listed(list(dict.fromkeys(shorten(clean(one.name), _NAME) for one in functions)))
        yield doc.Table(
            ("part of the key", base, head),
            tuple(
                (_words(_path(one)), _words(_shown(one.base)), _words(_shown(one.head)))
                for one in differences[:_DIFFERENCES]
            ),
        )
        if (more := len(differences) - _DIFFERENCES) > 0:
            yield doc.Paragraph((f"and {several(more, 'more part')}",))
    if (left := len(groups) - _GROUPS) > 0:
        yield doc.Paragraph((
            f"and {several(left, 'more group')} of functions that differ in other parts; ",
            doc.Name("--json"), " has all of them.",
        ))  # fmt: skip


def _path(difference: Difference) -> str:
    return " > ".join(difference.path)


def _words(text: str) -> doc.Words:
    return (doc.Name(text),)


def _shown(value: str | None) -> str:
    return _NOTHING if value is None else shorten(clean(value), _VALUE)
