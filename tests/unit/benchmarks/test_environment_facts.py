"""What a sample says of the interpreter that it ran in."""

from __future__ import annotations

import sys
import sysconfig

import pytest

from observatory.benchmarks.environment import versions


def test_an_ordinary_python_says_nothing_of_the_lock() -> None:
    assert "gil" not in versions(())


@pytest.mark.parametrize(("enabled", "told"), [(True, "on"), (False, "off")])
def test_a_free_threaded_python_says_whether_the_lock_was_off(
    monkeypatch: pytest.MonkeyPatch, enabled: bool, told: str
) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: int(name == "Py_GIL_DISABLED"))
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: enabled, raising=False)
    assert versions(())["gil"] == told
