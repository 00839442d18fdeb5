"""Compaction of the committed results: whatever is made of them is the same, byte for byte.

Of alerts and pages, tests/unit/cli/commands/test_repeatable.py shows it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from observatory.analyze.comparison import noisy
from observatory.analyze.comparison.comparing import Setting, compared
from observatory.analyze.comparison.evidence import Evidence
from observatory.app.results import read
from observatory.store.asv.files import project
from observatory.store.journal.compacting import tidy
from observatory.store.journal.reader import read_journal
from observatory.store.reading.export import exported
from observatory.store.reading.saved import Saved, load_all
from observatory.store.records import layout
from observatory.store.records.comparison import Side
from observatory.text.records import comparison_of

pytestmark = pytest.mark.long

RESULTS = Path(__file__).parents[3] / "results"
NOW = datetime(2027, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Every third of the committed subjects, and the same compacted, far from their repository.

    Each subject is compacted and judged in the same way.
    """
    root = tmp_path_factory.mktemp("results")
    whole, less = root / "whole" / "results", root / "less" / "results"
    shutil.copytree(RESULTS, whole)
    for number, journal in enumerate(layout.journals(whole)):
        if number % 3:
            journal.unlink()
    shutil.copytree(whole, less)
    done = tidy(less, NOW)
    assert done.journals == len(layout.journals(whole)) > 5
    assert done.after < 0.6 * done.before
    return whole, less


def test_every_value_interval_and_note(places: tuple[Path, Path]) -> None:
    whole, less = map(read, places)
    assert exported(less.frame, "json") == exported(whole.frame, "json")
    assert less.notes == whole.notes
    assert less.problems == whole.problems == ()


def test_every_difference_between_neighbours_function_by_function(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests of the same values have the same result: it is enough that the values are the same.
    tested: list[object] = []
    result = noisy.tested([1.0, 1.1, 1.2], [1.0, 1.1, 1.3], 0, paired=False)

    def remember(*values: object, **how: object) -> noisy.Tested:
        tested.append((values, how))
        return result

    monkeypatch.setattr(noisy, "tested", remember)
    whole, less = (list(_differences(place)) for place in places)
    assert len(whole) > 5
    assert less == whole
    first = tested[: len(tested) // 2]
    assert len(first) > 10
    assert first == tested[len(first) :]
    assert any('"appeared":[[' in text for text in whole)


def test_what_plain_asv_reads(places: tuple[Path, Path], tmp_path: Path) -> None:
    for place in places:
        for journal in layout.journals(place):
            project(tmp_path / place.parent.name, read_journal(journal))
    whole, less = (_files(tmp_path / place.parent.name) for place in places)
    assert len(whole) > 5
    assert less == whole


def test_a_second_time_there_is_nothing_to_do(places: tuple[Path, Path]) -> None:
    done = tidy(places[1], NOW)
    assert (done.journals, done.ledgers) == (0, 0)


def _differences(results: Path) -> Iterator[str]:
    for base, head in pairwise(load_all(results)):
        setting = Setting(
            base=_side(base), head=_side(head), started_at=NOW, interleaved=False, seed=0,
            observatory="", reproduce="",
        )  # fmt: skip
        found = compared(setting, Evidence.of(base.samples), Evidence.of(head.samples))
        yield comparison_of(found).model_dump_json()


def _side(saved: Saved) -> Side:
    head = saved.header
    return Side(subject=head.subject, versions=head.versions, machine=head.machine)


def _files(root: Path) -> dict[str, bytes]:
    found = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in found}
