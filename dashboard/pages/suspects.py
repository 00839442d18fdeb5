"""The commits of an alert's range as its page shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from observatory.analyze.history.suspects import Commit, Suspect, SuspectedRange
from observatory.store.records.searches import BlamedCommit
from observatory.text.forge import Forge
from observatory.text.plain import clean, shorten
from observatory.text.words import first_of, several

_SHOWN = 12
_MOST = 200
_REASONS = 3
_HASH = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True)
class CommitView:
    """One commit: links are empty where the project has no address."""

    hash: str
    link: str
    title: str
    author: str
    date: datetime
    pull_request: str
    pull_link: str
    why: str


def suspects_view(found: SuspectedRange, forge: Forge) -> dict[str, Any]:
    """The commits, the likeliest first; the first few are shown, and others folded."""
    views = [
        commit_view(one.commit, forge, "; ".join(_reasons(one))) for one in found.suspects[:_MOST]
    ]
    many = len(found.suspects)
    likely = sum(one.weight > 0 for one in found.suspects)
    touch = "touches" if likely == 1 else "touch"
    return {
        "title": several(many, "commit"), "absent": found.absent,
        "likely": f"{likely} of them {touch} what changed" if likely else "",
        "first": views[:_SHOWN], "others": views[_SHOWN:], "left_out": max(0, many - _MOST),
    }  # fmt: skip


def commit_view(commit: Commit | BlamedCommit, forge: Forge, why: str = "") -> CommitView:
    """A commit as a line of a table; ``why`` it is suspected."""
    number, plain = commit.pull_request, _HASH.fullmatch(commit.hash)
    return CommitView(
        clean(commit.hash)[:10], f"{forge.commit}{commit.hash}" if forge.commit and plain else "",
        shorten(commit.title, 120), shorten(commit.author, 60), commit.date,
        f"#{number}" if number else "", forge.pull_request(number) if number else "", why,
    )  # fmt: skip


def _reasons(one: Suspect) -> Iterator[str]:
    """Why it is suspected, the strongest reason first."""
    if one.defines:
        files = [f"{shorten(file, 60)} ({shorten(name, 30)})" for file, name in one.defines]
        yield f"changes {first_of(files, _REASONS)}"
    if one.names:
        yield f"its title names {first_of([shorten(name, 30) for name in one.names], _REASONS)}"
    if one.areas:
        yield f"touches {first_of([shorten(area, 30) for area in one.areas], _REASONS)}"
    if one.idle:
        yield "only tests, documentation or packaging"
