"""Scripts and stylesheets as pages load them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from observatory import dashboard
from observatory.analyze.profiles.cells import CellProfile
from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.packing import BUNDLES, bundled, lean
from observatory.dashboard.pages.flame import flame_file
from observatory.dashboard.rendering import assets
from observatory.text.units import COUNTED

ASSETS = Path(dashboard.__file__).parent / "assets"


def test_comments_and_indentation_are_left_out_of_scripts() -> None:
    kept = b"'use strict';\n%sf('/* kept */'); // kept\n"
    gone = (b"/* About\n   it. */\n", b"\n  /** One. */\n  ", b"  // gone\n")
    assert lean("a.js", gone[0] + kept % gone[1] + gone[2]) == kept % b""


def test_a_comment_before_code_on_its_line_stays_there() -> None:
    assert lean("a.js", b"/* a */ f(); /* b */\n") == b"/* a */ f(); /* b */\n"


def test_stylesheets_lose_what_they_do_not_need() -> None:
    style = b'/* x */\n.a > :is(b, c) {\n  color: red; content: "; a";\n}\n'
    assert lean("a.css", style) == b'.a > :is(b,c){color:red;content: "; a";}'


def test_pictures_and_records_stay_as_they_are() -> None:
    assert lean("card.png", b"/* x */\n  ") == b"/* x */\n  "


@pytest.mark.parametrize("script", sorted(ASSETS.glob("*.js")), ids=lambda one: one.name)
def test_no_script_has_a_text_of_several_lines(script: Path) -> None:
    for line in script.read_text().splitlines():
        code = re.sub(r"/[^/`]*`[^/`]*/g|\"`\"|^\s*(/?\*|//).*", "", line)
        assert code.count("`") % 2 == 0, line


def test_a_bundle_has_all_its_parts_in_their_order() -> None:
    files = dict(assets())
    for path, names in BUNDLES.items():
        places = [files[path].index(f"observatory.{camel(name)} = ".encode())
                  for name in names if name != "series"]  # fmt: skip
        assert places == sorted(places)
        assert not any(f"assets/{name}.js" in files for name in names)


def test_scripts_know_the_units_that_texts_do_not_write() -> None:
    """They follow from the catalogue, so that a new count needs no change of a script."""
    together = dict(assets())["assets/units.js"].decode()
    none = CellProfile()
    alone = flame_file(Cell("radon", "cold", "NUMBA", "spawn"), ("1", "2"), none, none).decode()
    for text in (together, alone):
        (told,) = re.findall(r"for \(const unit of (\[.*\])\) observatory\.units\.COUNTED", text)
        assert json.loads(told) == sorted(COUNTED)


def test_a_missing_part_is_an_error() -> None:
    with pytest.raises(KeyError):
        bundled({})


def camel(name: str) -> str:
    first, *rest = name.split("-")
    return first + "".join(word.capitalize() for word in rest)
