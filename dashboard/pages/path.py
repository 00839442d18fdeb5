"""The path of a user of PyMC, step by step: the page `path.html`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from observatory.benchmarks.catalogue import MODELS, PATH_STEPS
from observatory.dashboard.colours import css_name
from observatory.dashboard.pages.cell_values import Flag
from observatory.dashboard.site_input import SiteInput, Spot
from observatory.store.reading.walks import StepTaken, Walks
from observatory.text import units
from observatory.text.path import COUNTS, Walk, Walked, by_model, callers, steps_of, totals_of
from observatory.text.plain import clean, shorten
from observatory.text.words import meaning_of

PATH = "path.html"
_MOST = 4
"""The newest subjects that have columns: two for each."""
_NOTE = 240
_LABEL = 40


class Place(NamedTuple):
    """A step of one subject from one cache."""

    counts: tuple[str, ...]
    time: str
    """Empty without one."""
    flag: Flag
    """What is wrong, in a word; no text if nothing is."""
    detail: str
    missed: bool
    """Whether functions are compiled although the cache was filled for them."""


class Row(NamedTuple):
    """One step."""

    name: str
    meaning: str
    places: tuple[Place | None, ...]


def path_page(observed: SiteInput) -> dict[str, Any] | None:
    """The values of `path.html.j2`; None if nobody took the path."""
    found: list[tuple[Spot, Walks]] = sorted(
        ((spot, walks) for spot, walks in observed.walks_at.items() if walks),
        key=lambda one: observed.subject(one[0]).date,
        reverse=True,
    )
    if not found:
        return None
    tables = []
    subjects = [
        Walked(observed.subject(spot).label, observed.lines[spot[0]].machine, walks)
        for spot, walks in found
    ]
    several = len({one.place for one in subjects}) > 1
    for (model, backend, place), every in by_model(subjects).items():
        labels = list(dict.fromkeys(walk.label for walk in every))[:_MOST]
        walks = [walk for walk in every if walk.label in labels]
        tables.append(
            {
                "model": model, "backend": backend, "css": css_name(backend),
                "meaning": meaning_of(MODELS, model), "place": clean(place) if several else "",
                "columns": [_column(walk) for walk in walks],
                "rows": list(_rows(model, walks)),
                "asked": list(_asked(model, walks[: len(walks) // max(1, len(labels))])),
            }
        )  # fmt: skip
    return {"tables": tables, "counts": COUNTS}


def _column(walk: Walk) -> tuple[str, str]:
    """The heading of a column: the release, and below it what was installed with it."""
    release, _, others = shorten(clean(walk.label), _LABEL).partition(" ")
    return release, ", ".join(filter(None, (others.replace("==", " "), walk.start)))


def _rows(model: str, walks: Sequence[Walk]) -> Iterator[Row]:
    for name in steps_of(model, walks):
        places = tuple(_place(walk, walk.steps.get(name)) for walk in walks)
        yield Row(clean(name), PATH_STEPS.get(name, "").replace("`", ""), places)
    yield Row("all steps", "", tuple(map(_place, walks, totals_of(walks))))


def _place(walk: Walk, step: StepTaken | None) -> Place | None:
    if step is None:
        return None
    metrics = step.metrics or {}
    shown = tuple(units.count(metrics[o]) if o in metrics else units.MISSING for o in COUNTS)
    time = metrics.get("step_time")
    missed = walk.start == "warm" and bool(metrics.get("cache_misses"))
    detail = shorten(step.note, _NOTE) if step.note else ""
    return Place(shown, "" if time is None else units.seconds(time), _flag(step), detail, missed)


def _flag(step: StepTaken) -> Flag:
    if step.wrong:
        return Flag("wrong", "bad", "✗")
    if step.status in ("ok", "absent"):
        return Flag("" if step.status == "ok" else "absent", "absent")
    return Flag(step.status, "bad", "✗")


def _asked(model: str, walks: Sequence[Walk]) -> Iterator[tuple[str, str]]:
    """For each step, who asked for its PyTensor functions: those of the newest subject."""
    for name in steps_of(model, walks):
        found = (walk.steps[name] for walk in walks if name in walk.steps)
        step = next((one for one in found if one.compiled), None)
        if step is not None:
            yield clean(name), callers(step)
