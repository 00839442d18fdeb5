"""The words of the catalogue, as pages show them."""

from __future__ import annotations

import re
from pathlib import Path

from observatory.benchmarks.catalogue import BACKENDS
from observatory.dashboard.colours import css_name, stylesheet
from observatory.text.words import meaning_of


def test_every_backend_has_a_colour_of_its_own_in_light_and_in_dark() -> None:
    rules = stylesheet().splitlines()
    light, dark = (
        re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", line)
        for line in rules
        if line.startswith((":root", "@media"))
    )
    names = [css_name(name).removeprefix("b-") for name in BACKENDS]
    assert [name for name, _ in light] == [name for name, _ in dark] == names
    assert len({colour for _, colour in light}) == len(BACKENDS)
    assert [rule for rule in rules if rule.startswith(".b-")] == [
        f".b-{name} {{ --of: var(--{name}); }}" for name in names
    ]


def test_the_meaning_of_an_unknown_word_is_empty() -> None:
    assert meaning_of(BACKENDS, "TPU") == ""
    assert meaning_of(BACKENDS, "C") == BACKENDS["C"].meaning
    assert meaning_of({"fork": "a fork"}, "fork") == "a fork"


def test_every_link_into_the_glossary_has_its_word() -> None:
    folder = Path("dashboard/templates")
    known = re.findall(r'<dt id="(.+?)">', (folder / "_glossary.html.j2").read_text())
    used = {
        word
        for file in folder.glob("*.j2")
        for word in re.findall(r"words\.html#([\w-]+)", file.read_text())
    }
    assert used
    assert used <= set(known)
