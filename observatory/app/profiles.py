"""The profile of a build, of one subject or of two, in the forms that people and tools read.

Forms of other tools are collapsed stacks (`flamegraph.pl`, inferno) and speedscope's JSON.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from observatory.analyze.profiles.cells import (
    CellProfile,
    Unit,
    cell_profiles,
    in_common,
    units_of,
)
from observatory.analyze.profiles.import_times import imports_of
from observatory.benchmarks.catalogue import Cell
from observatory.errors import SelectionError
from observatory.run.presets import Narrowed
from observatory.store.base.problems import Problem
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.saved import Saved, labelled, load, looks_saved
from observatory.store.records import layout
from observatory.store.records.profile import ImportedModule
from observatory.store.records.sample import Sample
from observatory.text.plain import REPLACED, clean
from observatory.text.profile_tables import difference_tables, import_tables, profile_tables
from observatory.text.profiles import difference_sentence
from observatory.text.tables import Table

Stacks = Iterable[tuple[Sequence[str], float]]
"""Chains of callers, the outermost first, each with the weight of its last function alone."""

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


@dataclass(frozen=True)
class FoundProfile:
    """The profile of one cell, of one subject or of two."""

    cell: Cell
    sides: tuple[tuple[str, CellProfile], ...]
    """The labels and the profiles: of the subject, or of BASE and HEAD."""
    others: tuple[Cell, ...]
    """Other cells that have a profile."""
    imports: tuple[Sequence[ImportedModule], ...] = ()
    """What importing each subject takes, module by module."""

    @property
    def units(self) -> list[Unit]:
        """The units in which each side has the profile."""
        return units_of(*(one for _, one in self.sides))

    def exported(self, form: Literal["collapsed", "speedscope"], unit: Unit) -> str:
        """Return the profiles in a form of other tools, one after another."""
        beside = [one for _, one in self.sides]
        names = [label for label, _ in self.sides]
        if len(set(names)) < len(names):  # one release, measured twice
            names = [f"{side} {label}" for side, label in zip(("BASE", "HEAD"), names, strict=True)]
        stacks = [one.stacks(unit, beside) for one in beside]
        return exported(dict(zip(names, stacks, strict=True)), form, unit)

    def html(self) -> bytes:
        """Return the page of the flame graph as one file; of one subject, it compares nothing."""
        from observatory.dashboard.pages.flame import flame_file  # imports templates

        (base, before), (head, after) = self.sides[0], self.sides[-1]
        return flame_file(self.cell, (base, head), before, after)

    @property
    def summary(self) -> str:
        """What HEAD does more or less than BASE, in a sentence; empty for one subject."""
        if len(self.sides) == 1:
            return ""
        said = difference_sentence(*(one for _, one in self.sides))
        return f"{said}." if said else ""

    def tables(self) -> list[Table]:
        """Return phases, LLVM passes, rewriters, functions and imports; of two, those that grew."""
        (_, first), (_, last) = self.sides[0], self.sides[-1]
        two = len(self.sides) > 1
        parts = difference_tables(first, last) if two else profile_tables(last)
        return [*parts, *import_tables(self.imports)]


def profile(
    subject: str,
    head: str | None = None,
    *,
    results: Path | str = "results",
    model: str | None = None,
    scenario: str | None = None,
    backend: str | None = None,
    launch: str | None = None,
    machine: str | None = None,
    problems: list[Problem] | None = None,
) -> FoundProfile:
    """Return what the builds of a subject did, or how those of ``head`` differ.

    Args:
        subject: A subject as the results name it, e.g. ``3.3.7``; or saved samples, a results
            directory or ``DIRECTORY:LABEL``.
        head: Another one, which is compared with it.
        results: The results directory.
        model: Only cells of this model; by default all. The next three limit other words. Of
            several cells, the one that changed most is taken, and of one subject the first.
        scenario: See ``model``.
        backend: See ``model``.
        launch: The start method; see ``model``.
        machine: The machine that measured; it is needed if several did.
        problems: What is unreadable is added to it, also if there is no profile.

    Raises:
        SelectionError: A filter is unknown, or no cell has a profile.
        RecordError: There is no such subject, or the results are unreadable.

    """
    wanted = (model, scenario, backend, launch)
    models, scenarios, backends, launches = (None if word is None else [word] for word in wanted)
    if unknown := Narrowed(models, scenarios, backends, launches).unknown():
        raise SelectionError(unknown)
    names = [name for name in (subject, head) if name is not None]
    saved = [_saved(name, Path(results), machine) for name in names]
    if problems is not None:
        broken = [problem for side in saved for problem in side.problems]
        problems += dict.fromkeys([*broken, *problems_beside(Path(results))])
    profiles = [
        {
            cell: one
            for cell, one in cell_profiles(side.samples).items()
            if all(word in (None, own) for word, own in zip(wanted, _words(cell), strict=True))
        }
        for side in saved
    ]
    cells = in_common(profiles[0], profiles[1]) if head else list(profiles[0])
    if not cells:
        raise SelectionError(_nothing([side.header.subject.label for side in saved], wanted))
    sides = [
        (side.header.subject.label, own[cells[0]])
        for side, own in zip(saved, profiles, strict=True)
    ]
    imports = tuple(imports_of(side.samples) for side in saved)
    return FoundProfile(cells[0], tuple(sides), tuple(cells[1:]), imports)


def profile_of_cells(
    sides: Sequence[tuple[str, Iterable[Sample]]], first: Iterable[Cell] = ()
) -> FoundProfile | None:
    """Return the profile of one cell of two subjects that were measured: labels and samples.

    That is the first of ``first`` of which both have a profile, or the cell that changed most. None
    if there is none.
    """
    (base, before), (head, after) = ((label, cell_profiles(samples)) for label, samples in sides)
    shared = in_common(before, after)
    chosen = [*(cell for cell in first if cell in shared), *shared]
    if not chosen:
        return None
    of = ((base, before[chosen[0]]), (head, after[chosen[0]]))
    return FoundProfile(chosen[0], of, tuple(cell for cell in shared if cell != chosen[0]))


def _saved(name: str, results: Path, machine: str | None) -> Saved:
    if looks_saved(name):
        return load(name)
    layout.check_there(results)
    return labelled(results, name, machine, ledgers=False)


def _words(cell: Cell) -> tuple[str, str, str, str]:
    return cell.model, cell.scenario, cell.backend, cell.launch


def _nothing(labels: Sequence[str], wanted: Sequence[str | None]) -> str:
    which = "no cell that the options select has a profile" + " of both" * (len(labels) > 1)
    axes = zip(("model", "scenario", "backend", "launch"), wanted, strict=True)
    words = [f"--subject {label}" for label in labels]
    words += [f"--{axis} {word}" for axis, word in axes if word]
    command = f"observatory run {' '.join(words)} --pass tracing --pass timing"
    return f"{which}; to record one: {command}"


def exported(
    profiles: Mapping[str, Stacks], form: Literal["collapsed", "speedscope"], unit: Unit = "calls"
) -> str:
    """Return profiles, by their names, as the text of one file.

    As collapsed stacks, the name of the profile is the outermost frame if there are several.
    """
    if form == "speedscope":
        return speedscope(profiles, unit)
    parts = profiles.items()
    return "".join(
        collapsed(stacks if len(profiles) == 1 else (((name, *chain), n) for chain, n in stacks),
                  unit)
        for name, stacks in parts
    )  # fmt: skip


def collapsed(stacks: Stacks, unit: Unit = "calls") -> str:
    """Return lines of `a;b;c N`, sorted; N is whole, in calls or microseconds.

    A semicolon in a name becomes a comma, because it separates names.
    """
    found = Counter[str]()
    for names, weight in stacks:
        chain = ";".join(_shown(name).replace(";", ",") for name in names)
        found[chain] += round(weight * (1_000_000 if unit == "seconds" else 1))
    return "".join(
        f"{chain} {count}\n" for chain, count in sorted(found.items()) if count and chain
    )


def speedscope(profiles: Mapping[str, Stacks], unit: Unit = "calls") -> str:
    """Return the JSON that speedscope opens, with a profile for each of ``profiles``."""
    frames: dict[str, int] = {}
    made = []
    for title, stacks in profiles.items():
        kept = [(names, weight) for names, weight in stacks if weight > 0 and names]
        made.append({
            "type": "sampled", "name": _shown(title),
            "unit": "seconds" if unit == "seconds" else "none",
            "startValue": 0, "endValue": sum(weight for _, weight in kept),
            "samples": [
                [frames.setdefault(_shown(name), len(frames)) for name in names]
                for names, _ in kept
            ],
            "weights": [weight for _, weight in kept],
        })  # fmt: skip
    return json.dumps({
        "$schema": _SCHEMA, "exporter": "observatory", "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in frames]}, "profiles": made,
    })  # fmt: skip


def _shown(name: str) -> str:
    return clean(name) or REPLACED
