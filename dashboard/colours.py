"""The colours of backends and of series: names in the stylesheet, and its rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from observatory.analyze.history.segments import SegmentedSeries
from observatory.benchmarks.catalogue import BACKENDS

_TOKEN = re.compile(r"--([\w-]+): (#[0-9a-f]{6});")
PALETTE = 8
"""Colours for series without a backend of the catalogue."""


def colour_of(track: SegmentedSeries, id_: str) -> str:
    """The constant colour name of a series: that of its backend, or one that its id chooses."""
    backend = track.series.place.backend
    if backend in BACKENDS:
        return colour_name(backend)
    return f"s{int(id_, 16) % PALETTE}"


def css_name(backend: str) -> str:
    """The class with a backend's constant colour; unknown backends share a neutral one.

    >>> css_name("C_VM"), css_name('"><script>')
    ('b-c-vm', 'b-other')
    """
    return f"b-{colour_name(backend)}" if backend in BACKENDS else "b-other"


def colour_name(backend: str) -> str:
    """The name of a backend's colour in the stylesheet: "c-vm" of "C_VM"."""
    return backend.lower().replace("_", "-")


@cache
def tokens() -> dict[str, str]:
    """The colours of the light page by name, read from its stylesheet, with those of backends."""
    text = (files("observatory.dashboard") / "assets/style.css").read_text(encoding="utf-8")
    light = dict(_TOKEN.findall(text[: text.index("@media")]))
    return light | {colour_name(name): one.light for name, one in BACKENDS.items()}


def stylesheet() -> str:
    """The colours of the backends as CSS: a custom property and a class for each of them."""
    return "\n".join(_rules()) + "\n"


def _rules() -> Iterator[str]:
    light = " ".join(f"--{colour_name(name)}: {one.light};" for name, one in BACKENDS.items())
    dark = " ".join(f"--{colour_name(name)}: {one.dark};" for name, one in BACKENDS.items())
    yield f":root {{ {light} }}"
    yield f"@media screen and (prefers-color-scheme: dark) {{ :root:not(.paper) {{ {dark} }} }}"
    for name in BACKENDS:
        yield f".{css_name(name)} {{ --of: var(--{colour_name(name)}); }}"
