"""Whose times are trusted: of a machine that does the sentinel's work as fast as it did."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from observatory.fleet import watching
from observatory.fleet.watching import FRESH, UntimedError, untimed

NIGHT = datetime(2026, 11, 1, 2, tzinfo=UTC)
PIECES = ("interpreter", "arrays", "machine_code", "compiler")


@pytest.fixture
def speed(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What the fixed work takes, in seconds."""
    found = dict.fromkeys(PIECES, 0.05)
    monkeypatch.setattr(watching, "_medians", lambda: dict(found))
    return found


def look(state: Path, night: int) -> str:
    return untimed(state, NIGHT + timedelta(days=night))


def test_a_machine_that_became_slower_is_not_trusted_until_it_is_as_fast_again(
    tmp_path: Path, speed: dict[str, float]
) -> None:
    assert [look(tmp_path, night) for night in range(4)] == [""] * 4
    speed.update(dict.fromkeys(PIECES[:3], 0.07))  # more than half of the pieces
    assert look(tmp_path, 4) == (
        "the fixed work of the sentinel takes 1.40 times as long as before"
    )
    speed.update(dict.fromkeys(PIECES, 0.05))
    assert look(tmp_path, 5) == ""
    speed["arrays"] = 0.5  # one piece alone is not the machine
    assert look(tmp_path, 6) == ""


def test_a_look_counts_for_half_a_day(tmp_path: Path, speed: dict[str, float]) -> None:
    look(tmp_path, 0)
    speed.update(dict.fromkeys(PIECES, 1.0))
    assert untimed(tmp_path, NIGHT + FRESH) == ""
    assert "20.00 times" in untimed(tmp_path, NIGHT + FRESH + timedelta(seconds=1))


def test_looks_by_another_python_and_torn_ones_say_nothing(
    tmp_path: Path, speed: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    look(tmp_path, 0)
    speed.update(dict.fromkeys(PIECES, 1.0))
    monkeypatch.setattr(watching, "_doer", lambda: "Python 3.99, NumPy 9")
    assert look(tmp_path, 1) == ""
    (tmp_path / "fleet" / "speed.json").write_text("torn")
    speed.update(dict.fromkeys(PIECES, 0.1))
    assert look(tmp_path, 2) == ""


def test_work_that_cannot_be_done_is_no_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> dict[str, float]:
        raise UntimedError("cc was killed")

    monkeypatch.setattr(watching, "_medians", fails)
    assert look(tmp_path, 0) == "the fixed work of the sentinel failed: cc was killed"
    assert not (tmp_path / "fleet").exists()


def test_the_command_of_the_fixed_work_prints_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = 'print(\'{"system": {}, "times": {"arrays": [3.0, 1.0, 2.0]}}\')'
    monkeypatch.setattr(watching, "_WORK", (watching.sys.executable, "-c", program))
    assert watching._medians() == {"arrays": 2.0}
    monkeypatch.setattr(watching, "_WORK", (watching.sys.executable, "-c", "import nothing_such"))
    with pytest.raises(UntimedError, match="No module named"):
        watching._medians()
