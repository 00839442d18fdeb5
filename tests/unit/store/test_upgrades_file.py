from __future__ import annotations

from pathlib import Path

from observatory.app.passports import known_of
from observatory.run.upgrade import cells_of
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


def test_parts_that_were_not_measured_again_stay(tmp_path: Path) -> None:
    other = Part(model="linalg", backend="NUMBA", built=3)
    upgrades.save(tmp_path, upgrade(PART, other))
    again = other.model_copy(update={"built": 4})
    path = upgrades.save(tmp_path, upgrade(again))
    assert upgrades.FILES.load(path) == upgrade(again, PART)
    newer = upgrade(again)
    versions = newer.head.versions.model_copy(update={"numba": "0.70.0"})
    newer = newer.model_copy(update={"head": newer.head.model_copy(update={"versions": versions})})
    upgrades.save(tmp_path, newer)
    assert upgrades.FILES.load(path) == newer


def test_a_pair_of_which_a_model_is_missing_is_not_safe(tmp_path: Path) -> None:
    models = sorted({cell.model for cell in cells_of(None, ["NUMBA"])})
    good = [Part(model=one, backend="NUMBA", built=3, reused=3) for one in models]
    upgrades.save(tmp_path, upgrade(good[0]))
    assert [fact.use for fact in known_of(tmp_path).facts] == ["unknown"]
    upgrades.save(tmp_path, upgrade(*good))
    assert [fact.use for fact in known_of(tmp_path).facts] == ["safe"]


def test_a_release_after_itself_says_nothing_of_its_own_cache(tmp_path: Path) -> None:
    models = sorted({cell.model for cell in cells_of(None, ["C"])})
    own = upgrade(*(Part(model=one, backend="C", built=3, reused=3) for one in models))
    upgrades.save(tmp_path, own.model_copy(update={"head": own.base}))
    assert known_of(tmp_path).facts == []


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
