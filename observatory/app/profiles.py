"""Profiles for other tools: collapsed stacks (`flamegraph.pl`, inferno) and speedscope's JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from observatory.text.plain import REPLACED, clean

Stacks = Iterable[tuple[Sequence[str], float]]
"""Chains of callers, the outermost first, each with the weight of its last function alone."""
Unit = Literal["calls", "seconds"]

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


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
