"""The output of `python -X importtime` as stacks."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from observatory.analyze.profiles.import_times import import_stacks

NAMES = st.text("abc._<>; |é", min_size=1).filter(lambda name: name == name.strip())
MODULES = st.recursive(
    st.tuples(NAMES, st.integers(0, 10**9), st.just([])),
    lambda below: st.tuples(NAMES, st.integers(0, 10**9), st.lists(below, max_size=4)),
)
HEADER = "import time: self [us] | cumulative | imported package"


def lines(module, depth=0):
    name, own, imported = module
    for one in imported:
        yield from lines(one, depth + 1)
    yield f"import time: {own:9} | {own:10} | {'  ' * depth}{name}"


def stacks(module, importers=()):
    name, own, imported = module
    for one in imported:
        yield from stacks(one, (*importers, name))
    yield (*importers, name), own / 1_000_000


@given(st.lists(MODULES, max_size=4))
def test_what_was_written_is_read(modules):
    written = [HEADER, *(line for module in modules for line in lines(module)), "a warning"]
    assert list(import_stacks("\r\n".join(written))) == [
        one for module in modules for one in stacks(module)
    ]


@given(st.text("import time: 1|\n a"))
def test_any_text_is_read(text):
    for chain, seconds in import_stacks(text):
        assert chain
        assert seconds >= 0


def test_modules_whose_importer_was_not_written_come_without_it():
    text = f"{HEADER}\nimport time: 5 | 5 | a\nimport time: 7 | 7 |   b\n"
    assert list(import_stacks(text)) == [(("a",), 5e-6), (("b",), 7e-6)]


def test_a_real_import_is_read():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = [chain for chain, _ in import_stacks(done.stderr)]
    assert ("json", "json.decoder", "json.scanner") in found
