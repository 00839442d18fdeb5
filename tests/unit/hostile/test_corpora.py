"""Cases that got through once, and mutations of good contents: a sentence comes out, or a result.

``python scripts/fuzz.py --for 10m`` tries as many as there is time for; what it finds is kept in
``tests/corpora`` when it is mended.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.hostile.surfaces import SURFACES
from tests.hostile.trials import CORPORA, corpus, place_of, some, tried

NUMBER = 25


@pytest.mark.parametrize("name", SURFACES)
def test_nothing_that_is_read_ends_in_a_traceback_or_is_executed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    surface, dice = SURFACES[name], Random(name)
    contents = (one for one in [*corpus(name), *some(NUMBER, surface, dice)] if len(one) < 2**20)
    found = tried(surface, contents, tmp_path, tmp_path / "kept")
    assert found.failures == {}
    assert found.executed == 0
    assert found.cases >= NUMBER // 2


def test_each_corpus_is_of_a_surface() -> None:
    names = set(map(place_of, SURFACES))
    assert {path.name for path in CORPORA.iterdir()} <= names
