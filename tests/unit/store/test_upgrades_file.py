from __future__ import annotations

from pathlib import Path

from observatory.store.base.problems import RecordError
from observatory.store.records import upgrades
from observatory.store.records.upgrades import Part
from tests.unit.analyze.test_upgrades import upgrade

PART = Part(model="randoms", backend="NUMBA", built=24, stale=["one"], reused=30)


def test_an_upgrade_is_read_back_as_it_was_stored(tmp_path: Path) -> None:
    stored = upgrade(PART)
    path = upgrades.save(tmp_path, stored)
    assert path.parent == tmp_path / "upgrades"
    assert list(upgrades.load_all(tmp_path)) == [stored]


def test_flags_make_another_pair(tmp_path: Path) -> None:
    plain = upgrade(PART)
    flagged = plain.model_copy(
        update={"head": plain.head.model_copy(update={"flags": "floatX=float32"})}
    )
    assert upgrades.save(tmp_path, plain) != upgrades.save(tmp_path, flagged)
    assert flagged.head.label == "3.2.4 floatX=float32"


def test_a_broken_file_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = upgrades.save(tmp_path, upgrade(PART))
    (path.parent / "0.json").write_text('{"schema": "observatory/upgrade/1"}')
    broken, good = upgrades.load_all(tmp_path)
    assert isinstance(broken, RecordError)
    assert "0.json is no upgrade" in str(broken)
    assert not isinstance(good, RecordError)
