"""The data of lines: what they are, the subjects on them, and the rules of their series.

Several lines often have the same subjects: each subject is written once, and lines refer to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from observatory.analyze.comparison.rules import Rule
from observatory.analyze.history.series import Subject
from observatory.benchmarks.catalogue import COMPARED, MODELS, WRONG_VALUES
from observatory.dashboard.site_input import SiteInput
from observatory.store.base.releases import is_release
from observatory.text.forge import Forge, ref_of
from observatory.text.plain import clean

BLOCK = 16
"""Subjects in one data file of values."""
GROUPS = {**dict.fromkeys(WRONG_VALUES, "wrong"), "crashed": "crashed"}
"""Metrics whose worsening has a table of its own; the page has a table for all others."""
_SHORT = 8
"""Characters of a hash by which asv calls a commit."""


def line_files(observed: SiteInput, forge: Forge) -> Iterator[tuple[str, object]]:
    """Names and contents of data files, without the rules."""
    table = _Table(observed)
    lines = [
        {
            "machine": clean(line.machine), "env": clean(line.env_name),
            "era": clean(str(line.era)), "cpu": clean(line.era.cpu),
            "subjects": [table.place_of(one) for one in line.subjects],
            "releases": [n for n, one in enumerate(line.subjects) if _released(one.label)],
        }
        for line in observed.lines
    ]  # fmt: skip
    yield "lines", {
        "block": BLOCK, "axis": axis_of(observed), "models": list(MODELS), "lines": lines,
        "commit_url": forge.commit, "tag_url": forge.tag, "compare_url": forge.compare,
    }  # fmt: skip
    yield "subjects", table.columns


class _Table:
    """The different subjects of all lines, a column for each of their properties."""

    def __init__(self, observed: SiteInput) -> None:
        self._observed = observed
        self._places: dict[tuple[Any, ...], int] = {}
        self._versions: dict[str, int] = {}

    def place_of(self, one: Subject) -> int:
        """Where a subject stands in the table."""
        versions = self._observed.versions(one)
        row = (
            clean(one.label), clean(one.commit), int(one.date.timestamp()),
            self._versions.setdefault(versions, len(self._versions)),
        )  # fmt: skip
        return self._places.setdefault(row, len(self._places))

    @property
    def columns(self) -> dict[str, list[Any]]:
        """By name.

        A label is 0 where it is the beginning of the commit's hash; a ``ref``, what the forge calls
        the subject, is 1 where it is the whole hash.
        """
        labels, commits, dates, versions = (
            list(column) for column in zip(*self._places, strict=True)
        ) if self._places else ([], [], [], [])  # fmt: skip
        return {
            "label": [
                0 if label == commit[:_SHORT] else label
                for label, commit in zip(labels, commits, strict=True)
            ],
            "ref": [
                1 if ref == commit else ref
                for ref, commit in zip(map(ref_of, labels, commits), commits, strict=True)
            ],
            "commit": commits, "date": dates, "versions": versions, "texts": list(self._versions),
        }  # fmt: skip


def _released(label: str) -> bool:
    """Whether a label is that of a release, which other projects may write with a v."""
    return is_release(label.removeprefix("v"))


def axis_of(observed: SiteInput) -> str:
    """Along what charts begin: "subject" where most have the name of a release, else "date"."""
    labels = [one.label for line in observed.lines for one in line.subjects]
    releases = sum(map(_released, labels))
    return "subject" if 2 * releases >= len(labels) else "date"


def phrases() -> dict[str, list[list[str]]]:
    """By exact metric: claims about a count that rose, and that fell, by 1 and by several."""
    return {
        one.name: [
            [form.replace("HEAD", "B").replace("BASE", "A") for form in forms or ()]
            for forms in (one.rose, one.fell)
        ]
        for one in COMPARED.values() if one.rose or one.fell
    }  # fmt: skip


def rules_of(observed: SiteInput) -> tuple[list[dict[str, object]], list[int]]:
    """The different rules of all series, and for each series the index of its rule."""
    known: dict[tuple[Rule, str], int] = {}
    numbers = [
        known.setdefault(
            (observed.rule_of(one)[0], GROUPS.get(one.series.place.metric, "")), len(known)
        )
        for one in observed.tracks
    ]
    return [asdict(rule) | {"group": group} for rule, group in known], numbers
