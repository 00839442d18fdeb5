"""Levels that were found before are the same as those found now."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from observatory.analyze.history.segments import Levels, levels_of
from observatory.app import kept_levels as module
from observatory.app.kept_levels import KeptLevels
from observatory.store.base.signatures import digest_of
from tests.factories_alerts import line, series

RNG = np.random.default_rng(5)
NOISE = RNG.normal(1, 0.01, 60)
SERIES = {
    "still": NOISE,
    "a step": NOISE * np.where(np.arange(60) < 30, 1.0, 1.4),
    "a drift": NOISE * np.exp(np.arange(60) * 0.01),
}


def found(levels: KeptLevels, name: str) -> Levels:
    one = series(line(60), SERIES[name])
    return levels(one)


def filled(file: Path) -> None:
    levels = KeptLevels(file)
    for name in SERIES:
        found(levels, name)
    levels.save()


@pytest.mark.parametrize("name", SERIES)
def test_what_was_kept_is_what_would_be_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = SERIES[name]
    drift, places = levels_of(values)
    filled(tmp_path / "levels")
    monkeypatch.setattr(module, "levels_of", None)
    kept_drift, kept_places = found(KeptLevels(tmp_path / "levels"), name)
    assert kept_places == places
    assert (kept_drift is None) == (drift is None) == (name != "a drift")
    if kept_drift is not None and drift is not None:
        assert vars(kept_drift).keys() == vars(drift).keys()
        for key, value in vars(drift).items():
            np.testing.assert_array_equal(vars(kept_drift)[key], value)


def test_levels_of_other_code_or_of_a_damaged_file_are_found_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "levels"
    filled(file)
    whole = file.read_bytes()
    calls: list[int] = []
    monkeypatch.setattr(module, "levels_of", lambda values: calls.append(1) or levels_of(values))
    for damage in (b"", b"[]", whole[:-5], whole.replace(b'"code":"', b'"code":"x')):
        file.write_bytes(damage)
        found(KeptLevels(file), "still")
    assert len(calls) == 4


def test_only_levels_that_were_asked_for_stay(tmp_path: Path) -> None:
    file = tmp_path / "levels"
    filled(file)
    before = digest_of(file)
    filled(file)
    assert digest_of(file) == before
    levels = KeptLevels(file)
    found(levels, "still")
    levels.save()
    assert len(KeptLevels(file)._known) == 1
